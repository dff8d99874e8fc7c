package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// planMemo is what the last plan of an instance asked and was answered. While
// configuration and real object stay the same, the provider is not asked again.
type planMemo struct {
	client   providers.Interface
	prior    *states.Object
	config   cty.Value
	response proposal
	// written and sensitive are the configuration without deviations.
	written   cty.Value
	sensitive []cty.Path
	// owned says which attributes might be changed.
	owned *control.Ownership
	// generation is the last plan for which all of this held.
	generation uint64
	// change and value are what that plan made of it, if it was plain; else nil and NilVal.
	change *plans.Change
	value  cty.Value
}

// evaluated is a resource instance's configuration.
type evaluated struct {
	config cty.Value // without marks, restored attributes included
	// written is config without deviations.
	written cty.Value
	// sensitive are the paths that the configuration marks.
	sensitive []cty.Path
	overrides plans.Overrides
	// deviates tells that overrides make a difference.
	deviates bool
}

// override applies deviations. real is the object as it is now, or NilVal.
func (ev *evaluated) override(schema *providers.Block, overrides plans.Overrides, real cty.Value) {
	ev.overrides = overrides
	ev.deviates = !anyNull(overrides.Recorded, real) && !overrides.Recorded.RawEquals(real)
	if ev.deviates && len(overrides.Restore) > 0 {
		restored := objchange.KeepUnowned(schema, overrides.Recorded, real, control.OnlyOwnership(overrides.Restore))
		ev.config = restoreConfig(schema, ev.config, restored, real)
	}
}

// proposal is what a provider answers to a configuration.
type proposal struct {
	action          plans.Action
	reason          plans.Reason
	planned         cty.Value
	private         []byte
	requiredReplace []cty.Path
	// legacy tells that the provider uses the legacy type system.
	legacy bool
}

// managedStep plans one declared instance of a managed resource.
func (p *planner) managedStep(inst *instance, run *providerRun, read *objectRead) dag.Step {
	return dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) {
		if run.failed || read != nil && read.left {
			return p.standStill(inst, read)
		}
		overrides := p.overridesOf(inst)
		memo := p.engine.memoOf(inst.name)
		ev, known := p.remembered(inst, memo)
		if !known {
			fresh, diags := p.walk.evaluate(inst)
			if p.walk.report(diags) {
				return dag.Failed()
			}
			ev = fresh
		}
		ev.override(inst.object.schema.Block, overrides, read.value())
		if want := p.importFor(inst); want != nil {
			return p.importStep(inst, run, ev, want), true
		}
		if p.unchanged(inst, run, read, ev, memo) {
			return nil, !p.walk.report(inst.postconditions())
		}
		return &dag.Step{Class: run.local, Run: func(ctx context.Context) (*dag.Step, bool) {
			diags := p.planManaged(ctx, inst, run, read, ev)
			failed := p.walk.report(locate(diags, inst.name, inst.object.resource.Config))
			return nil, !failed && !p.walk.report(inst.postconditions())
		}}, true
	}}
}

// evaluate checks preconditions and evaluates an instance's configuration.
func (w *walk) evaluate(inst *instance) (evaluated, tfdiags.Diagnostics) {
	o := inst.object
	diags := inst.preconditions()
	if diags.HasErrors() {
		return evaluated{}, diags
	}
	hclCtx, moreDiags := inst.mi.evalContext(o.refs, evalOptions{repeat: inst.repeat})
	diags = append(diags, moreDiags...)
	if moreDiags.HasErrors() {
		return evaluated{}, diags.WithAddress(inst.name)
	}
	val, moreDiags := decodeBody(o.resource.Config, o.schema.Block, hclCtx)
	diags = append(diags, moreDiags...)
	config, paths := lang.UnmarkPaths(val)
	diags = append(diags, checkEphemeral(o, paths.Ephemeral)...)
	if !w.validating() {
		diags = append(diags, o.metaProblems()...)
	}
	if len(o.provisioners) > 0 && !w.applying() {
		diags = append(diags, w.checkProvisioners(inst)...)
	}
	return evaluated{config: config, written: config, sensitive: paths.Sensitive}, diags.WithAddress(inst.name)
}

// preconditions checks the conditions on what an instance is made from.
func (inst *instance) preconditions() tfdiags.Diagnostics {
	o := inst.object
	return inst.mi.checkRules(checked{o, inst.addr.Key}, o.resource.Lifecycle.Preconditions, "Resource precondition failed", o.refs, evalOptions{repeat: inst.repeat}).WithAddress(inst.name)
}

// postconditions checks the conditions on an instance's new value.
func (inst *instance) postconditions() tfdiags.Diagnostics {
	o := inst.object
	return inst.mi.checkRules(checked{o, inst.addr.Key}, o.resource.Lifecycle.Postconditions, "Resource postcondition failed", o.postRefs, evalOptions{repeat: inst.repeat, self: inst.value}).WithAddress(inst.name)
}

// unchanged takes the last plan's answer where question and circumstances are the same.
func (p *planner) unchanged(inst *instance, run *providerRun, read *objectRead, ev evaluated, memo *planMemo) bool {
	if read == nil || read.now == nil || read.now.Tainted || p.forced[inst.name] {
		return false
	}
	if memo == nil || memo.client != run.base || memo.prior != read.now || !ev.overrides.SameQuestion(memo.owned) || !memo.config.RawEquals(ev.config) || p.triggered(inst) {
		return false
	}
	follows := p.walk.follows(memo.generation)
	memo.generation = p.generation
	if !follows || memo.change == nil || !p.plain(inst, ev) || !samePaths(memo.sensitive, ev.sensitive) {
		memo.written, memo.sensitive, memo.change, memo.value = ev.written, ev.sensitive, nil, cty.NilVal
		if made := p.settle(inst, run, read, ev, memo.response); p.plain(inst, ev) {
			memo.change, memo.value = made, inst.value
		}
		return true
	}
	inst.value, inst.stable = memo.value, follows
	p.addChange(memo.change)
	if memo.change.Action != plans.NoOp {
		p.setPending(inst, memo.change)
	}
	return true
}

// plain tells whether nothing but configuration and real object has a part in an
// instance's change: no deviation, no move and no import.
func (p *planner) plain(inst *instance, ev evaluated) bool {
	return !ev.deviates && len(p.relocation.previous) == 0 && p.importFor(inst) == nil
}

// planManaged asks the provider for the plan of one instance.
func (p *planner) planManaged(ctx context.Context, inst *instance, run *providerRun, read *objectRead, ev evaluated) tfdiags.Diagnostics {
	diags := run.client.ValidateResourceConfig(ctx, inst.addr.Resource.Type, ev.config)
	if diags.HasErrors() {
		return diags
	}
	var obj *states.Object
	prior := cty.NullVal(inst.object.schema.Block.ImpliedType())
	if read != nil && read.now != nil {
		obj = read.now
		prior = obj.Decoded().Value
	}
	change := changePlanner{inst: inst, client: run.clientFor(p.walk.prog, inst.addr.Module), prior: prior, object: obj, config: ev.config, own: ev.overrides.Ownership()}
	if obj != nil && len(ev.overrides.Held) > 0 {
		ev.overrides.Held = change.stillHeld(ctx, ev.overrides)
		change.own = ev.overrides.Ownership()
	}
	forced := plans.ReasonNone
	switch {
	case p.forced[inst.name]:
		forced = plans.ReplaceByRequest
	case p.triggered(inst):
		forced = plans.ReplaceByTriggers
	}
	answer, moreDiags := change.plan(ctx, forced)
	diags = append(diags, moreDiags...)
	if diags.HasErrors() {
		return diags
	}
	if forced == plans.ReplaceByTriggers && answer.action == plans.Create {
		answer.reason = forced // as terraform has it, though nothing is replaced
	}
	made := p.settle(inst, run, read, ev, answer)
	if obj != nil && !obj.Tainted && forced == plans.ReasonNone && len(ev.overrides.Held) == 0 {
		memo := &planMemo{client: run.base, prior: obj, config: ev.config, response: answer, written: ev.written, sensitive: ev.sensitive, owned: ev.overrides.Owned, generation: p.generation}
		if p.plain(inst, ev) {
			memo.change, memo.value = made, inst.value
		}
		p.engine.mu.Lock()
		p.engine.memo[inst.name] = memo
		p.engine.mu.Unlock()
	}
	return append(diags, p.preventDestroy(inst, answer)...)
}

// settle records an answer as the instance's change and value.
func (p *planner) settle(inst *instance, run *providerRun, read *objectRead, ev evaluated, answer proposal) *plans.Change {
	o := inst.object
	change := &plans.Change{
		Addr: inst.addr, PrevAddr: p.previousAddr(inst.addr), Provider: run.object.providerAddr,
		Action: answer.action, Reason: answer.reason, RequiredReplace: answer.requiredReplace, Private: answer.private,
		Before: cty.NullVal(answer.planned.Type()), After: answer.planned, SchemaVersion: o.schema.Version,
		CreateBeforeDestroy: o.createFirst, Dependencies: p.walk.prog.dependencies(o),
		AfterConfigSensitive: ev.sensitive, Overrides: ev.overrides,
	}
	change.AfterSensitive = allSensitive(o.schema, change.After, ev.sensitive)
	if want := p.importFor(inst); want != nil {
		change.Importing, change.GeneratedConfig = want.id, p.opts.Generated[inst.name]
	}
	if read != nil && read.now != nil {
		change.Before = read.now.Decoded().Value
		change.BeforeSensitive = allSensitive(o.schema, change.Before, read.now.Sensitive)
		if change.Action == plans.NoOp && !samePaths(change.BeforeSensitive, change.AfterSensitive) {
			change.Action = plans.Update
		}
	}
	if change.Action == plans.DeleteThenCreate && change.CreateBeforeDestroy {
		change.Action = plans.CreateThenDelete
	}
	inst.value = lang.MarkPaths(shown(change, change.After), change.AfterSensitive)
	p.addChange(change)
	if change.Action != plans.NoOp {
		p.setPending(inst, change)
	}
	return change
}

// preventDestroy refuses to destroy what the configuration protects.
func (p *planner) preventDestroy(inst *instance, answer proposal) tfdiags.Diagnostics {
	if !inst.object.resource.Lifecycle.PreventDestroy || !answer.action.IsReplace() {
		return nil
	}
	return preventDestroyError(inst.object, inst.name)
}

func preventDestroyError(o *object, name string) tfdiags.Diagnostics {
	return tfdiags.At(o.resource.Range, "Instance cannot be destroyed",
		fmt.Sprintf("Resource %s has lifecycle.prevent_destroy set, but the plan calls for it to be destroyed. Either disable prevent_destroy, or reduce the scope of the plan with -target.", name))
}

// triggered tells whether a resource that replace_triggered_by names changes.
func (p *planner) triggered(inst *instance) bool {
	exprs := inst.object.resource.Lifecycle.ReplaceTriggeredBy
	if len(exprs) == 0 {
		return false
	}
	for _, r := range inst.object.refs {
		if r.target == nil || r.target.kind != kindResource || !inRanges(exprs, r) {
			continue
		}
		s := &inst.mi.slots[r.target.local]
		if one := s.single(r, inst.repeat); one != nil {
			if p.triggers(one, r) {
				return true
			}
			continue
		}
		if s.instances == nil {
			continue
		}
		for _, key := range s.instances.keys {
			if p.triggers(s.instances.byKey[key], r) {
				return true
			}
		}
	}
	return false
}

// triggers tells whether an instance's change concerns what a trigger names: an
// update or replacement, of the attribute if one is named.
func (p *planner) triggers(inst *instance, r ref) bool {
	p.mu.Lock()
	change := p.pending[inst]
	p.mu.Unlock()
	if change == nil || (change.Action != plans.Update && !change.Action.IsReplace()) {
		return false
	}
	if len(r.Path) == 0 {
		return true
	}
	before, beforeDiags := r.Path.TraverseRel(change.Before)
	after, afterDiags := r.Path.TraverseRel(change.After)
	return beforeDiags.HasErrors() || afterDiags.HasErrors() || !before.RawEquals(after)
}

// changePlanner plans the change of one object by the provider contract.
type changePlanner struct {
	inst   *instance
	client providers.Interface
	prior  cty.Value
	object *states.Object // nil if there is none
	config cty.Value
	// own says which attributes may be changed, besides lifecycle.ignore_changes.
	own control.Ownership
}

// keepIgnored replaces what must not change by its prior value.
func (c *changePlanner) keepIgnored(val cty.Value) cty.Value {
	return objchange.KeepUnowned(c.inst.object.schema.Block, ignoreChanges(c.inst.object, c.prior, val), c.prior, c.own)
}

// plan asks the provider, twice if the object must be replaced.
func (c *changePlanner) plan(ctx context.Context, forced plans.Reason) (proposal, tfdiags.Diagnostics) {
	if c.object != nil && c.object.Tainted {
		answer, diags := c.propose(ctx, cty.NullVal(c.prior.Type()), c.config, nil)
		answer.action, answer.reason = plans.DeleteThenCreate, plans.ReplaceBecauseTainted
		return answer, diags
	}
	config := c.config
	var private []byte
	if c.object != nil {
		config = c.keepIgnored(config)
		private = c.object.Private
	}
	answer, diags := c.propose(ctx, c.prior, config, private)
	if diags.HasErrors() {
		return answer, diags
	}
	if c.prior.IsNull() {
		answer.action, answer.requiredReplace = plans.Create, nil
		return answer, diags
	}
	switch {
	case forced != plans.ReasonNone:
		answer.reason = forced
	case len(answer.requiredReplace) > 0:
		answer.reason = plans.ReplaceBecauseCannotUpdate
	case answer.planned.RawEquals(c.prior):
		answer.action = plans.NoOp
		return answer, diags
	default:
		answer.action = plans.Update
		return answer, diags
	}
	second, moreDiags := c.propose(ctx, cty.NullVal(c.prior.Type()), c.config, answer.private)
	for _, d := range moreDiags {
		if d.Severity == tfdiags.Error || !slices.ContainsFunc(diags, func(e tfdiags.Diagnostic) bool { return e.Summary == d.Summary && e.Detail == d.Detail }) {
			diags = append(diags, d)
		}
	}
	second.action, second.reason, second.requiredReplace = plans.DeleteThenCreate, answer.reason, answer.requiredReplace
	return second, diags
}

// propose makes one PlanResourceChange call and checks the answer.
func (c *changePlanner) propose(ctx context.Context, prior, config cty.Value, private []byte) (proposal, tfdiags.Diagnostics) {
	schema, name := c.inst.object.schema.Block, c.inst.name
	resp := c.client.PlanResourceChange(ctx, providers.PlanResourceChangeRequest{
		TypeName: c.inst.addr.Resource.Type, PriorState: prior, Config: config, PriorPrivate: private,
		ProposedNewState: objchange.ProposedNew(schema, prior, config),
	})
	diags := resp.Diagnostics
	if diags.HasErrors() {
		return proposal{}, diags
	}
	planned := resp.PlannedState
	if planned == cty.NilVal || planned.IsNull() {
		return proposal{}, append(diags, providerBug("Provider produced invalid plan", name, "it planned no object for a resource that is to exist")...)
	}
	if resp.LegacyTypeSystem {
		if !prior.IsNull() {
			planned = c.keepIgnored(planned)
		}
	} else {
		for _, err := range objchange.AssertPlanValid(schema, prior, config, planned) {
			diags = append(diags, providerBug("Provider produced invalid plan", name, err.Error())...)
		}
	}
	answer := proposal{planned: planned, private: resp.PlannedPrivate, legacy: resp.LegacyTypeSystem}
	if !prior.IsNull() {
		required, moreDiags := c.effectiveReplace(prior, planned, resp.RequiresReplace)
		answer.requiredReplace = required
		diags = append(diags, moreDiags...)
	}
	return answer, diags
}

// effectiveReplace keeps the paths at which a value really changes, in the order in
// which terraform shows them: that of a set of paths.
func (c *changePlanner) effectiveReplace(prior, planned cty.Value, paths []cty.Path) ([]cty.Path, tfdiags.Diagnostics) {
	out := cty.NewPathSet()
	for _, path := range paths {
		before, errBefore := path.Apply(prior)
		after, errAfter := path.Apply(planned)
		if errBefore != nil && errAfter != nil {
			return nil, providerBug("Provider produced invalid plan", c.inst.name, "it named a path for replacement that no object has")
		}
		attr := c.inst.object.schema.Block.AttributeByPath(path)
		writeOnly := attr != nil && attr.WriteOnly
		if writeOnly || errBefore != nil || errAfter != nil || !before.RawEquals(after) {
			out.Add(path)
		}
	}
	return out.List(), nil
}

// providerBug is the diagnostic for an answer that breaks the provider contract.
func providerBug(summary, addr, what string) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, summary,
		fmt.Sprintf("The provider's answer for %s breaks the rules that all providers keep: %s. This is a bug in the provider; report it to its developers.", addr, what))
}
