package simcloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// Options say how a cloud behaves. The zero value is a fast, faultless cloud in
// memory that lets everyone in.
type Options struct {
	// Tokens are the bearer tokens let in. Without any, no token is asked for.
	Tokens []Token
	// Latency is how long every request takes at least; Jitter is the most that is
	// added to it, evenly spread.
	Latency, Jitter time.Duration
	// Rate is how many requests a second each token may make, in bursts of as many; 0 means any number.
	Rate float64
	// Fail is the probability, from 0 to 1, that a request fails with 500 before it has any effect.
	Fail float64
	// Seed makes jitter, failures and the names the cloud chooses repeatable.
	Seed uint64
	// DataFile keeps objects and events over restarts and crashes; "" keeps them in memory.
	DataFile string
	// Now and Sleep are the clock; nil means the real one.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

// Check returns what is wrong with the options.
func (o *Options) Check() error {
	switch {
	case o.Latency < 0 || o.Jitter < 0:
		return errors.New("latency and jitter must not be negative")
	case o.Rate < 0:
		return errors.New("rate must not be negative")
	case !(o.Fail >= 0 && o.Fail <= 1):
		return errors.New("fail must be between 0 and 1")
	}
	return nil
}

// Cloud is a running simulated cloud, an [http.Handler]. It is safe for concurrent use.
type Cloud struct {
	store   *store
	handler http.Handler
}

// New starts a cloud with what its data file holds. Close it when done.
func New(opts Options) (*Cloud, error) {
	if err := opts.Check(); err != nil {
		return nil, err
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Sleep == nil {
		opts.Sleep = sleep
	}
	store, err := openStore(opts.DataFile, opts.Seed, opts.Now)
	if err != nil {
		return nil, fmt.Errorf("opening the cloud's data: %w", err)
	}
	gate := newGate(opts)
	return &Cloud{store: store, handler: routes(store, gate)}, nil
}

// ServeHTTP answers one request.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// Object returns an object as it is, for whoever runs in the same process, or nil.
// It is immutable.
func (c *Cloud) Object(ref cloudapi.Ref) *cloudapi.Object {
	if e := c.store.get(ref); e != nil {
		return e.object
	}
	return nil
}

// Close makes the data durable and releases the file.
func (c *Cloud) Close() error { return c.store.close() }

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
