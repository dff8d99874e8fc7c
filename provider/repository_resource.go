package provider

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/repository"
)

// repositoryResource is the life of a repository.
type repositoryResource struct{ session *session }

var (
	_ resource.ResourceWithConfigure   = (*repositoryResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*repositoryResource)(nil)
	_ resource.ResourceWithImportState = (*repositoryResource)(nil)
)

func newRepositoryResource() resource.Resource { return &repositoryResource{} }

// Metadata names the resource.
func (r *repositoryResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_repository"
}

// Schema describes the resource.
func (r *repositoryResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = repositorySchema()
}

// Configure takes the provider's session.
func (r *repositoryResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.session = configured(req.ProviderData, &resp.Diagnostics)
}

// ModifyPlan shows who will be able to sign, and refuses roles that nobody could sign for.
func (r *repositoryResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || r.session == nil {
		return
	}
	var plan repositoryModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(r.chooseKeys(ctx, &plan, req.Config, req.State)...)
	if resp.Diagnostics.HasError() {
		return
	}
	_, _, moreDiags := plan.config(ctx)
	resp.Diagnostics.Append(moreDiags...)
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

func (r *repositoryResource) chooseKeys(ctx context.Context, plan *repositoryModel, config tfsdk.Config, state tfsdk.State) diag.Diagnostics {
	var diags diag.Diagnostics
	var configured, before repositoryModel
	diags.Append(config.Get(ctx, &configured)...)
	if !state.Raw.IsNull() {
		diags.Append(state.Get(ctx, &before)...)
	}
	c := chooser{config: configured.roles(ctx, &diags), state: before.roles(ctx, &diags), own: types.SetUnknown(types.StringType)}
	if !r.session.keyUnknown {
		c.own = keySet(r.session.keys.Public())
	}
	chosen := c.choose(plan.roles(ctx, &diags))
	if !r.session.keyUnknown && len(r.session.keys) == 0 && chosen.lackKeys() {
		return failure("choose the keys of", plan.URL.ValueString(), errNoKey)
	}
	chosen.store(ctx, plan, &diags)
	return diags
}

// wanted is the configuration that a plan asks for, complete.
func (r *repositoryResource) wanted(ctx context.Context, plan *repositoryModel, config tfsdk.Config, state tfsdk.State) (repository.Config, diag.Diagnostics) {
	diags := r.chooseKeys(ctx, plan, config, state)
	if diags.HasError() {
		return repository.Config{}, diags
	}
	wanted, known, moreDiags := plan.config(ctx)
	diags.Append(moreDiags...)
	if !known && !diags.HasError() {
		diags.Append(failure("change", plan.URL.ValueString(), errKeyUnknown)...)
	}
	return wanted, diags
}

// Create makes a repository where there is none.
func (r *repositoryResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan repositoryModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	wanted, moreDiags := r.wanted(ctx, &plan, req.Config, tfsdk.State{})
	resp.Diagnostics.Append(moreDiags...)
	if resp.Diagnostics.HasError() {
		return
	}
	url := plan.URL.ValueString()
	root, err := r.session.create(ctx, url, wanted)
	switch {
	case errors.Is(err, repository.ErrInitialised):
		resp.Diagnostics.AddAttributeError(path.Root("url"), "Repository already exists",
			"There is a repository at "+url+" already, from another configuration or from a run that was cut short. Import it by its URL, or choose another.")
		return
	case err != nil:
		resp.Diagnostics.Append(failure("create the repository", url, err)...)
		return
	}
	plan.ID, plan.TrustedRoot, plan.Fingerprint = plan.URL, types.StringValue(root.text), types.StringValue(root.fingerprint)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Read notices what others have changed or removed.
func (r *repositoryResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state repositoryModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	url := state.URL.ValueString()
	current, root, err := r.session.config(ctx, url, state.Fingerprint.ValueString())
	switch {
	case errors.Is(err, repository.ErrNotInitialised):
		r.missing(ctx, url, resp)
		return
	case err != nil:
		resp.Diagnostics.Append(failure("read the repository", url, err)...)
		return
	}
	resp.Diagnostics.Append(state.load(ctx, current)...)
	state.ID, state.TrustedRoot, state.Fingerprint = state.URL, types.StringValue(root.text), types.StringValue(root.fingerprint)
	if state.ForceDestroy.IsNull() {
		state.ForceDestroy = types.BoolValue(false)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// missing tells a repository that is gone from one whose destruction was cut short.
func (r *repositoryResource) missing(ctx context.Context, url string, resp *resource.ReadResponse) {
	half, err := r.session.hasRoot(ctx, url)
	switch {
	case err != nil:
		resp.Diagnostics.Append(failure("read the repository", url, err)...)
	case half:
		resp.Diagnostics.AddWarning("Repository is half destroyed",
			"The repository at "+url+" has a root and nothing else: destroying it was cut short. Destroy it again.")
	default:
		resp.State.RemoveResource(ctx)
	}
}

// Update changes environments, channels, keys and expiries in place.
func (r *repositoryResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan repositoryModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	wanted, moreDiags := r.wanted(ctx, &plan, req.Config, req.State)
	resp.Diagnostics.Append(moreDiags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := r.session.change(ctx, plan.URL.ValueString(), plan.Fingerprint.ValueString(), wanted); err != nil {
		resp.Diagnostics.Append(failure("change the repository", plan.URL.ValueString(), err)...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Delete removes what was declared, and what agents and publishers have stored only if told so.
func (r *repositoryResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state repositoryModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	url := state.URL.ValueString()
	err := r.session.destroy(ctx, url, state.Fingerprint.ValueString(), state.ForceDestroy.ValueBool())
	switch {
	case errors.Is(err, repository.ErrInUse):
		resp.Diagnostics.AddError("Repository is not empty", fmt.Sprintf(
			"Could not destroy the repository at %s: %s. A state that is lost leaves real objects that nobody keeps. "+
				"Destroy what the agents keep first, or set force_destroy to true and apply before destroying.", url, err))
	case err != nil:
		resp.Diagnostics.Append(failure("destroy the repository", url, err)...)
	}
}

// ImportState takes the URL.
func (r *repositoryResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if err := checkURL(req.ID); err != nil {
		resp.Diagnostics.AddError("Import identifier is not valid", fmt.Sprintf("The identifier %q %s.", req.ID, err))
		return
	}
	resource.ImportStatePassthroughID(ctx, path.Root("url"), req, resp)
}
