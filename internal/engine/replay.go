package engine

import (
	"bytes"
	"context"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// A plan is a function of the program, the options, the record and the answers of
// providers. Where the first three are what they were for an earlier plan, only
// the questions are asked again, and while the answers are the same, that plan
// is the plan. A round in which nothing has changed costs its reads, however
// large the configuration is.

// replay is a plan with all that it was made from.
type replay struct {
	program *program
	// opts are without what they ask: of that, the answers are kept.
	opts  PlanOptions
	prior *states.State
	// overrides are the deviations that were asked for, by instance; most have none.
	overrides map[string]plans.Overrides
	// clients are the providers that answered.
	clients []*answering
	objects []replayedObject
	data    []replayedData
	lists   listsOf

	plan  *plans.Plan
	diags tfdiags.Diagnostics
}

// answering is a provider configuration that answers the questions of a replay.
type answering struct {
	object *object
	base   providers.Interface
	// run is what it is for the replay under way.
	run *providerRun
}

// replayedObject is the read of one recorded object.
type replayedObject struct {
	client *answering
	addr   addrs.ResourceInstance
	schema *providers.ResourceSchema
	// was is the record, now what the plan was made with, again the answer of this replay.
	was, now, again *states.Object
}

// replayedData is the read of one data source.
type replayedData struct {
	client *answering
	addr   addrs.ResourceInstance
	config cty.Value
	// answer is what the plan was made with, again that of this replay, or NilVal.
	answer, again cty.Value
}

// answers are what a replay was told before it turned out that something differs,
// for the plan that is to be made: nothing is asked twice. The zero value is none.
type answers struct {
	objects map[string]*replayedObject
	data    map[string]*replayedData
}

// observed is what a plan meets that decides whether it can be replayed.
type observed struct {
	// odd tells that the plan depends on more than a replay looks at: on what is
	// frozen, deposed or of another type, or on an answer with a warning.
	odd atomic.Bool
	// overrides, data and lists are those of the replay; guarded by the planner's mutex.
	overrides map[string]plans.Overrides
	data      []replayedData
	lists     listsOf
	clients   map[*providerRun]*answering
}

// replay returns an earlier plan if making it anew would give the same. If not, it
// returns what was read, for the plan that is to be made.
func (e *Engine) replay(ctx context.Context, prog *program, prior *states.State, opts *PlanOptions) (*plans.Plan, tfdiags.Diagnostics, answers) {
	r := e.replays[opts.SkipRefresh]
	if r == nil || !r.fits(prog, prior, opts) || !r.connected(e) {
		return nil, nil, answers{}
	}
	if !r.ask(ctx, e, opts) {
		return nil, nil, r.answers()
	}
	return r.again(prior, e.opts.Now()), slices.Clip(r.diags), answers{}
}

// again is the plan for a record with the same objects, which may be another version
// of another lineage.
func (r *replay) again(prior *states.State, now time.Time) *plans.Plan {
	plan := *r.plan
	plan.Created, plan.Previous, plan.Prior = now, prior, r.plan.Prior.Copy()
	plan.Listed = r.lists.answers()
	plan.Prior.TerraformVersion, plan.Prior.Serial, plan.Prior.Lineage = prior.TerraformVersion, prior.Serial, prior.Lineage
	return &plan
}

// fits tells whether program, record and options are the same.
func (r *replay) fits(prog *program, prior *states.State, opts *PlanOptions) bool {
	return r.program == prog && replayable(opts) && opts.Mode == r.opts.Mode && opts.BaseDir == r.opts.BaseDir &&
		opts.LeaveUnreadable == r.opts.LeaveUnreadable && maps.EqualFunc(opts.Variables, r.opts.Variables, cty.Value.RawEquals) &&
		r.prior.Same(prior) && r.sameDeviations(opts) && r.lists.same(opts.Lists)
}

// replayable tells whether options ask for nothing that a replay does not look at.
func replayable(opts *PlanOptions) bool {
	return opts.Mode == plans.NormalMode && opts.Given == nil && len(opts.Targets)+len(opts.ForceReplace)+len(opts.LeftAlone)+len(opts.Missing)+len(opts.Generated) == 0
}

// sameDeviations tells whether nothing is frozen, and the same is overridden.
func (r *replay) sameDeviations(opts *PlanOptions) bool {
	if opts.Frozen == nil && opts.Overrides == nil && len(r.overrides) == 0 {
		return true
	}
	for _, c := range r.plan.Changes {
		if opts.Frozen != nil && opts.Frozen(c.Addr) {
			return false
		}
		if c.Addr.Resource.Mode != addrs.Managed || c.Deposed != "" || c.Action == plans.Delete {
			continue
		}
		var now plans.Overrides
		if opts.Overrides != nil {
			now = opts.Overrides(c.Addr)
		}
		if len(r.overrides) == 0 && now.Empty() {
			continue
		}
		if !now.Equal(r.overrides[c.Addr.String()]) {
			return false
		}
	}
	return true
}

// connected tells whether the providers that answered for the plan still run with
// the same configuration.
func (r *replay) connected(e *Engine) bool {
	for _, c := range r.clients {
		if !e.pool.runs(c.object.providerAddr, c.base) {
			return false
		}
	}
	return true
}

// ask asks all questions again, those about objects first, and tells whether the
// answers are the same.
func (r *replay) ask(ctx context.Context, e *Engine, opts *PlanOptions) bool {
	e.hook.Expect(len(r.objects))
	defer e.hook.Ended()
	for i := range r.objects {
		r.objects[i].again = nil
	}
	for i := range r.data {
		r.data[i].again = cty.NilVal
	}
	same := r.askAll(ctx, e, len(r.objects), func(i int) (*answering, string) {
		return r.objects[i].client, "read " + r.objects[i].addr.Resource.Type
	}, func(ctx context.Context, i int) bool {
		return r.objects[i].read(ctx, e, r.program, opts)
	})
	same = same && r.askAll(ctx, e, len(r.data), func(i int) (*answering, string) {
		return r.data[i].client, "data " + r.data[i].addr.Resource.Type
	}, func(ctx context.Context, i int) bool {
		return r.data[i].read(ctx, e, r.program)
	})
	return same && r.askAll(ctx, e, len(r.lists.asked), func(i int) (*answering, string) {
		return r.lists.asked[i].client, "list " + r.lists.asked[i].want.listed.Type
	}, func(ctx context.Context, i int) bool {
		return r.lists.asked[i].ask(ctx, r.program)
	})
}

// askAll makes calls concurrently, within the bounds of each provider.
func (r *replay) askAll(ctx context.Context, e *Engine, n int, about func(int) (*answering, string), ask func(context.Context, int) bool) bool {
	if n == 0 {
		return true
	}
	sched := dag.New(runtime.GOMAXPROCS(0))
	for _, c := range r.clients {
		c.run = &providerRun{object: c.object, base: c.base}
		c.run.limit(sched, e.opts.Parallelism)
		c.run.meter(e.opts.Durations)
	}
	var different atomic.Bool
	nodes := make([]*dag.Node, n)
	for i := range n {
		client, kind := about(i)
		nodes[i] = sched.Hold(cost(e.opts.Durations.estimate(kind)), nil, dag.Step{Class: client.run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
			if !ask(ctx, i) {
				different.Store(true)
			}
			return dag.Done()
		}})
	}
	sched.Release(nodes...)
	sched.Run(ctx)
	for _, c := range r.clients {
		c.run = nil
	}
	return !different.Load() && ctx.Err() == nil
}

// read reads the object and tells whether it is as it was for the plan.
func (o *replayedObject) read(ctx context.Context, e *Engine, prog *program, opts *PlanOptions) bool {
	if opts.SkipRead != nil && opts.SkipRead(o.addr) {
		return o.now == o.was
	}
	prior := o.was.Decoded()
	if prior == nil {
		return false
	}
	e.hook.Refreshing(o.addr, objectID(prior.Value))
	defer e.hook.Refreshed(o.addr)
	again, diags := readObject(ctx, o.client.run.clientFor(prog, o.addr.Module), o.addr, o.schema, o.was, prior)
	if len(diags) > 0 || again == nil {
		return len(diags) == 0 && o.now == nil
	}
	o.again = again
	return sameObject(again, o.now)
}

// sameObject tells whether two reads of the same record gave the same.
func sameObject(a, b *states.Object) bool {
	return a == b || a != nil && b != nil && bytes.Equal(a.AttrsJSON, b.AttrsJSON) && bytes.Equal(a.Private, b.Private)
}

// unlessSame returns the record that there is of a data source if a new one says the
// same: what is the same object is known to be the same in the next round.
func unlessSame(recorded, obj *states.Object) *states.Object {
	if recorded == nil || !sameObject(recorded, obj) || recorded.SchemaVersion != obj.SchemaVersion || !samePaths(recorded.Sensitive, obj.Sensitive) {
		return obj
	}
	recorded.SetDecoded(obj.Decoded())
	return recorded
}

// read reads the data source and tells whether it answers as it did for the plan.
func (d *replayedData) read(ctx context.Context, e *Engine, prog *program) bool {
	resp := e.readData(ctx, d.client.run.clientFor(prog, d.addr.Module), d.addr, d.config)
	if len(resp.Diagnostics) > 0 || resp.State == cty.NilVal {
		return false
	}
	d.again = resp.State
	return resp.State.RawEquals(d.answer)
}

// answers are what was read, by address. Objects that are gone are read again, to be sure.
func (r *replay) answers() answers {
	out := answers{make(map[string]*replayedObject, len(r.objects)), make(map[string]*replayedData, len(r.data))}
	for i := range r.objects {
		if o := &r.objects[i]; o.again != nil {
			out.objects[o.addr.String()] = o
		}
	}
	for i := range r.data {
		if d := &r.data[i]; d.again != cty.NilVal {
			out.data[d.addr.String()] = d
		}
	}
	return out
}

// askData asks a data source, unless a replay has just asked the same.
func (w *walk) askData(ctx context.Context, inst *instance, run *providerRun, config cty.Value) providers.ReadDataSourceResponse {
	if known := w.answers.data[inst.name]; known != nil && known.client.base == run.base && known.config.RawEquals(config) {
		return providers.ReadDataSourceResponse{State: known.again}
	}
	return w.engine.readData(ctx, run.clientFor(w.prog, inst.addr.Module), inst.addr, config)
}

// readData makes the call that reads a data source.
func (e *Engine) readData(ctx context.Context, client providers.Interface, addr addrs.ResourceInstance, config cty.Value) providers.ReadDataSourceResponse {
	e.hook.Reading(addr)
	began := time.Now()
	resp := client.ReadDataSource(ctx, providers.ReadDataSourceRequest{TypeName: addr.Resource.Type, Config: config})
	if !resp.Diagnostics.HasErrors() {
		e.hook.ReadDone(addr, objectID(resp.State), time.Since(began))
	}
	return resp
}

// remember keeps a plan for replays, if it depends on nothing that they do not look at.
func (p *planner) remember(plan *plans.Plan, diags tfdiags.Diagnostics) {
	delete(p.engine.replays, p.opts.SkipRefresh)
	if !replayable(&p.opts) || !p.walk.prog.plain || plan.Errored || len(plan.LeftAlone)+len(p.imports)+len(p.relocation.previous) > 0 || p.seen.odd.Load() {
		return
	}
	plan.Origin = new(plans.Origin)
	// What is kept must neither change with the plan that is given away nor hold on to the walk.
	kept := *plan
	kept.Prior, kept.Previous, kept.Listed = plan.Prior.Copy(), nil, nil
	r := &replay{
		program: p.walk.prog, prior: plan.Previous.Copy(), overrides: p.seen.overrides, data: p.seen.data, lists: p.seen.lists, plan: &kept, diags: diags,
		opts: PlanOptions{Mode: p.opts.Mode, BaseDir: p.opts.BaseDir, LeaveUnreadable: p.opts.LeaveUnreadable, Variables: maps.Clone(p.opts.Variables)},
	}
	for _, read := range p.readList {
		if _, local := read.run.base.(*builtin); local || p.opts.SkipRefresh {
			continue // such objects are nowhere but in the record, or taken from it
		}
		r.objects = append(r.objects, replayedObject{client: p.answering(read.run), addr: read.addr, schema: read.schema, was: read.was, now: read.now})
	}
	for _, c := range p.seen.clients {
		r.clients = append(r.clients, c)
	}
	p.engine.replays[p.opts.SkipRefresh] = r
}

// answering returns what a replay keeps of a provider. The planner's mutex is held,
// or the walk is over.
func (p *planner) answering(run *providerRun) *answering {
	c := p.seen.clients[run]
	if c == nil {
		c = &answering{object: run.object, base: run.base}
		p.seen.clients[run] = c
	}
	return c
}

// noteData keeps the question to a data source and its answer.
func (p *planner) noteData(inst *instance, run *providerRun, config cty.Value, answer *states.Object, diags tfdiags.Diagnostics) {
	if answer == nil || len(diags) > 0 {
		p.seen.odd.Store(true)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.data = append(p.seen.data, replayedData{client: p.answering(run), addr: inst.addr, config: config, answer: answer.Decoded().Value})
}

// overridesOf asks for the deviations from an instance's configuration.
func (p *planner) overridesOf(inst *instance) plans.Overrides {
	if p.opts.Overrides == nil {
		return plans.Overrides{}
	}
	overrides := p.opts.Overrides(inst.addr)
	if !overrides.Empty() {
		p.mu.Lock()
		p.seen.overrides[inst.name] = overrides
		p.mu.Unlock()
	}
	return overrides
}
