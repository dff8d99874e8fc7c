package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// joinTokenResource hands out the token of a declared agent.
type joinTokenResource struct{ session *session }

var _ ephemeral.EphemeralResourceWithConfigure = (*joinTokenResource)(nil)

func newJoinTokenResource() ephemeral.EphemeralResource { return &joinTokenResource{} }

type joinTokenModel struct {
	Agent      types.String `tfsdk:"agent"`
	Token      types.String `tfsdk:"token"`
	PublicKey  types.String `tfsdk:"public_key"`
	Generation types.Int64  `tfsdk:"generation"`
	Expires    types.String `tfsdk:"expires_at"`
}

// Metadata names the ephemeral resource.
func (r *joinTokenResource) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_join_token"
}

// Schema describes the ephemeral resource.
func (r *joinTokenResource) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The join token of a declared agent, for a write-only argument of whatever carries it to the agent's machine.\n\n" +
			"The token is derived from the signing key and the agent's declaration: it is the same in every run until " +
			"`join_token_version` of the agent changes, and it is stored nowhere. It works once, and until it expires.",
		Attributes: map[string]schema.Attribute{
			"agent": schema.StringAttribute{
				Required: true, MarkdownDescription: "The `id` of a `towline_agent`.",
				Validators: []validator.String{textRule{"Agent is not valid", func(text string) error {
					_, _, _, err := parseIdentifier(text)
					return explain(err, "must be the id of a towline_agent: URL#ENVIRONMENT/NAME")
				}}},
			},
			"token":      schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The token: an ed25519 seed in base64."},
			"public_key": schema.StringAttribute{Computed: true, MarkdownDescription: "Public half of the token, in base64."},
			"generation": schema.Int64Attribute{Computed: true, MarkdownDescription: "Number of the enrolment that the token is for. Use it as the version of a write-only argument."},
			"expires_at": schema.StringAttribute{Computed: true, MarkdownDescription: "When the token expires, RFC 3339."},
		},
	}
}

// Configure takes the provider's session.
func (r *joinTokenResource) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	r.session = configured(req.ProviderData, &resp.Diagnostics)
}

// Open derives the token and makes sure that it is the declared one.
func (r *joinTokenResource) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var model joinTokenModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	repository, environment, name, err := parseIdentifier(model.Agent.ValueString())
	if err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("agent"), "Agent is not valid", "The identifier "+err.Error()+".")
		return
	}
	ref := control.Ref{Kind: control.KindAgent, Environment: environment, Name: name}
	doc, exists, err := r.session.declared(ctx, repository, ref)
	agent, isAgent := doc.(control.Agent)
	if err != nil || !exists || !isAgent {
		if err == nil {
			err = errNotDeclared
		}
		resp.Diagnostics.Append(failure("read", model.Agent.ValueString(), err)...)
		return
	}
	declared := agentModel{
		head:           head{model.Agent, types.StringValue(repository), types.StringValue(environment), types.StringValue(name)},
		JoinGeneration: types.Int64Value(int64(agent.Join.Generation)),
		JoinExpires:    types.StringValue(agent.Join.Expires.Format(time.RFC3339)),
	}
	token, moreDiags := declared.token(ctx, r.session)
	resp.Diagnostics.Append(moreDiags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if publicHalf(token) != agent.Join.PublicKey {
		resp.Diagnostics.AddError("Join token is not the declared one",
			"The agent "+model.Agent.ValueString()+" was declared with another signing key, so that its token cannot be made again. "+
				"Raise join_token_version of the agent to issue a new one.")
		return
	}
	model.Token, model.PublicKey = types.StringValue(tokenText(token)), types.StringValue(agent.Join.PublicKey)
	model.Generation, model.Expires = declared.JoinGeneration, declared.JoinExpires
	resp.Diagnostics.Append(resp.Result.Set(ctx, &model)...)
}
