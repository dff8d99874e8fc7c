package agent

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// rules are what binds the round.
func (r *round) rules() *guard.Rules { return &guard.Rules{Scopes: r.scopes, Grants: r.grants} }

// objectOf names an instance to scopes, with the provider that its declaration or
// its record says.
func (r *round) objectOf(addr addrs.ResourceInstance) control.Object {
	provider, ok := r.revision.engine.ResourceProvider(addr.Config())
	if !ok {
		if recorded := r.agent.state.Resource(addr.Module, addr.Resource); recorded != nil {
			provider = recorded.Provider
		}
	}
	return guard.ObjectOf(addr, provider)
}

// declaredAt returns the block that declares an instance, or nil.
func (r *round) declaredAt(addr addrs.ResourceInstance) *hcl.Range {
	return r.revision.engine.ResourceRange(addr.Config())
}

// digest stands for a value in what the agent remembers and tells. It is keyed, so
// that nobody finds a value by trying.
func (a *Agent) digest(v cty.Value) string {
	mac := hmac.New(sha256.New, append([]byte("drift "), a.private.Seed()...))
	v, _ = v.UnmarkDeep()
	if data, err := ctyjson.Marshal(v, cty.DynamicPseudoType); err == nil {
		mac.Write(data)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// digestOf stands for the real values that a decision is about; "" for an object that
// is gone.
func (a *Agent) digestOf(j guard.Judged) string {
	if j.Deleted {
		return ""
	}
	vals := make([]cty.Value, 0, len(j.Attributes))
	for _, path := range j.Attributes {
		vals = append(vals, objchange.ValueAt(j.Real, path))
	}
	if len(vals) == 0 {
		vals = append(vals, attribute(j.Real, "id"))
	}
	return a.digest(cty.TupleVal(vals))[:digestLength]
}

// drifted is what was decided about one object's drift.
type drifted struct {
	// stands and corrected are paths by what becomes of them; gone tells that the object
	// is deleted and stays so.
	stands, corrected []string
	gone              bool
	recorded          cty.Value
}

// byObject gathers decisions by address.
func byObject(judged []guard.Judged) map[string]*drifted {
	out := map[string]*drifted{}
	for _, j := range judged {
		d := out[j.Object.Address]
		if d == nil {
			d = &drifted{recorded: j.Recorded}
			out[j.Object.Address] = d
		}
		switch {
		case j.Deleted:
			d.gone = j.Decision.Stands()
		case j.Decision.Stands():
			d.stands = append(d.stands, j.Attributes...)
		case j.Decision == guard.Corrected:
			d.corrected = append(d.corrected, j.Attributes...)
		}
	}
	return out
}

// planAgain plans from what was read with what was decided about drift: what is
// corrected is brought back, what stands is left alone, and nothing builds on it.
func (r *round) planAgain(ctx context.Context, first *plans.Plan) error {
	plan, err := r.planDecided(ctx, first, byObject(r.judged))
	if err != nil {
		return err
	}
	r.plan = plan
	r.compare(plan)
	return nil
}

// planDecided is the plan that follows from decisions about drift.
func (r *round) planDecided(ctx context.Context, first *plans.Plan, decided map[string]*drifted) (*plans.Plan, error) {
	prior := first.Prior.Copy()
	for _, c := range first.Drift {
		if d := decided[c.Addr.String()]; d != nil && d.gone && c.Deposed == "" {
			prior.SetObject(c.Addr, c.Provider, first.Previous.Object(c.Addr))
		}
	}
	opts := r.planOptions()
	opts.SkipRefresh = true
	opts.Frozen = func(addr addrs.ResourceInstance) bool {
		d := decided[addr.String()]
		return d != nil && d.gone || r.frozen(addr)
	}
	opts.LeaveUnreadable, opts.LeftAlone = len(r.left) > 0, r.left
	opts.Overrides = func(addr addrs.ResourceInstance) plans.Overrides {
		overrides := plans.Overrides{Owned: r.rules().Planned(r.objectOf(addr))}
		if d := decided[addr.String()]; d != nil {
			overrides.Recorded, overrides.Restore, overrides.Held = d.recorded, d.corrected, d.stands
		}
		return overrides
	}
	plan, diags := r.revision.engine.Plan(ctx, r.revision.config, prior, opts)
	r.diags = append(r.diags, diags...)
	if diags.HasErrors() {
		r.warnOfWaiting(plan)
		return nil, fmt.Errorf("the plan has errors: %w", summaries(diags))
	}
	return plan, nil
}

// currentChanges are a plan's changes by address, without those of deposed objects.
func currentChanges(plan *plans.Plan) map[string]*plans.Change {
	changes := make(map[string]*plans.Change, len(plan.Changes))
	for _, c := range plan.Changes {
		if c.Deposed == "" {
			changes[c.Addr.String()] = c
		}
	}
	return changes
}

// compare looks at what the plan makes of the decisions: what the revision asks for
// anew is no drift any more, and what no change brings back could not be corrected.
func (r *round) compare(plan *plans.Plan) {
	changes := currentChanges(plan)
	var judged []guard.Judged
	for _, j := range r.judged {
		change := changes[j.Object.Address]
		switch {
		case j.Deleted || change == nil:
			judged = append(judged, j)
		case j.Decision == guard.Corrected:
			judged = append(judged, r.uncorrected(j, change)...)
		case !j.Decision.Stands() || len(j.Attributes) == 0:
			judged = append(judged, j)
		default:
			judged = append(judged, r.stillStanding(j, change)...)
		}
	}
	r.judged = judged
	r.agent.lastJudged = judged
}

// noteOscillation names what is no longer corrected because another writer keeps
// changing it, and when that was.
func (r *round) noteOscillation() {
	for _, j := range r.judged {
		for _, path := range slices.Sorted(maps.Keys(j.Writes)) {
			var times []string
			for _, w := range j.Writes[path] {
				times = append(times, w.At.Format(time.RFC3339))
			}
			r.warn("Another writer keeps changing an attribute", fmt.Sprintf("%s of %s was corrected and changed again; somebody else changed it at %s. It is not corrected any more until it has been quiet. Find the other writer: only one of both may own the attribute. To go on at once, set drift.oscillation.resumed of the scope.",
				path, j.Addr, strings.Join(times, ", ")))
		}
	}
}

// stillStanding drops attributes that a revision decides about.
func (r *round) stillStanding(j guard.Judged, change *plans.Change) []guard.Judged {
	if outOfRevision(change) {
		return []guard.Judged{j}
	}
	var kept []string
	for _, path := range j.Attributes {
		if slices.Contains(change.Overrides.Held, path) {
			kept = append(kept, path)
			continue
		}
		r.agent.memory.Drift.Forget(j.Object.Address, path)
	}
	if len(kept) == 0 {
		return nil
	}
	j.Attributes = kept
	return []guard.Judged{j}
}

// uncorrected says of drift that the plan does not bring back that it could not be
// corrected, so that it is not taken for right in silence.
func (r *round) uncorrected(j guard.Judged, change *plans.Change) []guard.Judged {
	if r.agent.memory.Revision != r.revision.digest || outOfRevision(change) {
		return []guard.Judged{j} // a new revision may ask for what somebody did by hand
	}
	left := j.Uncorrected(j.Attributes, change)
	if len(left) == 0 {
		return []guard.Judged{j}
	}
	r.warn("Drift cannot be corrected", fmt.Sprintf("No change of %s brings back %s. The configuration leaves the value to the provider; set it there, or ignore it in the scope.", j.Addr, strings.Join(left, ", ")))
	failed := j
	failed.Decision, failed.Attributes = guard.Failed, left
	j.Attributes = slices.DeleteFunc(slices.Clone(j.Attributes), func(path string) bool { return slices.Contains(left, path) })
	if len(j.Attributes) == 0 {
		return []guard.Judged{failed}
	}
	return []guard.Judged{j, failed}
}

// outOfRevision tells whether the revision removes or replaces the object, or asks
// for other values, so that there is nothing to bring back.
func outOfRevision(change *plans.Change) bool {
	return change != nil && change.Action != plans.NoOp && change.Action != plans.Update
}

// frozen tells whether nothing may be planned for an instance: a grant suspends
// its correction, or a call about it is not settled.
func (r *round) frozen(addr addrs.ResourceInstance) bool {
	if len(r.grants) > 0 && r.rules().Suspended(r.objectOf(addr)) {
		return true
	}
	for _, intent := range r.agent.open {
		if intent.Address == addr.String() {
			return true
		}
	}
	return false
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

// heldObjects puts what was recorded of drift that stands back into a state: as long
// as it stands, the record says what was last right.
func (r *round) heldObjects(state *states.State) error {
	decided := byObject(r.judged)
	seen := map[string]bool{}
	for _, j := range r.judged {
		d := decided[j.Object.Address]
		if seen[j.Object.Address] || len(d.stands) == 0 && !d.gone {
			continue
		}
		seen[j.Object.Address] = true
		recorded, resource := r.agent.state.Object(j.Addr), r.agent.state.Resource(j.Addr.Module, j.Addr.Resource)
		if recorded == nil || resource == nil || d.gone && r.changed(j.Addr) {
			continue
		}
		if r.changed(j.Addr) {
			now, schema := state.Object(j.Addr), r.revision.engine.ResourceSchema(j.Addr.Config())
			if now == nil || schema == nil {
				continue // it was removed, and the drift with it
			}
			merged, err := engine.Rerecord(schema, now, recorded, d.stands)
			if err != nil {
				return fmt.Errorf("record what stands of %s: %w", j.Addr, err)
			}
			recorded = merged
		}
		state.SetObject(j.Addr, resource.Provider, recorded)
	}
	return nil
}

// changed tells whether the round changes an object.
func (r *round) changed(addr addrs.ResourceInstance) bool {
	return slices.ContainsFunc(r.changes, func(c control.Change) bool { return c.Address == addr.String() })
}
