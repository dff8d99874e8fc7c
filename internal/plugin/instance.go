package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin6"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

const (
	// A provider that crashes more often than maxRestarts times within
	// restartWindow is not started again until the window has passed: starting
	// costs much, and what crashed it is likely still there.
	maxRestarts   = 3
	restartWindow = 5 * time.Minute
	// stopTimeout bounds the call that asks a provider to stop.
	stopTimeout = 5 * time.Second
)

// instance is one configured provider. Its process is replaced when it has
// crashed or grown too large, and the new one gets the last configuration.
type instance struct {
	addr   addrs.Provider
	exe    install.Executable
	schema *fetched[providers.Schema]
	// identities are asked for when something is listed.
	identities *fetched[identitySchemas]
	disk       diskCache
	log        *slog.Logger
	now        func() time.Time
	onEnd      func(*instance)
	// large tells that the provider's program is a large one.
	large bool
	// maxMemory is the size in bytes beyond which the process is replaced.
	maxMemory uint64
	// hardMemory is the size beyond which it is ended at once.
	hardMemory uint64
	// callTimeout and changeTimeout bound calls; 0 means no bound.
	callTimeout, changeTimeout time.Duration
	// opened counts what the process holds open for us, or is asked to open.
	opened atomic.Int64
	// stops counts how often the provider was asked to stop.
	stops atomic.Int64
	// configured counts the configurations that were accepted.
	configured atomic.Int64

	proc   atomic.Pointer[process]
	closed atomic.Bool
	turn   chan struct{} // holds one token; who has it may replace the process

	mu       sync.Mutex
	config   cty.Value // NilVal until a configuration was accepted
	restarts []time.Time
	retired  map[*process]bool // what ends after its last call
	// replacing tells that a process is started in the place of one that has grown,
	// in the background; abandon ends that.
	replacing bool
	abandon   context.CancelFunc
	endOnce   sync.Once

	background sync.WaitGroup
}

var _ providers.Interface = (*instance)(nil)

// process returns the running process. If there is none it starts one, which
// then gets what every new process needs.
func (i *instance) process(ctx context.Context, method string) (*process, tfdiags.Diagnostics) {
	if p := i.proc.Load(); p != nil && !i.gone(p) && !p.isRetiring() {
		return p, nil
	}
	select {
	case <-i.turn:
	case <-ctx.Done():
		return nil, cancelled(method)
	}
	defer func() { i.turn <- struct{}{} }()
	old := i.proc.Load()
	switch {
	case i.isClosed():
		return nil, closedDiags(method)
	case old != nil && !i.gone(old):
		return old, nil // somebody else was faster
	case old != nil:
		if diags := i.allowRestart(); diags.HasErrors() {
			return nil, diags
		}
		old.end()
	}
	p, diags := i.start(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	i.proc.Store(p)
	if i.isClosed() { // closed meanwhile, and Close did not see this process
		p.end()
		return nil, closedDiags(method)
	}
	return p, nil
}

func (i *instance) gone(p *process) bool { return p.dead.Load() || p.client.Exited() }

func (i *instance) isClosed() bool { return i.closed.Load() }

// start starts a process and brings it to where its predecessor was.
func (i *instance) start(ctx context.Context) (*process, tfdiags.Diagnostics) {
	p, diags := i.launch(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	if schema := i.schema.known(); schema != nil {
		if diags := i.prepare(ctx, p, schema); diags.HasErrors() {
			p.end()
			return nil, diags
		}
	}
	return p, nil
}

// launch starts a process that has been told nothing.
func (i *instance) launch(ctx context.Context) (*process, tfdiags.Diagnostics) {
	began := i.now()
	p, err := startProcess(ctx, i.exe, providerEnviron(ctx, i.addr.Type, i.large, i.hardMemory, i.log), i.log)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return nil, cancelled("start")
	case err != nil:
		return nil, startFailed(err)
	}
	i.log.Debug("provider started", "protocol", p.protocol, "took", i.now().Sub(began))
	return p, nil
}

// prepare sends a new process the calls that must come before all others.
func (i *instance) prepare(ctx context.Context, p *process, schema *providers.Schema) tfdiags.Diagnostics {
	if diags := i.needSchema(ctx, p, schema); diags.HasErrors() {
		return diags
	}
	i.mu.Lock()
	config := i.config
	i.mu.Unlock()
	if config == cty.NilVal {
		return nil
	}
	return i.configure(ctx, p, schema, config)
}

// needSchema asks a process for its schema if it depends on being asked, even
// if the answer is known from another process.
func (i *instance) needSchema(ctx context.Context, p *process, schema *providers.Schema) tfdiags.Diagnostics {
	if schema.Capabilities.SchemaOptional || p.schemaSent.Load() {
		return nil
	}
	if _, err := p.fetchSchema(ctx); err != nil {
		return i.failure(ctx, p, "GetProviderSchema", err)
	}
	return nil
}

func (i *instance) allowRestart() tfdiags.Diagnostics {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.exe.Reattach != nil {
		return tfdiags.New(tfdiags.Error, "Plugin did not respond",
			"The provider named in TF_REATTACH_PROVIDERS has ended. It was not started by Towline and so cannot be started again. Start it and set the variable anew.")
	}
	now := i.now()
	recent := i.restarts[:0]
	for _, t := range i.restarts {
		if now.Sub(t) < restartWindow {
			recent = append(recent, t)
		}
	}
	i.restarts = recent
	if len(recent) >= maxRestarts {
		last := ""
		if p := i.proc.Load(); p != nil {
			last = lastWords(p.stderr.last())
		}
		return tfdiags.New(tfdiags.Error, "Provider keeps crashing",
			fmt.Sprintf("The provider crashed more than %d times within %s and is not started again before that time is over. Use another version of the provider, or remove what makes it crash.%s", maxRestarts, restartWindow, last))
	}
	i.restarts = append(recent, now)
	i.log.Warn("provider is started again after it ended unexpectedly", "restarts", len(i.restarts))
	return nil
}

// call makes one call to the provider's process, and once more if that was ended for its
// size meanwhile and the call changes nothing.
func call[Resp any](ctx context.Context, i *instance, method string, f func(context.Context, tfplugin6.ProviderClient) (Resp, error)) (Resp, tfdiags.Diagnostics) {
	var none Resp
	for again := repeatable(method); ; again = false {
		p, diags := i.enter(ctx, method)
		if diags.HasErrors() {
			return none, diags
		}
		resp, diags := callProcess(ctx, i, p, method, f)
		if !again || !diags.HasErrors() || p.overgrown.Load() == 0 {
			return resp, diags
		}
		i.log.Warn("a call is made again, because its process was ended for its size", "call", method)
	}
}

// callProcess makes a call that has entered a process.
func callProcess[Resp any](ctx context.Context, i *instance, p *process, method string, f func(context.Context, tfplugin6.ProviderClient) (Resp, error)) (Resp, tfdiags.Diagnostics) {
	var none Resp
	defer p.leave()
	bounded, end := i.bound(ctx, method)
	defer end()
	if schema := i.schema.known(); schema != nil {
		if diags := i.needSchema(bounded, p, schema); diags.HasErrors() {
			return none, diags
		}
	}
	resp, err := f(bounded, p.rpc)
	switch {
	case err == nil:
		return resp, nil
	case ctx.Err() == nil && (bounded.Err() != nil || i.timeout(method) > 0 && status.Code(err) == codes.DeadlineExceeded):
		// The provider's own clock may see the deadline first.
		i.replace(ctx, p) // what hangs in it must not go on for ever
		return none, i.hung(method)
	}
	return none, i.failure(ctx, p, method, err)
}

// Configure implements [providers.Interface].
func (i *instance) Configure(ctx context.Context, config cty.Value) tfdiags.Diagnostics {
	schema, diags := i.Schema(ctx)
	if diags.HasErrors() {
		return diags
	}
	p, release, moreDiags := i.settled(ctx, "ConfigureProvider")
	if diags = append(diags, moreDiags...); diags.HasErrors() {
		return diags
	}
	defer release()
	if diags = append(diags, i.needSchema(ctx, p, schema)...); diags.HasErrors() {
		return diags
	}
	diags = append(diags, i.configure(ctx, p, schema, config)...)
	if !diags.HasErrors() {
		i.accept(config)
	}
	return diags
}

// accept keeps a configuration for processes to come. One that is started just now,
// without it, is given up.
func (i *instance) accept(config cty.Value) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.config = config
	i.configured.Add(1)
	if i.abandon != nil {
		i.abandon()
	}
}

// settled returns the running process, which is not replaced before release is
// called: no other can start without what it is about to be told.
func (i *instance) settled(ctx context.Context, method string) (p *process, release func(), diags tfdiags.Diagnostics) {
	for {
		p, diags = i.process(ctx, method)
		if diags.HasErrors() {
			return nil, nil, diags
		}
		select {
		case <-i.turn:
		case <-ctx.Done():
			return nil, nil, cancelled(method)
		}
		if i.proc.Load() == p {
			return p, func() { i.turn <- struct{}{} }, diags
		}
		i.turn <- struct{}{}
	}
}

func (i *instance) configure(ctx context.Context, p *process, schema *providers.Schema, config cty.Value) tfdiags.Diagnostics {
	encoded, err := encode(config, schema.Provider.ImpliedType())
	if err != nil {
		return invalidRequest("ConfigureProvider", i.addr.ForDisplay(), err)
	}
	resp, err := p.rpc.ConfigureProvider(ctx, &tfplugin6.ConfigureProvider_Request{
		TerraformVersion: terraformVersion, Config: encoded, ClientCapabilities: capabilities,
	})
	if err != nil {
		return i.failure(ctx, p, "ConfigureProvider", err)
	}
	return toDiagnostics(resp.GetDiagnostics())
}

// Stop implements [providers.Interface].
func (i *instance) Stop(ctx context.Context) error {
	i.stops.Add(1) // first, so that no answer is taken for one that was not cut short
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	var errs []error
	for _, p := range i.processes() {
		if !i.gone(p) {
			errs = append(errs, i.stop(ctx, p))
		}
	}
	return errors.Join(errs...)
}

func (i *instance) stop(ctx context.Context, p *process) error {
	resp, err := p.rpc.StopProvider(ctx, new(tfplugin6.StopProvider_Request))
	if err != nil {
		return fmt.Errorf("cannot ask provider %s to stop: %w", i.addr.ForDisplay(), err)
	}
	if resp.GetError() != "" {
		return fmt.Errorf("provider %s cannot stop: %s", i.addr.ForDisplay(), resp.GetError())
	}
	return nil
}

// Close implements [providers.Interface].
func (i *instance) Close() error {
	i.endOnce.Do(func() {
		i.mu.Lock()
		i.closed.Store(true)
		if i.abandon != nil {
			i.abandon()
		}
		i.mu.Unlock()
		i.background.Wait()
		for _, p := range i.processes() {
			p.end()
		}
		i.onEnd(i)
	})
	return nil
}
