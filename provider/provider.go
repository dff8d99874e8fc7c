package provider

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/signer"
)

// Address is the provider's source address.
const Address = "registry.terraform.io/towline/towline"

// Environment variables that stand in for the provider's configuration.
const (
	keyEnv     = signer.TextEnv
	keyFileEnv = signer.NameEnv
	rootEnv    = "TOWLINE_FINGERPRINT"
)

// towlineProvider is the provider. Now is its clock.
type towlineProvider struct {
	version string
	now     func() time.Time
}

var _ provider.ProviderWithEphemeralResources = (*towlineProvider)(nil)

// New returns a constructor of the provider.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &towlineProvider{version, time.Now} }
}

// Metadata names the provider.
func (p *towlineProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "towline", p.version
}

// Schema describes the provider's configuration.
func (p *towlineProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Declares who may change what in private networks: repositories, agents, scopes and break-glass policies. " +
			"Everything declared is signed and stored as objects in a bucket, which agents inside the networks read.",
		Attributes: map[string]schema.Attribute{
			"signing_key": schema.StringAttribute{
				Optional: true, Sensitive: true,
				MarkdownDescription: "Private ed25519 key in PEM (PKCS8) that signs declarations, or `ssh-agent:SHA256:…`, `ssh-agent:COMMENT`, " +
					"`awskms:///alias/NAME` or `awskms:///KEY-ID` for a key that an SSH agent or AWS KMS keeps, one a line; several keys may follow one another. " +
					"Environment variable `" + keyEnv + "`. The key never reaches the state; pass it as an ephemeral value to keep it out of plan files, too.",
			},
			"signing_key_file": schema.StringAttribute{
				Optional: true, MarkdownDescription: "File that holds the key instead, or the name of a key as above. Environment variable `" + keyFileEnv + "`.",
			},
			"fingerprint": schema.StringAttribute{
				Optional: true, Validators: []validator.String{digestRule},
				MarkdownDescription: "Fingerprint that every repository used must have. Set it where the `towline_repository` is declared elsewhere: " +
					"whoever may write to the store could otherwise put another repository in its place. Environment variable `" + rootEnv + "`.",
			},
		},
	}
}

type providerModel struct {
	SigningKey     types.String `tfsdk:"signing_key"`
	SigningKeyFile types.String `tfsdk:"signing_key_file"`
	Fingerprint    types.String `tfsdk:"fingerprint"`
}

// Configure reads the signing key. Without one, reading works and writing is refused.
func (p *towlineProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var model providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	s := newSession(p.now)
	s.fingerprint = cmp.Or(model.Fingerprint.ValueString(), os.Getenv(rootEnv))
	switch {
	case model.SigningKey.IsUnknown() || model.SigningKeyFile.IsUnknown():
		s.keyUnknown = true
	case !model.SigningKey.IsNull() && !model.SigningKeyFile.IsNull():
		resp.Diagnostics.AddAttributeError(path.Root("signing_key_file"), "Signing key is given twice",
			"Both signing_key and signing_key_file are set, so that it is not clear which key signs. Remove one.")
	default:
		keys, err := signer.Choose(ctx, model.SigningKey.ValueString(), model.SigningKeyFile.ValueString(), os.Getenv)
		if err != nil {
			resp.Diagnostics.AddError("Signing key is not usable", "No declaration can be signed, because "+err.Error()+
				". Make a key with: openssl genpkey -algorithm ed25519.")
		}
		s.keys = keys
	}
	resp.ResourceData, resp.DataSourceData, resp.EphemeralResourceData = s, s, s
}

// Resources lists what can be declared.
func (p *towlineProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newRepositoryResource, newScopeResource, newAgentResource, newBreakGlassResource, newPolicyResource}
}

// DataSources lists what agents report.
func (p *towlineProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{newAgentDataSource}
}

// EphemeralResources lists what is handed over and never stored.
func (p *towlineProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{newJoinTokenResource}
}
