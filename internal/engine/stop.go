package engine

import (
	"context"
	"time"
)

// ending has the providers end what they are doing once ctx ends: they are asked to
// at once, and ended by force after the grace time, so that a provider that hangs
// does not keep the process from ending. The calls that are cut off stay in the
// journal as unanswered. release must be called when no call is under way any more.
func (e *Engine) ending(ctx context.Context) (release func()) {
	ended := make(chan struct{})
	disarm := context.AfterFunc(ctx, func() {
		e.pool.stop(context.WithoutCancel(ctx))
		if e.opts.StopGrace <= 0 {
			return
		}
		timer := time.NewTimer(e.opts.StopGrace)
		defer timer.Stop()
		select {
		case <-ended:
		case <-timer.C:
			_ = e.pool.close() // what could not be closed is gone with this process
		}
	})
	return func() {
		close(ended)
		if !disarm() {
			_ = e.pool.close() // a provider that was asked to stop does no more work
		}
	}
}

// stop asks every provider to end what it is doing.
func (p *providerPool) stop(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.configured {
		client := c.client
		go func() { _ = client.Stop(ctx) }() // one that cannot be asked is ended later
	}
}
