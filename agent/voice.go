package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// voice gives the agent's words, one after the other: at the end of each round, and,
// where another agent may take over, every period in between.
type voice struct {
	store   objstore.Store
	private ed25519.PrivateKey
	tenure  *lease.Tenure
	now     func() time.Time

	mu   sync.Mutex
	last control.Heartbeat
	// at is when the last one was given, by both of the machine's clocks.
	at time.Time
	// held is the lease of which words tell, nil if none is held.
	held *lease.Lease
	// period says how often words are given, in nanoseconds, 0 if nobody follows. It is changed
	// with held, and can be read while a word is on its way.
	period atomic.Int64
	// stop ends the words between rounds; ended is closed when they have.
	stop  context.CancelFunc
	ended chan struct{}
}

// say gives a word. To followers it is also the beginning of a tenure, if the lease is
// still held when it has been said.
func (v *voice) say(ctx context.Context, beat control.Heartbeat) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.speak(ctx, beat)
}

// begin gives the first word of a holder that stood by or has just started, or its last
// word once more.
func (v *voice) begin(ctx context.Context, first control.Heartbeat) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.last.Outcome == "" || v.last.Outcome == control.OutcomeStandby {
		return v.speak(ctx, first)
	}
	return v.speak(ctx, v.last)
}

// rhythm is how often words are given between rounds, 0 if none are.
func (v *voice) rhythm() time.Duration { return time.Duration(v.period.Load()) }

// spoken is when the last word was given.
func (v *voice) spoken() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.at
}

// knock has a store that was slow to fail, and is left alone for a while, asked at once: neither a
// word nor its absence can wait until others may ask again.
func knock(ctx context.Context, store objstore.Store, limit time.Duration, key string) {
	if rested, ok := store.(interface {
		Knock(ctx context.Context, key string)
	}); ok {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		rested.Knock(ctx, key)
	}
}

func (v *voice) heartbeatKey() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return control.HeartbeatKey(v.last.Environment, v.last.Agent)
}

// again gives the last word once more.
func (v *voice) again(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.speak(ctx, v.last)
}

func (v *voice) speak(ctx context.Context, beat control.Heartbeat) error {
	spoken := v.now()
	beat.Time = spoken.UTC().Round(0)
	if beat.Tenure = nil; v.held != nil {
		beat.Tenure = &control.Tenure{Epoch: v.held.Epoch, Period: control.Duration(v.rhythm())}
	}
	signed, err := control.Sign(beat, v.private)
	if err != nil {
		return err
	}
	if _, err := v.store.Put(ctx, control.HeartbeatKey(beat.Environment, beat.Agent), signed); err != nil {
		return fmt.Errorf("send heartbeat: %w", err)
	}
	v.last, v.at = beat, spoken
	if v.rhythm() == 0 {
		return nil
	}
	switch err := v.held.Check(ctx); {
	case errors.Is(err, lease.ErrFenced):
		v.tenure.Fence(err)
		return err
	case err != nil:
		return err
	}
	v.tenure.Confirm(spoken, v.rhythm())
	return nil
}

// hold has words tell of a lease, and has them given every period, if there is one,
// until [voice.quiet].
func (v *voice) hold(held *lease.Lease, period time.Duration) {
	v.mu.Lock()
	same := v.held != nil && v.held.Epoch == held.Epoch && v.rhythm() == period
	v.mu.Unlock()
	if same {
		return
	}
	v.quiet()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.held = held
	v.period.Store(int64(period))
	if period > 0 {
		ctx, cancel := context.WithCancel(context.Background())
		v.stop, v.ended = cancel, make(chan struct{})
		go v.run(ctx, period, v.ended)
	}
}

// run gives words. One that fails is tried again soon: the tenure outlasts a period by
// half of one only.
func (v *voice) run(ctx context.Context, period time.Duration, ended chan<- struct{}) {
	defer close(ended)
	for wait := period; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		within, cancel := context.WithTimeout(ctx, period)
		knock(within, v.store, lease.Glance(period), v.heartbeatKey())
		err := v.again(within)
		cancel()
		if wait = period; err != nil {
			wait = lease.Glance(period)
			_ = v.tenure.Holds(v.now()) // what is under way ends if it does not
		}
	}
}

// quiet ends the words between rounds, and those of a lease.
func (v *voice) quiet() {
	v.mu.Lock()
	stop, ended := v.stop, v.ended
	v.held, v.stop = nil, nil
	v.period.Store(0)
	v.mu.Unlock()
	if stop != nil {
		stop()
		<-ended
	}
}

// bind makes the agent's right to change things one that ends without its words, where
// another agent may follow; elsewhere it takes back what it has said to followers.
func (r *round) bind(ctx context.Context, held *lease.Lease) error {
	a := r.agent
	if a.lease == nil || a.lease.Epoch != held.Epoch {
		a.tenure.Begin()
	}
	a.lease = held
	if !r.followed() {
		return r.release(ctx, held)
	}
	if !a.memory.Bound {
		a.memory.Bound = true // before anybody is told
		if err := a.memory.save(a.config.DataDir); err != nil {
			return err
		}
	}
	a.tenure.Bind()
	a.voice.hold(held, r.self.Period())
	if a.tenure.Holds(a.now()) == nil {
		return nil
	}
	if err := a.voice.begin(ctx, r.heartbeat(control.OutcomeStandby, "takes up the work")); err != nil {
		return err
	}
	return a.tenure.Holds(a.now())
}

// release takes back the word that others may follow, if one may stand.
func (r *round) release(ctx context.Context, held *lease.Lease) error {
	a := r.agent
	a.voice.hold(held, 0)
	if !a.memory.Bound && (a.known || held.Period == 0) {
		return nil
	}
	if err := a.voice.begin(ctx, r.heartbeat(control.OutcomeStandby, "takes up the work")); err != nil {
		return err
	}
	a.tenure.Release()
	a.memory.Bound = false
	return a.memory.save(a.config.DataDir)
}
