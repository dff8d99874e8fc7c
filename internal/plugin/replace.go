package plugin

import (
	"context"
	"sync"
	"time"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Providers are made to serve one plan and end. Those built with
// terraform-plugin-framework keep about ten kilobytes of every call for as long as
// they run, and any may keep more than it should. So a process that has grown too
// large is replaced: it serves on while a new one starts, which then takes its
// place, and it ends after its last call. No call ever waits for the new one.

const (
	// DefaultMaxMemory is how large a provider's process may become: several
	// times what the largest providers need. It is no hard limit.
	DefaultMaxMemory = 1 << 30
	// replaceAfter is how many calls a process serves at least, so that one which
	// needs much memory from the start is not replaced all the time.
	replaceAfter = 2000
	// measureEvery is how many calls lie between two looks at the memory.
	measureEvery = 100
	// replaceTimeout bounds the start of the new process and its configuration.
	replaceTimeout = startTimeout + time.Minute
)

// traffic counts a process's calls and tells when it has served its last.
type traffic struct {
	mu       sync.Mutex
	served   int
	flying   int
	retiring bool
	drained  chan struct{} // closed after the last call; nil before it retires
}

// enter begins a call, unless the process is to serve no more.
func (t *traffic) enter() (served int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.retiring {
		return 0, false
	}
	t.served++
	t.flying++
	return t.served, true
}

func (t *traffic) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.flying--; t.flying == 0 && t.drained != nil {
		close(t.drained)
	}
}

// retire lets no more calls in, unless stays tells that the process has to go on.
func (t *traffic) retire(stays func() bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if stays() {
		return false
	}
	t.retiring = true
	return true
}

// postpone starts the count of calls anew, if nothing can take the process's place.
func (t *traffic) postpone() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.served = 0
}

func (t *traffic) isRetiring() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.retiring
}

// wait returns a channel that is closed when the last call has ended.
func (t *traffic) wait() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drained = make(chan struct{})
	if t.flying == 0 {
		close(t.drained)
	}
	return t.drained
}

// enter finds a process for a call and begins it there. The caller ends it with
// leave.
func (i *instance) enter(ctx context.Context, method string) (*process, tfdiags.Diagnostics) {
	for {
		p, diags := i.process(ctx, method)
		if diags.HasErrors() {
			return nil, diags
		}
		served, ok := p.enter()
		if !ok {
			continue // the next one will be another
		}
		if served >= replaceAfter && served%measureEvery == 0 && i.tooLarge(p) {
			i.replace(ctx, p)
		}
		return p, nil
	}
}

// tooLarge tells whether a process is to be replaced for its size. One that holds
// something open for us, as a tunnel, is not, nor one that we did not start.
func (i *instance) tooLarge(p *process) bool {
	if p.cmd == nil || p.cmd.Process == nil || i.holds() {
		return false
	}
	size := residentMemory(p.cmd.Process.Pid)
	if size <= i.maxMemory {
		return false
	}
	i.log.Info("provider is to be replaced because it has grown", "bytes", size, "allowed", i.maxMemory)
	return true
}

// holds tells whether something is open that would be lost with the process. It is
// counted from before the call that opens it: none ends up in a process that retires.
func (i *instance) holds() bool { return i.opened.Load() > 0 }

// replace starts a process in the place of one, in the background. If that fails,
// the old one goes on.
func (i *instance) replace(ctx context.Context, old *process) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.replacing || i.isClosed() {
		return
	}
	i.replacing = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), replaceTimeout)
	i.abandon = cancel
	i.background.Go(func() {
		defer cancel()
		if !i.succeed(ctx, old) {
			old.postpone()
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		i.replacing = false
	})
}

// succeed starts a process and puts it in the place of another. It tells whether it did.
func (i *instance) succeed(ctx context.Context, old *process) bool {
	configured := i.configured.Load()
	p, diags := i.start(ctx)
	if diags.HasErrors() {
		i.log.Warn("provider has grown and cannot be replaced", "error", diags.Err())
		return false
	}
	select {
	case <-i.turn:
	case <-ctx.Done():
		p.end()
		return false
	}
	defer func() { i.turn <- struct{}{} }()
	// Meanwhile it may have been closed, started again, or configured otherwise.
	if ctx.Err() != nil || i.proc.Load() != old || i.configured.Load() != configured || !old.retire(i.holds) {
		p.end()
		return false
	}
	i.mu.Lock()
	i.retired[old] = true
	i.mu.Unlock()
	i.proc.Store(p)
	go i.endAfterLast(old)
	return true
}

func (i *instance) endAfterLast(old *process) {
	<-old.wait()
	old.end()
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.retired, old)
}

// processes are all that run: the one for new calls, then those that end their last.
func (i *instance) processes() []*process {
	var all []*process
	if p := i.proc.Load(); p != nil {
		all = append(all, p)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for p := range i.retired {
		all = append(all, p)
	}
	return all
}
