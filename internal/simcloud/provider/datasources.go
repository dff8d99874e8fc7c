package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// configuredSource is what both data sources share.
type configuredSource struct{ client *client.Client }

// Configure takes the provider's client.
func (s *configuredSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	s.client = configured(req.ProviderData, &resp.Diagnostics)
}

func required(description string) schema.Attribute {
	return schema.StringAttribute{Required: true, MarkdownDescription: description}
}

func computed(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

// objectDataSource reads one object of any kind.
type objectDataSource struct{ configuredSource }

func newObjectDataSource() datasource.DataSource { return &objectDataSource{} }

type objectModel struct {
	Environment types.String `tfsdk:"environment"`
	Service     types.String `tfsdk:"service"`
	Kind        types.String `tfsdk:"kind"`
	Name        types.String `tfsdk:"name"`
	ID          types.String `tfsdk:"id"`
	Revision    types.Int64  `tfsdk:"revision"`
	Attributes  types.String `tfsdk:"attributes_json"`
	Status      types.String `tfsdk:"status_json"`
}

// Metadata names the data source.
func (d *objectDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_object"
}

// Schema describes the data source.
func (d *objectDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	status := computed("What the cloud adds, as JSON. It may hold secrets.")
	status.Sensitive = true
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads one object of any kind.",
		Attributes: map[string]schema.Attribute{
			"environment": required("Environment of the namespace."), "service": required("Service of the namespace."),
			"kind": required("Kind of the object, such as `deployment`."), "name": required("Name of the object."),
			"id":              computed("Identity of the object."),
			"revision":        schema.Int64Attribute{Computed: true, MarkdownDescription: "Number of changes, from 1."},
			"attributes_json": computed("What clients wrote, as JSON."), "status_json": status,
		},
	}
}

// Read fetches the object; one that does not exist is an error.
func (d *objectDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model objectModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	ref := cloudapi.Ref{
		Environment: model.Environment.ValueString(), Service: model.Service.ValueString(),
		Kind: model.Kind.ValueString(), Name: model.Name.ValueString(),
	}
	object, err := d.client.Get(ctx, ref)
	if err != nil {
		resp.Diagnostics.Append(failure("read", ref, err)...)
		return
	}
	model.ID, model.Revision = types.StringValue(object.ID), types.Int64Value(object.Revision)
	model.Attributes, model.Status = jsonText(object.Attributes), jsonText(object.Status)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

// jsonText encodes what was decoded from JSON, which cannot fail.
func jsonText(values map[string]any) types.String {
	text, err := json.Marshal(values)
	if err != nil {
		return types.StringNull()
	}
	return types.StringValue(string(text))
}

// namespaceDataSource lists the objects of a namespace.
type namespaceDataSource struct{ configuredSource }

func newNamespaceDataSource() datasource.DataSource { return &namespaceDataSource{} }

type namespaceModel struct {
	Environment types.String    `tfsdk:"environment"`
	Service     types.String    `tfsdk:"service"`
	Objects     []objectSummary `tfsdk:"objects"`
}

type objectSummary struct {
	Kind     types.String `tfsdk:"kind"`
	Name     types.String `tfsdk:"name"`
	ID       types.String `tfsdk:"id"`
	Revision types.Int64  `tfsdk:"revision"`
}

// Metadata names the data source.
func (d *namespaceDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_namespace"
}

// Schema describes the data source.
func (d *namespaceDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the objects of a namespace, ordered by kind and name.",
		Attributes: map[string]schema.Attribute{
			"environment": required("Environment of the namespace."), "service": required("Service of the namespace."),
			"objects": schema.ListNestedAttribute{
				Computed: true, MarkdownDescription: "The objects.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"kind": computed("Kind of the object."), "name": computed("Name of the object."),
					"id":       computed("Identity of the object."),
					"revision": schema.Int64Attribute{Computed: true, MarkdownDescription: "Number of changes, from 1."},
				}},
			},
		},
	}
}

// Read lists what the token reaches; an empty namespace is no error.
func (d *namespaceDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model namespaceModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	filter := cloudapi.Ref{Environment: model.Environment.ValueString(), Service: model.Service.ValueString()}
	objects, err := d.client.List(ctx, filter)
	if err != nil {
		resp.Diagnostics.Append(failure("list", filter, err)...)
		return
	}
	model.Objects = make([]objectSummary, 0, len(objects))
	for _, object := range objects {
		model.Objects = append(model.Objects, objectSummary{
			Kind: types.StringValue(object.Kind), Name: types.StringValue(object.Name),
			ID: types.StringValue(object.ID), Revision: types.Int64Value(object.Revision),
		})
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}
