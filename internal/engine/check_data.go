package engine

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// A data block in a check block looks at the world as an operation leaves it. So
// it is read after everything else, while planning and again while applying, and
// whatever is wrong with it is a failed check and no error.

// isNested tells whether an object is the data block of a check block.
func (o *object) isNested() bool { return o.kind == kindResource && o.resource.Check != "" }

// scopedRefs refuses references to nested data blocks from outside their check blocks.
func (c *compiler) scopedRefs(o *object) {
	for _, refs := range [][]ref{o.refs, o.postRefs, o.ruleRefs, o.repeatRefs, o.after} {
		for _, r := range refs {
			if r.target == nil || !r.target.isNested() || (o.kind == kindCheck && o.name == r.target.resource.Check) {
				continue
			}
			c.diags = append(c.diags, tfdiags.At(r.Range, "Reference to scoped resource",
				fmt.Sprintf("%s is declared inside the check block %q, so only the assertions of that block can refer to it. Move the data block out of the check block to use it elsewhere.", r.target.addr.Resource, r.target.resource.Check))...)
		}
	}
}

// addSettled makes the node that ends when everything but checks has.
func (w *walk) addSettled() {
	for _, o := range w.prog.objects {
		if o.isNested() {
			w.settled = w.sched.Hold(0, func() string { return "everything that checks look at" }, gateStep)
			return
		}
	}
}

// joinSettled makes the node wait for the objects of the root module, and with
// them for those of all modules.
func (w *walk) joinSettled() {
	if w.settled == nil {
		return
	}
	w.root.eachNode(func(n *dag.Node) { w.sched.Depend(w.settled, n) })
	w.sched.Release(w.settled)
}

// readNested reads the data block of a check block. A failed read is a warning
// and the check's failure.
func (w *walk) readNested(ctx context.Context, inst *instance, run *providerRun, ev evaluated) (*states.Object, tfdiags.Diagnostics) {
	obj, diags := w.readData(ctx, inst, run, ev)
	if !diags.HasErrors() {
		return obj, diags
	}
	for _, d := range diags {
		if d.Severity == tfdiags.Error {
			inst.failures = append(inst.failures, outcome{states.CheckFail, d.Summary + ": " + d.Detail})
		}
	}
	unread := cty.UnknownAsNull(objchange.PlannedUnknownObject(inst.object.schema.Block, ev.config))
	inst.value = markObject(inst.object.schema, unread, ev.sensitive)
	obj, err := newObject(inst.object.schema, unread, nil, objectMeta{sensitive: ev.sensitive})
	return obj, append(diags.Warnings(), tfdiags.FromError("Failed to record data source", err)...)
}

// planNested plans to read the data block of a check block again during the apply.
// obj is what it was read as now.
func (p *planner) planNested(inst *instance, run *providerRun, ev evaluated, obj *states.Object) {
	if p.opts.Mode != plans.NormalMode {
		return
	}
	change := p.readChange(inst, run, ev, plans.ReadBecauseCheckNested)
	if obj != nil && len(inst.failures) == 0 {
		change.After, _ = inst.value.UnmarkDeep()
		change.AfterSensitive = allSensitive(inst.object.schema, change.After, ev.sensitive)
	}
	p.addChange(change)
}

// nestedFailures are the failures of the data block of a check block.
func (mi *moduleInst) nestedFailures(o *object) []outcome {
	if o.check.Data == nil {
		return nil
	}
	set := mi.slots[mi.prog.resources[o.check.Data.Addr].local].instances
	if set == nil || set.byKey[addrs.NoKey] == nil {
		return nil
	}
	return set.byKey[addrs.NoKey].failures
}
