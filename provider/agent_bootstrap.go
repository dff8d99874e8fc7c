package provider

import (
	"context"
	"crypto/ed25519"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// token derives the token of the issue that the model describes.
func (m *agentModel) token(ctx context.Context, s *session) (ed25519.PrivateKey, diag.Diagnostics) {
	var diags diag.Diagnostics
	root, err := s.root(ctx, m.Repository.ValueString())
	if err != nil {
		return nil, failure("read the trusted root for", m.ID.ValueString(), err)
	}
	key, moreDiags := s.tokenKey()
	diags.Append(moreDiags...)
	if diags.HasError() {
		return nil, diags
	}
	token, err := joinToken(key, issue{root.fingerprint, m.ref(control.KindAgent), int(m.JoinGeneration.ValueInt64()), m.expires()})
	if err != nil {
		return nil, failure("issue a join token for", m.ID.ValueString(), err)
	}
	return token, diags
}

func publicHalf(token ed25519.PrivateKey) string {
	public, ok := token.Public().(ed25519.PublicKey)
	if !ok {
		return ""
	}
	return control.EncodeKey(public)
}

// machineKnown tells whether a plan knows all that the bootstrap depends on.
func (m *agentModel) machineKnown() bool {
	for _, value := range []attr.Value{m.Repository, m.Environment, m.Name, m.Channel, m.Shard, m.DataDir, m.Mirrors, m.JoinTokenSource, m.Download, m.Slack, m.Recipients, m.Signals} {
		if value.IsUnknown() || hasUnknown(value) {
			return false
		}
	}
	return true
}

func hasUnknown(value attr.Value) bool {
	switch value := value.(type) {
	case types.Object:
		for _, field := range value.Attributes() {
			if field.IsUnknown() {
				return true
			}
		}
	case types.Set:
		return slices.ContainsFunc(value.Elements(), attr.Value.IsUnknown)
	case types.List:
		return slices.ContainsFunc(value.Elements(), attr.Value.IsUnknown)
	}
	return false
}

// render fills in the bootstrap.
func (m *agentModel) render(ctx context.Context, trustedRoot string) diag.Diagnostics {
	var diags diag.Diagnostics
	source := objectAs[sourceModel](ctx, m.JoinTokenSource, &diags)
	slack := objectAs[slackModel](ctx, m.Slack, &diags).declared()
	program := objectAs[downloadModel](ctx, m.Download, &diags)
	var mirrors []string
	diags.Append(m.Mirrors.ElementsAs(ctx, &mirrors, false)...)
	on := machine{
		Repository: m.Repository.ValueString(), Environment: m.Environment.ValueString(), Agent: m.Name.ValueString(), Shard: m.Shard.ValueString(),
		TrustedRoot: trustedRoot, DataDir: m.DataDir.ValueString(), Mirrors: mirrors,
		TokenSource: secretSource{
			File: source.File.ValueString(), Env: source.Env.ValueString(),
			SSMParameter: source.SSMParameter.ValueString(), SecretsManager: source.SecretsManager.ValueString(),
		},
		Slack:      *slack,
		Recipients: sortedTexts(ctx, m.Recipients, &diags),
		Queue:      objectAs[signalsModel](ctx, m.Signals, &diags).Queue.ValueString(),
		Download:   download{program.URL.ValueString(), program.SHA256.ValueString()},
	}
	bootstrap := bootstrapModel{AgentConfig: types.StringValue(agentConfig(on)), TrustedRoot: types.StringValue(trustedRoot)}
	for _, part := range []struct {
		to     *types.String
		render func() (string, error)
	}{
		{&bootstrap.CloudInit, func() (string, error) { return cloudInit(on) }},
		{&bootstrap.SystemdUnit, func() (string, error) { return systemdUnit(on) }},
		{&bootstrap.IAMPolicy, func() (string, error) { return iamPolicy(on, m.Channel.ValueString()) }},
	} {
		text, err := part.render()
		if err != nil {
			diags.Append(failure("render the bootstrap of", m.ID.ValueString(), err)...)
		}
		*part.to = optionalText(text)
	}
	m.Bootstrap = objectFrom(ctx, bootstrapType, bootstrap, &diags)
	return diags
}
