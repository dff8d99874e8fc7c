package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// destroyJob is one object to be destroyed.
type destroyJob struct {
	change *plans.Change
	object *states.Object
	// late tells that the object goes only after what replaces it and what depended on it are done.
	late bool
	node *dag.Node
}

// addDestroys adds the nodes that destroy objects, in the order that recorded
// dependencies ask for: an object goes after everything that depends on it.
func (a *applier) addDestroys() {
	jobs := a.destroyJobs()
	priorities := a.destroyPriorities(jobs)
	dependents := map[string]*dag.Node{} // resource address -> ends when all that depend on it are destroyed
	var release []*dag.Node
	for _, job := range jobs {
		job.node = a.walk.sched.Hold(priorities[job.change.Addr.Config().String()], func() string { return job.change.Addr.String() + " (destroy)" }, dag.Step{})
		release = append(release, job.node)
		key := job.change.Addr.Config().String()
		if dependents[key] == nil {
			dependents[key] = a.walk.sched.Hold(0, func() string { return "dependents of " + key }, gateStep)
			release = append(release, dependents[key])
		}
		if !job.late {
			if a.gone[key] == nil {
				a.gone[key] = a.walk.sched.Hold(0, func() string { return "end of " + key }, gateStep)
				release = append(release, a.gone[key])
			}
			a.walk.sched.Depend(a.gone[key], job.node)
			a.destroys[job.change.Addr.String()] = job.node
		}
	}
	var users map[string][]*object
	if slices.ContainsFunc(jobs, func(j *destroyJob) bool { return j.late }) {
		users = a.users()
	}
	for _, job := range jobs {
		own := job.change.Addr.Config().String()
		a.walk.sched.Depend(job.node, dependents[own])
		for _, dep := range a.destroyNeeds(job) {
			if gate := dependents[dep]; gate != nil && dep != own {
				a.walk.sched.Depend(gate, job.node)
			}
		}
		if job.late {
			a.waitForDependents(job, users)
		}
		release = append(release, a.setDestroyStep(job)...)
	}
	a.walk.sched.Release(release...)
}

// destroyPriorities gives, by resource address, the longest remaining path of
// destructions: an object's own and, after it, those of what it needs.
func (a *applier) destroyPriorities(jobs []*destroyJob) map[string]int {
	needs := map[string]map[string]bool{}
	own := map[string]int{}
	for _, job := range jobs {
		key := job.change.Addr.Config().String()
		own[key] = max(own[key], cost(a.engine.opts.Durations.estimate("delete "+job.change.Addr.Resource.Type)))
		if needs[key] == nil {
			needs[key] = map[string]bool{}
		}
		for _, dep := range a.destroyNeeds(job) {
			needs[key][dep] = true
		}
	}
	// Closures list everything an object needs: shorter lists come first.
	keys := slices.SortedFunc(maps.Keys(needs), func(x, y string) int { return len(needs[x]) - len(needs[y]) })
	out := make(map[string]int, len(keys))
	for _, key := range keys {
		longest := 0
		for dep := range needs[key] {
			longest = max(longest, out[dep])
		}
		out[key] = own[key] + longest
	}
	return out
}

// destroyJobs lists what the plan destroys.
func (a *applier) destroyJobs() []*destroyJob {
	var jobs []*destroyJob
	for _, c := range a.plan.Changes {
		inst := a.plan.Prior.Instance(c.Addr)
		if inst == nil {
			continue
		}
		obj := inst.Current
		if c.Deposed != "" {
			obj = inst.Deposed[c.Deposed]
		}
		if obj == nil {
			continue
		}
		switch c.Action {
		case plans.Delete:
			jobs = append(jobs, &destroyJob{change: c, object: obj, late: c.Deposed != "" || (c.CreateBeforeDestroy && a.plan.Mode != plans.DestroyMode)})
		case plans.DeleteThenCreate:
			jobs = append(jobs, &destroyJob{change: c, object: obj})
		case plans.CreateThenDelete:
			jobs = append(jobs, &destroyJob{change: c, object: obj, late: true})
		}
	}
	return jobs
}

// destroyNeeds returns the resources that must outlive an object: those it
// depends on and those its provider's configuration comes from.
func (a *applier) destroyNeeds(job *destroyJob) []string {
	needs := job.object.Dependencies
	if o := a.walk.prog.providers[job.change.Provider.String()]; o != nil {
		if fromProvider := a.walk.prog.dependencies(o); len(fromProvider) > 0 {
			needs = append(needs[:len(needs):len(needs)], fromProvider...)
		}
	}
	return needs
}

// waitForDependents makes a late destroy wait for its own replacement and for
// whatever needs or needed the resource.
func (a *applier) waitForDependents(job *destroyJob, users map[string][]*object) {
	for _, o := range users[job.change.Addr.Config().String()] {
		top := o
		for top.mod.parent != nil {
			top = top.mod.call
		}
		if !a.walk.included(top) {
			continue
		}
		s := &a.walk.root.slots[top.local]
		if top.kind == kindCall {
			a.walk.sched.Depend(job.node, s.inside)
		} else {
			a.walk.sched.Depend(job.node, s.gate)
		}
	}
}

// users finds, by resource address, the declared resources that need it, by
// configuration or by record, and the resource itself.
func (a *applier) users() map[string][]*object {
	prog := a.walk.prog
	out := map[string][]*object{}
	for _, o := range prog.objects {
		if o.kind != kindResource {
			continue
		}
		out[o.addr.String()] = append(out[o.addr.String()], o)
		for _, dep := range prog.dependencies(o) {
			out[dep] = append(out[dep], o)
		}
	}
	for _, r := range a.plan.Prior.Resources() {
		o := prog.find(r)
		if o == nil {
			continue
		}
		for _, inst := range r.Instances {
			if inst.Current == nil {
				continue
			}
			for _, dep := range inst.Current.Dependencies {
				if list := out[dep]; len(list) == 0 || list[len(list)-1] != o {
					out[dep] = append(list, o)
				}
			}
		}
	}
	return out
}

// setDestroyStep gives a destroy its work and returns further nodes to release.
func (a *applier) setDestroyStep(job *destroyJob) []*dag.Node {
	run, release := a.providerOf(job.change)
	if run == nil {
		job.node.SetStep(dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) { return dag.Failed() }})
		return release
	}
	a.walk.sched.Depend(job.node, run.node)
	if a.walk.settled != nil {
		a.walk.sched.Depend(a.walk.settled, job.node)
	}
	before := a.destroyProvisioners(job)
	job.node.SetStep(dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
		call, diags := a.destruction(ctx, run, job)
		if a.walk.report(diags.WithAddress(job.change.Addr.String())) {
			return dag.Failed()
		}
		if len(before) == 0 {
			return a.destroy(ctx, call)
		}
		return &dag.Step{Class: a.provisioning, Run: func(ctx context.Context) (*dag.Step, bool) {
			call.announce()
			self := markObject(call.schema, call.prior, job.object.Sensitive)
			if a.walk.report(a.provision(ctx, job.change.Addr, before, a.walk.root, nil, repetitionOf(job.change.Addr.Key), self)) {
				a.engine.hook.Applied(call.event, time.Since(call.began), true)
				return dag.Failed()
			}
			return &dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) { return a.destroy(ctx, call) }}, true
		}}, true
	}})
	return release
}

// destroy makes the call that destroys an object.
func (a *applier) destroy(ctx context.Context, call *providerCall) (*dag.Step, bool) {
	_, diags := call.do(ctx)
	return nil, !a.walk.report(diags.WithAddress(call.name))
}

// providerOf returns the provider of a change, started for it if the
// configuration does not use it any more.
func (a *applier) providerOf(change *plans.Change) (*providerRun, []*dag.Node) {
	w := a.walk
	for o, run := range w.providers {
		if o.providerAddr.String() == change.Provider.String() {
			return run, nil
		}
	}
	if change.Provider.Alias != "" || len(change.Provider.Module) > 0 {
		w.report(tfdiags.New(tfdiags.Error, "Provider configuration not present",
			"To destroy "+change.Addr.String()+" its provider configuration "+change.Provider.String()+" is needed, but it is gone from the configuration."))
		return nil, nil
	}
	extra := &object{kind: kindProvider, mod: w.prog.root, name: change.Provider.String(), providerAddr: change.Provider}
	run := w.newProviderRun(extra)
	run.mi = w.root
	w.providers[extra] = run
	return run, []*dag.Node{run.node}
}

// destruction prepares the call that destroys an object.
func (a *applier) destruction(ctx context.Context, run *providerRun, job *destroyJob) (*providerCall, tfdiags.Diagnostics) {
	schema, diags := resourceSchema(run, job.change.Addr.Resource.Type)
	if diags.HasErrors() {
		return nil, diags
	}
	prior, moreDiags := decodeObject(ctx, run.client, job.change.Addr, schema, job.object)
	diags = append(diags, moreDiags...)
	if diags.HasErrors() {
		return nil, diags
	}
	private := job.change.Private
	if job.change.Action != plans.Delete || private == nil {
		private = job.object.Private
	}
	null := cty.NullVal(schema.Block.ImpliedType())
	return &providerCall{
		applier: a, run: run, change: job.change, name: job.change.Addr.String(), schema: schema, verb: "delete",
		deposed: a.deposedOf(job), prior: prior.Value, priorObject: job.object, planned: null, config: null, private: private,
	}, diags
}

// deposedOf returns the key under which the object to destroy is recorded, or "".
func (a *applier) deposedOf(job *destroyJob) string {
	if job.change.Action == plans.CreateThenDelete {
		return a.deposedKey(job.change)
	}
	return job.change.Deposed
}

// deposedKey returns the key under which a replaced object is set aside, the
// same for its whole replacement.
func (a *applier) deposedKey(change *plans.Change) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	key, ok := a.deposed[change]
	if !ok {
		key = newDeposedKey()
		a.deposed[change] = key
	}
	return key
}

// targetedObjects returns the objects that a plan with targets takes in.
func targetedObjects(prog *program, targets []addrs.Target) map[*object]bool {
	include := map[*object]bool{}
	for _, o := range prog.objects {
		if o.kind == kindResource && targetsObject(targets, o) {
			includeNeeds(o, include)
		}
	}
	for _, o := range prog.root.outputs {
		if outputIncluded(o, include) {
			includeNeeds(o, include)
		}
	}
	return include
}
