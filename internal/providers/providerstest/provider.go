package providerstest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Call is one call that a provider received.
type Call struct {
	// Method is the name of the method of [providers.Interface].
	Method string
	// Name is the type or function called, "" for calls about the provider.
	Name string
	// Request is the request struct, or the only argument of methods without one.
	Request any
}

// Provider is a provider in memory. Its fields are set before the first call.
//
// Each hook, when set, answers in place of the behaviour that is described
// there; it may call the method of the same name with suffix Default.
type Provider struct {
	SchemaValue *providers.Schema
	// ForceNew names, by resource type, the attributes whose change needs a replacement.
	ForceNew map[string][]string

	ConfigureHook func(ctx context.Context, config cty.Value) tfdiags.Diagnostics
	// ValidateHook sees every configuration; kind is "provider", "resource", "data", "ephemeral" or "list".
	ValidateHook func(kind, typeName string, config cty.Value) tfdiags.Diagnostics
	UpgradeHook  func(ctx context.Context, req providers.UpgradeResourceStateRequest) providers.UpgradeResourceStateResponse
	ReadHook     func(ctx context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse
	PlanHook     func(ctx context.Context, req providers.PlanResourceChangeRequest) providers.PlanResourceChangeResponse
	ApplyHook    func(ctx context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse
	ImportHook   func(ctx context.Context, req providers.ImportResourceStateRequest) providers.ImportResourceStateResponse
	MoveHook     func(ctx context.Context, req providers.MoveResourceStateRequest) providers.MoveResourceStateResponse
	DataHook     func(ctx context.Context, req providers.ReadDataSourceRequest) providers.ReadDataSourceResponse
	ListHook     func(ctx context.Context, req providers.ListResourcesRequest) providers.ListResourcesResponse
	OpenHook     func(ctx context.Context, req providers.OpenEphemeralRequest) providers.OpenEphemeralResponse
	RenewHook    func(ctx context.Context, req providers.RenewEphemeralRequest) providers.RenewEphemeralResponse
	FunctionHook func(name string, args []cty.Value) (cty.Value, error)

	mu         sync.Mutex
	calls      []Call
	objects    map[string]map[string]cty.Value
	lastID     int
	configured bool
	stopped    bool
	closed     bool
}

var _ providers.Interface = (*Provider)(nil)

// New returns a provider with a schema and no objects.
func New(schema *providers.Schema) *Provider {
	return &Provider{SchemaValue: schema, objects: make(map[string]map[string]cty.Value)}
}

// Calls returns the calls of the named methods so far, in order; all calls if no name is given.
func (p *Provider) Calls(methods ...string) []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Call
	for _, call := range p.calls {
		if len(methods) == 0 || slices.Contains(methods, call.Method) {
			out = append(out, call)
		}
	}
	return out
}

// ResetCalls forgets the calls so far.
func (p *Provider) ResetCalls() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = nil
}

// Object returns a real object, or NilVal.
func (p *Provider) Object(typeName, id string) cty.Value {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.objects[typeName][id]
}

// IDs lists the real objects of a type, sorted.
func (p *Provider) IDs(typeName string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.objects[typeName]))
}

// SetObject changes, makes or (with NilVal) deletes a real object behind the caller's back.
func (p *Provider) SetObject(typeName, id string, v cty.Value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(typeName, id, v)
}

func (p *Provider) put(typeName, id string, v cty.Value) {
	if p.objects[typeName] == nil {
		p.objects[typeName] = make(map[string]cty.Value)
	}
	if v == cty.NilVal {
		delete(p.objects[typeName], id)
		return
	}
	p.objects[typeName][id] = v
}

// Stopped tells whether Stop has been called.
func (p *Provider) Stopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}

// Closed tells whether Close has been called.
func (p *Provider) Closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// record notes a call and tells what is wrong with its being made now.
func (p *Provider) record(method, name string, request any, needsConfig bool) tfdiags.Diagnostics {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, Call{method, name, request})
	switch {
	case p.closed:
		return misuse("%s was called after Close.", method)
	case needsConfig && !p.configured:
		return misuse("%s was called before Configure.", method)
	}
	return nil
}

func misuse(format string, args ...any) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Provider called wrongly", fmt.Sprintf(format, args...))
}

// conforms checks values that a caller sent.
func conforms(block *providers.Block, what string, vals ...cty.Value) tfdiags.Diagnostics {
	if block == nil {
		return misuse("%s: there is no such schema.", what)
	}
	for _, v := range vals {
		if v == cty.NilVal {
			return misuse("%s: a value is missing.", what)
		}
		if v.ContainsMarked() {
			return misuse("%s: a value carries marks.", what)
		}
		if problems := v.Type().TestConformance(block.ImpliedType()); len(problems) > 0 {
			return misuse("%s: a value does not conform to the schema: %v.", what, problems)
		}
	}
	return nil
}

func blockOf(set providers.SchemaSet, name string) *providers.Block {
	if set == nil {
		return nil
	}
	if schema := set.Get(name); schema != nil {
		return schema.Block
	}
	return nil
}

// Schema implements [providers.Interface].
func (p *Provider) Schema(context.Context) (*providers.Schema, tfdiags.Diagnostics) {
	return p.SchemaValue, p.record("Schema", "", nil, false)
}

// Configure implements [providers.Interface].
func (p *Provider) Configure(ctx context.Context, config cty.Value) tfdiags.Diagnostics {
	diags := p.record("Configure", "", config, false)
	if p.SchemaValue.Provider != nil {
		diags = append(diags, conforms(p.SchemaValue.Provider, "provider configuration", config)...)
	}
	if p.ConfigureHook != nil && !diags.HasErrors() {
		diags = append(diags, p.ConfigureHook(ctx, config)...)
	}
	p.mu.Lock()
	p.configured = !diags.HasErrors()
	p.mu.Unlock()
	return diags
}

// Stop implements [providers.Interface].
func (p *Provider) Stop(context.Context) error {
	p.record("Stop", "", nil, false)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	return nil
}

// Close implements [providers.Interface].
func (p *Provider) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, Call{Method: "Close"})
	p.closed = true
	return nil
}

// ValidateProviderConfig implements [providers.Interface].
func (p *Provider) ValidateProviderConfig(_ context.Context, config cty.Value) tfdiags.Diagnostics {
	return p.validate("ValidateProviderConfig", "provider", "", p.SchemaValue.Provider, config)
}

// ValidateResourceConfig implements [providers.Interface].
func (p *Provider) ValidateResourceConfig(_ context.Context, typeName string, config cty.Value) tfdiags.Diagnostics {
	return p.validate("ValidateResourceConfig", "resource", typeName, blockOf(p.SchemaValue.ResourceTypes, typeName), config)
}

// ValidateDataSourceConfig implements [providers.Interface].
func (p *Provider) ValidateDataSourceConfig(_ context.Context, typeName string, config cty.Value) tfdiags.Diagnostics {
	return p.validate("ValidateDataSourceConfig", "data", typeName, blockOf(p.SchemaValue.DataSources, typeName), config)
}

// ValidateEphemeralConfig implements [providers.Interface].
func (p *Provider) ValidateEphemeralConfig(_ context.Context, typeName string, config cty.Value) tfdiags.Diagnostics {
	return p.validate("ValidateEphemeralConfig", "ephemeral", typeName, blockOf(p.SchemaValue.Ephemerals, typeName), config)
}

// ValidateListConfig implements [providers.Interface].
func (p *Provider) ValidateListConfig(_ context.Context, typeName string, config cty.Value) tfdiags.Diagnostics {
	return p.validate("ValidateListConfig", "list", typeName, blockOf(p.SchemaValue.Lists, typeName), config)
}

func (p *Provider) validate(method, kind, typeName string, block *providers.Block, config cty.Value) tfdiags.Diagnostics {
	diags := p.record(method, typeName, config, false)
	diags = append(diags, conforms(block, "configuration of "+kind+" "+typeName, config)...)
	if p.ValidateHook != nil && !diags.HasErrors() {
		diags = append(diags, p.ValidateHook(kind, typeName, config)...)
	}
	return diags
}
