package plugin

import (
	"context"
	"sync"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Providers are made to serve one plan and end. Those built with
// terraform-plugin-framework keep about ten kilobytes of every call for as long as
// they run, and any may keep more than it should. So a process that has grown too
// large is replaced: a new one takes its place and it ends after its last call.

const (
	// DefaultMaxMemory is how large a provider's process may become: several
	// times what the largest providers need. It is no hard limit.
	DefaultMaxMemory = 1 << 30
	// replaceAfter is how many calls a process serves at least, so that one which
	// needs much memory from the start is not replaced all the time.
	replaceAfter = 2000
	// measureEvery is how many calls lie between two looks at the memory.
	measureEvery = 100
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

// retire lets no more calls in. It tells whether it was the first to.
func (t *traffic) retire() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !t.retiring
	t.retiring = true
	return first
}

// resume takes retire back, if nothing can take the process's place.
func (t *traffic) resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.retiring, t.served = false, 0
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
			p.retire() // which lets this call end
		}
		return p, nil
	}
}

// tooLarge tells whether a process is to be replaced for its size. One that holds
// something open for us, as a tunnel, is not, nor one that we did not start.
func (i *instance) tooLarge(p *process) bool {
	if p.cmd == nil || p.cmd.Process == nil || i.opened.Load() > 0 {
		return false
	}
	size := residentMemory(p.cmd.Process.Pid)
	if size <= i.maxMemory {
		return false
	}
	i.log.Info("provider is replaced because it has grown", "bytes", size, "allowed", i.maxMemory)
	return true
}

// succeed starts a process in the place of one that retires. If that fails, the
// old one goes on.
func (i *instance) succeed(ctx context.Context, old *process) *process {
	p, diags := i.start(ctx)
	if diags.HasErrors() {
		i.log.Warn("provider has grown and cannot be replaced", "error", diags.Err())
		old.resume()
		return old
	}
	i.proc.Store(p)
	i.mu.Lock()
	i.retired[old] = true
	i.mu.Unlock()
	go func() {
		<-old.wait()
		old.end()
		i.mu.Lock()
		delete(i.retired, old)
		i.mu.Unlock()
	}()
	return p
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
