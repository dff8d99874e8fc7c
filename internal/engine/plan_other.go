package engine

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// dataStep reads a data source, or leaves the read to the apply if its
// configuration is not known yet or what it depends on is to change.
func (p *planner) dataStep(inst *instance, run *providerRun) dag.Step {
	return dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) {
		if run.failed {
			_, _ = p.leaveData(inst, unusableProvider)
			return dag.Done()
		}
		ev, diags := p.walk.evaluate(inst)
		if p.walk.report(diags) {
			return dag.Failed()
		}
		reason := plans.ReasonNone
		switch {
		case !ev.config.IsWhollyKnown():
			reason = plans.ReadBecauseConfigUnknown
		case p.dependencyPending(inst):
			reason = plans.ReadBecauseDependencyPending
		}
		if reason != plans.ReasonNone {
			p.deferRead(inst, run, ev, reason)
			return nil, !p.walk.report(inst.postconditions())
		}
		return &dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
			read := p.walk.readData
			if inst.object.isNested() {
				read = p.walk.readNested
			}
			obj, diags := read(ctx, inst, run, ev)
			p.noteData(inst, run, ev.config, obj, diags)
			if inst.object.isNested() {
				p.planNested(inst, run, ev, obj)
			}
			diags, left := p.leaveData(inst, diags)
			if left {
				p.walk.report(diags)
				return dag.Done()
			}
			if p.walk.report(diags) {
				return dag.Failed()
			}
			p.mu.Lock()
			p.refreshed.SetObject(inst.addr, run.object.providerAddr, unlessSame(p.prior.Object(inst.addr), obj))
			p.mu.Unlock()
			p.noteAnswer(inst)
			return nil, !p.walk.report(inst.postconditions())
		}}, true
	}}
}

// deferRead plans the read of a data source for the apply.
func (p *planner) deferRead(inst *instance, run *providerRun, ev evaluated, reason plans.Reason) {
	change := p.readChange(inst, run, ev, reason)
	inst.value = markObject(inst.object.schema, change.After, ev.sensitive)
	p.setPending(inst, change)
	p.addChange(change)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refreshed.SetObject(inst.addr, run.object.providerAddr, nil) // what was read before says nothing now
}

func (p *planner) readChange(inst *instance, run *providerRun, ev evaluated, reason plans.Reason) *plans.Change {
	after := objchange.PlannedUnknownObject(inst.object.schema.Block, ev.config)
	return &plans.Change{
		Addr: inst.addr, PrevAddr: inst.addr, Provider: run.object.providerAddr, Action: plans.Read, Reason: reason,
		Before: cty.NullVal(after.Type()), After: after, SchemaVersion: inst.object.schema.Version,
		AfterConfigSensitive: ev.sensitive, AfterSensitive: allSensitive(inst.object.schema, after, ev.sensitive),
		Dependencies: p.walk.prog.dependencies(inst.object),
	}
}

// readData reads a data source and gives the instance its value.
func (w *walk) readData(ctx context.Context, inst *instance, run *providerRun, ev evaluated) (*states.Object, tfdiags.Diagnostics) {
	o := inst.object
	if refused := unknownConfig(inst, ev.config); refused.HasErrors() {
		return nil, refused
	}
	diags := run.client.ValidateDataSourceConfig(ctx, inst.addr.Resource.Type, ev.config)
	if !diags.HasErrors() {
		resp := w.askData(ctx, inst, run, ev.config)
		diags = append(diags, resp.Diagnostics...)
		if !diags.HasErrors() {
			obj, moreDiags := w.acceptData(inst, ev, resp.State)
			if moreDiags == nil {
				return obj, locate(diags, inst.name, o.resource.Config)
			}
			diags = append(diags, moreDiags...)
		}
	}
	return nil, locate(diags, inst.name, o.resource.Config)
}

// acceptData checks a data source's answer and makes its record.
func (w *walk) acceptData(inst *instance, ev evaluated, val cty.Value) (*states.Object, tfdiags.Diagnostics) {
	const summary = "Provider produced invalid object"
	if val == cty.NilVal || val.IsNull() || !val.IsWhollyKnown() {
		return nil, providerBug(summary, inst.name, "the result of a data source must be an object without unknown values")
	}
	obj, err := newObject(inst.object.schema, val, nil, objectMeta{sensitive: ev.sensitive})
	if err != nil {
		return nil, providerBug(summary, inst.name, err.Error())
	}
	inst.value = markObject(inst.object.schema, val, ev.sensitive)
	return obj, nil
}

// addDelete adds the plan to delete an instance's objects and returns its node, held.
func (p *planner) addDelete(addr addrs.ResourceInstance, r *states.Resource, inst *states.Instance, o *object, reason plans.Reason) *dag.Node {
	read := p.reads[inst]
	node := p.walk.sched.Hold(0, func() string { return addr.String() + " (delete)" }, dag.Step{})
	if read == nil || p.frozen(addr) {
		node.SetStep(gateStep)
		return node
	}
	node.SetStep(dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) {
		if read.now == nil || read.left {
			return dag.Done()
		}
		if read.schema == nil {
			return dag.Failed()
		}
		if o != nil && o.resource.Lifecycle.PreventDestroy && p.walk.report(preventDestroyError(o, addr.String())) {
			p.planDelete(addr, read, reason, nil)
			return dag.Failed()
		}
		if !read.run.schema.Capabilities.PlanDestroy {
			p.planDelete(addr, read, reason, nil)
			return dag.Done()
		}
		return &dag.Step{Class: read.run.local, Run: func(ctx context.Context) (*dag.Step, bool) {
			private, diags := proposeDelete(ctx, read.run.clientFor(p.walk.prog, addr.Module), read.schema, p.goner(read), addr)
			if p.walk.report(diags.WithAddress(addr.String())) {
				return dag.Failed()
			}
			p.planDelete(addr, read, reason, private)
			return dag.Done()
		}}, true
	}})
	p.walk.sched.Depend(node, read.node)
	return node
}

// proposeDelete asks a provider that wants to be asked about deletions.
func proposeDelete(ctx context.Context, client providers.Interface, schema *providers.ResourceSchema, obj *states.Object, addr addrs.ResourceInstance) ([]byte, tfdiags.Diagnostics) {
	null := cty.NullVal(schema.Block.ImpliedType())
	resp := client.PlanResourceChange(ctx, providers.PlanResourceChangeRequest{
		TypeName: addr.Resource.Type, PriorState: obj.Decoded().Value, ProposedNewState: null, Config: null, PriorPrivate: obj.Private,
	})
	diags := resp.Diagnostics
	if !diags.HasErrors() && resp.PlannedState != cty.NilVal && !resp.PlannedState.IsNull() {
		diags = append(diags, providerBug("Provider produced invalid plan", addr.String(), "it planned an object for a resource that is to be destroyed")...)
	}
	return resp.PlannedPrivate, diags
}

// addDeposed plans the deletion of objects that a replacement left behind, unless they are gone.
func (p *planner) addDeposed(addr addrs.ResourceInstance, r *states.Resource, inst *states.Instance, o *object) []*dag.Node {
	if p.opts.Mode == plans.RefreshOnlyMode || len(inst.Deposed) == 0 {
		return nil
	}
	run, diags, release := p.providerFor(r, o)
	if p.walk.report(diags) {
		return release
	}
	for key, obj := range inst.Deposed {
		read := &objectRead{run: run, addr: addr, was: obj, deposed: key, from: p.foreignTo(addr, r, o)}
		node := p.walk.sched.Hold(0, func() string { return addr.String() + " (deposed)" }, dag.Step{})
		node.SetStep(dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
			if step, ok := p.readOrLeave(ctx, read); !ok {
				return step, ok
			}
			if read.now != nil && !read.left {
				p.planDelete(addr, read, plans.ReasonNone, nil)
			}
			return dag.Done()
		}})
		p.walk.sched.Depend(node, run.node)
		release = append(release, node)
	}
	return release
}

// goner is the object that is planned to go. Terraform reads an object that is not
// declared any more to see whether it is there, and still plans it as recorded.
func (p *planner) goner(read *objectRead) *states.Object {
	if p.opts.Mode == plans.DestroyMode || read.deposed != "" {
		return read.now
	}
	return read.was
}

func (p *planner) planDelete(addr addrs.ResourceInstance, read *objectRead, reason plans.Reason, private []byte) {
	obj := p.goner(read)
	before := obj.Decoded().Value
	if private == nil {
		private = obj.Private
	}
	p.addChange(&plans.Change{
		Addr: addr, PrevAddr: p.previousAddr(addr), Deposed: read.deposed, Provider: read.run.object.providerAddr,
		Action: plans.Delete, Reason: reason,
		Before: before, After: cty.NullVal(before.Type()), SchemaVersion: read.schema.Version, Private: private,
		BeforeSensitive:     allSensitive(read.schema, before, obj.Sensitive),
		CreateBeforeDestroy: read.now.CreateBeforeDestroy, Dependencies: read.now.Dependencies,
	})
}

// find returns the object that declares a recorded resource, or nil.
func (p *program) find(r *states.Resource) *object {
	return p.declared(addrs.ConfigResource{Module: r.Module.Module(), Resource: r.Addr})
}

// declared returns the object that declares a resource, or nil.
func (p *program) declared(addr addrs.ConfigResource) *object {
	m := p.root
	for _, name := range addr.Module {
		if m = m.children[name]; m == nil {
			return nil
		}
	}
	return m.resources[addr.Resource]
}

// inRanges tells whether a reference stands inside one of the expressions.
func inRanges(exprs []hcl.Expression, r ref) bool {
	for _, expr := range exprs {
		at := expr.Range()
		if at.Filename == r.Range.Filename && at.Start.Byte <= r.Range.Start.Byte && r.Range.End.Byte <= at.End.Byte {
			return true
		}
	}
	return false
}

// samePaths compares two sets of paths.
func samePaths(a, b []cty.Path) bool {
	setA, setB := cty.NewPathSet(a...), cty.NewPathSet(b...)
	return setA.Equal(setB)
}
