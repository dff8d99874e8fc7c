package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

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
	a := r.agent
	if len(a.open) == 0 {
		return r.publish(ctx)
	}
	state, open, diags := r.revision.engine.Settle(ctx, r.revision.config, a.state, a.open, r.planOptions())
	a.state = state
	if len(open) < len(a.open) {
		a.log.Info("calls of an earlier process settled", "settled", len(a.open)-len(open), "open", len(open))
	}
	a.recovered = append(a.recovered, settledChanges(a.open, open, state)...)
	a.open = open
	r.diags = append(r.diags, diags...)
	if err := a.saveState(a.state); err != nil {
		return err
	}
	if err := a.emptyJournal(); err != nil {
		return err
	}
	return r.publish(ctx)
}

// publish puts what was taken up into the store under the new epoch before anything is
// changed, where another agent may follow: it then begins there.
func (r *round) publish(ctx context.Context) error {
	a := r.agent
	if !r.followed() || !r.fresh || a.memory.StateEpoch == a.memory.Epoch {
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

// planOptions are what every plan of a round has in common.
func (r *round) planOptions() engine.PlanOptions {
	return engine.PlanOptions{
		Mode: plans.NormalMode, Variables: r.variables.values, Missing: r.variables.missing, BaseDir: r.revision.dir,
		Overrides: func(addr addrs.ResourceInstance) plans.Overrides {
			return plans.Overrides{Ignored: r.ignoredPaths(addr)}
		},
	}
}

// makePlan reads all objects, judges their drift, and plans what is to be done
// about it and about the revision.
func (r *round) makePlan(ctx context.Context) error {
	a := r.agent
	plan, err := r.firstPlan(ctx)
	if err != nil {
		return err
	}
	schemas, err := r.schemas(ctx, plan)
	if err != nil {
		return err
	}
	observed := guard.Observe(plan, r.scopes, schemas)
	r.judged, a.memory.Drift = guard.Judge(observed, r.scopes, r.grants, a.memory.Drift, a.now().UTC())
	r.known = true
	a.lastJudged = r.judged
	r.plan = plan
	if len(r.judged) == 0 {
		return nil
	}
	return r.planAgain(ctx, plan)
}

// firstPlan reads the objects that are due and plans. What the plan would change
// is read in any case: a change is never based on a record alone.
func (r *round) firstPlan(ctx context.Context) (*plans.Plan, error) {
	a := r.agent
	drifted := make(map[string]bool, len(a.memory.Drift))
	for addr := range a.memory.Drift {
		drifted[addr] = true
	}
	now := a.now()
	due := a.read.dueReads(a.state, drifted, r.self.Refresh, a.interval, now)
	opts := r.planOptions()
	opts.Frozen = r.frozen
	opts.LeaveUnreadable = a.memory.Revision == r.revision.digest // a new revision takes effect as a whole
	opts.SkipRead = func(addr addrs.ResourceInstance) bool { return due != nil && !due[addr.String()] }
	for {
		plan, diags := r.revision.engine.Plan(ctx, r.revision.config, a.state, opts)
		if diags.HasErrors() {
			r.diags = append(r.diags, diags...)
			return nil, fmt.Errorf("the plan has errors: %w", summaries(diags))
		}
		unread := unreadChanges(plan, due)
		if len(unread) == 0 {
			r.diags = append(r.diags, diags...)
			r.left = plan.LeftAlone
			a.read.note(a.state, due, now)
			return plan, nil
		}
		for _, addr := range unread {
			due[addr] = true
		}
	}
}

// planAgain plans from what was read, with drift that stands taken for what is
// recorded, so that nothing corrects it or builds on it.
func (r *round) planAgain(ctx context.Context, first *plans.Plan) error {
	prior := first.Prior.Copy()
	byAddr := map[string]guard.Judged{}
	drifted := map[string]*plans.Change{}
	for _, c := range first.Drift {
		drifted[c.Addr.String()] = c
	}
	for _, j := range r.judged {
		key := j.Addr.String()
		byAddr[key] = j
		if j.Decision != guard.Corrected {
			prior.SetObject(j.Addr, drifted[key].Provider, first.Previous.Object(j.Addr))
		}
	}
	opts := r.planOptions()
	opts.SkipRefresh = true
	opts.Frozen = r.frozen
	opts.LeaveUnreadable, opts.LeftAlone = len(r.left) > 0, r.left
	opts.Overrides = func(addr addrs.ResourceInstance) plans.Overrides {
		overrides := plans.Overrides{Ignored: r.ignoredPaths(addr)}
		if j, ok := byAddr[addr.String()]; ok {
			overrides.Restored = j.Restored()
		}
		return overrides
	}
	plan, diags := r.revision.engine.Plan(ctx, r.revision.config, prior, opts)
	r.diags = append(r.diags, diags...)
	if diags.HasErrors() {
		return fmt.Errorf("the plan has errors: %w", summaries(diags))
	}
	r.plan = plan
	r.noteUncorrectable(plan)
	return nil
}

// noteUncorrectable says of drift that the plan does not bring back that it could
// not be corrected, so that it is not taken for right in silence.
func (r *round) noteUncorrectable(plan *plans.Plan) {
	if r.agent.memory.Revision != r.revision.digest {
		return // a new revision may ask for what somebody did by hand
	}
	changes := map[string]*plans.Change{}
	for _, c := range plan.Changes {
		if c.Deposed == "" {
			changes[c.Addr.String()] = c
		}
	}
	for i := range r.judged {
		j := &r.judged[i]
		change := changes[j.Addr.String()]
		if left := j.Uncorrected(change); len(left) > 0 && !outOfRevision(change) {
			j.Decision = guard.Failed
			r.warn("Drift cannot be corrected", fmt.Sprintf("No change of %s brings back %s. The configuration leaves the value to the provider; set it there, or ignore it in the scope.", j.Addr, strings.Join(left, ", ")))
		}
	}
}

// outOfRevision tells whether the revision removes or replaces the object, or asks
// for other values, so that there is nothing to bring back.
func outOfRevision(change *plans.Change) bool {
	return change != nil && change.Action != plans.NoOp && change.Action != plans.Update
}

// frozen tells whether nothing may be planned for an instance: a grant suspends
// its correction, or a call about it is not settled.
func (r *round) frozen(addr addrs.ResourceInstance) bool {
	scope := guard.ScopeOf(r.scopes, addr)
	for _, g := range r.grants {
		if g.Covers(scope, addr) {
			return true
		}
	}
	for _, intent := range r.agent.open {
		if intent.Address == addr.String() {
			return true
		}
	}
	return false
}

func (r *round) ignoredPaths(addr addrs.ResourceInstance) []cty.Path {
	scope := guard.ScopeOf(r.scopes, addr)
	if scope == nil || len(scope.IgnoreAttributes) == 0 {
		return nil
	}
	schema := r.revision.engine.ResourceSchema(addr.Config())
	if schema == nil {
		return nil
	}
	return guard.IgnoredPaths(r.scopes, addr, schema)
}

// schemas returns the schemas of the resource types that drifted.
func (r *round) schemas(ctx context.Context, plan *plans.Plan) (guard.SchemaFor, error) {
	var wanted []addrs.Provider
	seen := map[addrs.Provider]bool{}
	for _, c := range plan.Drift {
		if !seen[c.Provider.Provider] {
			seen[c.Provider.Provider] = true
			wanted = append(wanted, c.Provider.Provider)
		}
	}
	all, diags := r.revision.engine.Schemas(ctx, wanted)
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	return func(c *plans.Change) *providers.Block {
		schema := all[c.Provider.Provider]
		if schema == nil {
			return nil
		}
		if rs := schema.ResourceTypes.Get(c.Addr.Resource.Type); rs != nil {
			return rs.Block
		}
		return nil
	}, nil
}

// guard lets the plan through or refuses it as a whole.
func (r *round) guard(context.Context) error {
	r.changes = r.plannedChanges("planned")
	approved, diags := guard.Check(r.plan, r.scopes)
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
	corrected := map[string]bool{}
	for _, j := range r.judged {
		corrected[j.Addr.String()] = j.Decision == guard.Corrected
	}
	var out []control.Change
	for _, c := range r.plan.Changes {
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

// changed tells whether the round changes an object.
func (r *round) changed(addr addrs.ResourceInstance) bool {
	return slices.ContainsFunc(r.changes, func(c control.Change) bool { return c.Address == addr.String() })
}

// heldObjects puts the records of objects whose drift stands back into a state:
// as long as it stands, the record says what was last right.
func (r *round) heldObjects(state *states.State) {
	for _, j := range r.judged {
		if j.Decision == guard.Corrected || r.changed(j.Addr) {
			continue
		}
		if recorded := r.agent.state.Object(j.Addr); recorded != nil {
			if res := r.agent.state.Resource(j.Addr.Module, j.Addr.Resource); res != nil {
				state.SetObject(j.Addr, res.Provider, recorded)
			}
		}
	}
}
