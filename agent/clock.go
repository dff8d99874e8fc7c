package agent

import (
	"context"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
)

const (
	// maxSkew is how far this machine's clock may be from the store's before it is said.
	// Nothing is decided by comparing clocks, but expiry and people's reading are.
	maxSkew = time.Minute
	// skewEvery is how often the clocks are compared while nobody turns this one.
	skewEvery = time.Hour
)

// compareClocks says when this machine's clock is far from the store's: the store has
// noted when the last heartbeat came, and the heartbeat says when it was given.
func (a *Agent) compareClocks(ctx context.Context) {
	said := a.voice.spoken()
	if !a.compared.IsZero() && said.Sub(a.compared) < skewEvery && !turned(a.compared, said) {
		return
	}
	info, err := a.store.Stat(ctx, control.HeartbeatKey(a.config.Environment, a.config.Agent))
	if err != nil {
		return // the next round asks again
	}
	a.compared = said
	if ahead := said.Sub(info.Modified); ahead.Abs() > maxSkew {
		a.log.Warn("this machine's clock differs from the store's; set it by NTP", "ahead", ahead.Round(time.Second))
	}
}

// turned tells whether the clock was set between two readings: it and the one that only
// measures what has passed disagree about how long ago the first was.
func turned(before, now time.Time) bool {
	return (now.Round(0).Sub(before.Round(0)) - now.Sub(before)).Abs() > maxSkew
}
