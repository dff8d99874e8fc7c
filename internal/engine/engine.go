package engine

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/provisioners"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// ProviderSource starts providers.
type ProviderSource interface {
	// Start returns a running provider that is not configured yet. The caller closes it.
	Start(ctx context.Context, provider addrs.Provider) (providers.Interface, tfdiags.Diagnostics)
}

// Options configure an engine.
type Options struct {
	Providers ProviderSource
	// Parallelism fixes the number of concurrent calls to one provider
	// configuration. 0 means that it adapts, from [DefaultParallelism] on.
	Parallelism int
	// Durations are estimates from earlier operations; nil means none. The engine
	// adds what it sees.
	Durations *Durations
	// Hook is told what happens, for progress. Nil means nobody.
	Hook Hook
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
	// WaitUntil waits for a time by the same clock, and tells whether it came before
	// ctx ended. Nil means that of the system.
	WaitUntil func(ctx context.Context, at time.Time) bool
	// StopGrace is how long calls under way may go on after an apply was cancelled,
	// before they are cut off. 0 means any time.
	StopGrace time.Duration
	// Provisioners are the types of provisioner that may run, by name. Nil means that
	// configurations with provisioners are refused.
	Provisioners map[string]provisioners.Provisioner
	// Workspace is the value of terraform.workspace; "" means "default".
	Workspace string
}

// DefaultParallelism is the number of concurrent calls to one provider
// configuration to begin with; in Terraform it bounds the whole walk.
const DefaultParallelism = 10

// Engine plans and applies. It keeps providers running and what it learned of
// real objects between operations, so that a round without changes costs its
// reads only. Its methods must not be called concurrently with each other.
type Engine struct {
	opts Options
	hook Hook
	pool providerPool

	mu   sync.Mutex
	memo map[string]*planMemo
	last lastPlan
	// replays are the last plans that can be replayed, those without reading by themselves.
	replays map[bool]*replay

	compiledFor *configs.Config
	compiled    *program
	prepared    *compilation
}

// compilation is what compiling a configuration came to that nobody has asked for yet.
type compilation struct {
	config  *configs.Config
	program *program
	diags   tfdiags.Diagnostics
}

// New returns an engine. Close ends the providers it started.
func New(opts Options) *Engine {
	if opts.Durations == nil {
		opts.Durations = &Durations{byKind: map[string]time.Duration{}}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.WaitUntil == nil {
		opts.WaitUntil = waitUntil
	}
	e := &Engine{opts: opts, hook: opts.Hook, memo: map[string]*planMemo{}, replays: map[bool]*replay{}}
	if e.hook == nil {
		e.hook = NoHook{}
	}
	e.pool = providerPool{source: opts.Providers, schemas: map[addrs.Provider]*providers.Schema{},
		idle: map[addrs.Provider][]providers.Interface{}, configured: map[string]*configuredProvider{}}
	return e
}

// Close ends every provider.
func (e *Engine) Close() error { return e.pool.close() }

// Schemas returns the schemas of the given providers.
func (e *Engine) Schemas(ctx context.Context, wanted []addrs.Provider) (map[addrs.Provider]*providers.Schema, tfdiags.Diagnostics) {
	out := make(map[addrs.Provider]*providers.Schema, len(wanted))
	var diags tfdiags.Diagnostics
	for _, p := range wanted {
		schema, moreDiags := e.pool.schema(ctx, p)
		diags = append(diags, moreDiags...)
		if schema != nil {
			out[p] = schema
		}
	}
	return out, diags
}

// PlanSchemas returns the schemas that a plan's document needs: those of its objects, and
// of everything that the configuration declares, planned or not.
func (e *Engine) PlanSchemas(ctx context.Context, config *configs.Config, plan *plans.Plan) (map[addrs.Provider]*providers.Schema, tfdiags.Diagnostics) {
	used := plan.Providers()
	used[addrs.BuiltInProvider] = true
	for p := range config.ProviderRequirements() {
		used[p] = true
	}
	return e.Schemas(ctx, slices.Collect(maps.Keys(used)))
}

// ResourceSchema returns the schema of a resource that the configuration planned
// last declares, or nil.
func (e *Engine) ResourceSchema(addr addrs.ConfigResource) *providers.Block {
	if e.compiled == nil {
		return nil
	}
	if o := e.compiled.declared(addr); o != nil {
		return o.schema.Block
	}
	return nil
}

// ResourceProvider returns the provider configuration of a resource that the
// configuration planned last declares.
func (e *Engine) ResourceProvider(addr addrs.ConfigResource) (addrs.ProviderConfig, bool) {
	if e.compiled == nil {
		return addrs.ProviderConfig{}, false
	}
	if o := e.compiled.declared(addr); o != nil && o.provider != nil {
		return o.provider.providerAddr, true
	}
	return addrs.ProviderConfig{}, false
}

// ResourceRange returns where the configuration planned last declares a resource, or nil.
func (e *Engine) ResourceRange(addr addrs.ConfigResource) *hcl.Range {
	if e.compiled == nil {
		return nil
	}
	if o := e.compiled.declared(addr); o != nil && o.resource != nil {
		return o.resource.Range.Ptr()
	}
	return nil
}

// Prepare does what a plan needs to know before the state, so that it can be done while that is fetched: providers are
// started for their schemas, and references are resolved. Problems are told by
// the operation that comes next. It must have returned before any other method is called.
func (e *Engine) Prepare(ctx context.Context, config *configs.Config) {
	if e.compiledFor == config || e.prepared != nil && e.prepared.config == config {
		return
	}
	prog, diags := compile(ctx, config, &e.pool, e.opts.Provisioners)
	e.prepared = &compilation{config, prog, diags}
}

// program compiles a configuration, once while it stays the same.
func (e *Engine) program(ctx context.Context, config *configs.Config) (*program, tfdiags.Diagnostics) {
	if e.compiledFor == config {
		return e.compiled, nil
	}
	e.Prepare(ctx, config)
	prog, diags := e.prepared.program, e.prepared.diags
	e.prepared = nil
	if !diags.HasErrors() {
		e.compiledFor, e.compiled = config, prog
		clear(e.replays)
	}
	return prog, diags
}

// Hook is told what an operation does. Methods are called concurrently and must return soon.
type Hook interface {
	// Expect and Ended frame an operation; total is how many objects it will read or change.
	Expect(total int)
	Ended()
	// Refreshing and Refreshed frame the read of a recorded object.
	Refreshing(addr addrs.ResourceInstance, id string)
	Refreshed(addr addrs.ResourceInstance)
	// Reading and ReadDone frame the read of a data source.
	Reading(addr addrs.ResourceInstance)
	ReadDone(addr addrs.ResourceInstance, id string, took time.Duration)
	// Applying and Applied frame a call that changes something. Deposed is the
	// key of a deposed object, or "".
	Applying(ev ApplyEvent)
	Applied(ev ApplyEvent, took time.Duration, failed bool)
	// Ephemeral is told of the beginning and of the end of each call about an
	// ephemeral object.
	Ephemeral(ev EphemeralEvent)
	// Provisioning and Provisioned frame one run of a provisioner, ProvisionOutput is
	// a line of what it says. They come between Applying and Applied of the object.
	Provisioning(ev ProvisionEvent)
	ProvisionOutput(ev ProvisionEvent, line string)
	Provisioned(ev ProvisionEvent, failed bool)
}

// EphemeralEvent is the beginning or the end of a call about an ephemeral object.
type EphemeralEvent struct {
	Addr addrs.ResourceInstance
	// Verb is "open", "renew" or "close".
	Verb          string
	Ended, Failed bool
	// Took is how long the call took, at its end.
	Took time.Duration
}

// ProvisionEvent is one provisioner that runs.
type ProvisionEvent struct {
	Addr addrs.ResourceInstance
	// Type is the type of provisioner, such as local-exec.
	Type string
}

// ApplyEvent is one change being made.
type ApplyEvent struct {
	Addr    addrs.ResourceInstance
	Deposed string
	// Verb is "create", "update", "delete" or "read".
	Verb string
	// ID is the object's id attribute, before or after, or "".
	ID string
}

// NoHook is a Hook that ignores everything.
type NoHook struct{}

func (NoHook) Expect(int)                                             {}
func (NoHook) Ended()                                                 {}
func (NoHook) Refreshing(addrs.ResourceInstance, string)              {}
func (NoHook) Refreshed(addrs.ResourceInstance)                       {}
func (NoHook) Reading(addrs.ResourceInstance)                         {}
func (NoHook) ReadDone(addrs.ResourceInstance, string, time.Duration) {}
func (NoHook) Applying(ApplyEvent)                                    {}
func (NoHook) Applied(ApplyEvent, time.Duration, bool)                {}
func (NoHook) Ephemeral(EphemeralEvent)                               {}
func (NoHook) Provisioning(ProvisionEvent)                            {}
func (NoHook) ProvisionOutput(ProvisionEvent, string)                 {}
func (NoHook) Provisioned(ProvisionEvent, bool)                       {}

// objectID returns an object's id attribute for people, or "".
func objectID(v cty.Value) string {
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() || !v.Type().IsObjectType() || !v.Type().HasAttribute("id") {
		return ""
	}
	id, _ := v.GetAttr("id").Unmark()
	if id.IsNull() || !id.IsKnown() || id.Type() != cty.String {
		return ""
	}
	return id.AsString()
}

// SetHook changes who is told of the next operations.
func (e *Engine) SetHook(hook Hook) { e.hook = hook }
