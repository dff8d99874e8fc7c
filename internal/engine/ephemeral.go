package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

const (
	// closeTimeout bounds the call that closes an ephemeral object, which is made
	// although the operation was cancelled.
	closeTimeout = 30 * time.Second
	// minRenewal is the shortest time between two renewals, whatever a provider asks for.
	minRenewal = time.Second
)

// ephemeralObjects are the ephemeral objects that are open during a walk. Each is
// closed once: when all that may use it has ended, or at the end of the walk.
type ephemeralObjects struct {
	mu   sync.Mutex
	open map[*instance]*ephemeralObject
	// order lists what was opened, so that the last is closed first.
	order []*ephemeralObject
}

// ephemeralObject is one open object. A task of its own renews it in time.
type ephemeralObject struct {
	inst   *instance
	client providers.Interface
	// endRenewal stops the task, renewed is closed when it has ended; both are nil
	// if the provider asks for no renewal.
	endRenewal context.CancelFunc
	renewed    chan struct{}
	// private belongs to the task until it has ended.
	private []byte
}

// ephemeralStep opens one instance of an ephemeral resource, while planning and
// again while applying. With a configuration that is not known yet it is left for
// the apply, and its value is unknown until then.
func (w *walk) ephemeralStep(inst *instance, run *providerRun) dag.Step {
	return dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) {
		ev, diags := w.evaluate(inst)
		if w.report(diags) {
			return dag.Failed()
		}
		if !ev.config.IsWhollyKnown() {
			later := objchange.PlannedUnknownObject(inst.object.schema.Block, ev.config)
			inst.value = markObject(inst.object.schema, later, ev.sensitive).Mark(lang.Ephemeral)
			return dag.Done()
		}
		return &dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
			if w.report(w.openEphemeral(ctx, inst, run, ev)) {
				return dag.Failed()
			}
			return nil, !w.report(inst.postconditions())
		}}, true
	}}
}

// openEphemeral opens an ephemeral object and gives the instance its value.
func (w *walk) openEphemeral(ctx context.Context, inst *instance, run *providerRun, ev evaluated) tfdiags.Diagnostics {
	o := inst.object
	diags := run.client.ValidateEphemeralConfig(ctx, o.resource.Addr.Type, ev.config)
	if !diags.HasErrors() {
		done := w.announce(inst, "open")
		resp := run.client.OpenEphemeral(ctx, providers.OpenEphemeralRequest{TypeName: o.resource.Addr.Type, Config: ev.config})
		done(resp.Diagnostics)
		diags = append(diags, resp.Diagnostics...)
		if !resp.Diagnostics.HasErrors() {
			w.keepOpen(ctx, inst, run.client, resp)
			diags = append(diags, invalidEphemeral(inst, ev, resp.Result)...)
		}
		if !diags.HasErrors() {
			inst.value = markObject(o.schema, resp.Result, ev.sensitive).Mark(lang.Ephemeral)
		}
	}
	return locate(diags, inst.name, o.resource.Config)
}

// invalidEphemeral checks that an ephemeral object is what its configuration asks for.
func invalidEphemeral(inst *instance, ev evaluated, result cty.Value) tfdiags.Diagnostics {
	const summary = "Provider produced invalid ephemeral resource instance"
	if result == cty.NilVal || result.IsNull() {
		return providerBug(summary, inst.name, "it opened nothing and told of no error")
	}
	schema := inst.object.schema.Block
	var diags tfdiags.Diagnostics
	for _, err := range objchange.AssertPlanValid(schema, cty.NullVal(schema.ImpliedType()), ev.config, result) {
		diags = append(diags, providerBug(summary, inst.name, err.Error())...)
	}
	return diags
}

// keepOpen enters an object that was opened, and sees to its renewal.
func (w *walk) keepOpen(ctx context.Context, inst *instance, client providers.Interface, resp providers.OpenEphemeralResponse) {
	obj := &ephemeralObject{inst: inst, client: client, private: resp.Private}
	if !resp.RenewAt.IsZero() {
		var renewing context.Context
		renewing, obj.endRenewal = context.WithCancel(context.WithoutCancel(ctx))
		obj.renewed = make(chan struct{})
		go w.renew(renewing, obj, resp.RenewAt)
	}
	w.ephemerals.mu.Lock()
	defer w.ephemerals.mu.Unlock()
	if w.ephemerals.open == nil {
		w.ephemerals.open = map[*instance]*ephemeralObject{}
	}
	w.ephemerals.open[inst] = obj
	w.ephemerals.order = append(w.ephemerals.order, obj)
}

// renew prolongs an object whenever its provider wants that, until ctx ends.
func (w *walk) renew(ctx context.Context, obj *ephemeralObject, at time.Time) {
	defer close(obj.renewed)
	decl := obj.inst.object.resource
	for !at.IsZero() {
		if earliest := w.engine.opts.Now().Add(minRenewal); at.Before(earliest) {
			at = earliest
		}
		if !w.engine.opts.WaitUntil(ctx, at) {
			return
		}
		done := w.announce(obj.inst, "renew")
		resp := obj.client.RenewEphemeral(ctx, providers.RenewEphemeralRequest{TypeName: decl.Addr.Type, Private: obj.private})
		done(resp.Diagnostics)
		if ctx.Err() != nil {
			return // it is being closed
		}
		if w.report(locate(resp.Diagnostics, obj.inst.name, decl.Config)) {
			return
		}
		obj.private, at = resp.Private, resp.RenewAt
	}
}

// closeEphemeral closes the object of an instance, if it is open.
func (w *walk) closeEphemeral(ctx context.Context, inst *instance) {
	w.ephemerals.mu.Lock()
	obj := w.ephemerals.open[inst]
	delete(w.ephemerals.open, inst)
	w.ephemerals.mu.Unlock()
	if obj == nil {
		return
	}
	if obj.endRenewal != nil {
		obj.endRenewal()
		<-obj.renewed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	decl := inst.object.resource
	done := w.announce(inst, "close")
	diags := obj.client.CloseEphemeral(ctx, providers.CloseEphemeralRequest{TypeName: decl.Addr.Type, Private: obj.private})
	done(diags)
	w.report(locate(diags, inst.name, decl.Config))
}

// closeEphemerals closes what is still open at the end of a walk: what providers
// were configured with, and what failed or was cancelled before its end.
func (w *walk) closeEphemerals(ctx context.Context) {
	w.ephemerals.mu.Lock()
	order := slices.Clone(w.ephemerals.order)
	w.ephemerals.mu.Unlock()
	for _, obj := range slices.Backward(order) {
		w.closeEphemeral(ctx, obj.inst)
	}
}

// announce tells the hook of a call about an ephemeral object, and returns what
// tells it of the end.
func (w *walk) announce(inst *instance, verb string) (done func(tfdiags.Diagnostics)) {
	hook, began := w.engine.hook, w.engine.opts.Now()
	event := EphemeralEvent{Addr: inst.addr, Verb: verb}
	hook.Ephemeral(event)
	return func(diags tfdiags.Diagnostics) {
		event.Ended, event.Failed, event.Took = true, diags.HasErrors(), w.engine.opts.Now().Sub(began)
		hook.Ephemeral(event)
	}
}

// addClosing makes the node that closes the instances of an ephemeral resource
// after all that may use them. It returns nil where a provider is among that: its
// calls may come at any time, so the end of the walk is waited for.
func (mi *moduleInst) addClosing(o *object) *dag.Node {
	users := mi.walk.prog.ephemeralUsers[o]
	if slices.ContainsFunc(users, func(u *object) bool { return u.kind == kindProvider }) {
		return nil
	}
	s := &mi.slots[o.local]
	node := mi.walk.sched.Hold(0, func() string { return o.String() + " (close)" }, dag.Step{Class: classCompute, Run: func(ctx context.Context) (*dag.Step, bool) {
		for _, key := range s.instances.keys {
			mi.walk.closeEphemeral(ctx, s.instances.byKey[key])
		}
		return dag.Done()
	}})
	mi.walk.sched.Depend(node, s.gate)
	for _, user := range users {
		for _, n := range mi.nodesOf(user) {
			mi.walk.sched.Depend(node, n)
		}
	}
	return node
}

// nodesOf returns nodes of this module instance, or of one around it, that end
// after all instances of an object have.
func (mi *moduleInst) nodesOf(o *object) []*dag.Node {
	within := mi
	for !o.mod.below(within.prog) {
		within = within.parent
	}
	top := o
	for top.mod != within.prog {
		top = top.mod.call
	}
	s := &within.slots[top.local]
	switch {
	case top.kind == kindCall && top != o:
		return []*dag.Node{s.inside}
	case top.kind == kindResource:
		return []*dag.Node{s.gate}
	default:
		return []*dag.Node{s.node}
	}
}

// below tells whether a module is another one or inside it.
func (m *moduleProgram) below(other *moduleProgram) bool {
	for ; m != nil; m = m.parent {
		if m == other {
			return true
		}
	}
	return false
}

// isEphemeral tells whether an object is an ephemeral resource.
func (o *object) isEphemeral() bool {
	return o.kind == kindResource && o.addr.Resource.Mode == addrs.Ephemeral
}

// findEphemeralUsers finds, for each ephemeral resource, all objects that need it,
// directly or not.
func findEphemeralUsers(objects []*object) map[*object][]*object {
	var ephemerals []*object
	for _, o := range objects {
		if o.isEphemeral() {
			ephemerals = append(ephemerals, o)
		}
	}
	if len(ephemerals) == 0 {
		return nil
	}
	neededBy := make([][]*object, len(objects))
	for _, o := range objects {
		o.needs(func(need *object) { neededBy[need.id] = append(neededBy[need.id], o) })
	}
	out := make(map[*object][]*object, len(ephemerals))
	for _, e := range ephemerals {
		seen := map[*object]bool{e: true}
		for work := []*object{e}; len(work) > 0; {
			o := work[len(work)-1]
			work = work[:len(work)-1]
			for _, user := range neededBy[o.id] {
				if !seen[user] {
					seen[user] = true
					out[e] = append(out[e], user)
					work = append(work, user)
				}
			}
		}
	}
	return out
}

// waitUntil is the real clock's [Options.WaitUntil].
func waitUntil(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
