package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// point is a moment in an agent's work.
type point struct {
	// text follows what happens then.
	text string
	// set has something happen once the agent comes to the point, and returns what is closed
	// after that. A request that waits meanwhile gets the status as its answer.
	set func(ctx context.Context, m *member, status int, do func()) <-chan struct{}
}

// anyPoint is one of all.
func anyPoint(s *site) point {
	return []func(*site) point{atCall, atStore, atEntry}[s.random.IntN(3)](s)
}

// isChange matches the calls that change something in the cloud.
func isChange(req *http.Request) bool { return req.Method != http.MethodGet }

func everyRequest(*http.Request) bool { return true }

// storeCalls is about how many requests a round makes to the store that applies a revision.
const storeCalls = 18

// side is one of the two sides of a request's effect.
func side(random *rand.Rand) (after bool, text string) {
	if random.IntN(2) == 0 {
		return false, "before"
	}
	return true, "after"
}

// atCall is right before or after the effect of one call to the cloud.
func atCall(s *site) point {
	call := s.random.IntN(max(s.declared.calls, 1))
	after, text := side(s.random)
	return point{fmt.Sprintf("%s call %d to the cloud takes effect", text, call+1),
		func(_ context.Context, m *member, status int, do func()) <-chan struct{} {
			return m.cloud.set(isChange, call, 1, strike{carriedOut: after, status: status, do: do})
		}}
}

// atStore is right before or after the effect of one request to the store.
func atStore(s *site) point {
	call := s.random.IntN(storeCalls)
	after, text := side(s.random)
	return point{fmt.Sprintf("%s request %d to the store takes effect", text, call+1),
		func(_ context.Context, m *member, status int, do func()) <-chan struct{} {
			return m.store.set(everyRequest, call, 1, strike{carriedOut: after, status: status, do: do})
		}}
}

// atEntry is as soon as the journal holds so many entries: an intent and a result for
// each call. No request waits for what happens.
func atEntry(s *site) point {
	entries := 1 + s.random.IntN(max(2*s.declared.calls, 1))
	return point{fmt.Sprintf("when the journal has %d entries", entries),
		func(ctx context.Context, m *member, _ int, do func()) <-chan struct{} {
			sprung := make(chan struct{})
			m.watchers.Go(func() {
				tick := time.NewTicker(500 * time.Microsecond)
				defer tick.Stop()
				for m.journalled() < entries {
					select {
					case <-ctx.Done():
						return
					case <-tick.C:
					}
				}
				do()
				close(sprung)
			})
			return sprung
		}}
}
