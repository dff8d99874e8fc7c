package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

const (
	// signalEvery is how often doorbells are looked at, and the least time between a round
	// and one that a signal asks for, however many come.
	signalEvery = 10 * time.Second
	// signalAge is how old a signal may be: what was rung longer ago a round has seen since.
	signalAge = time.Hour
	// maxSignal bounds a signal, in bytes.
	maxSignal = 64 << 10
)

// signals are the ways in which an agent is asked to look sooner. What they say is not
// believed beyond that: a round reads and verifies everything as always.
type signals struct {
	declared *control.Signals
	// seen are the versions of doorbells that were looked at, and heard the times of the
	// signals that counted, by key.
	seen  map[string]objstore.Version
	heard map[string]time.Time
	// denied are the keys of doorbells that the store did not let the agent look at last,
	// told those of which a receipt told last.
	denied, told []string
	// queue is told of messages; stop ends who waits for them.
	queue     chan struct{}
	listening string
	stop      context.CancelFunc
}

// expect notes what the agent's document declares now.
func (a *Agent) expect(declared *control.Signals) {
	s := &a.signals
	if s.declared = declared; declared == nil || len(declared.Keys) == 0 {
		s.denied, s.told = nil, nil
	}
	queue := ""
	if declared != nil {
		queue = declared.Queue
	}
	if queue == s.listening {
		return
	}
	if s.stop != nil {
		s.stop()
	}
	s.listening, s.stop = queue, nil
	if queue != "" {
		var ctx context.Context
		ctx, s.stop = context.WithCancel(a.life)
		s.queue = make(chan struct{}, 1)
		go a.listenToQueue(ctx, queue, s.queue)
	}
}

// rung looks at the doorbells, and tells whether one was rung since. A store that does
// not answer has none.
func (a *Agent) rung(ctx context.Context) bool {
	if a.signals.declared == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeouts.Signal)
	defer cancel()
	rung := false
	var denied []string
	for _, line := range a.signals.declared.Keys {
		approver, err := control.ParseApprover(line)
		if err != nil {
			continue
		}
		key := control.SignalKey(a.config.Environment, control.ApproverID(approver))
		answers, err := a.answers(ctx, key)
		rung = rung || answers
		if errors.Is(err, objstore.ErrDenied) || isAway(err) && slices.Contains(a.signals.denied, key) {
			denied = append(denied, key)
		}
	}
	a.noteDenied(denied)
	return rung
}

// answers looks at one doorbell. Only what has changed is read.
func (a *Agent) answers(ctx context.Context, key string) (bool, error) {
	s := &a.signals
	info, err := a.store.Stat(ctx, key)
	if err != nil || info.Version == s.seen[key] {
		return false, err
	}
	object, err := a.store.Get(ctx, key, maxSignal)
	if err != nil && !errors.Is(err, objstore.ErrTooLarge) {
		return false, err
	}
	if s.seen == nil {
		s.seen, s.heard = map[string]objstore.Version{}, map[string]time.Time{}
	}
	var signal control.Signal
	if s.seen[key] = info.Version; err == nil {
		s.seen[key] = object.Version
		signal, err = control.OpenSignal(s.declared.Keys, a.config.Environment, object.Data)
	}
	now := a.now()
	switch {
	case err != nil:
		a.log.Warn("a signal does not hold", "key", key, "error", err)
		return false, nil
	case !signal.Time.After(s.heard[key]), signal.Time.Before(now.Add(-signalAge)), signal.Time.After(now.Add(maxSkew)):
		a.log.Debug("a signal is of another time", "key", key, "time", signal.Time)
		return false, nil
	}
	s.heard[key] = signal.Time
	a.log.Info("doorbell rung", "key", key, "by", signal.By, "time", signal.Time)
	return true, nil
}

// noteDenied logs which doorbells the store does not let the agent look at, whenever that
// changes. Nobody else would notice: a bell that is not heard is like one that is not rung.
func (a *Agent) noteDenied(denied []string) {
	if slices.Equal(denied, a.signals.denied) {
		return
	}
	a.signals.denied = denied
	if len(denied) == 0 {
		a.log.Info("doorbells are readable again")
		return
	}
	a.log.Warn(deniedSummary, "detail", deniedText(denied))
}

const deniedSummary = "Doorbell not readable"

func deniedText(denied []string) string {
	return fmt.Sprintf("The store does not let this agent look at %s: access denied. Whoever rings there is not heard; rounds come by schedule. Allow the agent to read it, or take the public key out of signals in towline_agent. This is said once.", few(denied))
}

// warnOfDenied puts into a receipt, once, which doorbells are not readable.
func (r *round) warnOfDenied() {
	s := &r.agent.signals
	if slices.Equal(s.denied, s.told) {
		return
	}
	if s.told = s.denied; len(s.denied) > 0 {
		r.diags = append(r.diags, tfdiags.New(tfdiags.Warning, deniedSummary, deniedText(s.denied))...)
	}
}

// rest waits until the next round is due, somebody has clicked something that it should
// see to, or a signal asks for it; false if ctx ends before. An agent that stands by
// listens meanwhile.
func (a *Agent) rest(ctx context.Context, wait time.Duration) bool {
	began := time.Now()
	glance := began.Add(a.timeouts.Signal)
	for until := began.Add(wait); ; {
		left := time.Until(until)
		if period := a.attention(); period > 0 {
			left = min(left, lease.Glance(period))
		}
		if a.signals.declared != nil {
			left = min(left, a.timeouts.Signal)
		}
		asked := false
		select {
		case <-ctx.Done():
			return false
		case <-a.ear.woken:
			return true
		case <-a.signals.queue:
			asked = true
		case <-time.After(left):
		}
		if !time.Now().Before(glance) {
			glance = time.Now().Add(a.timeouts.Signal)
			asked = a.rung(ctx) || asked
		}
		if soonest := began.Add(a.timeouts.Signal); asked && soonest.Before(until) {
			until = soonest
		}
		if !time.Now().Before(until) || a.urgent(ctx) {
			return true
		}
	}
}
