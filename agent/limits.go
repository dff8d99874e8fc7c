package agent

import (
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// Bounds on time. A slow store or notifier must not keep a round from its work.
const (
	// storeTimeout bounds the reads and writes of one step.
	storeTimeout = time.Minute
	// notifyTimeout bounds one notification.
	notifyTimeout = 10 * time.Second
	// minInterval is the shortest time between rounds, so that a mistake in a
	// document does not make a fleet hammer its store.
	minInterval = time.Second
	// planTimeout bounds the reads of one round. A provider that hangs must not keep
	// the others' objects unwatched; the slowest data sources known take an hour.
	planTimeout = 2 * time.Hour
	// applyTimeout bounds the changes of one round; databases and clusters take hours.
	applyTimeout = 12 * time.Hour
	// stopGrace is how long calls may go on after the agent was told to stop. It
	// is below the time that the agent's systemd unit gives.
	stopGrace = 10 * time.Minute
)

// Timeouts replace the bounds on providers' time; 0 means the default.
type Timeouts struct {
	Plan, Apply, Stop time.Duration
	// Signal is how often signals are looked for, and the least time between a round and
	// one that they ask for.
	Signal time.Duration
	// Queue is the time after a failure until the queue for signals is asked again.
	Queue time.Duration
}

func (t Timeouts) orDefault() Timeouts {
	if t.Plan == 0 {
		t.Plan = planTimeout
	}
	if t.Apply == 0 {
		t.Apply = applyTimeout
	}
	if t.Stop == 0 {
		t.Stop = stopGrace
	}
	if t.Signal == 0 {
		t.Signal = signalEvery
	}
	if t.Queue == 0 {
		t.Queue = queuePause
	}
	return t
}

func timeOf(d control.Duration) time.Duration { return time.Duration(d) }

// agentOf returns the agent's name in a lease holder's name.
func agentOf(holder string) string {
	name, _, _ := strings.Cut(holder, "/")
	return name
}
