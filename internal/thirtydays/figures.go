package thirtydays

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// Row is what came of the model's changes in one arrangement.
type Row struct {
	Arrangement Arrangement
	// Closed changes were corrected, NeverWritten of them where no deployment writes.
	Closed, NeverWritten int
	// MeanDelay is from a change to its correction, Live from a commit until it is in
	// force, both in minutes.
	MeanDelay, Live float64
	// Unseen changes were undone before anybody told of them, Missed ones are of objects that
	// nobody manages, still there, and were never told of.
	Unseen, Missed int
	// WronglyReverted changes mended an emergency and were corrected.
	WronglyReverted int
	// Left changes are still there; Held of them stand under a grant or after it.
	Left, Held int
	// Reported are changes of objects that nobody manages that were told of.
	Reported  int
	Outage    Outage
	Authority []Authority
}

// Outage is what happened while the pipeline was out.
type Outage struct {
	// Rounds are those that an agent made, Missed the deployments that were not made.
	Rounds, Missed int
	// Open changes were there at some time of the outage, Closed of them were corrected in it.
	Open, Closed int
}

// fate is what became of one change.
type fate struct {
	*change
	made time.Time
	// id is the changed object's identity.
	id string
	// undone and closed are zero if that did not happen; told is when a receipt first
	// named the change.
	undone, closed, told time.Time
	held                 bool
	// managed tells that agents or the pipeline ever wrote the object.
	managed bool
}

// evidence is what the figures are read from.
type evidence struct {
	events   []cloudapi.Event
	receipts map[string][]control.Receipt
}

// figures reads an arrangement's row from the cloud's log and the agents' receipts.
func (s *site) figures(ctx context.Context, changes []change, a Arrangement) (Row, error) {
	e := evidence{receipts: map[string][]control.Receipt{}}
	var err error
	if e.events, err = s.events(ctx); err != nil {
		return Row{}, err
	}
	for environment := range s.agents {
		if e.receipts[environment], err = s.receipts(ctx, environment, math.MaxInt); err != nil {
			return Row{}, err
		}
	}
	row := Row{Arrangement: a}
	var delays time.Duration
	for i := range changes {
		f, err := e.fate(&changes[i])
		if err != nil {
			return Row{}, err
		}
		delays += row.count(f)
	}
	row.MeanDelay = delays.Minutes() / float64(max(row.Closed, 1))
	row.Outage.Rounds = e.roundsInOutage()
	return row, nil
}

// count adds a change to the row and returns how long it took to correct it.
func (r *Row) count(f fate) time.Duration {
	gone := !f.undone.IsZero()
	outage := f.made.Before(minute(outageUntil)) && !before(f.undone, minute(outageFrom)) && !before(f.closed, minute(outageFrom))
	if outage {
		r.Outage.Open++
	}
	if f.class == outOfScope && !f.told.IsZero() {
		r.Reported++
	}
	switch {
	case !f.closed.IsZero():
		r.Closed++
		if f.class == notWritten {
			r.NeverWritten++
		}
		if f.genuine {
			r.WronglyReverted++
		}
		if outage && f.closed.Before(minute(outageUntil)) {
			r.Outage.Closed++
		}
		return f.closed.Sub(f.made.Truncate(time.Minute))
	case gone && f.told.IsZero():
		r.Unseen++
	case !gone:
		r.Left++
		if f.held {
			r.Held++
		}
		if !f.managed && f.told.IsZero() {
			r.Missed++
		}
	}
	return 0
}

// before tells whether something happened, and before a time.
func before(happened, at time.Time) bool { return !happened.IsZero() && happened.Before(at) }

// fate finds out what became of a change.
func (e *evidence) fate(c *change) (fate, error) {
	f := fate{change: c}
	attribute := c.target().attribute
	for _, event := range e.events {
		if event.Ref != c.ref() {
			continue
		}
		writer := isWriter(event.Actor)
		f.managed = f.managed || writer
		switch {
		case event.Actor == c.actor():
			f.made, f.id = event.Time, event.ID
		case f.made.IsZero():
		case event.Actor == c.undoer() && f.closed.IsZero():
			f.undone = event.Time
		case writer && f.closed.IsZero() && f.undone.IsZero() && slices.Contains(event.Changed, attribute):
			f.closed = event.Time
		}
	}
	if f.made.IsZero() {
		return f, fmt.Errorf("the cloud's log does not know change %d", c.number)
	}
	if receipts := e.receipts[c.environment()]; len(receipts) > 0 {
		return f, f.read(receipts)
	}
	return f, nil
}

// isWriter tells whether an actor is an agent or the pipeline.
func isWriter(actor string) bool { return actor == pipelineName || strings.HasPrefix(actor, "agent-") }

// read takes from receipts what they tell of the change, and checks that they agree
// with the cloud's log about its correction.
func (f *fate) read(receipts []control.Receipt) error {
	first, _ := slices.BinarySearchFunc(receipts, f.made, func(r control.Receipt, made time.Time) int { return r.Started.Compare(made) })
	confirmed := false
	for i := first; i < len(receipts); i++ {
		r := &receipts[i]
		if before(f.closed, r.Started) || before(f.undone, r.Started) {
			break
		}
		item := f.toldBy(r)
		if f.class == outOfScope && i > 0 && digestIn(&receipts[i-1], f.id) != digestIn(r, f.id) || item != nil {
			if f.told.IsZero() {
				f.told = r.Started
			}
		}
		if item == nil {
			continue
		}
		f.held = item.Decision == "held"
		confirmed = confirmed || item.Decision == "corrected" && r.Started.Equal(f.closed) && applied(r, item.Address)
	}
	if confirmed == f.closed.IsZero() {
		return fmt.Errorf("of change %d the cloud's log says that it was corrected at %q, and the receipts do not agree", f.number, f.closed)
	}
	return nil
}

// toldBy returns what a receipt says of the change, or nil.
func (f *fate) toldBy(r *control.Receipt) *control.DriftItem {
	for i := range r.Drift {
		if r.Drift[i].Address == f.address() && slices.Contains(r.Drift[i].Attributes, f.target().path) {
			return &r.Drift[i]
		}
	}
	return nil
}

// applied tells whether a receipt says that a change of an object was made.
func applied(r *control.Receipt, address string) bool {
	return slices.ContainsFunc(r.Changes, func(c control.Change) bool { return c.Address == address && c.Result == "applied" })
}

// roundsInOutage counts the rounds of one agent while the pipeline is out.
func (e *evidence) roundsInOutage() int {
	n := 0
	for _, r := range e.receipts[Environments[0]] {
		if !r.Started.Before(minute(outageFrom)) && r.Started.Before(minute(outageUntil)) {
			n++
		}
	}
	return n
}
