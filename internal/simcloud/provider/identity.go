package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

var _ resource.ResourceWithIdentity = (*objectResource)(nil)

// identityModel tells one object from all others of its kind.
type identityModel struct {
	Environment types.String `tfsdk:"environment"`
	Service     types.String `tfsdk:"service"`
	Name        types.String `tfsdk:"name"`
}

// IdentitySchema is the same for every kind.
func (r *objectResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	attribute := func(description string) identityschema.Attribute {
		return identityschema.StringAttribute{RequiredForImport: true, Description: description}
	}
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"environment": attribute("Environment of the object's namespace."),
		"service":     attribute("Service of the object's namespace."),
		"name":        attribute("Name of the object."),
	}}
}

// identify says what identifies an object.
func identify(ctx context.Context, ref cloudapi.Ref, into *tfsdk.ResourceIdentity) diag.Diagnostics {
	if into == nil {
		return nil // whoever asks does not know of identities
	}
	return into.Set(ctx, identityModel{types.StringValue(ref.Environment), types.StringValue(ref.Service), types.StringValue(ref.Name)})
}

// importIdentifier is what an object is imported by: ENVIRONMENT/SERVICE/NAME, from its
// identity if that is given instead.
func importIdentifier(ctx context.Context, req resource.ImportStateRequest) (string, diag.Diagnostics) {
	if req.ID != "" || req.Identity == nil {
		return req.ID, nil
	}
	var model identityModel
	diags := req.Identity.Get(ctx, &model)
	return strings.Join([]string{model.Environment.ValueString(), model.Service.ValueString(), model.Name.ValueString()}, "/"), diags
}
