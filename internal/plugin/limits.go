package plugin

import (
	"context"
	"fmt"
	"time"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// A provider that grows beyond all measure would take the machine with it, and the kernel
// would choose what to end. A limit on address space is of no use: Go reserves far more
// than it uses. So the memory that processes hold is looked at, and one that holds too
// much is ended, whatever it is doing: what a change in it came to is found out as after
// every crash.

const (
	// DefaultHardMemory is how much memory a provider's process may hold where nobody
	// looks after it, in bytes: four times the size from which it is replaced.
	DefaultHardMemory = 4 << 30
	// watchEvery is the time between two looks. A process that touches memory as fast as
	// the machine can grows by about half a gigabyte in it.
	watchEvery = 250 * time.Millisecond
	// listTimeout is how long a listing may take where calls may take as long as they like.
	listTimeout = 10 * time.Minute
)

// watch ends processes that have grown too large, until the pool is closed.
func (p *Pool) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.ended:
			return
		case <-tick.C:
		}
		for _, i := range p.all() {
			i.endOvergrown()
		}
	}
}

// all are the instances that are open.
func (p *Pool) all() []*instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	open := make([]*instance, 0, len(p.instances))
	for i := range p.instances {
		open = append(open, i)
	}
	return open
}

// endOvergrown ends the processes of an instance that hold more than they may.
func (i *instance) endOvergrown() {
	for _, p := range i.processes() {
		if p.cmd == nil || p.cmd.Process == nil || p.overgrown.Load() > 0 || i.gone(p) {
			continue
		}
		if size := residentMemory(p.cmd.Process.Pid); size > i.hardMemory {
			p.overgrown.Store(size)
			_ = p.cmd.Process.Kill() // an error means that it has ended
			i.log.Error("provider was ended because it held too much memory", "bytes", size, "allowed", i.hardMemory)
		}
	}
}

// repeatable tells whether a call may be made twice: it changes and opens nothing.
func repeatable(method string) bool {
	switch method {
	case "ApplyResourceChange", "OpenEphemeralResource", "RenewEphemeralResource", "CloseEphemeralResource":
		return false
	}
	return true
}

// timeout is how long a call may take, 0 if as long as it likes.
func (i *instance) timeout(method string) time.Duration {
	switch {
	case method == "ApplyResourceChange":
		return i.changeTimeout
	case method == listMethod && i.callTimeout == 0:
		return listTimeout // a stream can go on for ever
	}
	return i.callTimeout
}

// bound gives a call its own deadline.
func (i *instance) bound(ctx context.Context, method string) (context.Context, context.CancelFunc) {
	if limit := i.timeout(method); limit > 0 {
		return context.WithTimeout(ctx, limit)
	}
	return context.WithCancel(ctx)
}

// hung names a call that did not end by its deadline.
func (i *instance) hung(method string) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Plugin did not respond", fmt.Sprintf(
		"Provider %s did not answer the %s call within %s, and is given up with all that still hangs in it; other calls go on. It may be waiting for a service that does not answer; its log may say more.",
		i.addr.ForDisplay(), method, i.timeout(method)))
}
