package agent

import (
	"os"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// maxWaiting is how many receipts may wait on this machine before rounds that have nothing
// new to tell write none: three hours of one a minute. What changes, drifts or fails
// otherwise than before is told however long the store is away.
const maxWaiting = 200

// gist is what a receipt tells beside when it was written.
type gist struct{ outcome, revision, drift, message string }

func (r *round) gist() gist {
	return gist{string(r.outcome), r.revisionDigest(), control.DriftSet(r.driftItems()), r.message}
}

// needless tells whether a round's receipt would say nothing and only take room. The chain
// stays whole: numbers are given to what is written.
func (r *round) needless() bool {
	a := r.agent
	said := r.gist()
	if said != a.said || len(r.changes)+len(a.recovered) > 0 || r.fresh {
		a.said = said
		return false
	}
	waiting, err := os.ReadDir(a.outbox())
	return err == nil && len(waiting) >= maxWaiting
}
