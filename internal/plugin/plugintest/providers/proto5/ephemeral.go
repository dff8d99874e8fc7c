package main

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func (s *server) ValidateEphemeralResourceConfig(context.Context, *tfprotov5.ValidateEphemeralResourceConfigRequest) (*tfprotov5.ValidateEphemeralResourceConfigResponse, error) {
	return &tfprotov5.ValidateEphemeralResourceConfigResponse{}, s.ready()
}

// OpenEphemeralResource echoes the text of a v5_token.
func (s *server) OpenEphemeralResource(_ context.Context, req *tfprotov5.OpenEphemeralResourceRequest) (*tfprotov5.OpenEphemeralResourceResponse, error) {
	config, err := req.Config.Unmarshal(echoType)
	if err != nil {
		return nil, err
	}
	dv, err := tfprotov5.NewDynamicValue(echoType, with(config, "result", tftypes.NewValue(tftypes.String, "echo "+text(config, "text"))))
	return &tfprotov5.OpenEphemeralResourceResponse{Result: &dv, Private: []byte(text(config, "text"))}, errors.Join(err, s.ready())
}

func (s *server) RenewEphemeralResource(_ context.Context, req *tfprotov5.RenewEphemeralResourceRequest) (*tfprotov5.RenewEphemeralResourceResponse, error) {
	return &tfprotov5.RenewEphemeralResourceResponse{Private: req.Private}, s.ready()
}

// CloseEphemeralResource warns with the private data, so that it is seen.
func (s *server) CloseEphemeralResource(_ context.Context, req *tfprotov5.CloseEphemeralResourceRequest) (*tfprotov5.CloseEphemeralResourceResponse, error) {
	return &tfprotov5.CloseEphemeralResourceResponse{Diagnostics: []*tfprotov5.Diagnostic{
		{Severity: tfprotov5.DiagnosticSeverityWarning, Summary: "closed", Detail: string(req.Private)},
	}}, s.ready()
}
