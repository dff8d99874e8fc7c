package repository

import (
	"context"
	"fmt"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// Sources are stores that hold the same repository: first the one that is written, then
// its mirrors. What is read of it is signed, so that a mirror needs no trust: one that lies
// is refused and the next one asked, one that withholds is bounded by expiry. What agents
// coordinate by (leases, claims, grants, states) is never read from a mirror.
type Sources []objstore.Store

// try calls do for one store after the other until one succeeds. None can take the time of
// those after it: each gets its share of what is left. The error is the first store's, with
// what the others said.
func (s Sources) try(ctx context.Context, do func(ctx context.Context, store objstore.Store) error) error {
	var all error
	for i, store := range s {
		bounded, cancel := share(ctx, len(s)-i)
		err := do(bounded, store)
		cancel()
		switch {
		case err == nil:
			return nil
		case all == nil:
			all = err
		default:
			all = fmt.Errorf("%w; from the mirror %s: %w", all, store.URL(), err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return all
}

// share bounds a context to one part of its time, of several that are left.
func share(ctx context.Context, parts int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok || parts == 1 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(parts))
}
