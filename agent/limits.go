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
)

func timeOf(d control.Duration) time.Duration { return time.Duration(d) }

// agentOf returns the agent's name in a lease holder's name.
func agentOf(holder string) string {
	name, _, _ := strings.Cut(holder, "/")
	return name
}
