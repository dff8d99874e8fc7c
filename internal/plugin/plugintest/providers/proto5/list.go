package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

var (
	identityType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"id": tftypes.String, "endpoint": tftypes.String}}
	listType     = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"prefix": tftypes.String}}
)

func listSchemas() map[string]*tfprotov5.Schema {
	return map[string]*tfprotov5.Schema{"v5_thing": {Block: &tfprotov5.SchemaBlock{
		Attributes: []*tfprotov5.SchemaAttribute{attr("prefix", tftypes.String, required)},
	}}}
}

func (s *server) GetResourceIdentitySchemas(context.Context, *tfprotov5.GetResourceIdentitySchemasRequest) (*tfprotov5.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov5.GetResourceIdentitySchemasResponse{IdentitySchemas: map[string]*tfprotov5.ResourceIdentitySchema{
		"v5_thing": {IdentityAttributes: []*tfprotov5.ResourceIdentitySchemaAttribute{
			{Name: "id", Type: tftypes.String, RequiredForImport: true}, {Name: "endpoint", Type: tftypes.String, OptionalForImport: true},
		}},
	}}, s.ready()
}

func (s *server) ValidateListResourceConfig(_ context.Context, req *tfprotov5.ValidateListResourceConfigRequest) (*tfprotov5.ValidateListResourceConfigResponse, error) {
	config, err := req.Config.Unmarshal(listType)
	resp := &tfprotov5.ValidateListResourceConfigResponse{}
	if text(config, "prefix") == "bad" {
		resp.Diagnostics = []*tfprotov5.Diagnostic{{Severity: tfprotov5.DiagnosticSeverityError, Summary: "Bad prefix"}}
	}
	return resp, errors.Join(err, s.ready())
}

// ListResource lists three things, whatever the limit, named after the prefix.
func (s *server) ListResource(_ context.Context, req *tfprotov5.ListResourceRequest) (*tfprotov5.ListResourceServerStream, error) {
	config, err := req.Config.Unmarshal(listType)
	if err != nil {
		return nil, err
	}
	endpoint, _ := s.configured.Load().(string)
	return &tfprotov5.ListResourceServerStream{Results: func(push func(tfprotov5.ListResourceResult) bool) {
		for n := range 3 {
			name := text(config, "prefix") + strconv.Itoa(n)
			if !push(listed(endpoint, name, req.IncludeResource)) {
				return
			}
		}
	}}, s.ready()
}

func listed(endpoint, name string, include bool) tfprotov5.ListResourceResult {
	out := tfprotov5.ListResourceResult{DisplayName: "Thing " + name}
	identity, err := tfprotov5.NewDynamicValue(identityType, tftypes.NewValue(identityType, map[string]tftypes.Value{
		"id": tftypes.NewValue(tftypes.String, name), "endpoint": tftypes.NewValue(tftypes.String, endpoint),
	}))
	if err == nil {
		out.Identity = &tfprotov5.ResourceIdentityData{IdentityData: &identity}
	}
	if !include {
		return out
	}
	vals := map[string]tftypes.Value{}
	for name, ty := range thingType.AttributeTypes {
		vals[name] = tftypes.NewValue(ty, nil)
	}
	vals["rule"] = tftypes.NewValue(thingType.AttributeTypes["rule"], []tftypes.Value{})
	vals["id"], vals["name"] = tftypes.NewValue(tftypes.String, name), tftypes.NewValue(tftypes.String, name)
	if object, err := tfprotov5.NewDynamicValue(thingType, tftypes.NewValue(thingType, vals)); err == nil {
		out.Resource = &object
	}
	return out
}
