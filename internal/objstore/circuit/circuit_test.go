package circuit_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/circuit"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	objstoretest.Run(t, objstoretest.Target{
		Open: func(t *testing.T) objstore.Store { return circuit.New(mem.New(t.Name()), time.Now) },
	})
}

// slow is a store whose calls take time, by the test's clock, and fail.
type slow struct {
	objstore.Store
	mu    sync.Mutex
	now   time.Time
	took  time.Duration
	err   error
	calls int
}

func newSlow(t *testing.T, took time.Duration, err error) *slow {
	return &slow{Store: mem.New(t.Name()), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), took: took, err: err}
}

func (s *slow) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *slow) advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func (s *slow) call() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.now = s.now.Add(s.took)
	return s.err
}

func (s *slow) Stat(context.Context, string) (objstore.Info, error) { return objstore.Info{}, s.call() }

func (s *slow) Get(context.Context, string, int64) (objstore.Object, error) {
	return objstore.Object{}, s.call()
}

func (s *slow) Put(context.Context, string, []byte) (objstore.Version, error) { return "", s.call() }

func (s *slow) PutIfAbsent(context.Context, string, []byte) (objstore.Version, error) {
	return "", s.call()
}

func (s *slow) PutIfMatch(context.Context, string, []byte, objstore.Version) (objstore.Version, error) {
	return "", s.call()
}

func (s *slow) Delete(context.Context, string) error { return s.call() }

func (s *slow) List(context.Context, string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		if err := s.call(); err != nil {
			yield(objstore.Info{}, err)
		}
	}
}

// verbs are all ways to ask a store.
var verbs = map[string]func(context.Context, objstore.Store) error{
	"Get":         func(ctx context.Context, s objstore.Store) error { _, err := s.Get(ctx, "x", 1); return err },
	"Stat":        func(ctx context.Context, s objstore.Store) error { _, err := s.Stat(ctx, "x"); return err },
	"Put":         func(ctx context.Context, s objstore.Store) error { _, err := s.Put(ctx, "x", nil); return err },
	"PutIfAbsent": func(ctx context.Context, s objstore.Store) error { _, err := s.PutIfAbsent(ctx, "x", nil); return err },
	"PutIfMatch": func(ctx context.Context, s objstore.Store) error {
		_, err := s.PutIfMatch(ctx, "x", nil, "1")
		return err
	},
	"Delete": func(ctx context.Context, s objstore.Store) error { return s.Delete(ctx, "x") },
	"List": func(ctx context.Context, s objstore.Store) error {
		var last error
		for _, err := range s.List(ctx, "") {
			last = errors.Join(last, err)
		}
		return last
	},
}

// TestSlowFailure: whatever took long to fail is not asked again at once, by any verb.
func TestSlowFailure(t *testing.T) {
	t.Parallel()
	for name, ask := range verbs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := newSlow(t, 10*time.Second, objstore.ErrUnavailable)
			store := circuit.New(inner, inner.clock)
			for range 3 {
				if err := ask(t.Context(), store); !errors.Is(err, objstore.ErrUnavailable) {
					t.Errorf("%v; want %v", err, objstore.ErrUnavailable)
				}
			}
			if inner.calls != 1 {
				t.Errorf("the store was asked %d times; want once", inner.calls)
			}
		})
	}
}

// TestOpens: which failures open the circuit.
func TestOpens(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		took time.Duration
		err  error
		want int // calls of two that reach the store
	}{
		"slow and away":        {10 * time.Second, objstore.ErrUnavailable, 1},
		"slow until its end":   {time.Minute, context.DeadlineExceeded, 1},
		"away at once":         {time.Second, objstore.ErrUnavailable, 2},
		"slow, and an answer":  {time.Minute, objstore.ErrNotExist, 2},
		"slow, and a refusal":  {time.Minute, objstore.ErrDenied, 2},
		"slow, and the caller": {time.Minute, context.Canceled, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := newSlow(t, test.took, test.err)
			store := circuit.New(inner, inner.clock)
			for range 2 {
				_, _ = store.Stat(t.Context(), "x") // what matters is whether it was asked
			}
			if inner.calls != test.want {
				t.Errorf("the store was asked %d times; want %d", inner.calls, test.want)
			}
		})
	}
}

// TestRests: the rests grow while the store stays away, and end with its first answer.
func TestRests(t *testing.T) {
	t.Parallel()
	inner := newSlow(t, 10*time.Second, objstore.ErrUnavailable)
	store := circuit.New(inner, inner.clock)
	rest := func() time.Duration {
		_, _ = store.Stat(t.Context(), "x")
		asked := inner.calls
		for waited := time.Second; ; waited += time.Second {
			inner.advance(time.Second)
			if _, _ = store.Stat(t.Context(), "x"); inner.calls > asked || waited > time.Hour {
				return waited
			}
		}
	}
	first := rest()
	if first < 11*time.Second || first > 19*time.Second {
		t.Errorf("the first rest is %s; want about 15s", first)
	}
	for range 6 {
		rest()
	}
	if last := rest(); last < 3*time.Minute || last > 5*time.Minute {
		t.Errorf("after many failures the rest is %s; want about 4m", last)
	}
	inner.advance(time.Hour)
	inner.err, inner.took = nil, 0
	if _, err := store.Stat(t.Context(), "x"); err != nil {
		t.Errorf("Stat of the store that is back: %v", err)
	}
	inner.err, inner.took = objstore.ErrUnavailable, 10*time.Second
	if again := rest(); again > 19*time.Second {
		t.Errorf("after an answer the next rest is %s; want about 15s", again)
	}
}

// TestKnock: who cannot wait asks a store that is left alone, and opens it for all if it answers.
func TestKnock(t *testing.T) {
	t.Parallel()
	inner := newSlow(t, 10*time.Second, objstore.ErrUnavailable)
	store := circuit.New(inner, inner.clock)
	ask := verbs["Get"]
	if store.Knock(t.Context(), "x"); inner.calls != 0 {
		t.Error("a store that is not left alone was asked")
	}
	_ = ask(t.Context(), store) // it is left alone from now on
	inner.took = 0
	if store.Knock(t.Context(), "x"); inner.calls != 2 {
		t.Errorf("the store was asked %d times; want twice", inner.calls)
	}
	if _ = ask(t.Context(), store); inner.calls != 2 {
		t.Error("a store that gave no answer is asked")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	inner.err = context.Canceled
	store.Knock(gone, "x")
	if _ = ask(t.Context(), store); inner.calls != 3 {
		t.Error("a knock that was given up counts as an answer")
	}
	inner.err = objstore.ErrNotExist
	store.Knock(t.Context(), "x")
	if _ = ask(t.Context(), store); inner.calls != 5 {
		t.Error("a store that answers is left alone")
	}
}
