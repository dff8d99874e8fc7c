package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

var (
	identityType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"id": tftypes.String}}
	listType     = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"fault": tftypes.String}}
)

// listSchemas has a type more than there are identities, and one that is no resource type.
func listSchemas() map[string]*tfprotov6.Schema {
	schema := &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{str("fault", optional)}}}
	return map[string]*tfprotov6.Schema{"fault_object": schema, "fault_nothing": schema}
}

func (s *server) GetResourceIdentitySchemas(context.Context, *tfprotov6.GetResourceIdentitySchemasRequest) (*tfprotov6.GetResourceIdentitySchemasResponse, error) {
	if os.Getenv("FAULT_SCHEMA") == "no-identity" {
		return &tfprotov6.GetResourceIdentitySchemasResponse{}, nil
	}
	return &tfprotov6.GetResourceIdentitySchemasResponse{IdentitySchemas: map[string]*tfprotov6.ResourceIdentitySchema{
		"fault_object": {IdentityAttributes: []*tfprotov6.ResourceIdentitySchemaAttribute{{Name: "id", Type: tftypes.String, RequiredForImport: true}}},
	}}, nil
}

func (s *server) ValidateListResourceConfig(context.Context, *tfprotov6.ValidateListResourceConfigRequest) (*tfprotov6.ValidateListResourceConfigResponse, error) {
	return &tfprotov6.ValidateListResourceConfigResponse{}, nil
}

// ListResource lists two objects, and then commits the fault of its configuration.
func (s *server) ListResource(ctx context.Context, req *tfprotov6.ListResourceRequest) (*tfprotov6.ListResourceServerStream, error) {
	config, err := req.Config.Unmarshal(listType)
	if err != nil {
		return nil, err
	}
	fault := text(config, "fault")
	if fault == "error" {
		return nil, errors.New("an error that is no diagnostic")
	}
	return &tfprotov6.ListResourceServerStream{Results: func(push func(tfprotov6.ListResourceResult) bool) {
		for n := range 2 {
			if !push(tfprotov6.ListResourceResult{Identity: identity(), DisplayName: fmt.Sprint(n)}) {
				return
			}
		}
		for result := range misbehave(ctx, fault) {
			if !push(result) {
				return
			}
		}
	}}, nil
}

// misbehave is what follows the objects.
func misbehave(ctx context.Context, fault string) iter.Seq[tfprotov6.ListResourceResult] {
	found := tfprotov6.ListResourceResult{Identity: identity()}
	once := func(result tfprotov6.ListResourceResult) iter.Seq[tfprotov6.ListResourceResult] {
		return func(push func(tfprotov6.ListResourceResult) bool) { push(result) }
	}
	endlessly := func(result tfprotov6.ListResourceResult) iter.Seq[tfprotov6.ListResourceResult] {
		return func(push func(tfprotov6.ListResourceResult) bool) {
			for push(result) {
			}
		}
	}
	warning := tfprotov6.ListResourceResult{Diagnostics: []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityWarning, Summary: "Warned"}}}
	switch fault {
	case "endless":
		return endlessly(found)
	case "remarks":
		return endlessly(warning)
	case "warn":
		return once(warning)
	case "large":
		found.DisplayName = strings.Repeat("x", 1<<20)
		return endlessly(found)
	case "huge":
		found.DisplayName = strings.Repeat("x", 5<<20)
		return once(found)
	case "fail":
		return once(tfprotov6.ListResourceResult{Diagnostics: problem("Failed", "The fault says so.")})
	case "crash":
		return func(func(tfprotov6.ListResourceResult) bool) { os.Exit(3) }
	case "hang", "stop":
		return func(func(tfprotov6.ListResourceResult) bool) { <-ctx.Done() }
	case "type":
		return once(tfprotov6.ListResourceResult{Identity: wrong(tftypes.NewValue(tftypes.Bool, true))})
	case "unknown":
		return once(tfprotov6.ListResourceResult{Identity: wrong(tftypes.NewValue(identityType, map[string]tftypes.Value{"id": tftypes.NewValue(tftypes.String, tftypes.UnknownValue)}))})
	case "unidentified":
		return once(tfprotov6.ListResourceResult{DisplayName: "somebody"})
	case "object":
		found.Resource = wrong(tftypes.NewValue(tftypes.Bool, true)).IdentityData
		return once(found)
	}
	return tfprotov6.NoListResults
}

// wrong carries a value that is no identity.
func wrong(v tftypes.Value) *tfprotov6.ResourceIdentityData {
	dv, err := tfprotov6.NewDynamicValue(v.Type(), v)
	if err != nil {
		return nil
	}
	return &tfprotov6.ResourceIdentityData{IdentityData: &dv}
}
