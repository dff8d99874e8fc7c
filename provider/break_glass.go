package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/control"
)

func newBreakGlassResource() resource.Resource {
	return &documentResource[breakGlassModel, *breakGlassModel]{kind: control.KindBreakGlass, suffix: "_break_glass_policy", schema: breakGlassSchema}
}

// breakGlassModel is a break-glass policy as Terraform sees it.
type breakGlassModel struct {
	head
	Scopes        types.Set    `tfsdk:"scopes"`
	Approvers     types.Set    `tfsdk:"approvers"`
	Approvals     types.Int64  `tfsdk:"approvals"`
	MaxDuration   duration     `tfsdk:"max_duration"`
	RequireReason types.Bool   `tfsdk:"require_reason"`
	After         types.String `tfsdk:"after"`
	// SlackUsers are approvers by the IDs of users.
	SlackUsers types.Map `tfsdk:"slack_users"`
}

func breakGlassSchema() schema.Schema {
	attributes := headAttributes("policy")
	attributes["scopes"] = scopesAttribute("Names of the scopes over which a grant may be opened.")
	attributes["approvers"] = approversAttribute("Public keys of the people who may open and approve grants, as in OpenSSH's `authorized_keys`.")
	attributes["approvals"] = schema.Int64Attribute{
		Optional: true, Computed: true, Default: int64default.StaticInt64(1),
		MarkdownDescription: "How many approvers must sign a grant, its opener included. One, unless set.",
		Validators:          []validator.Int64{int64validator.AtLeast(1)},
	}
	attributes["max_duration"] = schema.StringAttribute{
		CustomType: durationType{}, Required: true, MarkdownDescription: "Longest time for which a grant may be opened, such as `4h`.",
	}
	attributes["require_reason"] = schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(true),
		MarkdownDescription: "Whether a grant must say why. It must, unless set.",
	}
	attributes["after"] = schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(string(control.AfterRevert)),
		MarkdownDescription: "What happens to the difference when a grant ends: `revert` corrects it at once where the scope enforces, and leaves it to the scope's drift policy elsewhere; " +
			"`hold` leaves it and goes on reporting it until nothing differs any more, because the configuration has caught up; `propose` corrects it, where the scope corrects or proposes, once a person has approved that very plan. `revert`, unless set.",
		Validators: []validator.String{stringvalidator.OneOf(string(control.AfterRevert), string(control.AfterHold), string(control.AfterPropose))},
	}
	attributes["slack_users"] = slackUsersAttribute("Which approvers people are in Slack, so that they may open, approve and close grants there, with the buttons of an agent's message: IDs of users, such as `U012AB3CD`, with the approver's key as `approvers` has it, or the first 32 digits of its SHA-256. " +
		"Whoever clicks and signs counts once. With it Slack itself, and whoever has the machine of an agent with an app in the environment, can keep objects from being corrected for as long as the policy allows, and end grants; without it nobody breaks the glass in Slack.")
	return schema.Schema{
		MarkdownDescription: "A break-glass policy says who may suspend the correction of drift, over what, for how long and with whose approval.",
		Attributes:          attributes,
	}
}

// approversAttribute lists public keys of people.
func approversAttribute(description string) schema.Attribute {
	return schema.SetAttribute{
		ElementType: types.StringType, Required: true, MarkdownDescription: description,
		Validators: []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(textRule{"Approver is not valid", func(line string) error {
			_, err := control.ParseApprover(line)
			return explain(err, "must be a public key such as \"ssh-ed25519 AAAA… name\"")
		}})},
	}
}

// scopesAttribute lists scopes by name.
func scopesAttribute(description string) schema.Attribute {
	return schema.SetAttribute{
		ElementType: types.StringType, Required: true, MarkdownDescription: description,
		Validators: []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(nameRule)},
	}
}

// document returns what the model declares.
func (m *breakGlassModel) document(ctx context.Context) (control.Declared, diag.Diagnostics) {
	var diags diag.Diagnostics
	var users map[string]string
	diags.Append(m.SlackUsers.ElementsAs(ctx, &users, false)...)
	return control.BreakGlassPolicy{
		Version: control.FormatVersion, Environment: m.Environment.ValueString(), Name: m.Name.ValueString(),
		Scopes: sortedTexts(ctx, m.Scopes, &diags), Approvers: sortedTexts(ctx, m.Approvers, &diags),
		Approvals: int(m.Approvals.ValueInt64()), MaxDuration: m.MaxDuration.of(),
		RequireReason: m.RequireReason.ValueBool(), After: control.After(m.After.ValueString()), SlackUsers: users,
	}, diags
}

// load takes over what is declared.
func (m *breakGlassModel) load(ctx context.Context, doc control.Declared) diag.Diagnostics {
	policy, ok := doc.(control.BreakGlassPolicy)
	if !ok {
		return wrongDocument(doc)
	}
	var diags diag.Diagnostics
	m.Scopes = textSet(ctx, policy.Scopes, &diags)
	m.Approvers = textSet(ctx, policy.Approvers, &diags)
	m.Approvals = types.Int64Value(int64(policy.Approvals))
	m.MaxDuration = durationOf(time.Duration(policy.MaxDuration))
	m.RequireReason = types.BoolValue(policy.RequireReason)
	m.After = types.StringValue(string(policy.After))
	m.SlackUsers = labels(ctx, policy.SlackUsers, &diags)
	return diags
}
