package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// recover settles calls that an earlier process left without an answer.
func (r *round) recover(ctx context.Context) error {
	if err := r.settle(ctx); err != nil {
		return err
	}
	return r.publish(ctx)
}

func (r *round) settle(ctx context.Context) error {
	a := r.agent
	if len(a.open)+len(a.absent) > 0 {
		if news := r.findOut(ctx); !news && len(a.entries) == 0 {
			return nil
		}
	} else if len(a.entries) == 0 {
		return nil
	}
	if err := a.saveState(a.state); err != nil { // with what a process that died had recorded
		return err
	}
	return a.emptyJournal()
}

// findOut looks what became of calls, and tells whether anything is known that was not
// known before.
func (r *round) findOut(ctx context.Context) (news bool) {
	a := r.agent
	settled, diags := r.revision.engine.Settle(ctx, r.revision.config, a.state, slices.Concat(a.open, a.absent), r.planOptions())
	r.diags = append(r.diags, diags...)
	changes := append(settledChanges(a.open, settled.Open, settled.State), appeared(a.absent, a.state, settled.State)...)
	if len(changes) == 0 && len(settled.Absent) == len(a.absent) {
		return false
	}
	a.log.Info("calls of an earlier process settled", "settled", len(changes), "open", len(settled.Open), "absent", len(settled.Absent))
	a.recovered = append(a.recovered, changes...)
	a.state, a.open, a.absent = settled.State, settled.Open, settled.Absent
	return true
}

// publish puts what was taken up into the store under the new epoch before anything is
// changed, where another agent may follow: it then begins there.
func (r *round) publish(ctx context.Context) error {
	a := r.agent
	if !r.followed() || !r.fresh || a.memory.StateEpoch == a.memory.Epoch && a.memory.StateSerial == a.memory.Serial {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return a.uploadState(ctx)
}

// settledChanges lists the calls that were settled: what they did is in the state.
func settledChanges(before, after []journal.Intent, state *states.State) []control.Change {
	var out []control.Change
	for _, intent := range before {
		if slices.ContainsFunc(after, func(i journal.Intent) bool { return i.ID == intent.ID }) {
			continue
		}
		addr, diags := addrs.ParseResourceInstance(intent.Address)
		exists := !diags.HasErrors() && state.Object(addr) != nil
		out = append(out, recoveredChange(intent, exists == (intent.Action == string(control.ActionDelete))))
	}
	return out
}

// appeared lists the creates whose object was not there before and is in the state now.
func appeared(absent []journal.Intent, before, after *states.State) []control.Change {
	var out []control.Change
	for _, intent := range absent {
		addr, diags := addrs.ParseResourceInstance(intent.Address)
		if !diags.HasErrors() && before.Object(addr) == nil && after.Object(addr) != nil {
			out = append(out, recoveredChange(intent, false))
		}
	}
	return out
}

// planOptions are what every plan of a round has in common.
func (r *round) planOptions() engine.PlanOptions {
	return engine.PlanOptions{
		Mode: plans.NormalMode, Variables: r.variables.values, Missing: r.variables.missing, BaseDir: r.revision.dir, Given: r.given(),
		Overrides: func(addr addrs.ResourceInstance) plans.Overrides {
			return plans.Overrides{Owned: r.rules().Planned(r.objectOf(addr))}
		},
	}
}

// makePlan reads all objects, judges their drift, and plans what is to be done
// about it and about the revision.
func (r *round) makePlan(ctx context.Context) error {
	r.lookAround(ctx)
	before := r.agent.memory.Drift
	plan, err := r.planRevision(ctx)
	if err != nil {
		return err
	}
	err = r.propose(ctx, plan)
	if errors.Is(err, errPending) {
		return r.keepLast(ctx, before, err)
	}
	return err
}

// planRevision plans the round's revision, and returns the plan before drift was judged.
func (r *round) planRevision(ctx context.Context) (*plans.Plan, error) {
	a := r.agent
	plan, err := r.firstPlan(ctx)
	if err != nil {
		return nil, err
	}
	a.secrets.learnPlan(plan)
	schemas, err := r.schemas(ctx, plan)
	if err != nil {
		return nil, err
	}
	reopened := r.renewGrants()
	observed := guard.Observe(plan, *r.rules(), schemas)
	r.heedHolds(ctx)
	r.judged, a.memory.Drift = guard.Judge(observed, *r.rules(), a.memory.Drift, a.digest, a.now().UTC())
	r.known = true
	r.findUnmanaged(plan)
	r.noteOscillation()
	a.lastJudged = r.judged
	r.seen, r.plan = plan, plan
	if len(r.judged) > 0 || reopened {
		if err := r.planAgain(ctx, plan); err != nil {
			return nil, err
		}
	}
	r.warnOfWaiting(r.plan)
	return plan, nil
}

// warnOfWaiting names what a plan leaves out because it depends on what does not exist and
// is not to be made now, or what a plan fails for.
func (r *round) warnOfWaiting(plan *plans.Plan) {
	if len(plan.Awaited) == 0 {
		return
	}
	const until = "it is not made while a break-glass grant covers it or the outcome of a call about it is unknown. It goes on by itself afterwards; close the grant to go on at once"
	switch {
	case plan.Errored:
		r.warn("Plan may fail for an object that is not there", fmt.Sprintf("Values of %s are not known: it does not exist, and %s. Whatever says how many instances there are must not need such values.", named(plan.Awaited), until))
	case len(plan.Waiting) > 0:
		r.warn("Change waits for an object that is not there", fmt.Sprintf("Nothing is changed about %s, because that waits for %s: it does not exist, and %s.", named(plan.Waiting), named(plan.Awaited), until))
	}
}

// firstPlan reads the objects that are due and plans. What the plan would change
// is read in any case: a change is never based on a record alone.
func (r *round) firstPlan(ctx context.Context) (*plans.Plan, error) {
	a := r.agent
	now := a.now()
	due := a.read.dueReads(a.state, a.memory.Drift.Addresses(), r.self.Refresh, a.interval, now)
	opts := r.planOptions()
	opts.Frozen = r.frozen
	opts.Lists = func(addr string) bool { return len(r.inventories(addr)) > 0 }
	opts.LeaveUnreadable = a.memory.Revision == r.revision.digest // a new revision takes effect as a whole
	opts.SkipRead = func(addr addrs.ResourceInstance) bool { return due != nil && !due[addr.String()] }
	prior := r.surveyed()
	for {
		plan, diags := r.revision.engine.Plan(ctx, r.revision.config, prior, opts)
		if diags.HasErrors() {
			r.diags = append(r.diags, diags...)
			r.warnOfWaiting(plan)
			return nil, fmt.Errorf("the plan has errors: %w", summaries(diags))
		}
		unread := unreadChanges(plan, due)
		if len(unread) == 0 {
			r.diags = append(r.diags, diags...)
			r.noteLeft(plan)
			a.read.note(a.state, due, now)
			return plan, nil
		}
		for _, addr := range unread {
			due[addr] = true
		}
	}
}

// guard lets the plan through or refuses it as a whole.
func (r *round) guard(context.Context) error {
	r.changes = r.plannedChanges("planned")
	approved, diags := guard.Check(r.plan, *r.rules(), guard.Circumstances{Now: r.agent.now(), Where: r.declaredAt, Grants: r.grantsNow, Recorded: r.seen.Previous, Schema: func(addr addrs.ResourceInstance) *providers.Block {
		return r.revision.engine.ResourceSchema(addr.Config())
	}})
	r.diags = append(r.diags, diags...)
	if diags.HasErrors() {
		r.changes = r.plannedChanges("refused")
		return fmt.Errorf("%w: %w", errRefused, summaries(diags))
	}
	r.approved = approved
	return nil
}

// plannedChanges lists the plan's changes for the receipt.
func (r *round) plannedChanges(result string) []control.Change {
	return r.changesOf(r.plan, r.judged, result)
}

// changesOf lists the changes of a plan that follows from decisions about drift.
func (r *round) changesOf(plan *plans.Plan, judged []guard.Judged, result string) []control.Change {
	corrected := map[string]bool{}
	for _, j := range judged {
		corrected[j.Addr.String()] = corrected[j.Addr.String()] || j.Decision == guard.Corrected
	}
	var out []control.Change
	for _, c := range plan.Changes {
		actions := guard.ActionsOf(c.Action)
		if len(actions) == 0 {
			continue
		}
		change := control.Change{Address: c.Addr.String(), Actions: actions, Attributes: plans.ChangedAttributes(c), Result: result, Cause: "revision"}
		if corrected[change.Address] && r.agent.memory.Revision == r.revision.digest {
			change.Cause = "drift"
		}
		out = append(out, change)
	}
	return out
}

// summaries is an error with the summaries of diagnostics only: their details are reported one by one.
func summaries(diags tfdiags.Diagnostics) error {
	var texts []string
	for _, d := range diags {
		if d.Severity == tfdiags.Error {
			text := d.Summary
			if d.Address != "" {
				text += " (" + d.Address + ")"
			}
			texts = append(texts, text)
		}
	}
	return fmt.Errorf("%s", strings.Join(texts, "; "))
}
