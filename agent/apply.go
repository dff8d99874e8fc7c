package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// apply makes the approved plan true and keeps the state. Without changes it
// keeps what was read.
func (r *round) apply(ctx context.Context) error {
	a := r.agent
	if plan := r.approved.Plan(); !plan.Applyable() || plan.OnlyChecks() {
		return r.keep(r.approved.Plan().Prior)
	}
	if err := r.outlast(ctx); err != nil {
		return err
	}
	if err := r.stillHolds(ctx); err != nil {
		return err
	}
	if err := a.begin(r.revision.digest); err != nil {
		return err
	}
	ctx, done := a.tenure.Within(ctx) // what is under way when it ends is ended too
	defer done()
	defer r.watchGrants(ctx)()
	began := a.now()
	state, diags := r.revision.engine.Apply(ctx, r.revision.config, r.approved, engine.ApplyOptions{Recorder: recorder{a.journal, a}, BaseDir: r.revision.dir, Variables: r.variables.values})
	a.notePace(began, len(r.changes))
	r.diags = append(r.diags, diags...)
	failed := map[string]bool{}
	for _, d := range diags {
		failed[d.Address] = true
	}
	r.settleChanges(state, failed)
	r.spend()
	if err := r.keep(state); err != nil {
		return err
	}
	if diags.HasErrors() {
		return fmt.Errorf("the apply had errors: %w", summaries(diags))
	}
	return r.keep(r.aftermath(ctx, state))
}

// begin notes, before the first change, whose changes are made: an older revision must not
// take them back, also if the round does not come to its end.
func (a *Agent) begin(revision string) error {
	if a.memory.Begun == revision {
		return nil
	}
	a.memory.Begun = revision
	return a.memory.save(a.config.DataDir)
}

// stillHolds asks once more, right before writing, whether another agent took over.
func (r *round) stillHolds(ctx context.Context) error {
	if r.agent.lease == nil || !r.fresh {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	err := r.agent.lease.Check(ctx)
	if errors.Is(err, lease.ErrFenced) {
		r.agent.tenure.Fence(err)
		return err
	}
	if err != nil {
		r.warn("Store not usable", fmt.Sprintf("The lease could not be checked before applying: %s.", err))
	}
	return nil
}

// settleChanges says of each planned change what came of it. The round's changes are those
// of the plan that have actions, in its order.
func (r *round) settleChanges(state *states.State, failed map[string]bool) {
	i := 0
	for _, planned := range r.plan.Changes {
		if len(guard.ActionsOf(planned.Action)) == 0 {
			continue
		}
		c := &r.changes[i]
		if i++; failed[c.Address] || !r.done(state, planned) {
			c.Result = "failed"
		} else {
			c.Result = "applied"
		}
	}
	for i := range r.judged {
		if r.judged[i].Decision == guard.Corrected && failed[r.judged[i].Addr.String()] {
			r.judged[i].Decision = guard.Failed
		}
	}
}

// done tells whether the state shows that a change was made: a change that was
// skipped because of another's failure has no diagnostic of its own.
func (r *round) done(state *states.State, planned *plans.Change) bool {
	before, after := r.plan.Prior.Object(planned.Addr), state.Object(planned.Addr)
	switch {
	case planned.Deposed != "":
		return true
	case planned.Action == plans.Delete || planned.Action == plans.Forget:
		return after == nil
	}
	return after != nil && after != before
}

// keep makes a state the agent's own, with the records of drift that stands.
func (r *round) keep(state *states.State) error {
	state = r.ownPart(state)
	if err := r.heldObjects(state); err != nil {
		return err
	}
	if err := r.agent.saveState(state); err != nil {
		return err
	}
	r.agent.open, r.agent.absent = journal.Split(r.agent.journal.Pending()) // with the calls of this round that no answer came to
	return r.agent.emptyJournal()
}
