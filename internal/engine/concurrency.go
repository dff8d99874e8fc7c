package engine

import (
	"strings"
	"sync"
	"time"

	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Bounds of the adaptive number of concurrent calls to one provider configuration.
const (
	// startCalls is where it begins: what Terraform allows for everything.
	startCalls = DefaultParallelism
	// minCalls keeps a throttled provider moving.
	minCalls = 2
	// maxCalls bounds the memory of a provider process.
	maxCalls = 200
	// slowdown is how much longer than at their best calls may take before
	// concurrency goes down: some queueing is no sign of overload.
	slowdown = 2.5
)

// limiter adapts the number of concurrent calls to one provider configuration:
// it grows while calls take no longer than at their best, and shrinks by a share
// when they do or when the API throttles. Growth doubles until the first sign of
// a limit and is additive from then on.
type limiter struct {
	sched *dag.Scheduler
	class dag.Class

	mu    sync.Mutex
	limit int
	// best is the shortest time seen for each kind of call.
	best map[string]time.Duration
	// The window: as many calls as the limit, so that every slot is heard once.
	calls     int
	ratio     float64
	throttled bool
	steady    bool // a limit was met before
}

func newLimiter(sched *dag.Scheduler) *limiter {
	return &limiter{sched: sched, class: sched.AddClass(startCalls), limit: startCalls, best: map[string]time.Duration{}}
}

// observe takes the duration of one call. kind groups calls that should take equally long.
func (l *limiter) observe(kind string, took time.Duration, throttled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if best, ok := l.best[kind]; !ok || took < best {
		l.best[kind] = took
	}
	l.calls++
	l.ratio += float64(took) / float64(max(l.best[kind], minLatency))
	l.throttled = l.throttled || throttled
	if l.calls >= l.limit {
		l.adapt()
	}
}

// minLatency is the time below which a call is local: differences mean nothing then.
const minLatency = 5 * time.Millisecond

// adapt ends a window and sets the limit for the next.
func (l *limiter) adapt() {
	average := l.ratio / float64(l.calls)
	switch {
	case l.throttled:
		l.limit, l.steady = l.limit/2, true
	case average > slowdown:
		l.limit, l.steady = l.limit*4/5, true
	case l.steady:
		l.limit += max(1, l.limit/10)
	default:
		l.limit *= 2
	}
	l.limit = min(max(l.limit, minCalls), maxCalls)
	l.calls, l.ratio, l.throttled = 0, 0, false
	l.sched.SetLimit(l.class, l.limit)
}

// throttleSigns are texts by which APIs say that they were asked too often.
var throttleSigns = []string{
	"throttl", "toomanyrequests", "too many requests", "requestlimitexceeded", "rate exceeded", "rate limit", "slowdown", "statuscode: 429", "status code: 429", "http 429",
}

// throttled tells whether a call failed because the API was asked too often.
func throttled(diags tfdiags.Diagnostics) bool {
	for _, d := range diags {
		if d.Severity != tfdiags.Error {
			continue
		}
		text := strings.ToLower(d.Summary + " " + d.Detail)
		for _, sign := range throttleSigns {
			if strings.Contains(text, sign) {
				return true
			}
		}
	}
	return false
}
