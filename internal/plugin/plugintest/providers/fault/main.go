// Command fault is a provider of protocol 6 for tests that does what providers
// must not do. A fault_object with the attribute fault set to KIND@CALL commits
// that fault in that call, and is an ordinary object in all others.
package main

import (
	"context"

	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
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
		"items": tftypes.List{ElementType: itemType}, "labels": tftypes.Set{ElementType: tftypes.String},
		"disk": tftypes.List{ElementType: diskType}, "tag": tftypes.Set{ElementType: tagType},
	}}
	diskType   = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"size": tftypes.Number, "device": tftypes.String}}
	tagType    = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"key": tftypes.String, "value": tftypes.String}}
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

func objectSchema() *tfprotov6.Schema {
	return &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{
		Attributes: []*tfprotov6.SchemaAttribute{
			str("id", computed), str("name", required), str("fault", optional), str("config", computed), str("pin", sensitive),
			{Name: "size", Type: tftypes.Number, Optional: true, Computed: true},
			{Name: "labels", Type: tftypes.Set{ElementType: tftypes.String}, Optional: true},
			str("secret", func(a *tfprotov6.SchemaAttribute) { a.Optional, a.WriteOnly, a.Sensitive = true, true, true }),
			{Name: "items", Optional: true, NestedType: &tfprotov6.SchemaObject{
				Nesting: tfprotov6.SchemaObjectNestingModeList, Attributes: []*tfprotov6.SchemaAttribute{str("key", required), str("value", computed), str("pin", sensitive)},
			}},
		},
		BlockTypes: []*tfprotov6.SchemaNestedBlock{
			{TypeName: "disk", Nesting: tfprotov6.SchemaNestedBlockNestingModeList, Block: &tfprotov6.SchemaBlock{
				Attributes: []*tfprotov6.SchemaAttribute{{Name: "size", Type: tftypes.Number, Required: true}, str("device", computed)},
			}},
			{TypeName: "tag", Nesting: tfprotov6.SchemaNestedBlockNestingModeSet, Block: &tfprotov6.SchemaBlock{
				Attributes: []*tfprotov6.SchemaAttribute{str("key", required), str("value", computed)},
			}},
		},
	}}
}

// described counts how often this process was asked for its schema.
var described atomic.Int64

func (s *server) GetProviderSchema(context.Context, *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	described.Add(1)
	resp := &tfprotov6.GetProviderSchemaResponse{
		ServerCapabilities: &tfprotov6.ServerCapabilities{GetProviderSchemaOptional: true, PlanDestroy: true, MoveResourceState: true},
		Provider:           &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{str("region", optional)}}},
		ProviderMeta:       &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{str("module", optional)}}},
		ResourceSchemas: map[string]*tfprotov6.Schema{
			"fault_object": objectSchema(),
		},
		ListResourceSchemas: listSchemas(),
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
	case "write-only-set":
		resp.ResourceSchemas["fault_schema"] = &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{{
			Name: "s", Optional: true, NestedType: &tfprotov6.SchemaObject{Nesting: tfprotov6.SchemaObjectNestingModeSet, Attributes: []*tfprotov6.SchemaAttribute{
				str("id", func(a *tfprotov6.SchemaAttribute) { a.Optional, a.WriteOnly = true, true }),
			}},
		}}}}
	case "write-only-set-block":
		resp.ResourceSchemas["fault_schema"] = &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{BlockTypes: []*tfprotov6.SchemaNestedBlock{{
			TypeName: "s", Nesting: tfprotov6.SchemaNestedBlockNestingModeSet, Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{
				str("id", func(a *tfprotov6.SchemaAttribute) { a.Optional, a.WriteOnly = true, true }),
			}},
		}}}}
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

// ConfigureProvider takes any configuration. In the region "hang FILE" or "refuse
// FILE", it does so in the first process only, which makes the file. The next one
// leaves its number there.
func (s *server) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	config, err := req.Config.Unmarshal(configType)
	if err != nil {
		return nil, err
	}
	s.region = text(config, "region") + " " + req.TerraformVersion
	if fault, path, ok := strings.Cut(text(config, "region"), " "); ok && !first(path) {
		if fault == "hang" {
			<-ctx.Done()
		}
		return &tfprotov6.ConfigureProviderResponse{Diagnostics: problem("No second process", "One is enough.")}, nil
	}
	return &tfprotov6.ConfigureProviderResponse{}, nil
}

// first tells whether no process has been here before.
func first(path string) bool {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o600) // a test reads it, and fails if it is not there
		return false
	}
	return file.Close() == nil
}

func (s *server) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	fmt.Fprintln(os.Stderr, "asked to stop")
	return &tfprotov6.StopProviderResponse{}, nil
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
	case "time": // which differs from call to call, as no function of a provider may
		word = time.Now().Format(time.RFC3339Nano)
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
