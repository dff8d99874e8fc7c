package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// providerPool keeps providers running between operations: one process for each
// provider configuration, restarted only when its configuration changes.
type providerPool struct {
	source ProviderSource

	mu         sync.Mutex
	schemas    map[addrs.Provider]*providers.Schema
	idle       map[addrs.Provider][]providers.Interface // started, not configured
	configured map[string]*configuredProvider           // by configuration address
}

type configuredProvider struct {
	client   providers.Interface
	provider addrs.Provider
	config   cty.Value
}

// schema returns a provider's schema, from a process that is then kept for use.
func (p *providerPool) schema(ctx context.Context, provider addrs.Provider) (*providers.Schema, tfdiags.Diagnostics) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if schema, ok := p.schemas[provider]; ok {
		return schema, nil
	}
	client, diags := p.start(ctx, provider)
	if diags.HasErrors() {
		return nil, diags
	}
	schema, moreDiags := client.Schema(ctx)
	diags = append(diags, moreDiags...)
	p.idle[provider] = append(p.idle[provider], client)
	if !diags.HasErrors() {
		p.schemas[provider] = schema
	}
	return schema, diags
}

func (p *providerPool) start(ctx context.Context, provider addrs.Provider) (providers.Interface, tfdiags.Diagnostics) {
	if provider == addrs.BuiltInProvider {
		return newBuiltin(), nil
	}
	return p.source.Start(ctx, provider)
}

// take returns a started provider without configuration.
func (p *providerPool) take(ctx context.Context, provider addrs.Provider) (providers.Interface, tfdiags.Diagnostics) {
	p.mu.Lock()
	if idle := p.idle[provider]; len(idle) > 0 {
		client := idle[len(idle)-1]
		p.idle[provider] = idle[:len(idle)-1]
		p.mu.Unlock()
		return client, nil
	}
	p.mu.Unlock()
	return p.start(ctx, provider)
}

// get returns a provider with the given configuration, the running one if it has it.
func (p *providerPool) get(ctx context.Context, addr addrs.ProviderConfig, config cty.Value) (providers.Interface, tfdiags.Diagnostics) {
	key := addr.String()
	p.mu.Lock()
	running := p.configured[key]
	p.mu.Unlock()
	if running != nil {
		if config.IsWhollyKnown() && running.config.RawEquals(config) {
			return running.client, nil
		}
		_ = running.client.Close()
		p.mu.Lock()
		delete(p.configured, key)
		p.mu.Unlock()
	}
	client, diags := p.take(ctx, addr.Provider)
	if diags.HasErrors() {
		return nil, diags
	}
	diags = append(diags, client.ValidateProviderConfig(ctx, config)...)
	if !diags.HasErrors() {
		diags = append(diags, client.Configure(ctx, config)...)
	}
	if diags.HasErrors() {
		_ = client.Close()
		return nil, diags
	}
	p.mu.Lock()
	p.configured[key] = &configuredProvider{client: client, provider: addr.Provider, config: config}
	p.mu.Unlock()
	return client, diags
}

// runs tells whether a provider configuration is that of a process still.
func (p *providerPool) runs(addr addrs.ProviderConfig, client providers.Interface) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	running := p.configured[addr.String()]
	return running != nil && running.client == client
}

// running lends a provider for validation, which minds no configuration: one that
// runs already, if any does.
func (p *providerPool) running(ctx context.Context, provider addrs.Provider) (providers.Interface, tfdiags.Diagnostics) {
	p.mu.Lock()
	for _, c := range p.configured {
		if c.provider == provider {
			p.mu.Unlock()
			return c.client, nil
		}
	}
	p.mu.Unlock()
	return p.unconfigured(ctx, provider)
}

// unconfigured lends a provider for calls that need no configuration, such as validation.
func (p *providerPool) unconfigured(ctx context.Context, provider addrs.Provider) (providers.Interface, tfdiags.Diagnostics) {
	client, diags := p.take(ctx, provider)
	if diags.HasErrors() {
		return nil, diags
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle[provider] = append(p.idle[provider], client)
	return client, diags
}

func (p *providerPool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, c := range p.configured {
		errs = append(errs, c.client.Close())
	}
	for _, idle := range p.idle {
		for _, c := range idle {
			errs = append(errs, c.Close())
		}
	}
	clear(p.configured)
	clear(p.idle)
	return errors.Join(errs...)
}

// providerRun is a provider configuration during a walk.
type providerRun struct {
	object *object
	mi     *moduleInst
	node   *dag.Node
	// class is that of calls which reach the real API. local is that of calls which
	// the provider answers by itself, as plans: were they to wait for the API's turn,
	// all of them would be made after the last read.
	class, local dag.Class
	// limiter adapts the class's limit; nil if it is fixed.
	limiter *limiter
	// client is connected and metered; base is the process itself, whose identity
	// tells whether it is still the same one.
	client, base providers.Interface
	schema       *providers.Schema
	// failed tells that there is no client and that what needs one is left alone.
	failed bool
}

// newProviderRun makes the node that evaluates and applies a provider configuration.
func (w *walk) newProviderRun(o *object) *providerRun {
	run := &providerRun{object: o}
	run.limit(w.sched, w.engine.opts.Parallelism)
	if o.broken {
		run.node = w.sched.Hold(w.priority(o)+1, o.String, failedStep)
		return run
	}
	run.node = w.sched.Hold(w.priority(o)+1, o.String, dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) {
		config, diags := w.providerConfig(run)
		diags, left := w.leaveProvider(run, diags)
		if w.report(diags) {
			return dag.Failed()
		}
		if left {
			return dag.Done()
		}
		return &dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
			diags, _ := w.leaveProvider(run, w.connect(ctx, run, config))
			return nil, !w.report(diags)
		}}, true
	}})
	return run
}

// limit makes the classes of a run's calls. fixed is their number, or 0 if it adapts.
func (run *providerRun) limit(sched *dag.Scheduler, fixed int) {
	if fixed > 0 {
		run.class = sched.AddClass(fixed)
		run.local = run.class // the number is for all calls
		return
	}
	run.limiter = newLimiter(sched)
	run.class = run.limiter.class
	run.local = sched.AddClass(DefaultParallelism)
}

// meter makes the client from the process.
func (run *providerRun) meter(durations *Durations) {
	run.client = &metered{run.base, run.limiter, durations}
}

// providerConfig evaluates a provider configuration, without marks.
func (w *walk) providerConfig(run *providerRun) (cty.Value, tfdiags.Diagnostics) {
	o := run.object
	schema, diags := w.engine.pool.schema(context.Background(), o.providerAddr.Provider)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	run.schema = schema
	body := hcl.EmptyBody()
	if o.providerDecl != nil {
		body = o.providerDecl.Config
	}
	hclCtx, moreDiags := run.mi.evalContext(o.refs, evalOptions{})
	diags = append(diags, moreDiags...)
	if moreDiags.HasErrors() {
		return cty.NilVal, diags
	}
	val, moreDiags := decodeBody(body, schema.Provider, hclCtx)
	val, _ = lang.UnmarkPaths(val)
	return val, append(diags, moreDiags...)
}

// connect gives the run its provider. While validating, none is configured.
func (w *walk) connect(ctx context.Context, run *providerRun, config cty.Value) tfdiags.Diagnostics {
	addr := run.object.providerAddr
	var diags tfdiags.Diagnostics
	if w.validating() {
		run.base, diags = w.engine.pool.running(ctx, addr.Provider)
		if !diags.HasErrors() && run.object.providerDecl != nil {
			diags = append(diags, run.base.ValidateProviderConfig(ctx, config)...)
		}
	} else {
		run.base, diags = w.engine.pool.get(ctx, addr, config)
	}
	if run.base != nil {
		run.meter(w.engine.opts.Durations)
	}
	diags = diags.WithAddress(addr.String())
	if run.object.providerDecl != nil {
		diags = diags.WithSubject(run.object.providerDecl.Range)
	}
	return diags
}

// block returns the schema block of a resource type, or nil if there is none.
func (p *providerPool) block(ctx context.Context, provider addrs.Provider, addr addrs.Resource) *providers.Block {
	schema, diags := p.schema(ctx, provider)
	if diags.HasErrors() {
		return nil
	}
	types := schema.ResourceTypes
	if addr.Mode == addrs.Data {
		types = schema.DataSources
	}
	found := types.Get(addr.Type)
	if found == nil {
		return nil
	}
	return found.Block
}
