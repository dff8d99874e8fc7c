package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/control"
)

func newAgentResource() resource.Resource {
	return &documentResource[agentModel, *agentModel]{kind: control.KindAgent, suffix: "_agent", schema: agentSchema}
}

// agentModel is an agent as Terraform sees it.
type agentModel struct {
	head
	Channel      types.String `tfsdk:"channel"`
	Shard        types.String `tfsdk:"shard"`
	Scopes       types.Set    `tfsdk:"scopes"`
	Labels       types.Map    `tfsdk:"labels"`
	PollInterval duration     `tfsdk:"poll_interval"`
	Heartbeat    duration     `tfsdk:"heartbeat"`
	Refresh      types.Object `tfsdk:"refresh"`
	Slack        types.Object `tfsdk:"slack"`
	Recipients   types.Set    `tfsdk:"recipients"`
	Signals      types.Object `tfsdk:"signals"`

	// What the user says about the join token, and what came of it.
	JoinTokenVersion  types.Int64  `tfsdk:"join_token_version"`
	JoinTokenLifetime duration     `tfsdk:"join_token_lifetime"`
	JoinTokenFile     types.String `tfsdk:"join_token_file"`
	JoinGeneration    types.Int64  `tfsdk:"join_generation"`
	JoinPublicKey     types.String `tfsdk:"join_public_key"`
	JoinExpires       types.String `tfsdk:"join_token_expires_at"`

	// What the machine is like, and what it needs.
	JoinTokenSource types.Object `tfsdk:"join_token_source"`
	DataDir         types.String `tfsdk:"data_dir"`
	Mirrors         types.List   `tfsdk:"mirrors"`
	Download        types.Object `tfsdk:"download"`
	Bootstrap       types.Object `tfsdk:"bootstrap"`
}

type refreshModel struct {
	Budget types.Float64 `tfsdk:"budget"`
	Within duration      `tfsdk:"within"`
}

type signalsModel struct {
	Keys  types.Set    `tfsdk:"keys"`
	Queue types.String `tfsdk:"queue"`
}

type sourceModel struct {
	File           types.String `tfsdk:"file"`
	Env            types.String `tfsdk:"env"`
	SSMParameter   types.String `tfsdk:"ssm_parameter"`
	SecretsManager types.String `tfsdk:"secrets_manager"`
}

type downloadModel struct {
	URL    types.String `tfsdk:"url"`
	SHA256 types.String `tfsdk:"sha256"`
}

type bootstrapModel struct {
	CloudInit   types.String `tfsdk:"cloud_init"`
	AgentConfig types.String `tfsdk:"agent_config"`
	SystemdUnit types.String `tfsdk:"systemd_unit"`
	IAMPolicy   types.String `tfsdk:"iam_policy"`
	TrustedRoot types.String `tfsdk:"trusted_root"`
}

var (
	refreshType   = map[string]attr.Type{"budget": types.Float64Type, "within": durationType{}}
	signalsType   = map[string]attr.Type{"keys": types.SetType{ElemType: types.StringType}, "queue": types.StringType}
	bootstrapType = texts("cloud_init", "agent_config", "systemd_unit", "iam_policy", "trusted_root")
)

func texts(names ...string) map[string]attr.Type {
	out := make(map[string]attr.Type, len(names))
	for _, name := range names {
		out[name] = types.StringType
	}
	return out
}

// document returns what the model declares.
func (m *agentModel) document(ctx context.Context) (control.Declared, diag.Diagnostics) {
	var diags diag.Diagnostics
	agent := control.Agent{
		Version: control.FormatVersion, Environment: m.Environment.ValueString(), Name: m.Name.ValueString(),
		Channel: m.Channel.ValueString(), Shard: m.Shard.ValueString(), Scopes: sortedTexts(ctx, m.Scopes, &diags),
		PollInterval: m.PollInterval.of(), Heartbeat: m.Heartbeat.of(),
		Join: control.Join{
			Generation: int(m.JoinGeneration.ValueInt64()), PublicKey: m.JoinPublicKey.ValueString(), Expires: m.expires(),
		},
	}
	diags.Append(m.Labels.ElementsAs(ctx, &agent.Labels, false)...)
	if !m.Refresh.IsNull() {
		refresh := objectAs[refreshModel](ctx, m.Refresh, &diags)
		agent.Refresh = &control.Refresh{Budget: refresh.Budget.ValueFloat64(), Within: refresh.Within.of()}
	}
	if !m.Slack.IsNull() {
		agent.Slack = objectAs[slackModel](ctx, m.Slack, &diags).declared()
	}
	agent.Recipients = sortedTexts(ctx, m.Recipients, &diags)
	if !m.Signals.IsNull() {
		signals := objectAs[signalsModel](ctx, m.Signals, &diags)
		agent.Signals = &control.Signals{Keys: sortedTexts(ctx, signals.Keys, &diags), Queue: signals.Queue.ValueString()}
	}
	return agent, diags
}

// expires is the zero time while there is no token yet.
func (m *agentModel) expires() time.Time {
	at, err := time.Parse(time.RFC3339, m.JoinExpires.ValueString())
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// load takes over what is declared. What only the configuration knows stays, and
// gets its default after an import.
func (m *agentModel) load(ctx context.Context, doc control.Declared) diag.Diagnostics {
	agent, ok := doc.(control.Agent)
	if !ok {
		return wrongDocument(doc)
	}
	var diags diag.Diagnostics
	m.Channel = types.StringValue(agent.Channel)
	m.Scopes = textSet(ctx, agent.Scopes, &diags)
	if len(agent.Labels) > 0 || m.Labels.IsNull() || len(m.Labels.Elements()) > 0 {
		m.Labels = labels(ctx, agent.Labels, &diags)
	}
	m.Shard = optionalText(agent.Shard)
	m.PollInterval, m.Heartbeat = durationOf(time.Duration(agent.PollInterval)), durationOf(agent.Period())
	m.Refresh = types.ObjectNull(refreshType)
	if f := agent.Refresh; f != nil {
		m.Refresh = objectFrom(ctx, refreshType, refreshModel{types.Float64Value(f.Budget), durationOf(time.Duration(f.Within))}, &diags)
	}
	m.Slack = types.ObjectNull(slackType)
	if s := agent.Slack; s != nil {
		m.Slack = objectFrom(ctx, slackType, slackModelOf(*s), &diags)
	}
	m.Recipients = textSet(ctx, agent.Recipients, &diags)
	m.Signals = types.ObjectNull(signalsType)
	if s := agent.Signals; s != nil {
		m.Signals = objectFrom(ctx, signalsType, signalsModel{textSet(ctx, s.Keys, &diags), optionalText(s.Queue)}, &diags)
	}
	m.JoinGeneration = types.Int64Value(int64(agent.Join.Generation))
	m.JoinPublicKey = types.StringValue(agent.Join.PublicKey)
	m.JoinExpires = types.StringValue(agent.Join.Expires.Format(time.RFC3339))
	if m.JoinTokenVersion.IsNull() {
		m.JoinTokenVersion, m.JoinTokenLifetime = m.JoinGeneration, durationOf(defaultTokenLifetime)
		m.DataDir = types.StringValue(defaultDataDir)
	}
	return diags
}

func labels(ctx context.Context, values map[string]string, diags *diag.Diagnostics) types.Map {
	if len(values) == 0 {
		return types.MapNull(types.StringType)
	}
	out, moreDiags := types.MapValueFrom(ctx, types.StringType, values)
	diags.Append(moreDiags...)
	return out
}

// foresee keeps the enrolment unless a new token is asked for, and renders the bootstrap anew.
func (m *agentModel) foresee(ctx context.Context, before *agentModel) diag.Diagnostics {
	if before == nil {
		return nil
	}
	m.JoinGeneration, m.JoinPublicKey, m.JoinExpires = before.JoinGeneration, before.JoinPublicKey, before.JoinExpires
	if !m.JoinTokenVersion.Equal(before.JoinTokenVersion) {
		m.JoinGeneration = types.Int64Value(before.JoinGeneration.ValueInt64() + 1)
		m.JoinPublicKey, m.JoinExpires = types.StringUnknown(), types.StringUnknown()
	}
	if !m.machineKnown() {
		m.Bootstrap = types.ObjectUnknown(bootstrapType)
		return nil
	}
	var diags diag.Diagnostics
	root := objectAs[bootstrapModel](ctx, before.Bootstrap, &diags).TrustedRoot
	diags.Append(m.render(ctx, root.ValueString())...)
	return diags
}

// complete issues a token where one is due. The file is written before the
// document, so that a failure leaves an agent without a document, not a document
// whose token nobody has.
func (m *agentModel) complete(ctx context.Context, s *session, before *agentModel) diag.Diagnostics {
	var diags diag.Diagnostics
	issued := m.JoinPublicKey.IsUnknown()
	if issued {
		diags.Append(m.issue(ctx, s)...)
	}
	moved := before == nil || !before.JoinTokenFile.Equal(m.JoinTokenFile)
	if file := m.JoinTokenFile.ValueString(); file != "" && (issued || moved) && !diags.HasError() {
		token, moreDiags := m.token(ctx, s)
		diags.Append(moreDiags...)
		if diags.HasError() {
			return diags
		}
		if err := writeTokenFile(file, token); err != nil {
			diags.AddAttributeError(path.Root("join_token_file"), "Join token cannot be written",
				"The agent could not find its token, because "+err.Error()+". Name a file in a folder that exists and may be written.")
		}
	}
	if m.Bootstrap.IsUnknown() && !diags.HasError() {
		diags.Append(m.reread(ctx, s)...)
	}
	return diags
}

// issue chooses generation and expiry and derives the public half of the token.
func (m *agentModel) issue(ctx context.Context, s *session) diag.Diagnostics {
	var diags diag.Diagnostics
	if m.JoinGeneration.IsUnknown() {
		next, err := s.nextGeneration(ctx, m.Repository.ValueString(), m.ref(control.KindAgent))
		if err != nil {
			return failure("read earlier claims of", m.ID.ValueString(), err)
		}
		m.JoinGeneration = types.Int64Value(int64(next))
	}
	expires := s.now().Add(time.Duration(m.JoinTokenLifetime.of())).UTC().Truncate(time.Second)
	m.JoinExpires = types.StringValue(expires.Format(time.RFC3339))
	token, moreDiags := m.token(ctx, s)
	diags.Append(moreDiags...)
	if !diags.HasError() {
		m.JoinPublicKey = types.StringValue(publicHalf(token))
	}
	return diags
}

// reread renders the bootstrap with the repository's root.
func (m *agentModel) reread(ctx context.Context, s *session) diag.Diagnostics {
	root, err := s.root(ctx, m.Repository.ValueString())
	if err != nil {
		return failure("read the trusted root for", m.ID.ValueString(), err)
	}
	return m.render(ctx, root.text)
}

// withdrawn takes away a token that nobody has used.
func (m *agentModel) withdrawn(ctx context.Context, s *session) diag.Diagnostics {
	file := m.JoinTokenFile.ValueString()
	if file == "" {
		return nil
	}
	token, diags := m.token(ctx, s)
	if diags.HasError() {
		return nil // the declaration is withdrawn, so that the token in the file is worthless
	}
	if err := removeTokenFile(file, token); err != nil {
		diags.AddAttributeWarning(path.Root("join_token_file"), "Join token cannot be removed",
			"The agent's declaration is withdrawn, so that the token is worthless, but its file stays, because "+err.Error()+". Remove it by hand.")
	}
	return diags
}
