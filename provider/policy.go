package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/control"
	rego "github.com/towline/terraform-provider-towline/internal/policy"
)

func newPolicyResource() resource.Resource {
	return &documentResource[policyModel, *policyModel]{kind: control.KindPolicy, suffix: "_policy", schema: policySchema}
}

// policyModel is a set of Rego policies as Terraform sees it.
type policyModel struct {
	head
	Modules     types.Map    `tfsdk:"modules"`
	Enforcement types.String `tfsdk:"enforcement"`
	WarnUntil   types.String `tfsdk:"warn_until"`
}

func policySchema() schema.Schema {
	attributes := headAttributes("policy")
	attributes["modules"] = schema.MapAttribute{
		ElementType: types.StringType, Required: true,
		MarkdownDescription: "Rego files by name, as in `{ \"deletions.rego\" = file(\"policies/deletions.rego\") }`. Rules called `deny`, `violation` and `warn`, " +
			"also with a suffix as in `deny_public`, are asked in every package, with Terraform's plan JSON as `input`: policies for conftest work as they are.",
		Validators: []validator.Map{mapvalidator.SizeAtLeast(1), regoRule{}},
	}
	attributes["enforcement"] = schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(string(control.EnforceDeny)),
		MarkdownDescription: "What a denial does: `deny` keeps the plan from being applied as a whole, `warn` only tells of it. `deny`, unless set.",
		Validators:          []validator.String{stringvalidator.OneOf(string(control.EnforceDeny), string(control.EnforceWarn))},
	}
	attributes["warn_until"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "Until this time, as in `2030-01-31T12:00:00Z`, denials only warn: a window in which people mend what a new policy finds.",
		Validators: []validator.String{textRule{"Time is not valid", func(text string) error {
			_, err := time.Parse(time.RFC3339, text)
			return explain(err, "must be a time such as 2030-01-31T12:00:00Z")
		}}},
	}
	return schema.Schema{
		MarkdownDescription: "A policy is a set of Rego rules that every plan of the environment's agents is asked about before it is applied. " +
			"It is declared with the environment, so that who publishes revisions cannot leave it out; policies in the folder `policy` of a revision are asked as well.",
		Attributes: attributes,
	}
}

// regoRule compiles the modules, so that a mistake is found while planning.
type regoRule struct{}

// Description says what the rule is for.
func (regoRule) Description(context.Context) string { return "must be Rego modules that compile" }

// MarkdownDescription is as Description.
func (r regoRule) MarkdownDescription(ctx context.Context) string { return r.Description(ctx) }

// ValidateMap implements [validator.Map].
func (regoRule) ValidateMap(ctx context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	modules := map[string]types.String{}
	if req.ConfigValue.IsUnknown() || req.ConfigValue.ElementsAs(ctx, &modules, false).HasError() {
		return
	}
	files := make(map[string][]byte, len(modules))
	for name, module := range modules {
		if module.IsUnknown() {
			return
		}
		files[name] = []byte(module.ValueString())
	}
	_, found := rego.Compile(ctx, []rego.Source{{Name: "this policy", Files: files}})
	for _, d := range found {
		resp.Diagnostics.AddAttributeError(req.Path, d.Summary, d.Detail)
	}
}

// document returns what the model declares.
func (m *policyModel) document(ctx context.Context) (control.Declared, diag.Diagnostics) {
	doc := control.Policy{
		Version: control.FormatVersion, Environment: m.Environment.ValueString(), Name: m.Name.ValueString(),
		Enforcement: control.Enforcement(m.Enforcement.ValueString()),
	}
	diags := m.Modules.ElementsAs(ctx, &doc.Modules, false)
	if text := m.WarnUntil.ValueString(); text != "" {
		until, err := time.Parse(time.RFC3339, text)
		if err != nil {
			diags.AddError("Time is not valid", "The attribute warn_until must be a time such as 2030-01-31T12:00:00Z.")
		}
		doc.WarnUntil = until.UTC()
	}
	return doc, diags
}

// load takes over what is declared.
func (m *policyModel) load(ctx context.Context, doc control.Declared) diag.Diagnostics {
	declared, ok := doc.(control.Policy)
	if !ok {
		return wrongDocument(doc)
	}
	var diags, moreDiags diag.Diagnostics
	m.Modules, moreDiags = types.MapValueFrom(ctx, types.StringType, declared.Modules)
	diags.Append(moreDiags...)
	m.Enforcement = types.StringValue(string(declared.Enforcement))
	if declared.Enforcement == "" {
		m.Enforcement = types.StringValue(string(control.EnforceDeny))
	}
	// The same time may be written in several ways; the one that is configured stays.
	if before, err := time.Parse(time.RFC3339, m.WarnUntil.ValueString()); err != nil || !before.Equal(declared.WarnUntil) {
		m.WarnUntil = types.StringNull()
		if !declared.WarnUntil.IsZero() {
			m.WarnUntil = types.StringValue(declared.WarnUntil.Format(time.RFC3339))
		}
	}
	return diags
}
