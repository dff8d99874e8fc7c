package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// changeStep creates, updates or replaces an instance's object.
func (a *applier) changeStep(inst *instance, run *providerRun, change *plans.Change) dag.Step {
	return dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) {
		ev, diags := a.walk.evaluate(inst)
		if !diags.HasErrors() {
			diags = append(diags, unknownConfig(inst, ev.config)...)
		}
		if a.walk.report(diags) {
			return dag.Failed()
		}
		ev.override(inst.object.schema.Block, change.Overrides, change.Before)
		return &dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
			unfinished, diags := a.change(ctx, inst, run, change, ev)
			if a.walk.report(locate(diags, inst.name, inst.object.resource.Config)) {
				return dag.Failed()
			}
			if unfinished == nil {
				return nil, !a.walk.report(inst.postconditions())
			}
			// The provider's turn is over: what provisioners wait for is no call of it.
			return &dag.Step{Class: a.provisioning, Run: func(ctx context.Context) (*dag.Step, bool) {
				if a.walk.report(a.finishCreation(ctx, inst, unfinished)) {
					return dag.Failed()
				}
				return nil, !a.walk.report(inst.postconditions())
			}}, true
		}}, true
	}}
}

// finishCreation runs the provisioners of an object that was just created. Until
// they have run it is recorded as tainted, so that an end in between is noticed.
func (a *applier) finishCreation(ctx context.Context, inst *instance, call *providerCall) tfdiags.Diagnostics {
	diags := a.provision(ctx, inst.addr, call.provisioners, inst.mi, inst.object, inst.repeat, inst.value)
	obj := call.created
	if diags.HasErrors() {
		obj = asTainted(obj)
	}
	return append(diags, call.finish(0, obj, diags.HasErrors())...)
}

// change plans an instance's change again with all values known, checks that it
// is the planned one, and makes it. It returns the call if provisioners are to
// follow.
func (a *applier) change(ctx context.Context, inst *instance, run *providerRun, change *plans.Change, ev evaluated) (*providerCall, tfdiags.Diagnostics) {
	var obj *states.Object
	if change.Action == plans.Update {
		obj = a.plan.Prior.Object(inst.addr)
	}
	prior := cty.NullVal(inst.object.schema.Block.ImpliedType())
	if obj != nil {
		decoded, diags := decodeObject(ctx, run.client, inst.addr, inst.object.schema, obj)
		if diags.HasErrors() {
			return nil, diags
		}
		prior = decoded.Value
	}
	if obj != nil && change.Before.RawEquals(change.After) { // only what is sensitive changes
		event := ApplyEvent{Addr: inst.addr, Verb: "update", ID: objectID(prior)}
		a.engine.hook.Applying(event)
		diags := a.remark(inst, change, obj, ev)
		a.engine.hook.Applied(event, 0, diags.HasErrors())
		return nil, diags
	}
	planner := changePlanner{inst: inst, client: run.clientFor(a.walk.prog, inst.addr.Module), prior: prior, object: obj, config: ev.config, own: change.Overrides.Ownership()}
	config, private := ev.config, []byte(nil)
	if obj != nil {
		config, private = planner.keepIgnored(ev.config), obj.Private
	}
	answer, diags := planner.propose(ctx, prior, config, private)
	if diags.HasErrors() {
		return nil, diags
	}
	diags = append(diags, finalPlanMatches(inst, change, answer, prior)...)
	if diags.HasErrors() {
		return nil, diags
	}
	if obj != nil && answer.planned.RawEquals(prior) {
		return nil, append(diags, a.remark(inst, change, obj, ev)...)
	}
	call := &providerCall{
		applier: a, run: run, change: change, name: inst.name, schema: inst.object.schema,
		verb: "create", prior: prior, priorObject: obj, planned: answer.planned, config: ev.config, private: answer.private, legacy: answer.legacy,
		meta: objectMeta{sensitive: ev.sensitive, dependencies: change.Dependencies, createFirst: change.CreateBeforeDestroy},
	}
	if obj != nil {
		call.verb = "update"
	} else {
		call.provisioners = provisionersOf(inst.object.provisioners, false)
	}
	return a.makeChange(ctx, inst, call, diags)
}

// makeChange makes a planned change and gives the instance its new value. diags are
// the problems so far.
func (a *applier) makeChange(ctx context.Context, inst *instance, call *providerCall, diags tfdiags.Diagnostics) (*providerCall, tfdiags.Diagnostics) {
	deposed, moreDiags := a.depose(inst, call.change)
	diags = append(diags, moreDiags...)
	if diags.HasErrors() {
		return nil, diags
	}
	after, moreDiags := call.do(ctx)
	diags = append(diags, moreDiags...)
	if after != nil {
		inst.value = markObject(inst.object.schema, after.Decoded().Value, call.meta.sensitive)
	}
	if after == nil && deposed != "" && !call.unanswered {
		diags = append(diags, a.restore(inst, call.change, deposed)...)
	}
	if call.created == nil {
		return nil, diags
	}
	return call, diags
}

// remark records an object of which only the marks or the record's metadata change.
func (a *applier) remark(inst *instance, change *plans.Change, obj *states.Object, ev evaluated) tfdiags.Diagnostics {
	d := obj.Decoded()
	after, err := newObject(inst.object.schema, d.Value, d.Encoded, objectMeta{
		sensitive: ev.sensitive, private: obj.Private, dependencies: change.Dependencies, createFirst: change.CreateBeforeDestroy,
	})
	if err != nil {
		return tfdiags.FromError("Failed to record object", err)
	}
	inst.value = markObject(inst.object.schema, d.Value, ev.sensitive)
	a.setObject(change, after)
	return nil
}

// finalPlanMatches compares the plan made with known values with the approved one.
func finalPlanMatches(inst *instance, change *plans.Change, answer proposal, prior cty.Value) tfdiags.Diagnostics {
	const summary = "Provider produced inconsistent final plan"
	if !prior.IsNull() && len(answer.requiredReplace) > 0 {
		return providerBug(summary, inst.name, "with all values known it wants to replace an object that it wanted to update")
	}
	var diags tfdiags.Diagnostics
	for _, err := range objchange.AssertObjectCompatible(inst.object.schema.Block, change.After, answer.planned) {
		diags = append(diags, providerBug(summary, inst.name, err.Error())...)
	}
	return diags
}

// depose sets the current object aside before its replacement is created.
func (a *applier) depose(inst *instance, change *plans.Change) (string, tfdiags.Diagnostics) {
	if change.Action != plans.CreateThenDelete {
		return "", nil
	}
	obj := a.plan.Prior.Object(inst.addr)
	key := a.deposedKey(change)
	for _, r := range []journal.Result{{Deposed: key, Object: obj}, {}} {
		r.Address, r.Provider, r.Time = inst.name, change.Provider.String(), a.engine.opts.Now()
		if err := a.rec.End(r); err != nil {
			return "", journalFailed(err)
		}
	}
	a.setDeposed(change, key, obj)
	a.setObject(change, nil)
	return key, nil
}

// restore makes a deposed object current again after nothing took its place.
func (a *applier) restore(inst *instance, change *plans.Change, key string) tfdiags.Diagnostics {
	obj := a.plan.Prior.Object(inst.addr)
	for _, r := range []journal.Result{{Object: obj}, {Deposed: key}} {
		r.Address, r.Provider, r.Time = inst.name, change.Provider.String(), a.engine.opts.Now()
		if err := a.rec.End(r); err != nil {
			return journalFailed(err)
		}
	}
	a.setObject(change, obj)
	a.setDeposed(change, key, nil)
	return nil
}

func journalFailed(err error) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Failed to record change",
		fmt.Sprintf("What is about to be changed cannot be made durable, so nothing is changed: %s. Make room or mend the disk, and try again.", err))
}

// providerCall is one call that changes an object, with its journal entries.
type providerCall struct {
	applier *applier
	run     *providerRun
	change  *plans.Change
	name    string
	schema  *providers.ResourceSchema
	verb    string // create, update or delete
	deposed string

	prior, planned, config cty.Value
	priorObject            *states.Object
	private                []byte
	meta                   objectMeta
	// legacy tells that the provider is of the kind that knows objects by id only.
	legacy bool
	// provisioners run once the object is created, before the call counts as finished;
	// created is then the object.
	provisioners []provisioner
	created      *states.Object
	// announced tells that whoever follows the apply knows of the change.
	announced bool
	event     ApplyEvent
	began     time.Time
	// unanswered tells afterwards that nobody knows whether the change was made: its
	// intent stays open, to be settled before anything else is done with the object.
	unanswered bool
}

// do makes the call and records what came of it. It returns the new record, nil if there is no object.
func (c *providerCall) do(ctx context.Context) (*states.Object, tfdiags.Diagnostics) {
	a := c.applier
	if refused := a.approved.Permit(c.change, c.schema.Block, c.prior, c.planned); refused.HasErrors() {
		return c.priorObject, refused
	}
	intent, err := c.intent()
	if err != nil {
		return c.priorObject, journalFailed(err)
	}
	id, err := a.rec.Begin(intent)
	if err != nil {
		return c.priorObject, journalFailed(err)
	}
	c.announce()
	resp := c.run.clientFor(a.walk.prog, c.change.Addr.Module).ApplyResourceChange(ctx, providers.ApplyResourceChangeRequest{
		TypeName: c.change.Addr.Resource.Type, PriorState: c.prior, PlannedState: c.planned, Config: c.config, PlannedPrivate: c.private,
	})
	if resp.Unanswered || (a.cutOff.Load() && c.mayBeLost(resp)) {
		c.unanswered = true
		a.engine.hook.Applied(c.event, time.Since(c.began), true)
		return c.priorObject, append(resp.Diagnostics, unanswered(c.name)...)
	}
	obj, diags := c.accept(resp)
	if obj != nil && c.event.ID == "" {
		c.event.ID = objectID(obj.Decoded().Value)
	}
	if len(c.provisioners) > 0 && obj != nil && !diags.HasErrors() {
		c.created = obj
		return obj, append(diags, c.record(id, asTainted(obj), false)...)
	}
	return obj, append(diags, c.finish(id, obj, diags.HasErrors())...)
}

// announce tells, once, that the change begins.
func (c *providerCall) announce() {
	if c.announced {
		return
	}
	c.announced, c.began = true, time.Now()
	c.event = ApplyEvent{Addr: c.change.Addr, Deposed: c.deposed, Verb: c.verb, ID: objectID(c.prior)}
	c.applier.engine.hook.Applying(c.event)
}

// finish records what there is at the end of a change and tells of the end.
func (c *providerCall) finish(id uint64, obj *states.Object, failed bool) tfdiags.Diagnostics {
	diags := c.record(id, obj, failed)
	c.applier.engine.hook.Applied(c.event, time.Since(c.began), failed || diags.HasErrors())
	return diags
}

// record makes durable what there is now. id is that of the intent, or 0 if that
// has its result already.
func (c *providerCall) record(id uint64, obj *states.Object, failed bool) tfdiags.Diagnostics {
	a := c.applier
	if c.deposed != "" {
		a.setDeposed(c.change, c.deposed, obj)
	} else {
		a.setObject(c.change, obj)
	}
	err := a.rec.End(journal.Result{ID: id, Address: c.name, Deposed: c.deposed, Provider: c.change.Provider.String(),
		Time: a.engine.opts.Now(), Failed: failed, Object: obj})
	if err != nil {
		return tfdiags.New(tfdiags.Error, "Failed to record change",
			fmt.Sprintf("%s was changed, but the result cannot be made durable: %s. Its state is kept in memory and written at the end.", c.name, err))
	}
	return nil
}

// mayBeLost tells whether a failed answer leaves an object that nobody knows of. What
// was recorded before is read again in any case.
func (c *providerCall) mayBeLost(resp providers.ApplyResourceChangeResponse) bool {
	return c.verb == "create" && resp.Diagnostics.HasErrors() && (resp.NewState == cty.NilVal || resp.NewState.IsNull())
}

func unanswered(name string) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Change with unknown outcome",
		fmt.Sprintf("The provider ended or was ended before it told what became of the change of %s. It may have been made. What there is will be looked up before anything else is done with the object.", name))
}

func (c *providerCall) intent() (journal.Intent, error) {
	intent := journal.Intent{
		Address: c.name, Deposed: c.deposed, Action: c.verb, Provider: c.change.Provider.String(), Time: c.applier.engine.opts.Now(),
		Prior: c.priorObject, SchemaVersion: c.schema.Version, Private: c.private,
		Dependencies: c.meta.dependencies, CreateBeforeDestroy: c.meta.createFirst,
	}
	if !c.planned.IsNull() {
		encoded, err := ctymsgpack.Marshal(c.planned, c.schema.Block.ImpliedType())
		if err != nil {
			return intent, fmt.Errorf("encode planned object: %w", err)
		}
		intent.Planned = encoded
		intent.ReadsByID = c.legacy && c.verb == "create" && hasUnknownID(c.planned)
	}
	return intent, nil
}

// hasUnknownID tells whether an object's id is given by the cloud.
func hasUnknownID(v cty.Value) bool {
	return v.Type().HasAttribute("id") && !v.GetAttr("id").IsKnown()
}

// invalidResult is the summary for answers to a change that cannot be recorded as they are.
const invalidResult = "Provider returned invalid result object after apply"

// accept checks a provider's answer and makes the record of what there is now.
func (c *providerCall) accept(resp providers.ApplyResourceChangeResponse) (*states.Object, tfdiags.Diagnostics) {
	diags := resp.Diagnostics
	failed := diags.HasErrors()
	val := resp.NewState
	if val == cty.NilVal {
		if !failed {
			diags = append(diags, providerBug("Provider produced invalid object", c.name, "it returned no object after a change")...)
		}
		if c.planned.IsNull() && !failed {
			return nil, diags
		}
		return c.priorObject, diags
	}
	if c.planned.IsNull() {
		return c.acceptDelete(val, failed, diags)
	}
	if val.IsNull() {
		if failed {
			return c.priorObject, diags
		}
		summary := "Provider produced inconsistent result after apply"
		if resp.LegacyTypeSystem {
			summary = invalidResult
		}
		return c.priorObject, append(diags, providerBug(summary, c.name, "the object is absent after it was created or updated")...)
	}
	known := val.IsWhollyKnown()
	if !known {
		diags = append(diags, providerBug(invalidResult, c.name, "it returned unknown values after a change")...)
		if val = cty.UnknownAsNull(val); val.IsNull() {
			return c.priorObject, diags
		}
	}
	if known && !failed && !resp.LegacyTypeSystem {
		for _, err := range objchange.AssertObjectCompatible(c.schema.Block, c.planned, val) {
			diags = append(diags, providerBug("Provider produced inconsistent result after apply", c.name, err.Error())...)
		}
	}
	meta := c.meta
	meta.private = resp.Private
	meta.tainted = diags.HasErrors() && c.verb == "create"
	obj, err := newObject(c.schema, val, nil, meta)
	if err != nil {
		return c.priorObject, append(diags, providerBug(invalidResult, c.name, err.Error())...)
	}
	return obj, diags
}

// acceptDelete is accept for a deletion.
func (c *providerCall) acceptDelete(val cty.Value, failed bool, diags tfdiags.Diagnostics) (*states.Object, tfdiags.Diagnostics) {
	switch {
	case val.IsNull() && !failed:
		return nil, diags
	case failed:
		return c.priorObject, diags
	default:
		return c.priorObject, append(diags, providerBug(invalidResult, c.name, "it returned an object after deleting it")...)
	}
}
