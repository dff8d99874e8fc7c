package circuit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// When the circuit opens and for how long. A failure that comes at once costs nothing,
// and asking again is the quickest way to know that it is over.
const (
	// patience is how long a call may take to fail without consequences.
	patience = 5 * time.Second
	// firstRest is how long the store is left alone after the first such failure; it
	// doubles up to maxRest with each that follows.
	firstRest = 15 * time.Second
	maxRest   = 4 * time.Minute
	// jitter is the share by which rests vary, so that a fleet does not return at once.
	jitter = 0.2
)

// Store is a store behind a circuit. See [New].
type Store struct {
	inner objstore.Store
	now   func() time.Time

	mu       sync.Mutex
	failures int
	until    time.Time
	took     time.Duration
}

var _ objstore.Store = (*Store)(nil)

// New returns a store that asks the inner one, unless that has lately taken long to fail.
func New(inner objstore.Store, now func() time.Time) *Store {
	return &Store{inner: inner, now: now}
}

// URL implements [objstore.Store].
func (s *Store) URL() string { return s.inner.URL() }

// Get implements [objstore.Store].
func (s *Store) Get(ctx context.Context, key string, limit int64) (object objstore.Object, err error) {
	err = s.guard(func() error {
		object, err = s.inner.Get(ctx, key, limit)
		return err
	})
	return object, err
}

// Stat implements [objstore.Store].
func (s *Store) Stat(ctx context.Context, key string) (info objstore.Info, err error) {
	err = s.guard(func() error {
		info, err = s.inner.Stat(ctx, key)
		return err
	})
	return info, err
}

// Put implements [objstore.Store].
func (s *Store) Put(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.write(func() (objstore.Version, error) { return s.inner.Put(ctx, key, data) })
}

// PutIfAbsent implements [objstore.Store].
func (s *Store) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.write(func() (objstore.Version, error) { return s.inner.PutIfAbsent(ctx, key, data) })
}

// PutIfMatch implements [objstore.Store].
func (s *Store) PutIfMatch(ctx context.Context, key string, data []byte, version objstore.Version) (objstore.Version, error) {
	return s.write(func() (objstore.Version, error) { return s.inner.PutIfMatch(ctx, key, data, version) })
}

// List implements [objstore.Store].
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		yielded := false
		err := s.guard(func() error {
			for info, err := range s.inner.List(ctx, prefix) {
				yielded = err != nil
				if !yield(info, err) || err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && !yielded { // the store was not asked
			yield(objstore.Info{}, err)
		}
	}
}

// Delete implements [objstore.Store].
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.guard(func() error { return s.inner.Delete(ctx, key) })
}

func (s *Store) write(do func() (objstore.Version, error)) (version objstore.Version, err error) {
	err = s.guard(func() error {
		version, err = do()
		return err
	})
	return version, err
}

// guard calls do unless the circuit is open, and learns from how it ends.
func (s *Store) guard(do func() error) error {
	started := s.now()
	if err := s.open(started); err != nil {
		return err
	}
	err := do()
	s.learn(started, s.now(), err)
	return err
}

// Knock asks a store that is left alone for something that it may or may not have. If it
// answers it is asked again by everybody; if not, nothing changes. It is for those who cannot
// wait for a rest's end, and bound how long it may take by ctx.
func (s *Store) Knock(ctx context.Context, key string) {
	if s.open(s.now()) == nil {
		return
	}
	if _, err := s.inner.Stat(ctx, key); ctx.Err() == nil && !away(err) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failures, s.until = 0, time.Time{}
	}
}

// open returns the error of a call that is not made.
func (s *Store) open(now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !now.Before(s.until) {
		return nil
	}
	return fmt.Errorf("%w: it took %s to fail and is left alone until %s", objstore.ErrUnavailable, s.took.Round(time.Second), s.until.UTC().Format(time.TimeOnly))
}

func (s *Store) learn(started, ended time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := ended.Sub(started)
	switch {
	case !away(err):
		s.failures = 0
	case took >= patience:
		rest := min(firstRest<<min(s.failures, 10), maxRest)
		rest = time.Duration(float64(rest) * (1 + jitter*(2*rand.Float64()-1)))
		s.failures, s.took, s.until = s.failures+1, took, ended.Add(rest)
	}
}

// away tells whether an error means that the store gave no answer. That a caller gave up
// on its own says nothing of the store; that its time ended does.
func away(err error) bool {
	return errors.Is(err, objstore.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}
