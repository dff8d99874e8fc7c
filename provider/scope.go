package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
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
	MaxShare         types.Int64  `tfsdk:"max_share"`
	Windows          types.List   `tfsdk:"windows"`
	Drift            types.Object `tfsdk:"drift"`
	Inventories      types.List   `tfsdk:"inventories"`
	Approval         types.Object `tfsdk:"approval"`
}

// document returns what the model declares.
func (m *scopeModel) document(ctx context.Context) (control.Declared, diag.Diagnostics) {
	scope := control.Scope{
		Version: control.FormatVersion, Environment: m.Environment.ValueString(), Name: m.Name.ValueString(),
		MaxDeletes: limitOf(m.MaxDeletes), MaxChanges: limitOf(m.MaxChanges), MaxShare: limitOf(m.MaxShare),
	}
	var diags diag.Diagnostics
	scope.Include = listAs(ctx, m.Include, includeModel.match, &diags)
	scope.Exclude = listAs(ctx, m.Exclude, matchModel.match, &diags)
	for _, action := range sortedTexts(ctx, m.Actions, &diags) {
		scope.Actions = append(scope.Actions, control.Action(action))
	}
	scope.IgnoreAttributes = sortedTexts(ctx, m.IgnoreAttributes, &diags)
	scope.Windows = listAs(ctx, m.Windows, windowModel.window, &diags)
	scope.Drift = objectAs[driftModel](ctx, m.Drift, &diags).drift(ctx, &diags)
	scope.Inventories = listAs(ctx, m.Inventories, inventoryModel.inventory, &diags)
	scope.Approval = m.approval(ctx, &diags)
	return scope, diags
}

// load takes over what is declared.
func (m *scopeModel) load(ctx context.Context, doc control.Declared) diag.Diagnostics {
	scope, ok := doc.(control.Scope)
	if !ok {
		return wrongDocument(doc)
	}
	var diags diag.Diagnostics
	m.Include = listFrom(ctx, includeType, scope.Include, includeOf, &diags)
	m.Exclude = listFrom(ctx, matchType, scope.Exclude, matchOf, &diags)
	actions := make([]string, len(scope.Actions))
	for i, action := range scope.Actions {
		actions[i] = string(action)
	}
	m.Actions = textSet(ctx, actions, &diags)
	m.IgnoreAttributes = textSet(ctx, scope.IgnoreAttributes, &diags)
	m.MaxDeletes, m.MaxChanges, m.MaxShare = limitValue(scope.MaxDeletes), limitValue(scope.MaxChanges), limitValue(scope.MaxShare)
	m.Windows = listFrom(ctx, windowType, scope.Windows, windowOf, &diags)
	m.Drift = objectFrom(ctx, driftType, driftOf(ctx, scope.Drift, &diags), &diags)
	m.Inventories = listFrom(ctx, inventoryType, scope.Inventories, inventoryOf, &diags)
	m.Approval = approvalOf(ctx, scope.Approval, &diags)
	return diags
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
