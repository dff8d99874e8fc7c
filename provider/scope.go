package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/control"
)

func newScopeResource() resource.Resource {
	return &documentResource[scopeModel, *scopeModel]{kind: control.KindScope, suffix: "_scope", schema: scopeSchema}
}

// scopeModel is a scope as Terraform sees it.
type scopeModel struct {
	head
	Include          types.List   `tfsdk:"include"`
	Exclude          types.List   `tfsdk:"exclude"`
	Actions          types.Set    `tfsdk:"actions"`
	IgnoreAttributes types.Set    `tfsdk:"ignore_attributes"`
	MaxDeletes       types.Int64  `tfsdk:"max_deletes"`
	MaxChanges       types.Int64  `tfsdk:"max_changes"`
	Drift            types.Object `tfsdk:"drift"`
}

type matchModel struct {
	Address types.String `tfsdk:"address"`
	Type    types.String `tfsdk:"type"`
}

type driftModel struct {
	Mode  types.String `tfsdk:"mode"`
	Grace duration     `tfsdk:"grace"`
}

var (
	matchType = types.ObjectType{AttrTypes: map[string]attr.Type{"address": types.StringType, "type": types.StringType}}
	driftType = map[string]attr.Type{"mode": types.StringType, "grace": durationType{}}
)

func scopeSchema() schema.Schema {
	attributes := headAttributes("scope")
	attributes["include"] = matchAttribute("What the scope covers: resource instances that match any entry.", true)
	attributes["exclude"] = matchAttribute("What the scope leaves out although an entry of `include` matches it.", false)
	attributes["actions"] = schema.SetAttribute{
		ElementType: types.StringType, Optional: true,
		MarkdownDescription: "Actions that are allowed: `create`, `update`, `delete`. All, unless set. A replacement needs `create` and `delete`.",
		Validators: []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.OneOf(
			string(control.ActionCreate), string(control.ActionUpdate), string(control.ActionDelete)))},
	}
	attributes["ignore_attributes"] = schema.SetAttribute{
		ElementType: types.StringType, Optional: true,
		MarkdownDescription: "Attributes whose drift is neither reported nor corrected, as `ADDRESS.attribute` or `TYPE.attribute`.",
		Validators:          []validator.Set{setvalidator.SizeAtLeast(1)},
	}
	attributes["max_deletes"] = limitAttribute("Most deletions in one round; a plan with more is refused. No limit, unless set.")
	attributes["max_changes"] = limitAttribute("Most changes of any kind in one round; a plan with more is refused. No limit, unless set.")
	attributes["drift"] = driftAttribute()
	return schema.Schema{
		MarkdownDescription: "A scope says what an agent may touch, and what it does when somebody else has touched it. " +
			"An agent changes nothing outside of its scopes: a plan that would is refused as a whole.",
		Attributes: attributes,
	}
}

func matchAttribute(description string, required bool) schema.Attribute {
	return schema.ListNestedAttribute{
		Required: required, Optional: !required,
		MarkdownDescription: description + " Within an address, `*` stands for any characters of one step and `**` for any number of steps.",
		Validators:          []validator.List{listvalidator.SizeAtLeast(1)},
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"address": schema.StringAttribute{Optional: true, MarkdownDescription: "Address of resource instances, such as `module.network.**`. Any, unless set."},
			"type":    schema.StringAttribute{Optional: true, MarkdownDescription: "Type of resource, such as `aws_security_group*`. Any, unless set."},
		}},
	}
}

func limitAttribute(description string) schema.Attribute {
	return schema.Int64Attribute{Optional: true, MarkdownDescription: description, Validators: []validator.Int64{int64validator.Between(0, 1_000_000)}}
}

func driftAttribute() schema.Attribute {
	observe := types.ObjectValueMust(driftType, map[string]attr.Value{
		"mode": types.StringValue(string(control.DriftObserve)), "grace": durationOf(0),
	})
	return schema.SingleNestedAttribute{
		Optional: true, Computed: true, Default: objectdefault.StaticValue(observe),
		MarkdownDescription: "What the agent does about drift. It observes, unless set.",
		Attributes: map[string]schema.Attribute{
			"mode": schema.StringAttribute{
				Required: true,
				MarkdownDescription: "`observe` reports drift; `propose` reports it and corrects it once a person has approved that very plan; " +
					"`enforce` corrects it after the grace time.",
				Validators: []validator.String{stringvalidator.OneOf(string(control.DriftObserve), string(control.DriftPropose), string(control.DriftEnforce))},
			},
			"grace": schema.StringAttribute{
				CustomType: durationType{}, Optional: true, Computed: true, Default: stringdefault.StaticString("0s"),
				MarkdownDescription: "How long drift must have been seen before it is corrected, such as `10m`.",
			},
		},
	}
}

// document returns what the model declares.
func (m *scopeModel) document(ctx context.Context) (control.Declared, diag.Diagnostics) {
	scope := control.Scope{
		Version: control.FormatVersion, Environment: m.Environment.ValueString(), Name: m.Name.ValueString(),
		MaxDeletes: limitOf(m.MaxDeletes), MaxChanges: limitOf(m.MaxChanges),
	}
	var diags diag.Diagnostics
	scope.Include = matches(ctx, m.Include, &diags)
	scope.Exclude = matches(ctx, m.Exclude, &diags)
	for _, action := range sortedTexts(ctx, m.Actions, &diags) {
		scope.Actions = append(scope.Actions, control.Action(action))
	}
	scope.IgnoreAttributes = sortedTexts(ctx, m.IgnoreAttributes, &diags)
	drift := objectAs[driftModel](ctx, m.Drift, &diags)
	scope.Drift = control.Drift{Mode: control.DriftMode(drift.Mode.ValueString()), Grace: drift.Grace.of()}
	return scope, diags
}

// load takes over what is declared.
func (m *scopeModel) load(ctx context.Context, doc control.Declared) diag.Diagnostics {
	scope, ok := doc.(control.Scope)
	if !ok {
		return wrongDocument(doc)
	}
	var diags diag.Diagnostics
	m.Include = matchList(ctx, scope.Include, &diags)
	m.Exclude = matchList(ctx, scope.Exclude, &diags)
	actions := make([]string, len(scope.Actions))
	for i, action := range scope.Actions {
		actions[i] = string(action)
	}
	m.Actions = textSet(ctx, actions, &diags)
	m.IgnoreAttributes = textSet(ctx, scope.IgnoreAttributes, &diags)
	m.MaxDeletes, m.MaxChanges = limitValue(scope.MaxDeletes), limitValue(scope.MaxChanges)
	m.Drift = objectFrom(ctx, driftType, driftModel{types.StringValue(string(scope.Drift.Mode)), durationOf(time.Duration(scope.Drift.Grace))}, &diags)
	return diags
}

func matches(ctx context.Context, list types.List, diags *diag.Diagnostics) []control.Match {
	var models []matchModel
	diags.Append(list.ElementsAs(ctx, &models, false)...)
	var out []control.Match
	for _, model := range models {
		out = append(out, control.Match{Address: model.Address.ValueString(), Type: model.Type.ValueString()})
	}
	return out
}

func matchList(ctx context.Context, matches []control.Match, diags *diag.Diagnostics) types.List {
	if len(matches) == 0 {
		return types.ListNull(matchType)
	}
	models := make([]matchModel, len(matches))
	for i, match := range matches {
		models[i] = matchModel{optionalText(match.Address), optionalText(match.Type)}
	}
	list, moreDiags := types.ListValueFrom(ctx, matchType, models)
	diags.Append(moreDiags...)
	return list
}

func limitOf(value types.Int64) *int {
	if value.IsNull() || value.IsUnknown() {
		return nil
	}
	limit := int(value.ValueInt64())
	return &limit
}

func limitValue(limit *int) types.Int64 {
	if limit == nil {
		return types.Int64Null()
	}
	return types.Int64Value(int64(*limit))
}
