package engine

import (
	"context"
	"time"
)

// killDelay is how long a provider has to heed the request to stop.
const killDelay = 30 * time.Second

// ending sees to it that an apply ends after ctx did, although a provider hangs.
// Calls under way have the grace time to end by themselves. Then the providers are
// asked to stop, which cuts their calls off in the middle, and last they are ended
// by force. What is cut off stays in the journal as unanswered. release must be
// called when no call is under way any more.
func (a *applier) ending(ctx context.Context) (release func()) {
	e := a.engine
	if e.opts.StopGrace <= 0 {
		return func() {}
	}
	ended := make(chan struct{})
	disarm := context.AfterFunc(ctx, func() {
		if waited(ended, e.opts.StopGrace) {
			return
		}
		a.cutOff.Store(true)
		e.pool.stop(context.WithoutCancel(ctx))
		if !waited(ended, min(e.opts.StopGrace, killDelay)) {
			_ = e.pool.close() // what could not be closed is gone with this process
		}
	})
	return func() {
		disarm()
		close(ended)
		if a.cutOff.Load() {
			_ = e.pool.close() // a provider that was asked to stop does no more work
		}
	}
}

// waited waits for ended, but not longer than limit, and tells whether it came.
func waited(ended <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
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
