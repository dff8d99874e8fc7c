package main

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

var tokenType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"name": tftypes.String, "token": tftypes.String, "pin": tftypes.String}}

// renewAt is when a token wants to be renewed, unless its name asks for another time.
var renewAt = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func tokenSchema() *tfprotov6.Schema {
	return &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{str("name", required), str("token", computed), str("pin", sensitive)}}}
}

// ValidateEphemeralResourceConfig refuses tokens named invalid.
func (s *server) ValidateEphemeralResourceConfig(_ context.Context, req *tfprotov6.ValidateEphemeralResourceConfigRequest) (*tfprotov6.ValidateEphemeralResourceConfigResponse, error) {
	config, err := req.Config.Unmarshal(tokenType)
	resp := &tfprotov6.ValidateEphemeralResourceConfigResponse{}
	if err == nil && text(config, "name") == "invalid" {
		resp.Diagnostics = problem("Invalid token", "The name says so.")
	}
	return resp, err
}

// OpenEphemeralResource makes a token of a name. Some names ask for a fault instead.
func (s *server) OpenEphemeralResource(_ context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	config, err := req.Config.Unmarshal(tokenType)
	if err != nil {
		return nil, err
	}
	name := text(config, "name")
	resp := &tfprotov6.OpenEphemeralResourceResponse{Private: []byte("1"), RenewAt: renewAt}
	result := with(config, "token", tftypes.NewValue(tftypes.String, "t-"+name))
	switch name {
	case "refused":
		return &tfprotov6.OpenEphemeralResourceResponse{Result: req.Config, Diagnostics: problem("No token", "The name says so.")}, nil
	case "null":
		result = tftypes.NewValue(tokenType, nil)
	case "unknown":
		result = with(config, "token", tftypes.NewValue(tftypes.String, tftypes.UnknownValue))
	case "renamed":
		result = with(result, "name", tftypes.NewValue(tftypes.String, "other"))
	case "panic":
		panic("fault: no token ever")
	case "type":
		return &tfprotov6.OpenEphemeralResourceResponse{Result: &tfprotov6.DynamicValue{MsgPack: []byte{0x93, 1, 2, 3}}}, nil
	case "unrenewable":
		resp.RenewAt = time.Now()
	}
	dv, err := tfprotov6.NewDynamicValue(tokenType, result)
	resp.Result = &dv
	return resp, err
}

// RenewEphemeralResource renews all tokens but those that wanted it at once. It
// notes each renewal in the private data.
func (s *server) RenewEphemeralResource(_ context.Context, req *tfprotov6.RenewEphemeralResourceRequest) (*tfprotov6.RenewEphemeralResourceResponse, error) {
	return &tfprotov6.RenewEphemeralResourceResponse{Private: append(req.Private, '1')}, nil
}

// CloseEphemeralResource warns with the private data, so that it is seen.
func (s *server) CloseEphemeralResource(_ context.Context, req *tfprotov6.CloseEphemeralResourceRequest) (*tfprotov6.CloseEphemeralResourceResponse, error) {
	return &tfprotov6.CloseEphemeralResourceResponse{Diagnostics: []*tfprotov6.Diagnostic{
		{Severity: tfprotov6.DiagnosticSeverityWarning, Summary: "closed", Detail: string(req.Private)},
	}}, nil
}

func problem(summary, detail string) []*tfprotov6.Diagnostic {
	return []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityError, Summary: summary, Detail: detail}}
}
