package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

var (
	_ provider.ProviderWithListResources = (*simcloudProvider)(nil)
	_ list.ListResourceWithConfigure     = (*objectList)(nil)
)

// ListResources lists one list resource a kind.
func (p *simcloudProvider) ListResources(context.Context) []func() list.ListResource {
	var out []func() list.ListResource
	for i := range cloudapi.Kinds {
		out = append(out, func() list.ListResource { return &objectList{kind: &cloudapi.Kinds[i]} })
	}
	return out
}

// objectList lists the objects of one kind.
type objectList struct {
	kind   *cloudapi.Kind
	client *client.Client
}

type listModel struct {
	Environment types.String `tfsdk:"environment"`
	Service     types.String `tfsdk:"service"`
}

// Metadata names the list resource as the resource whose objects it lists.
func (l *objectList) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + l.kind.Name
}

// ListResourceConfigSchema describes what narrows a listing.
func (l *objectList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the objects of the kind that the token reaches.",
		Attributes: map[string]schema.Attribute{
			"environment": schema.StringAttribute{Optional: true, MarkdownDescription: "Only those of an environment."},
			"service":     schema.StringAttribute{Optional: true, MarkdownDescription: "Only those of a service."},
		},
	}
}

// Configure takes the provider's client.
func (l *objectList) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	l.client = configured(req.ProviderData, &resp.Diagnostics)
}

// List asks the cloud once, and pushes one result an object.
func (l *objectList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var model listModel
	if diags := req.Config.Get(ctx, &model); diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	filter := cloudapi.Ref{Environment: model.Environment.ValueString(), Service: model.Service.ValueString(), Kind: l.kind.Name}
	objects, err := l.client.List(ctx, filter)
	if err != nil {
		stream.Results = list.ListResultsStreamDiagnostics(failure("list", filter, err))
		return
	}
	stream.Results = func(push func(list.ListResult) bool) {
		for i, object := range objects {
			if int64(i) == req.Limit || !push(listed(ctx, &req, object)) {
				return
			}
		}
	}
}

// listed is one object of a listing.
func listed(ctx context.Context, req *list.ListRequest, object *cloudapi.Object) list.ListResult {
	result := req.NewListResult(ctx)
	result.DisplayName = object.Ref.String()
	result.Diagnostics.Append(identify(ctx, object.Ref, result.Identity)...)
	if !req.IncludeResource {
		return result
	}
	value, err := stateOf(object, req.ResourceSchema.Type().TerraformType(ctx))
	if err != nil {
		result.Diagnostics.Append(misfit(object, err)...)
		return result
	}
	result.Resource.Raw = value
	return result
}

// misfit is for an object that the provider does not understand.
func misfit(object *cloudapi.Object, err error) diag.Diagnostics {
	var diags diag.Diagnostics
	diags.AddError("Cloud answered something else", "Object "+object.Ref.String()+" does not fit the resource: "+err.Error()+". The cloud may be newer than the provider; update the provider.")
	return diags
}
