package plugin

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Locator says which program serves a provider. [install.Installation] is one.
type Locator interface {
	Locate(ctx context.Context, addr addrs.Provider) (install.Executable, tfdiags.Diagnostics)
}

// Options are the surroundings of a [Pool].
type Options struct {
	// Logger gets what happens to providers, and their own log at debug level.
	// Nil means no log.
	Logger *slog.Logger
	// Now is the clock; nil means [time.Now].
	Now func() time.Time
	// MaxMemory is how large a provider's process may become, in bytes, before it is
	// replaced by a new one; 0 means [DefaultMaxMemory].
	MaxMemory uint64
	// HardMemory is how much memory a provider's process may hold, in bytes: beyond it the
	// process is ended at once; 0 means no limit.
	HardMemory uint64
	// CallTimeout and ChangeTimeout bound one call, and one that changes something. A
	// process in which a call hangs for longer is replaced. 0 means no bound.
	CallTimeout, ChangeTimeout time.Duration
	// LargeProgram is the size in bytes from which a provider's program is large, so
	// that a process of its own is asked for the schema; 0 means [DefaultLargeProgram].
	LargeProgram int64
	// SchemaDir is a folder that keeps providers' schemas between runs. "" means none.
	SchemaDir string
}

// Pool starts providers and ends them. Instances of one provider share its
// schema. It is safe for concurrent use.
type Pool struct {
	locator Locator
	log     *slog.Logger
	now     func() time.Time
	disk    diskCache
	// maxMemory and largeProgram are those of the options.
	maxMemory    uint64
	hardMemory   uint64
	largeProgram int64
	callTimeout  time.Duration
	// changeTimeout bounds calls that change something.
	changeTimeout time.Duration
	// ended is closed when nothing is to be watched any more.
	ended chan struct{}

	mu     sync.Mutex
	closed bool
	// watching tells that the processes' memory is looked at.
	watching  bool
	schemas   map[addrs.Provider]*descriptions
	instances map[*instance]struct{}
}

// NewPool returns a pool without providers.
func NewPool(locator Locator, opts Options) *Pool {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Pool{
		locator: locator, log: opts.Logger, now: opts.Now, disk: diskCache{opts.SchemaDir}, maxMemory: cmp.Or(opts.MaxMemory, DefaultMaxMemory),
		hardMemory: opts.HardMemory, callTimeout: opts.CallTimeout, changeTimeout: opts.ChangeTimeout, ended: make(chan struct{}),
		largeProgram: cmp.Or(opts.LargeProgram, DefaultLargeProgram),
		schemas:      make(map[addrs.Provider]*descriptions), instances: make(map[*instance]struct{}),
	}
}

// Start finds, verifies and starts a provider that is not configured yet. Every
// call starts a process of its own, for one provider configuration.
func (p *Pool) Start(ctx context.Context, addr addrs.Provider) (providers.Interface, tfdiags.Diagnostics) {
	exe, diags := p.locator.Locate(ctx, addr)
	if diags.HasErrors() {
		return nil, diags.WithAddress(addr.String())
	}
	i, err := p.register(addr, exe)
	if err != nil {
		return nil, append(diags, closedDiags("start")...)
	}
	i.foresee(ctx)
	if _, moreDiags := i.process(ctx, "start"); moreDiags.HasErrors() {
		_ = i.Close() // there is nothing left to end that could fail
		return nil, append(diags, moreDiags...).WithAddress(addr.String())
	}
	return i, diags
}

func (p *Pool) register(addr addrs.Provider, exe install.Executable) (*instance, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("the pool is closed")
	}
	described := p.schemas[addr]
	if described == nil {
		described = newDescriptions()
		p.schemas[addr] = described
	}
	i := &instance{
		addr: addr, exe: exe, large: isLarge(exe, p.largeProgram), schema: described.schema, identities: described.identities, disk: p.disk, now: p.now, onEnd: p.forget,
		log:  p.log.With("provider", addr.String(), "version", exe.Version),
		turn: make(chan struct{}, 1), maxMemory: p.maxMemory, hardMemory: p.hardMemory, callTimeout: p.callTimeout, changeTimeout: p.changeTimeout, retired: map[*process]bool{},
	}
	i.turn <- struct{}{}
	if p.hardMemory > 0 && !p.watching {
		p.watching = true
		go p.watch()
	}
	p.instances[i] = struct{}{}
	return i, nil
}

func (p *Pool) forget(i *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.instances, i)
}

// Close ends all providers and waits until they are gone. No provider can be
// started afterwards. It is idempotent.
func (p *Pool) Close() error {
	p.mu.Lock()
	if !p.closed {
		close(p.ended)
	}
	p.closed = true
	p.mu.Unlock()
	open := p.all()
	errs := make([]error, len(open))
	var wait sync.WaitGroup
	for n, i := range open {
		wait.Go(func() { errs[n] = i.Close() })
	}
	wait.Wait()
	return errors.Join(errs...)
}
