package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// api is a model of an API: it answers in base time while no more than capacity
// calls run at once, and in proportion longer beyond.
type api struct {
	base     time.Duration
	capacity int
	throttle bool
}

func (a api) latency(concurrent int) time.Duration {
	if a.throttle || concurrent <= a.capacity {
		return a.base
	}
	return a.base * time.Duration(concurrent) / time.Duration(a.capacity)
}

// settle lets a limiter watch calls to the API and returns the limits it chose.
func settle(l *limiter, a api, windows int) []int {
	var limits []int
	for range windows {
		limit := l.limit
		for range limit {
			l.observe("read x", a.latency(limit), a.throttle && limit > a.capacity)
		}
		limits = append(limits, l.limit)
	}
	return limits
}

func TestConcurrencyFindsTheCapacity(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		api      api
		min, max int // of the limits after the search
	}{
		"unlimited":           {api{50 * time.Millisecond, 10_000, false}, maxCalls, maxCalls},
		"queues beyond 40":    {api{50 * time.Millisecond, 40, false}, 40, 120},
		"throttles beyond 5":  {api{50 * time.Millisecond, 5, true}, minCalls, 10},
		"throttles beyond 80": {api{50 * time.Millisecond, 80, true}, 40, 90},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := settle(newLimiter(dag.New(1)), test.api, 60)[10:]
			if got := slices.Min(limits); got < test.min {
				t.Errorf("limits go down to %d, want at least %d: %v", got, test.min, limits)
			}
			if got := slices.Max(limits); got > test.max {
				t.Errorf("limits go up to %d, want at most %d: %v", got, test.max, limits)
			}
		})
	}
}

func TestLocalCallsDoNotShrinkConcurrency(t *testing.T) {
	t.Parallel()
	l := newLimiter(dag.New(1))
	for i := range 1000 {
		l.observe("read x", time.Duration(1+i%4)*time.Millisecond, false)
	}
	if l.limit != maxCalls {
		t.Errorf("limit %d", l.limit)
	}
}

func TestThrottlingIsRecognised(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"operation error EC2: DescribeVpcs, https response error StatusCode: 400, api error RequestLimitExceeded": true,
		"ThrottlingException: Rate exceeded": true, "StatusCode: 429": true, "TooManyRequestsException": true,
		"AccessDenied": false, "vpc-429 was not found": false,
	} {
		if got := throttled(tfdiags.New(tfdiags.Error, "Reading", text)); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
	if throttled(tfdiags.New(tfdiags.Warning, "Rate exceeded", "")) {
		t.Error("a warning counts as throttling")
	}
}

func TestDurationsSurviveARestart(t *testing.T) {
	t.Parallel()
	d, err := NewDurations(nil)
	if err != nil {
		t.Fatal(err)
	}
	d.observe("create a_b", 3*time.Second)
	data, err := d.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewDurations(data)
	if err != nil || again.estimate("create a_b") != 3*time.Second || again.estimate("create other") != guess {
		t.Errorf("%v, %s", err, again.estimate("create a_b"))
	}
	if d, err := NewDurations([]byte("{")); err == nil || d == nil {
		t.Error("damaged data is taken")
	}
}
