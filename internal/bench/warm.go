package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// warmEngine is an engine between two rounds: providers run, all is known.
type warmEngine struct {
	engine *engine.Engine
	config *configs.Config
	state  *states.State
	// started are the providers that run.
	started *tap
	closer  io.Closer
}

// tap hands providers through and remembers them, so that a raw client can use
// the process that the engine uses.
type tap struct {
	source engine.ProviderSource

	mu      sync.Mutex
	clients []providers.Interface
}

// Start implements [engine.ProviderSource].
func (t *tap) Start(ctx context.Context, provider addrs.Provider) (providers.Interface, tfdiags.Diagnostics) {
	client, diags := t.source.Start(ctx, provider)
	t.mu.Lock()
	defer t.mu.Unlock()
	if client != nil {
		t.clients = append(t.clients, client)
	}
	return client, diags
}

// only returns the one provider that was started.
func (t *tap) only() (providers.Interface, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.clients) != 1 {
		return nil, fmt.Errorf("%d providers were started, not one", len(t.clients))
	}
	return t.clients[0], nil
}

// setenv gives this process a folder's environment until the result is called:
// providers that it starts inherit it.
func setenv(env []string) (restore func(), err error) {
	before := os.Environ()
	set := func(env []string) error {
		os.Clearenv()
		var errs []error
		for _, entry := range env {
			name, value, _ := strings.Cut(entry, "=")
			errs = append(errs, os.Setenv(name, value))
		}
		return errors.Join(errs...)
	}
	return func() { _ = set(before) }, set(env) // what could be set before can be set again
}

// warm opens an engine on a folder whose objects are all there, and plans twice
// so that everything is known. Close it afterwards.
func (f *folder) warm(ctx context.Context, parallelism int) (*warmEngine, error) {
	state, err := f.state()
	if err != nil {
		return nil, err
	}
	config, diags := configs.Load(f.dir)
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	restore, err := setenv(f.env)
	if err != nil {
		return nil, err
	}
	defer restore()
	pool, err := f.pool()
	if err != nil {
		return nil, err
	}
	return newWarmEngine(ctx, config, state, pool, pool, parallelism)
}

// pool starts the providers that are installed in the folder, with the environment
// of this process.
func (f *folder) pool() (*plugin.Pool, error) {
	installation, diags := install.Open(f.dir, cliconfig.OSEnvironment())
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	return plugin.NewPool(installation, plugin.Options{}), nil
}

func newWarmEngine(ctx context.Context, config *configs.Config, state *states.State, source engine.ProviderSource, closer io.Closer, parallelism int) (*warmEngine, error) {
	w := &warmEngine{config: config, state: state, started: &tap{source: source}, closer: closer}
	w.engine = engine.New(engine.Options{Providers: w.started, Parallelism: parallelism})
	for range 2 {
		if _, err := w.round(ctx); err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	return w, nil
}

func (w *warmEngine) close() error { return errors.Join(w.engine.Close(), w.closer.Close()) }

// round plans as an agent does when nothing has changed, and checks that nothing has.
func (w *warmEngine) round(ctx context.Context) (time.Duration, error) {
	runtime.GC() // what came before is not this round's cost
	begin := time.Now()
	plan, diags := w.engine.Plan(ctx, w.config, w.state, engine.PlanOptions{})
	took := time.Since(begin)
	if diags.HasErrors() {
		return took, diags.Err()
	}
	if plan.Applyable() {
		return took, errors.New("a round in which nothing had changed planned changes")
	}
	w.state = plan.Prior
	return took, nil
}

// recorded is one object as a raw client reads it.
type recorded struct {
	addr   addrs.ResourceInstance
	object *states.Object
}

// managed lists the recorded objects.
func (w *warmEngine) managed() []recorded {
	var out []recorded
	w.state.Each(func(addr addrs.ResourceInstance, r *states.Resource, inst *states.Instance) {
		if r.Addr.Mode == addrs.Managed && inst.Current != nil {
			out = append(out, recorded{addr, inst.Current})
		}
	})
	return out
}

// raw issues the ReadResource calls of a round to the provider process that the
// engine uses, and does nothing else: the floor of what a round can take.
func (w *warmEngine) raw(ctx context.Context, objects []recorded, workers int) (time.Duration, error) {
	client, err := w.started.only()
	if err != nil {
		return 0, err
	}
	runtime.GC()
	queue := make(chan recorded)
	errs := make([]error, workers)
	var wait sync.WaitGroup
	begin := time.Now()
	for i := range workers {
		wait.Go(func() {
			for r := range queue {
				errs[i] = errors.Join(errs[i], readRaw(ctx, client, r))
			}
		})
	}
	for _, r := range objects {
		queue <- r
	}
	close(queue)
	wait.Wait()
	return time.Since(begin), errors.Join(errs...)
}

func readRaw(ctx context.Context, client providers.Interface, r recorded) error {
	known := r.object.Decoded()
	if known == nil {
		return fmt.Errorf("%s was never read", r.addr)
	}
	resp := client.ReadResource(ctx, providers.ReadResourceRequest{
		TypeName: r.addr.Resource.Type, PriorState: known.Value, PriorEncoded: known.Encoded, Private: r.object.Private,
	})
	if resp.Diagnostics.HasErrors() {
		return resp.Diagnostics.Err()
	}
	if !resp.Unchanged {
		return fmt.Errorf("%s has changed while nothing was to change", r.addr)
	}
	return nil
}
