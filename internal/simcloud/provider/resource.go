package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// objectResource manages the objects of one kind.
type objectResource struct {
	kind   *cloudapi.Kind
	client *client.Client
}

var (
	_ resource.ResourceWithConfigure   = (*objectResource)(nil)
	_ resource.ResourceWithImportState = (*objectResource)(nil)
)

// Metadata names the resource after its kind.
func (r *objectResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + r.kind.Name
}

// Schema is made from the table of kinds.
func (r *objectResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = resourceSchema(r.kind)
}

// Configure takes the provider's client, which is missing while only schemas are asked for.
func (r *objectResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.client = configured(req.ProviderData, &resp.Diagnostics)
}

func configured(data any, diags *diag.Diagnostics) *client.Client {
	if data == nil {
		return nil
	}
	out, ok := data.(*client.Client)
	if !ok {
		diags.AddError("Provider data is not a client", fmt.Sprintf("The provider handed over %T. This is a bug in the provider; please report it.", data))
	}
	return out
}

// Create makes an object that must not exist yet.
func (r *objectResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	ref, attributes, moreDiags := r.wanted(ctx, req.Plan)
	resp.Diagnostics.Append(moreDiags...)
	if resp.Diagnostics.HasError() {
		return
	}
	object, err := r.client.Create(ctx, ref, attributes)
	if err != nil {
		resp.Diagnostics.Append(failure("create", ref, err)...)
		return
	}
	resp.Diagnostics.Append(record(object, &resp.State)...)
	resp.Diagnostics.Append(identify(ctx, object.Ref, resp.Identity)...)
}

// Read notices what was changed or deleted by others.
func (r *objectResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	ref, moreDiags := r.ref(ctx, req.State)
	resp.Diagnostics.Append(moreDiags...)
	if resp.Diagnostics.HasError() {
		return
	}
	object, err := r.client.Get(ctx, ref)
	switch {
	case errors.Is(err, client.ErrNotFound):
		resp.State.RemoveResource(ctx)
		resp.Diagnostics.Append(identify(ctx, ref, resp.Identity)...) // the framework wants it of what is gone too
	case err != nil:
		resp.Diagnostics.Append(failure("read", ref, err)...)
	default:
		resp.Diagnostics.Append(record(object, &resp.State)...)
		resp.Diagnostics.Append(identify(ctx, object.Ref, resp.Identity)...)
	}
}

// Update replaces all attributes of an object that must exist.
func (r *objectResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	ref, attributes, moreDiags := r.wanted(ctx, req.Plan)
	resp.Diagnostics.Append(moreDiags...)
	if resp.Diagnostics.HasError() {
		return
	}
	object, err := r.client.Replace(ctx, ref, attributes)
	if err != nil {
		resp.Diagnostics.Append(failure("update", ref, err)...)
		return
	}
	resp.Diagnostics.Append(record(object, &resp.State)...)
	resp.Diagnostics.Append(identify(ctx, object.Ref, resp.Identity)...)
}

// Delete removes the object; one that is gone already is no error.
func (r *objectResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	ref, moreDiags := r.ref(ctx, req.State)
	resp.Diagnostics.Append(moreDiags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := r.client.Delete(ctx, ref); err != nil && !errors.Is(err, client.ErrNotFound) {
		resp.Diagnostics.Append(failure("delete", ref, err)...)
	}
}

// ImportState takes ENVIRONMENT/SERVICE/NAME, or an identity.
func (r *objectResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	id, moreDiags := importIdentifier(ctx, req)
	resp.Diagnostics.Append(moreDiags...)
	parts := strings.Split(id, "/")
	if len(parts) != 3 {
		resp.Diagnostics.AddError("Import identifier is not valid",
			fmt.Sprintf("The identifier %q does not name an object. Write ENVIRONMENT/SERVICE/NAME.", id))
		return
	}
	for i, name := range []string{"environment", "service", "name"} {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(name), parts[i])...)
	}
}

// attributeGetter is a plan or a state.
type attributeGetter interface {
	GetAttribute(ctx context.Context, p path.Path, target any) diag.Diagnostics
}

func (r *objectResource) ref(ctx context.Context, from attributeGetter) (cloudapi.Ref, diag.Diagnostics) {
	var environment, service, name types.String
	diags := from.GetAttribute(ctx, path.Root("environment"), &environment)
	diags.Append(from.GetAttribute(ctx, path.Root("service"), &service)...)
	diags.Append(from.GetAttribute(ctx, path.Root("name"), &name)...)
	return cloudapi.Ref{
		Environment: environment.ValueString(), Service: service.ValueString(), Kind: r.kind.Name, Name: name.ValueString(),
	}, diags
}

func (r *objectResource) wanted(ctx context.Context, plan tfsdk.Plan) (cloudapi.Ref, map[string]any, diag.Diagnostics) {
	ref, diags := r.ref(ctx, plan)
	attributes, err := writable(r.kind, plan.Raw)
	if err != nil {
		diags.AddError("Plan cannot be sent to the cloud", "The plan for "+ref.String()+" does not convert: "+err.Error()+". This is a bug in the provider; please report it.")
	}
	return ref, attributes, diags
}

func record(object *cloudapi.Object, state *tfsdk.State) diag.Diagnostics {
	var diags diag.Diagnostics
	var typ tftypes.Type = state.Schema.Type().TerraformType(context.Background())
	value, err := stateOf(object, typ)
	if err != nil {
		return misfit(object, err)
	}
	state.Raw = value
	return diags
}

// failure explains why a call failed, on the attributes concerned where the cloud names them.
func failure(verb string, ref cloudapi.Ref, err error) diag.Diagnostics {
	var diags diag.Diagnostics
	var refused *client.APIError
	switch {
	case errors.Is(err, client.ErrCondition) && verb == "create":
		diags.AddError("Object already exists", "The cloud has "+ref.String()+" already, made by someone else or by an earlier run that was cut short. Import it, or delete it if nobody needs it.")
	case errors.Is(err, client.ErrCondition):
		diags.AddError("Object is gone", "The cloud no longer has "+ref.String()+", so it cannot be changed. Plan again to create it.")
	case errors.Is(err, client.ErrDenied):
		diags.AddError("Cloud refused access", "Could not "+verb+" "+ref.String()+": "+err.Error()+". Use a token that reaches the namespace.")
	case errors.As(err, &refused) && len(refused.Refusal.Fields) > 0:
		for _, field := range refused.Refusal.Fields {
			name, _, _ := strings.Cut(field.Field, ".")
			diags.AddAttributeError(path.Root(name), "Cloud refused the attribute", "Could not "+verb+" "+ref.String()+": "+field.Field+" "+field.Message+".")
		}
	default:
		diags.AddError("Cloud call failed", "Could not "+verb+" "+ref.String()+": "+err.Error()+". Try again; if it stays, look at the cloud's health.")
	}
	return diags
}
