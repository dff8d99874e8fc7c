package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// head are the attributes that every control document has. A document is its
// repository, environment and name: changing one of them makes another.
type head struct {
	ID          types.String `tfsdk:"id"`
	Repository  types.String `tfsdk:"repository"`
	Environment types.String `tfsdk:"environment"`
	Name        types.String `tfsdk:"name"`
}

func (h *head) self() *head { return h }

func (h *head) ref(kind control.Kind) control.Ref {
	return control.Ref{Kind: kind, Environment: h.Environment.ValueString(), Name: h.Name.ValueString()}
}

func headAttributes(noun string) map[string]schema.Attribute {
	fixed := func(description string, rule textRule) schema.Attribute {
		return schema.StringAttribute{
			Required: true, MarkdownDescription: description + " Changing it declares another " + noun + ".",
			Validators:    []validator.String{rule},
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
		}
	}
	return map[string]schema.Attribute{
		"repository":  fixed("URL of the repository.", urlRule),
		"environment": fixed("Environment that the "+noun+" belongs to.", nameRule),
		"name":        fixed("Name of the "+noun+", unique in its environment.", nameRule),
		"id": schema.StringAttribute{
			Computed: true, MarkdownDescription: "`URL#ENVIRONMENT/NAME`.",
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
	}
}

// declaration is a control document as a resource: a pointer to a model.
type declaration interface {
	self() *head
	// document returns what the model declares; what is unknown is left out.
	document(ctx context.Context) (control.Declared, diag.Diagnostics)
	// load takes over what is declared.
	load(ctx context.Context, doc control.Declared) diag.Diagnostics
}

// completed is a declaration with attributes that the provider computes. Before
// is what was declared until now, nil for a creation.
type completed[M any] interface {
	// foresee fills in what a plan can already know.
	foresee(ctx context.Context, before *M) diag.Diagnostics
	// complete fills in the rest before the document is published.
	complete(ctx context.Context, s *session, before *M) diag.Diagnostics
	// reread renews what depends on the document and on nothing else.
	reread(ctx context.Context, s *session) diag.Diagnostics
	// withdrawn is called once the document is no longer in force.
	withdrawn(ctx context.Context, s *session) diag.Diagnostics
}

// documentResource is the life of one kind of control document, whose model is M.
type documentResource[M any, D interface {
	*M
	declaration
}] struct {
	kind    control.Kind
	suffix  string
	schema  func() schema.Schema
	session *session
}

// Metadata names the resource.
func (r *documentResource[M, D]) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + r.suffix
}

// Schema describes the resource.
func (r *documentResource[M, D]) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = r.schema()
}

// Configure takes the provider's session.
func (r *documentResource[M, D]) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.session = configured(req.ProviderData, &resp.Diagnostics)
}

// ModifyPlan tells what is wrong with the document as a whole before anything is
// applied, and what the provider will compute.
func (r *documentResource[M, D]) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var plan D = new(M)
	resp.Diagnostics.Append(req.Plan.Get(ctx, plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if req.Config.Raw.IsFullyKnown() {
		doc, moreDiags := plan.document(ctx)
		resp.Diagnostics.Append(moreDiags...)
		resp.Diagnostics.Append(fieldDiagnostics(doc.Validate())...)
		if !resp.Diagnostics.HasError() {
			resp.Diagnostics.Append(r.session.foreseeConflicts(ctx, plan.self().Repository.ValueString(), doc)...)
			resp.Diagnostics.Append(r.session.foreseeSealing(doc)...)
		}
	}
	var before *M
	if !req.State.Raw.IsNull() && len(resp.RequiresReplace) == 0 {
		before = new(M)
		resp.Diagnostics.Append(req.State.Get(ctx, before)...)
	}
	if c, ok := any(plan).(completed[M]); ok && !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(c.foresee(ctx, before)...)
		resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
	}
}

// Create declares a document that must not be declared yet.
func (r *documentResource[M, D]) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan D = new(M)
	resp.Diagnostics.Append(req.Plan.Get(ctx, plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	h := plan.self()
	h.ID = types.StringValue(identifier(h.Repository.ValueString(), h.Environment.ValueString(), h.Name.ValueString()))
	_, exists, err := r.session.declared(ctx, h.Repository.ValueString(), h.ref(r.kind))
	if err != nil {
		resp.Diagnostics.Append(failure("read", h.ID.ValueString(), err)...)
		return
	}
	if exists {
		resp.Diagnostics.AddError("Document is already declared",
			"The repository declares "+h.ref(r.kind).String()+" already, from another configuration or from a run that was cut short. "+
				"Import it with the identifier "+h.ID.ValueString()+".")
		return
	}
	resp.Diagnostics.Append(r.publish(ctx, plan, nil)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
	}
}

// Read notices what others have changed or removed.
func (r *documentResource[M, D]) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state D = new(M)
	resp.Diagnostics.Append(req.State.Get(ctx, state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	h := state.self()
	doc, exists, err := r.session.declared(ctx, h.Repository.ValueString(), h.ref(r.kind))
	switch {
	case err != nil:
		resp.Diagnostics.Append(failure("read", h.ID.ValueString(), err)...)
		return
	case !exists:
		resp.State.RemoveResource(ctx)
		return
	}
	resp.Diagnostics.Append(state.load(ctx, doc)...)
	if c, ok := any(state).(completed[M]); ok && !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(c.reread(ctx, r.session)...)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}

// Update declares the document anew.
func (r *documentResource[M, D]) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan D = new(M)
	resp.Diagnostics.Append(req.Plan.Get(ctx, plan)...)
	before := new(M)
	resp.Diagnostics.Append(req.State.Get(ctx, before)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(r.publish(ctx, plan, before)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
	}
}

func (r *documentResource[M, D]) publish(ctx context.Context, plan D, before *M) diag.Diagnostics {
	var diags diag.Diagnostics
	if c, ok := any(plan).(completed[M]); ok {
		diags.Append(c.complete(ctx, r.session, before)...)
	}
	doc, moreDiags := plan.document(ctx)
	diags.Append(moreDiags...)
	if diags.HasError() {
		return diags
	}
	h := plan.self()
	if err := r.session.publish(ctx, h.Repository.ValueString(), doc); err != nil {
		diags.Append(failure("declare", h.ID.ValueString(), err)...)
	}
	return diags
}

// Delete withdraws the document. What agents have written stays, as the record of what they did.
func (r *documentResource[M, D]) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state D = new(M)
	resp.Diagnostics.Append(req.State.Get(ctx, state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	h := state.self()
	if err := r.session.remove(ctx, h.Repository.ValueString(), h.ref(r.kind)); err != nil {
		resp.Diagnostics.Append(failure("withdraw", h.ID.ValueString(), err)...)
		return
	}
	if c, ok := any(state).(completed[M]); ok {
		resp.Diagnostics.Append(c.withdrawn(ctx, r.session)...)
	}
}

// ImportState takes URL#ENVIRONMENT/NAME.
func (r *documentResource[M, D]) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	repository, environment, name, err := parseIdentifier(req.ID)
	if err != nil {
		resp.Diagnostics.AddError("Import identifier is not valid", "The identifier "+err.Error()+".")
		return
	}
	for attribute, value := range map[string]string{"id": req.ID, "repository": repository, "environment": environment, "name": name} {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(attribute), value)...)
	}
}
