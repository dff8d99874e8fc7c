// Command proto5 is a small provider of protocol 5 for tests. It does not announce
// get_provider_schema_optional, and so refuses every call before it was asked
// for its schema, as providers of that kind may.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func main() {
	if err := tf5server.Serve("registry.terraform.io/towline/v5", func() tfprotov5.ProviderServer { return &server{} }); err != nil {
		log.Fatal(err)
	}
}

var (
	ruleType  = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"port": tftypes.Number, "proto": tftypes.String}}
	thingType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{
		"id": tftypes.String, "name": tftypes.String, "note": tftypes.String, "secret": tftypes.String,
		"anything": tftypes.DynamicPseudoType, "rule": tftypes.List{ElementType: ruleType},
	}}
	echoType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"text": tftypes.String, "result": tftypes.String}}
)

// server answers every call; those of the embedded interface are never made.
type server struct {
	tfprotov5.ProviderServer
	asked      atomic.Bool
	configured atomic.Value
}

var errNotAsked = errors.New("the schema was not asked for")

func (s *server) ready() error {
	if !s.asked.Load() {
		return errNotAsked
	}
	return nil
}

func attr(name string, ty tftypes.Type, change func(*tfprotov5.SchemaAttribute)) *tfprotov5.SchemaAttribute {
	a := &tfprotov5.SchemaAttribute{Name: name, Type: ty}
	change(a)
	return a
}

func optional(a *tfprotov5.SchemaAttribute) { a.Optional = true }
func required(a *tfprotov5.SchemaAttribute) { a.Required = true }
func computed(a *tfprotov5.SchemaAttribute) { a.Computed = true }

func (s *server) GetProviderSchema(context.Context, *tfprotov5.GetProviderSchemaRequest) (*tfprotov5.GetProviderSchemaResponse, error) {
	s.asked.Store(true)
	return &tfprotov5.GetProviderSchemaResponse{
		ServerCapabilities: &tfprotov5.ServerCapabilities{},
		Provider:           &tfprotov5.Schema{Block: &tfprotov5.SchemaBlock{Attributes: []*tfprotov5.SchemaAttribute{attr("endpoint", tftypes.String, required)}}},
		ResourceSchemas: map[string]*tfprotov5.Schema{"v5_thing": {Version: 2, Block: &tfprotov5.SchemaBlock{
			Attributes: []*tfprotov5.SchemaAttribute{
				attr("id", tftypes.String, computed), attr("name", tftypes.String, required), attr("note", tftypes.String, optional),
				attr("secret", tftypes.String, func(a *tfprotov5.SchemaAttribute) { a.Optional, a.WriteOnly, a.Sensitive = true, true, true }),
				attr("anything", tftypes.DynamicPseudoType, optional),
			},
			BlockTypes: []*tfprotov5.SchemaNestedBlock{{
				TypeName: "rule", Nesting: tfprotov5.SchemaNestedBlockNestingModeList, MaxItems: 2,
				Block: &tfprotov5.SchemaBlock{Attributes: []*tfprotov5.SchemaAttribute{attr("port", tftypes.Number, required), attr("proto", tftypes.String, optional)}},
			}},
		}}},
		ListResourceSchemas: listSchemas(),
		EphemeralResourceSchemas: map[string]*tfprotov5.Schema{"v5_token": {Block: &tfprotov5.SchemaBlock{
			Attributes: []*tfprotov5.SchemaAttribute{attr("text", tftypes.String, required), attr("result", tftypes.String, computed)},
		}}},
		DataSourceSchemas: map[string]*tfprotov5.Schema{"v5_echo": {Block: &tfprotov5.SchemaBlock{
			Attributes: []*tfprotov5.SchemaAttribute{attr("text", tftypes.String, required), attr("result", tftypes.String, computed)},
		}}},
	}, nil
}

func (s *server) PrepareProviderConfig(context.Context, *tfprotov5.PrepareProviderConfigRequest) (*tfprotov5.PrepareProviderConfigResponse, error) {
	return &tfprotov5.PrepareProviderConfigResponse{}, s.ready()
}

func (s *server) ConfigureProvider(_ context.Context, req *tfprotov5.ConfigureProviderRequest) (*tfprotov5.ConfigureProviderResponse, error) {
	config, err := req.Config.Unmarshal(tftypes.Object{AttributeTypes: map[string]tftypes.Type{"endpoint": tftypes.String}})
	if err != nil {
		return nil, err
	}
	s.configured.Store(text(config, "endpoint"))
	return &tfprotov5.ConfigureProviderResponse{}, s.ready()
}

func (s *server) StopProvider(context.Context, *tfprotov5.StopProviderRequest) (*tfprotov5.StopProviderResponse, error) {
	return &tfprotov5.StopProviderResponse{}, nil
}

func (s *server) ValidateResourceTypeConfig(_ context.Context, req *tfprotov5.ValidateResourceTypeConfigRequest) (*tfprotov5.ValidateResourceTypeConfigResponse, error) {
	config, err := req.Config.Unmarshal(thingType)
	if err != nil {
		return nil, err
	}
	resp := &tfprotov5.ValidateResourceTypeConfigResponse{}
	if text(config, "name") == "bad" {
		resp.Diagnostics = append(resp.Diagnostics, &tfprotov5.Diagnostic{
			Severity: tfprotov5.DiagnosticSeverityError, Summary: "Bad port", Detail: "Ports are numbers above 1024.",
			Attribute: tftypes.NewAttributePath().WithAttributeName("rule").WithElementKeyInt(0).WithAttributeName("port"),
		}, &tfprotov5.Diagnostic{Severity: tfprotov5.DiagnosticSeverityWarning, Summary: "Old name"})
	}
	return resp, s.ready()
}

func (s *server) ValidateDataSourceConfig(context.Context, *tfprotov5.ValidateDataSourceConfigRequest) (*tfprotov5.ValidateDataSourceConfigResponse, error) {
	return &tfprotov5.ValidateDataSourceConfigResponse{}, s.ready()
}

// UpgradeResourceState knows version 1, in which the name was called title.
func (s *server) UpgradeResourceState(_ context.Context, req *tfprotov5.UpgradeResourceStateRequest) (*tfprotov5.UpgradeResourceStateResponse, error) {
	var stored map[string]any
	if err := json.Unmarshal(req.RawState.JSON, &stored); err != nil {
		return nil, err
	}
	if req.Version == 1 {
		stored["name"] = stored["title"]
		delete(stored, "title")
	}
	raw, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	v, err := (&tfprotov5.RawState{JSON: raw}).Unmarshal(thingType)
	if err != nil {
		return nil, err
	}
	dv, err := tfprotov5.NewDynamicValue(thingType, v)
	return &tfprotov5.UpgradeResourceStateResponse{UpgradedState: &dv}, errors.Join(err, s.ready())
}

// ReadResource answers with null for objects named gone, and with a changed
// note for those named drifted.
func (s *server) ReadResource(_ context.Context, req *tfprotov5.ReadResourceRequest) (*tfprotov5.ReadResourceResponse, error) {
	state, err := req.CurrentState.Unmarshal(thingType)
	if err != nil {
		return nil, err
	}
	switch text(state, "name") {
	case "gone":
		return &tfprotov5.ReadResourceResponse{}, s.ready()
	case "drifted":
		state = with(state, "note", tftypes.NewValue(tftypes.String, "changed by hand"))
	}
	dv, err := tfprotov5.NewDynamicValue(thingType, state)
	return &tfprotov5.ReadResourceResponse{NewState: &dv, Private: req.Private}, errors.Join(err, s.ready())
}

func (s *server) PlanResourceChange(_ context.Context, req *tfprotov5.PlanResourceChangeRequest) (*tfprotov5.PlanResourceChangeResponse, error) {
	proposed, err := req.ProposedNewState.Unmarshal(thingType)
	if err != nil {
		return nil, err
	}
	prior, err := req.PriorState.Unmarshal(thingType)
	if err != nil {
		return nil, err
	}
	planned := with(proposed, "secret", tftypes.NewValue(tftypes.String, nil))
	resp := &tfprotov5.PlanResourceChangeResponse{PlannedPrivate: append([]byte("planned:"), req.PriorPrivate...)}
	switch {
	case prior.IsNull():
		planned = with(planned, "id", tftypes.NewValue(tftypes.String, tftypes.UnknownValue))
	case text(prior, "name") != text(planned, "name"):
		resp.RequiresReplace = []*tftypes.AttributePath{tftypes.NewAttributePath().WithAttributeName("name")}
	}
	dv, err := tfprotov5.NewDynamicValue(thingType, planned)
	resp.PlannedState = &dv
	return resp, errors.Join(err, s.ready())
}

func (s *server) ApplyResourceChange(_ context.Context, req *tfprotov5.ApplyResourceChangeRequest) (*tfprotov5.ApplyResourceChangeResponse, error) {
	planned, err := req.PlannedState.Unmarshal(thingType)
	if err != nil {
		return nil, err
	}
	if planned.IsNull() {
		return &tfprotov5.ApplyResourceChangeResponse{}, s.ready()
	}
	config, err := req.Config.Unmarshal(thingType)
	if err != nil {
		return nil, err
	}
	endpoint, _ := s.configured.Load().(string)
	state := with(planned, "id", tftypes.NewValue(tftypes.String, endpoint+"/"+text(planned, "name")+"/"+text(config, "secret")))
	dv, err := tfprotov5.NewDynamicValue(thingType, state)
	return &tfprotov5.ApplyResourceChangeResponse{NewState: &dv, Private: req.PlannedPrivate}, errors.Join(err, s.ready())
}

func (s *server) ImportResourceState(_ context.Context, req *tfprotov5.ImportResourceStateRequest) (*tfprotov5.ImportResourceStateResponse, error) {
	vals := map[string]tftypes.Value{}
	for name, ty := range thingType.AttributeTypes {
		vals[name] = tftypes.NewValue(ty, nil)
	}
	vals["rule"] = tftypes.NewValue(thingType.AttributeTypes["rule"], []tftypes.Value{})
	vals["id"] = tftypes.NewValue(tftypes.String, req.ID)
	vals["name"] = tftypes.NewValue(tftypes.String, "imported")
	dv, err := tfprotov5.NewDynamicValue(thingType, tftypes.NewValue(thingType, vals))
	return &tfprotov5.ImportResourceStateResponse{ImportedResources: []*tfprotov5.ImportedResource{
		{TypeName: req.TypeName, State: &dv, Private: []byte("imported")},
	}}, errors.Join(err, s.ready())
}

func (s *server) ReadDataSource(_ context.Context, req *tfprotov5.ReadDataSourceRequest) (*tfprotov5.ReadDataSourceResponse, error) {
	config, err := req.Config.Unmarshal(echoType)
	if err != nil {
		return nil, err
	}
	state := tftypes.NewValue(echoType, map[string]tftypes.Value{
		"text": tftypes.NewValue(tftypes.String, text(config, "text")), "result": tftypes.NewValue(tftypes.String, "echo "+text(config, "text")),
	})
	dv, err := tfprotov5.NewDynamicValue(echoType, state)
	return &tfprotov5.ReadDataSourceResponse{State: &dv}, errors.Join(err, s.ready())
}

// text returns a string attribute, "" where it is null or unknown.
func text(object tftypes.Value, name string) string {
	vals := map[string]tftypes.Value{}
	var s string
	if object.IsNull() || object.As(&vals) != nil || !vals[name].IsKnown() || vals[name].IsNull() || vals[name].As(&s) != nil {
		return ""
	}
	return s
}

// with returns an object with one attribute replaced.
func with(object tftypes.Value, name string, v tftypes.Value) tftypes.Value {
	vals := map[string]tftypes.Value{}
	if object.IsNull() || object.As(&vals) != nil {
		return object
	}
	vals[name] = v
	return tftypes.NewValue(object.Type(), vals)
}
