package provider

import (
	"context"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// Address is the provider's source address.
const Address = "registry.terraform.io/towline/simcloud"

const (
	endpointEnv = "SIMCLOUD_ENDPOINT"
	tokenEnv    = "SIMCLOUD_TOKEN"
	actorEnv    = "SIMCLOUD_ACTOR"
)

type simcloudProvider struct{ version string }

var _ provider.Provider = (*simcloudProvider)(nil)

// New returns a constructor of the provider.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &simcloudProvider{version} }
}

// Metadata names the provider.
func (p *simcloudProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "simcloud", p.version
}

// Schema describes the provider's configuration.
func (p *simcloudProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages objects of a simulated cloud.",
		Attributes: map[string]schema.Attribute{
			"endpoint": schema.StringAttribute{Optional: true, MarkdownDescription: "URL of the cloud. Environment variable `" + endpointEnv + "`."},
			"token":    schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: "Bearer token. Environment variable `" + tokenEnv + "`."},
			"actor":    schema.StringAttribute{Optional: true, MarkdownDescription: "Who writes, for the cloud's event log. Environment variable `" + actorEnv + "`; `terraform` by default."},
		},
	}
}

type providerModel struct {
	Endpoint types.String `tfsdk:"endpoint"`
	Token    types.String `tfsdk:"token"`
	Actor    types.String `tfsdk:"actor"`
}

// Configure makes the client that resources, data sources and list resources share.
func (p *simcloudProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var model providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() || model.Endpoint.IsUnknown() || model.Token.IsUnknown() {
		return // what is unknown in a plan is known when it is applied
	}
	made, err := client.New(client.Config{
		Endpoint: first(model.Endpoint.ValueString(), os.Getenv(endpointEnv)),
		Token:    first(model.Token.ValueString(), os.Getenv(tokenEnv)),
		Actor:    first(model.Actor.ValueString(), os.Getenv(actorEnv), "terraform"),
	})
	if err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("endpoint"), "Endpoint is not usable",
			"No client can be made because "+err.Error()+". Set endpoint or the environment variable "+endpointEnv+".")
		return
	}
	resp.ResourceData, resp.DataSourceData, resp.ListResourceData = made, made, made
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// Resources lists one resource a kind.
func (p *simcloudProvider) Resources(context.Context) []func() resource.Resource {
	var out []func() resource.Resource
	for i := range cloudapi.Kinds {
		out = append(out, func() resource.Resource { return &objectResource{kind: &cloudapi.Kinds[i]} })
	}
	return out
}

// DataSources lists what can be read without owning it.
func (p *simcloudProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{newObjectDataSource, newNamespaceDataSource}
}
