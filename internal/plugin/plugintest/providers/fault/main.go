// Command fault is a provider of protocol 6 for tests that does what providers
// must not do. A fault_object with the attribute fault set to KIND@CALL commits
// that fault in that call, and is an ordinary object in all others.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func main() {
	fmt.Fprintln(os.Stderr, `{"@level":"info","@message":"fault provider starts","@module":"fault","token":"S3CRET"}`)
	if os.Getenv("FAULT_AT_START") != "" {
		fmt.Fprintln(os.Stderr, "fault: told to fail at the start")
		os.Exit(7)
	}
	var opts []tf6server.ServeOpt
	if os.Getenv("FAULT_DEBUG") != "" {
		opts = append(opts, tf6server.WithManagedDebug())
	}
	if err := tf6server.Serve("registry.terraform.io/towline/fault", func() tfprotov6.ProviderServer { return &server{} }, opts...); err != nil {
		log.Fatal(err)
	}
}

var (
	objectType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{
		"id": tftypes.String, "name": tftypes.String, "fault": tftypes.String, "size": tftypes.Number, "secret": tftypes.String,
		"config": tftypes.String, "pin": tftypes.String,
		"items": tftypes.List{ElementType: itemType},
	}}
	itemType   = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"key": tftypes.String, "value": tftypes.String, "pin": tftypes.String}}
	configType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"region": tftypes.String}}
)

// server answers every call; those of the embedded interface are never made.
type server struct {
	tfprotov6.ProviderServer
	region string
}

func str(name string, change func(*tfprotov6.SchemaAttribute)) *tfprotov6.SchemaAttribute {
	a := &tfprotov6.SchemaAttribute{Name: name, Type: tftypes.String}
	change(a)
	return a
}

func optional(a *tfprotov6.SchemaAttribute) { a.Optional = true }
func required(a *tfprotov6.SchemaAttribute) { a.Required = true }
func computed(a *tfprotov6.SchemaAttribute) { a.Computed = true }

func sensitive(a *tfprotov6.SchemaAttribute) { a.Optional, a.Sensitive = true, true }

func (s *server) GetProviderSchema(context.Context, *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	object := &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{
		str("id", computed), str("name", required), str("fault", optional), str("config", computed), str("pin", sensitive),
		{Name: "size", Type: tftypes.Number, Optional: true, Computed: true},
		str("secret", func(a *tfprotov6.SchemaAttribute) { a.Optional, a.WriteOnly, a.Sensitive = true, true, true }),
		{Name: "items", Optional: true, NestedType: &tfprotov6.SchemaObject{
			Nesting: tfprotov6.SchemaObjectNestingModeList, Attributes: []*tfprotov6.SchemaAttribute{str("key", required), str("value", computed), str("pin", sensitive)},
		}},
	}}
	resp := &tfprotov6.GetProviderSchemaResponse{
		ServerCapabilities: &tfprotov6.ServerCapabilities{GetProviderSchemaOptional: true, PlanDestroy: true, MoveResourceState: true},
		Provider:           &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{str("region", optional)}}},
		ProviderMeta:       &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{str("module", optional)}}},
		ResourceSchemas: map[string]*tfprotov6.Schema{
			"fault_object": {Block: object},
		},
		EphemeralResourceSchemas: map[string]*tfprotov6.Schema{
			"fault_token": tokenSchema(),
		},
		Functions: map[string]*tfprotov6.Function{"shout": {
			Parameters:        []*tfprotov6.FunctionParameter{{Name: "text", Type: tftypes.String}},
			VariadicParameter: &tfprotov6.FunctionParameter{Name: "more", Type: tftypes.String, AllowNullValue: true},
			Return:            &tfprotov6.FunctionReturn{Type: tftypes.String},
		}},
	}
	switch os.Getenv("FAULT_SCHEMA") {
	case "refuse":
		resp.Provider = nil
		resp.Diagnostics = []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityError, Summary: "No schema today"}}
	case "type": // a type whose attribute can neither be set nor computed
		resp.ResourceSchemas["fault_schema"] = &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{
			Attributes: []*tfprotov6.SchemaAttribute{str("id", func(*tfprotov6.SchemaAttribute) {})},
		}}
	}
	return resp, nil
}

func (s *server) ValidateProviderConfig(context.Context, *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return &tfprotov6.ValidateProviderConfigResponse{}, nil
}

func (s *server) ConfigureProvider(_ context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	config, err := req.Config.Unmarshal(configType)
	if err != nil {
		return nil, err
	}
	s.region = text(config, "region") + " " + req.TerraformVersion
	return &tfprotov6.ConfigureProviderResponse{}, nil
}

func (s *server) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	fmt.Fprintln(os.Stderr, "asked to stop")
	return &tfprotov6.StopProviderResponse{}, nil
}

func (s *server) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	_, err := commit(ctx, "validate", req.Config)
	return &tfprotov6.ValidateResourceConfigResponse{}, err
}

func (s *server) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	v, err := req.RawState.Unmarshal(objectType)
	if err != nil {
		return nil, err
	}
	dv, err := tfprotov6.NewDynamicValue(objectType, v)
	if err != nil {
		return nil, err
	}
	answer, err := commit(ctx, "upgrade", &dv)
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: answer}, err
}

func (s *server) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	answer, err := commit(ctx, "read", req.CurrentState)
	resp := &tfprotov6.ReadResourceResponse{NewState: answer, Private: req.Private}
	if kind(req.CurrentState) == "defer@read" {
		resp.Deferred = &tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonAbsentPrereq}
	}
	return resp, err
}

func (s *server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	proposed, err := req.ProposedNewState.Unmarshal(objectType)
	if err != nil {
		return nil, err
	}
	if proposed.IsNull() {
		return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.ProposedNewState, PlannedPrivate: []byte("destroy planned")}, nil
	}
	planned := with(proposed, "secret", tftypes.NewValue(tftypes.String, nil))
	for _, name := range []string{"id", "config"} {
		if text(planned, name) == "" {
			planned = with(planned, name, tftypes.NewValue(tftypes.String, tftypes.UnknownValue))
		}
	}
	if unset(planned, "size") {
		planned = with(planned, "size", tftypes.NewValue(tftypes.Number, tftypes.UnknownValue))
	}
	dv, err := tfprotov6.NewDynamicValue(objectType, planned)
	if err != nil {
		return nil, err
	}
	answer, err := commit(ctx, "plan", &dv)
	return &tfprotov6.PlanResourceChangeResponse{PlannedState: answer}, err
}

func (s *server) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	planned, err := req.PlannedState.Unmarshal(objectType)
	if err != nil || planned.IsNull() {
		return &tfprotov6.ApplyResourceChangeResponse{NewState: req.PlannedState}, err
	}
	state := with(planned, "id", tftypes.NewValue(tftypes.String, "id-"+text(planned, "name")))
	state = with(state, "config", tftypes.NewValue(tftypes.String, s.region))
	if unset(state, "size") {
		state = with(state, "size", tftypes.NewValue(tftypes.Number, 1))
	}
	dv, err := tfprotov6.NewDynamicValue(objectType, state)
	if err != nil {
		return nil, err
	}
	answer, err := commit(ctx, "apply", &dv)
	return &tfprotov6.ApplyResourceChangeResponse{NewState: answer, Private: req.PlannedPrivate}, err
}

// ImportResourceState imports any id, along with an object of a type that does not exist if the id says so.
func (s *server) ImportResourceState(_ context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	typeName := req.TypeName
	if req.ID == "other-type" {
		typeName = "fault_missing"
	}
	v := tftypes.NewValue(objectType, nil)
	dv, err := tfprotov6.NewDynamicValue(objectType, v)
	return &tfprotov6.ImportResourceStateResponse{ImportedResources: []*tfprotov6.ImportedResource{{TypeName: typeName, State: &dv}}}, err
}

func (s *server) MoveResourceState(_ context.Context, req *tfprotov6.MoveResourceStateRequest) (*tfprotov6.MoveResourceStateResponse, error) {
	v, err := req.SourceState.UnmarshalWithOpts(objectType, tfprotov6.UnmarshalOpts{ValueFromJSONOpts: tftypes.ValueFromJSONOpts{IgnoreUndefinedAttributes: true}})
	if err != nil {
		return nil, err
	}
	v = with(v, "config", tftypes.NewValue(tftypes.String, req.SourceProviderAddress+" "+req.SourceTypeName))
	dv, err := tfprotov6.NewDynamicValue(objectType, v)
	return &tfprotov6.MoveResourceStateResponse{TargetState: &dv, TargetPrivate: req.SourcePrivate}, err
}

// CallFunction shouts its argument. The text "fail" is refused as an argument.
func (s *server) CallFunction(_ context.Context, req *tfprotov6.CallFunctionRequest) (*tfprotov6.CallFunctionResponse, error) {
	arg, err := req.Arguments[0].Unmarshal(tftypes.String)
	if err != nil {
		return nil, err
	}
	var word string
	if err := arg.As(&word); err != nil {
		return nil, err
	}
	switch word {
	case "fail":
		n := int64(0)
		return &tfprotov6.CallFunctionResponse{Error: &tfprotov6.FunctionError{Text: "will not shout that", FunctionArgument: &n}}, nil
	case "number":
		dv, err := tfprotov6.NewDynamicValue(tftypes.List{ElementType: tftypes.String}, tftypes.NewValue(tftypes.List{ElementType: tftypes.String}, []tftypes.Value{}))
		return &tfprotov6.CallFunctionResponse{Result: &dv}, err
	}
	dv, err := tfprotov6.NewDynamicValue(tftypes.String, tftypes.NewValue(tftypes.String, strings.ToUpper(word)))
	return &tfprotov6.CallFunctionResponse{Result: &dv}, err
}

// kind returns the fault that an object asks for, "" if none.
func kind(dv *tfprotov6.DynamicValue) string {
	v, err := dv.Unmarshal(objectType)
	if err != nil {
		return ""
	}
	return text(v, "fault")
}

// commit commits the fault that the object asks for in this call, and otherwise
// answers with the object.
func commit(ctx context.Context, call string, dv *tfprotov6.DynamicValue) (*tfprotov6.DynamicValue, error) {
	fault, at, _ := strings.Cut(kind(dv), "@")
	if at != call {
		return dv, nil
	}
	v, err := dv.Unmarshal(objectType)
	if err != nil {
		return nil, err
	}
	switch fault {
	case "panic":
		fmt.Fprintln(os.Stderr, `{"@level":"error","@message":"about to panic","token":"S3CRET"}`)
		panic("fault: this provider is broken")
	case "exit":
		os.Exit(3)
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "ignore-cancel":
		time.Sleep(300 * time.Millisecond)
		return dv, nil
	case "stuck":
		select {}
	case "error":
		return nil, errors.New("an error that is no diagnostic")
	case "defer":
		return dv, nil
	case "absent":
		return nil, nil
	case "unknown":
		return encode(with(v, "size", tftypes.NewValue(tftypes.Number, tftypes.UnknownValue)))
	case "secret":
		return encode(with(v, "secret", tftypes.NewValue(tftypes.String, "S3CRET")))
	case "drift":
		return encode(with(v, "size", tftypes.NewValue(tftypes.Number, 99)))
	}
	return damaged(fault, v)
}

// damaged answers with bytes that are not what the schema says.
func damaged(fault string, v tftypes.Value) (*tfprotov6.DynamicValue, error) {
	switch fault {
	case "json":
		return &tfprotov6.DynamicValue{JSON: []byte(`{"id":"j","name":"json","fault":null,"size":1,"secret":null,"config":null,"pin":null,"items":[{"key":"k","value":null,"pin":null}]}`)}, nil
	case "bad-json":
		return &tfprotov6.DynamicValue{JSON: []byte(`{"id":`)}, nil
	case "type":
		return &tfprotov6.DynamicValue{MsgPack: []byte{0x93, 1, 2, 3}}, nil
	case "attribute":
		return &tfprotov6.DynamicValue{MsgPack: []byte{0x81, 0xa4, 'n', 'o', 'p', 'e', 0xc0}}, nil
	case "truncated":
		dv, err := encode(v)
		if err != nil {
			return nil, err
		}
		return &tfprotov6.DynamicValue{MsgPack: dv.MsgPack[:len(dv.MsgPack)/2]}, nil
	case "huge": // an array of four billion elements, of which none follows
		return &tfprotov6.DynamicValue{MsgPack: []byte{0xdd, 0xff, 0xff, 0xff, 0xff}}, nil
	}
	return nil, fmt.Errorf("there is no fault %q", fault)
}

func encode(v tftypes.Value) (*tfprotov6.DynamicValue, error) {
	dv, err := tfprotov6.NewDynamicValue(objectType, v)
	return &dv, err
}

func attributes(object tftypes.Value) map[string]tftypes.Value {
	vals := map[string]tftypes.Value{}
	if object.IsNull() || !object.IsKnown() || object.As(&vals) != nil {
		return nil
	}
	return vals
}

func unset(object tftypes.Value, name string) bool {
	v := attributes(object)[name]
	return v.IsNull() || !v.IsKnown()
}

// text returns a string attribute, "" where it is null or unknown.
func text(object tftypes.Value, name string) string {
	var s string
	v, ok := attributes(object)[name]
	if !ok || v.IsNull() || !v.IsKnown() || v.As(&s) != nil {
		return ""
	}
	return s
}

// with returns an object with one attribute replaced.
func with(object tftypes.Value, name string, v tftypes.Value) tftypes.Value {
	vals := attributes(object)
	if vals == nil {
		return object
	}
	vals[name] = v
	return tftypes.NewValue(object.Type(), vals)
}
