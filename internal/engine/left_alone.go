package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// leaving collects what a plan leaves alone because it cannot be read: such
// objects count as they are recorded, and nothing is planned for them and for
// what depends on them. Everything else is planned as ever.
type leaving struct {
	// resources are addresses of resources of which some instance cannot be read.
	resources map[string]bool
	// instances are those that cannot be read, or whose change would build on one.
	instances map[string]addrs.ResourceInstance
}

// leave turns errors of a read into warnings and leaves the instance alone, if
// the plan is to do so. It tells whether it did.
func (p *planner) leave(addr addrs.ResourceInstance, diags tfdiags.Diagnostics) (tfdiags.Diagnostics, bool) {
	if !p.opts.LeaveUnreadable || !diags.HasErrors() {
		return diags, false
	}
	p.noteLeft(addr)
	return diags.Warnings(), true
}

func (p *planner) noteLeft(addr addrs.ResourceInstance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left.resources[addr.Config().String()] = true
	p.left.instances[addr.String()] = addr
}

// leftBefore tells whether an earlier plan of the same round left an instance alone.
func (p *planner) leftBefore(addr addrs.ResourceInstance) bool {
	return slices.ContainsFunc(p.opts.LeftAlone, addr.Equal)
}

// readOrLeave reads a recorded object, or leaves it alone.
func (p *planner) readOrLeave(ctx context.Context, read *objectRead) (*dag.Step, bool) {
	var diags tfdiags.Diagnostics
	left := read.run.failed || p.leftBefore(read.addr)
	if left {
		p.noteLeft(read.addr)
	} else {
		diags, left = p.leave(read.addr, p.read(ctx, read).WithAddress(read.addr.String()))
	}
	if left {
		read.left, read.now = true, read.was
	}
	if len(diags) > 0 || read.deposed != "" || read.from != nil {
		p.seen.odd.Store(true)
	}
	return nil, !p.walk.report(diags)
}

// standStill gives an instance that is left alone its recorded value.
func (p *planner) standStill(inst *instance, read *objectRead) (*dag.Step, bool) {
	p.noteLeft(inst.addr)
	inst.value = cty.DynamicVal
	if read != nil && read.was.Decoded() != nil {
		inst.value = markObject(inst.object.schema, read.was.Decoded().Value, read.was.Sensitive)
	}
	return dag.Done()
}

// leaveData leaves a data source alone that cannot be read: its last answer stands.
func (p *planner) leaveData(inst *instance, diags tfdiags.Diagnostics) (tfdiags.Diagnostics, bool) {
	diags, left := p.leave(inst.addr, diags)
	if !left {
		return diags, false
	}
	inst.value = cty.DynamicVal
	if obj := p.prior.Object(inst.addr); obj != nil {
		if val, err := decodeData(inst.object.schema, obj); err == nil {
			inst.value = markObject(inst.object.schema, val, obj.Sensitive)
		}
	}
	return diags, true
}

// leaveProvider tells whether a provider that does not start, or takes no
// configuration, is only a reason to leave alone what it is for.
func (w *walk) leaveProvider(run *providerRun, diags tfdiags.Diagnostics) (tfdiags.Diagnostics, bool) {
	if !diags.HasErrors() {
		return diags, false
	}
	leave := false
	switch op := w.op.(type) {
	case *planner:
		leave = op.opts.LeaveUnreadable
		op.seen.odd.Store(true) // it is to be tried again, though nothing may need it
	case *applier:
		leave = len(op.plan.LeftAlone)+len(op.plan.Awaited) > 0 && !op.needs(run.object)
	}
	if !leave {
		return diags, false
	}
	run.failed = true
	return diags.Warnings(), true
}

// needs tells whether any change of the plan is to be made by a provider configuration.
func (a *applier) needs(provider *object) bool {
	return slices.ContainsFunc(a.plan.Changes, func(c *plans.Change) bool {
		return c.Action != plans.NoOp && c.Provider.String() == provider.providerAddr.String()
	})
}

// withoutLeft takes out of a plan what builds on objects that are left alone.
func (p *planner) withoutLeft(plan *plans.Plan) {
	if len(p.left.resources)+len(p.opts.Missing) == 0 {
		return
	}
	touched := p.touched()
	recorded := p.neededBy(slices.Collect(maps.Values(p.left.instances)))
	plan.Changes = slices.DeleteFunc(plan.Changes, func(c *plans.Change) bool {
		o := p.walk.prog.declared(c.Addr.Config())
		drop := c.Action != plans.NoOp && (o != nil && touched[o] || recorded[c.Addr.Config().String()])
		if drop {
			p.left.instances[c.Addr.String()] = c.Addr
		}
		return drop
	})
	plan.Outputs = slices.DeleteFunc(plan.Outputs, func(c *plans.OutputChange) bool {
		o := p.walk.prog.root.outputs[c.Name]
		return o != nil && touched[o]
	})
	plan.Complete, plan.Missing = false, p.opts.Missing
	for _, addr := range p.left.instances {
		plan.LeftAlone = append(plan.LeftAlone, addr)
	}
	slices.SortFunc(plan.LeftAlone, addrs.ResourceInstance.Compare)
}

// touched finds what is computed from objects that are left alone, themselves included.
func (p *planner) touched() map[*object]bool {
	out := map[*object]bool{}
	for o, run := range p.walk.providers {
		out[o] = run.failed
	}
	for _, name := range p.opts.Missing {
		out[p.walk.prog.root.variables[name]] = true
	}
	for _, o := range p.walk.prog.order {
		touched := out[o] || o.kind == kindResource && p.left.resources[o.addr.String()]
		o.needs(func(need *object) { touched = touched || out[need] })
		out[o] = touched
	}
	return out
}

// withUnknown adds variables of which nothing is known now.
func withUnknown(given map[string]cty.Value, missing []string) map[string]cty.Value {
	if len(missing) == 0 {
		return given
	}
	out := maps.Clone(given)
	if out == nil {
		out = map[string]cty.Value{}
	}
	for _, name := range missing {
		out[name] = cty.DynamicVal
	}
	return out
}

// neededBy are the resources that objects for which nothing is planned were made
// from: they must outlive them.
func (p *planner) neededBy(kept []addrs.ResourceInstance) map[string]bool {
	out := map[string]bool{}
	for _, addr := range kept {
		if obj := p.prior.Object(addr); obj != nil {
			for _, dep := range obj.Dependencies {
				out[dep] = true
			}
		}
	}
	return out
}

// unusableProvider stands for the problem that was reported where the provider failed.
var unusableProvider = tfdiags.New(tfdiags.Error, "Provider not usable", "The provider could not be started or configured.")
