package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// ErrLapsed: the holder has not said that it is there for so long that another may
// have taken over. It must change nothing until it is known that nobody has.
var ErrLapsed = errors.New("the lease has lapsed")

// A holder that others may follow says every period that it is there, and may change
// things for Validity after its last word. A follower takes over after Silence without
// a word. No clock is compared with another: what keeps the two apart is that Silence is
// longer, so that clocks may run apart by a sixth. From the last word of a holder that
// ends to its follower's first round are Silence and what the follower needs to see
// the word and then its absence, a quarter of a period each: less than three periods.

// Validity is how long a holder may change things after a word.
func Validity(period time.Duration) time.Duration { return period * 3 / 2 }

// Silence is for how long a follower must have seen no word.
func Silence(period time.Duration) time.Duration { return period * 7 / 4 }

// Glance is how often a follower looks for a word.
func Glance(period time.Duration) time.Duration { return period / 4 }

// Watch is what a follower knows of a holder's words. The zero value knows nothing.
type Watch struct {
	epoch int64
	word  objstore.Version
	since time.Time
}

// Look notes the latest word of the holder of an epoch and returns for how long there was
// no other, as far as this follower has seen. The word was read between before and after.
func (w *Watch) Look(epoch int64, word objstore.Version, before, after time.Time) time.Duration {
	if w.since.IsZero() || w.epoch != epoch || w.word != word {
		*w = Watch{epoch, word, after}
	}
	return max(before.Sub(w.since), 0)
}

// Tenure is how long a holder may change things. The zero value is that of a holder
// that nobody follows: it does not end. It is safe for concurrent use.
type Tenure struct {
	mu    sync.Mutex
	bound bool
	until time.Time
	// fenced tells that a newer epoch was seen.
	fenced error
	// lost ends what must not go on without a tenure.
	lost context.CancelCauseFunc
}

// Bind begins a tenure that has yet to be confirmed: the holder has said, or is about
// to say, that it may be followed.
func (t *Tenure) Bind() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bound = true
}

// Confirm extends a tenure after a word. spoken is when the word was begun. It counts
// only if the lease was checked after the word was said: a follower that had decided
// before the word is found then, and one that decides later sees the word.
func (t *Tenure) Confirm(spoken time.Time, period time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if until := spoken.Add(Validity(period)); t.bound && until.After(t.until) {
		t.until = until
	}
}

// Fence ends a tenure for good: a newer epoch was seen.
func (t *Tenure) Fence(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fenced = err
	t.end(err)
}

// Release makes a tenure one that nobody follows: no word stands that says otherwise.
func (t *Tenure) Release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bound, t.until = false, time.Time{}
}

// Begin forgets what was, for a new epoch.
func (t *Tenure) Begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bound, t.until, t.fenced = false, time.Time{}, nil
}

// Holds returns [ErrFenced] or [ErrLapsed] if the holder must change nothing.
func (t *Tenure) Holds(now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.holds(now)
	if err != nil {
		t.end(err)
	}
	return err
}

// holds looks at the monotonic clock and at the other: the first stands still while
// a machine sleeps.
func (t *Tenure) holds(now time.Time) error {
	switch over := max(now.Sub(t.until), now.Round(0).Sub(t.until.Round(0))); {
	case t.fenced != nil:
		return t.fenced
	case !t.bound:
		return nil
	case t.until.IsZero():
		return fmt.Errorf("%w: it was not confirmed since the agent started", ErrLapsed)
	case over >= 0:
		return fmt.Errorf("%w %s ago: another agent may have taken over", ErrLapsed, over.Round(time.Millisecond))
	}
	return nil
}

// Within returns a context that ends with the tenure, as soon as its end is noticed.
func (t *Tenure) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lost = cancel
	return ctx, func() { cancel(nil) }
}

func (t *Tenure) end(err error) {
	if t.lost != nil {
		t.lost(err)
	}
}
