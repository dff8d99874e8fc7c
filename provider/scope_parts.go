package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// The nested parts of a scope, each as Terraform sees it, with its type and the way
// to the document and back.

type matchModel struct {
	Address  types.String `tfsdk:"address"`
	Type     types.String `tfsdk:"type"`
	Module   types.String `tfsdk:"module"`
	Provider types.String `tfsdk:"provider"`
}

// includeModel is a match that may tell attributes apart.
type includeModel struct {
	matchModel
	Attributes []string `tfsdk:"attributes"`
	Except     []string `tfsdk:"except"`
}

type windowModel struct {
	Days  []string     `tfsdk:"days"`
	From  types.String `tfsdk:"from"`
	Until types.String `tfsdk:"until"`
}

type driftModel struct {
	Mode        types.String `tfsdk:"mode"`
	Grace       duration     `tfsdk:"grace"`
	Rules       types.List   `tfsdk:"rules"`
	Ignore      types.Set    `tfsdk:"ignore"`
	Oscillation types.Object `tfsdk:"oscillation"`
}

type ruleModel struct {
	Attributes []string     `tfsdk:"attributes"`
	Mode       types.String `tfsdk:"mode"`
	Grace      duration     `tfsdk:"grace"`
}

type oscillationModel struct {
	Times   types.Int64  `tfsdk:"times"`
	Within  duration     `tfsdk:"within"`
	Resumed types.String `tfsdk:"resumed"`
}

type inventoryModel struct {
	Data types.String `tfsdk:"data"`
	List types.String `tfsdk:"list"`
	ID   types.String `tfsdk:"id"`
}

var (
	textList  = types.ListType{ElemType: types.StringType}
	matchType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"address": types.StringType, "type": types.StringType, "module": types.StringType, "provider": types.StringType,
	}}
	includeType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"address": types.StringType, "type": types.StringType, "module": types.StringType, "provider": types.StringType, "attributes": textList, "except": textList,
	}}
	windowType      = types.ObjectType{AttrTypes: map[string]attr.Type{"days": textList, "from": types.StringType, "until": types.StringType}}
	ruleType        = types.ObjectType{AttrTypes: map[string]attr.Type{"attributes": textList, "mode": types.StringType, "grace": durationType{}}}
	oscillationType = map[string]attr.Type{"times": types.Int64Type, "within": durationType{}, "resumed": types.StringType}
	driftType       = map[string]attr.Type{
		"mode": types.StringType, "grace": durationType{}, "rules": types.ListType{ElemType: ruleType},
		"ignore": types.SetType{ElemType: types.StringType}, "oscillation": types.ObjectType{AttrTypes: oscillationType},
	}
	inventoryType = types.ObjectType{AttrTypes: map[string]attr.Type{"data": types.StringType, "list": types.StringType, "id": types.StringType}}
)

func (m matchModel) match() control.Match {
	return control.Match{Address: m.Address.ValueString(), Type: m.Type.ValueString(), Module: m.Module.ValueString(), Provider: m.Provider.ValueString()}
}

func matchOf(m control.Match) matchModel {
	return matchModel{optionalText(m.Address), optionalText(m.Type), optionalText(m.Module), optionalText(m.Provider)}
}

func (m includeModel) match() control.Match {
	match := m.matchModel.match()
	match.Attributes, match.Except = m.Attributes, m.Except
	return match
}

func includeOf(m control.Match) includeModel { return includeModel{matchOf(m), m.Attributes, m.Except} }

func (m windowModel) window() control.Window {
	return control.Window{Days: m.Days, From: m.From.ValueString(), Until: m.Until.ValueString()}
}

func windowOf(w control.Window) windowModel {
	return windowModel{w.Days, types.StringValue(w.From), types.StringValue(w.Until)}
}

func (m driftModel) drift(ctx context.Context, diags *diag.Diagnostics) control.Drift {
	out := control.Drift{Mode: control.DriftMode(m.Mode.ValueString()), Grace: m.Grace.of(), Rules: listAs(ctx, m.Rules, ruleModel.rule, diags), Ignore: sortedTexts(ctx, m.Ignore, diags)}
	if m.Oscillation.IsNull() || m.Oscillation.IsUnknown() {
		return out
	}
	o := objectAs[oscillationModel](ctx, m.Oscillation, diags)
	out.Oscillation = &control.Oscillation{Times: int(o.Times.ValueInt64()), Within: o.Within.of()}
	if text := o.Resumed.ValueString(); text != "" {
		resumed, err := time.Parse(time.RFC3339, text)
		if err != nil {
			diags.AddAttributeError(attributePath("drift.oscillation.resumed"), "Attribute is not valid", "The attribute drift.oscillation.resumed must be a time such as 2026-01-02T15:04:05Z.")
		}
		out.Oscillation.Resumed = resumed.UTC()
	}
	return out
}

func driftOf(ctx context.Context, d control.Drift, diags *diag.Diagnostics) driftModel {
	out := driftModel{Mode: types.StringValue(string(d.Mode)), Grace: durationOf(time.Duration(d.Grace)),
		Rules: listFrom(ctx, ruleType, d.Rules, ruleOf, diags), Ignore: textSet(ctx, d.Ignore, diags), Oscillation: types.ObjectNull(oscillationType)}
	if o := d.Oscillation; o != nil {
		model := oscillationModel{types.Int64Value(int64(o.Times)), durationOf(time.Duration(o.Within)), types.StringNull()}
		if !o.Resumed.IsZero() {
			model.Resumed = types.StringValue(o.Resumed.Format(time.RFC3339))
		}
		out.Oscillation = objectFrom(ctx, oscillationType, model, diags)
	}
	return out
}

func (m ruleModel) rule() control.DriftRule {
	return control.DriftRule{Attributes: m.Attributes, Mode: control.DriftMode(m.Mode.ValueString()), Grace: m.Grace.of()}
}

func ruleOf(r control.DriftRule) ruleModel {
	return ruleModel{r.Attributes, types.StringValue(string(r.Mode)), durationOf(time.Duration(r.Grace))}
}

func (m inventoryModel) inventory() control.Inventory {
	return control.Inventory{Data: m.Data.ValueString(), List: m.List.ValueString(), ID: m.ID.ValueString()}
}

func inventoryOf(i control.Inventory) inventoryModel {
	return inventoryModel{types.StringValue(i.Data), optionalText(i.List), optionalText(i.ID)}
}

// listAs reads a list of nested objects; what is null or unknown is none.
func listAs[Model, Part any](ctx context.Context, list types.List, part func(Model) Part, diags *diag.Diagnostics) []Part {
	var models []Model
	if list.IsNull() || list.IsUnknown() {
		return nil
	}
	diags.Append(list.ElementsAs(ctx, &models, false)...)
	var out []Part
	for _, model := range models {
		out = append(out, part(model))
	}
	return out
}

// listFrom is null for no elements: that is how documents write a list that is not set.
func listFrom[Model, Part any](ctx context.Context, of types.ObjectType, parts []Part, model func(Part) Model, diags *diag.Diagnostics) types.List {
	if len(parts) == 0 {
		return types.ListNull(of)
	}
	models := make([]Model, len(parts))
	for i, part := range parts {
		models[i] = model(part)
	}
	list, moreDiags := types.ListValueFrom(ctx, of, models)
	diags.Append(moreDiags...)
	return list
}
