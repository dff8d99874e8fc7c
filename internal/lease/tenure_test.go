package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

const period = 20 * time.Second

func TestTenure(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do   func(*lease.Tenure)
		at   time.Duration
		want error
	}{
		"nobody follows":                 {func(*lease.Tenure) {}, 24 * time.Hour, nil},
		"not confirmed yet":              {(*lease.Tenure).Bind, 0, lease.ErrLapsed},
		"right before its end":           {confirmed, 30*time.Second - 1, nil},
		"at its end":                     {confirmed, 30 * time.Second, lease.ErrLapsed},
		"an earlier word comes later":    {func(t *lease.Tenure) { confirmed(t); t.Confirm(noon.Add(-time.Minute), period) }, 20 * time.Second, nil},
		"fenced":                         {func(t *lease.Tenure) { confirmed(t); t.Fence(lease.ErrFenced) }, 0, lease.ErrFenced},
		"fenced, and a word comes later": {func(t *lease.Tenure) { t.Bind(); t.Fence(lease.ErrFenced); t.Confirm(noon, period) }, 0, lease.ErrFenced},
		"released":                       {func(t *lease.Tenure) { confirmed(t); t.Release() }, time.Hour, nil},
		"a new epoch, not confirmed":     {func(t *lease.Tenure) { confirmed(t); t.Fence(lease.ErrFenced); t.Begin(); t.Bind() }, 0, lease.ErrLapsed},
		"a word to nobody":               {func(t *lease.Tenure) { t.Confirm(noon, period) }, time.Hour, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tenure lease.Tenure
			test.do(&tenure)
			if got := tenure.Holds(noon.Add(test.at)); !errors.Is(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func confirmed(t *lease.Tenure) {
	t.Bind()
	t.Confirm(noon, period)
}

// TestTenureEndsWhileTheMachineSleeps: the monotonic clock stands still then.
func TestTenureEndsWhileTheMachineSleeps(t *testing.T) {
	t.Parallel()
	var tenure lease.Tenure
	tenure.Bind()
	now := time.Now() // with a monotonic reading
	tenure.Confirm(now, period)
	if err := tenure.Holds(now.Add(time.Second)); err != nil {
		t.Error(err)
	}
	if err := tenure.Holds(now.Round(0).Add(time.Hour)); !errors.Is(err, lease.ErrLapsed) {
		t.Errorf("after an hour by the wall clock: %v", err)
	}
}

func TestWhatIsUnderWayEndsWithTheTenure(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*lease.Tenure){
		"fenced": func(t *lease.Tenure) { t.Fence(lease.ErrFenced) },
		"lapsed": func(t *lease.Tenure) { _ = t.Holds(noon.Add(time.Hour)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tenure lease.Tenure
			confirmed(&tenure)
			ctx, done := tenure.Within(t.Context())
			defer done()
			if ctx.Err() != nil {
				t.Fatal("it ended at once")
			}
			end(&tenure)
			if cause := context.Cause(ctx); !errors.Is(cause, lease.ErrFenced) && !errors.Is(cause, lease.ErrLapsed) {
				t.Errorf("it goes on, or ended with %v", cause)
			}
		})
	}
}

// TestWatch counts silence from the first sight of a word to the beginning of the last look.
func TestWatch(t *testing.T) {
	t.Parallel()
	var watch lease.Watch
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	for i, look := range []struct {
		epoch         int64
		word          objstore.Version
		before, after int
		want          time.Duration
	}{
		{1, "a", 0, 5, 0},
		{1, "a", 10, 19, 5 * time.Second},
		{1, "b", 20, 22, 0},
		{1, "b", 57, 60, 35 * time.Second},
		{2, "b", 61, 61, 0}, // another holder
		{2, "", 70, 71, 0},
		{2, "", 71, 71, 0},
		{2, "", 81, 90, 10 * time.Second},
	} {
		if got := watch.Look(look.epoch, look.word, at(look.before), at(look.after)); got != look.want {
			t.Errorf("look %d: %s, want %s", i, got, look.want)
		}
	}
}
