package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// approvalModel says who approves what is proposed in a scope.
type approvalModel struct {
	Approvers types.Set   `tfsdk:"approvers"`
	Approvals types.Int64 `tfsdk:"approvals"`
	Changes   types.Bool  `tfsdk:"changes"`
	// SlackUsers are approvers by the IDs of users.
	SlackUsers types.Map `tfsdk:"slack_users"`
}

var approvalType = map[string]attr.Type{"approvers": types.SetType{ElemType: types.StringType}, "approvals": types.Int64Type, "changes": types.BoolType,
	"slack_users": types.MapType{ElemType: types.StringType}}

func approvalAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Who approves what is proposed in the scope, with `towline plans approve`. A decision holds for one plan: " +
			"when anything that it was made of changes, another takes its place. Without it nothing that is proposed can be approved.",
		Attributes: map[string]schema.Attribute{
			"approvers": approversAttribute("Public keys of the people who may approve and reject plans, as in OpenSSH's `authorized_keys`."),
			"approvals": schema.Int64Attribute{
				Optional: true, Computed: true, Default: int64default.StaticInt64(1),
				MarkdownDescription: "How many approvers must approve a plan. One, unless set.", Validators: []validator.Int64{int64validator.AtLeast(1)},
			},
			"slack_users": slackUsersAttribute("Which approvers people are in Slack, so that their clicks count: IDs of users, such as `U012AB3CD`, with the approver's key as `approvers` has it, or the first 32 digits of its SHA-256. " +
				"Whoever clicks and signs counts once. With it Slack itself, and whoever has the machine of an agent with an app in the environment, can approve; without it nobody approves in Slack."),
			"changes": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(false),
				MarkdownDescription: "Whether what a revision changes needs approval as well, and not only what is proposed about drift. While it waits nothing of it is applied, and the revision before stays in force: drift from that is corrected. It does not, unless set.",
			},
		},
	}
}

// approval returns what is declared, nil if nothing is.
func (m *scopeModel) approval(ctx context.Context, diags *diag.Diagnostics) *control.Approval {
	if m.Approval.IsNull() || m.Approval.IsUnknown() {
		return nil
	}
	model := objectAs[approvalModel](ctx, m.Approval, diags)
	approval := &control.Approval{
		Approvers: sortedTexts(ctx, model.Approvers, diags), Approvals: int(model.Approvals.ValueInt64()), Changes: model.Changes.ValueBool(),
	}
	diags.Append(model.SlackUsers.ElementsAs(ctx, &approval.SlackUsers, false)...)
	return approval
}

func approvalOf(ctx context.Context, approval *control.Approval, diags *diag.Diagnostics) types.Object {
	if approval == nil {
		return types.ObjectNull(approvalType)
	}
	return objectFrom(ctx, approvalType, approvalModel{
		textSet(ctx, approval.Approvers, diags), types.Int64Value(int64(approval.Needed())), types.BoolValue(approval.Changes), labels(ctx, approval.SlackUsers, diags),
	}, diags)
}
