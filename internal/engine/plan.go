package engine

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/relevance"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// PlanOptions are the inputs of a plan besides configuration and state.
type PlanOptions struct {
	Mode plans.Mode
	// Variables are root input variables by name; those left out have their default.
	Variables map[string]cty.Value
	// SkipRefresh takes the recorded objects for the real ones.
	SkipRefresh bool
	// SkipRead does so for some objects; nil means none.
	SkipRead func(addrs.ResourceInstance) bool
	// ForceReplace names instances to be replaced although nothing requires it.
	ForceReplace []addrs.ResourceInstance
	// Targets restrict the plan to some objects and what they need; none means all.
	Targets []addrs.Target
	// BaseDir is the directory that relative paths in functions start from; "" means ".".
	BaseDir string
	// Frozen tells for which instances nothing is planned: they count as being
	// what is recorded. What depends on one that is not recorded waits; see
	// [plans.Plan.Waiting]. Nil means none.
	Frozen func(addrs.ResourceInstance) bool
	// Given tells which instances somebody else manages: they are neither read nor planned,
	// and count as being what is recorded. What depends on one that is not recorded is left
	// alone. Nil means none.
	Given func(addrs.ResourceInstance) bool
	// LeaveUnreadable leaves objects alone that cannot be read, and what depends on
	// them, instead of failing; see [plans.Plan.LeftAlone].
	LeaveUnreadable bool
	// Missing are variables whose values cannot be had now. Nothing is planned for what
	// depends on them; see [plans.Plan.LeftAlone].
	Missing []string
	// LeftAlone are instances that an earlier plan left alone: they are not read.
	LeftAlone []addrs.ResourceInstance
	// Generated are the resource blocks that were written for this plan, by address.
	Generated map[string]string
	// Lists tells which instances of list blocks are asked for, by address; see
	// [plans.Plan.Listed]. Nil means none.
	Lists func(addr string) bool
	// Overrides gives the deviations from an instance's configuration. Nil means none.
	Overrides func(addrs.ResourceInstance) plans.Overrides
}

// Plan compares configuration, recorded state and real objects and says what
// would be done. The plan is returned, marked as errored, even with errors: it
// then holds what could be planned. prior is not changed.
func (e *Engine) Plan(ctx context.Context, config *configs.Config, prior *states.State, opts PlanOptions) (*plans.Plan, tfdiags.Diagnostics) {
	if opts.Mode == "" {
		opts.Mode = plans.NormalMode
	}
	prog, diags := e.program(ctx, config)
	if diags.HasErrors() {
		return e.failedPlan(prior, opts), append(diags, e.validate(ctx, prog, cmp.Or(opts.BaseDir, "."))...)
	}
	opts.Variables = withUnknown(opts.Variables, opts.Missing)
	if prog.opens { // what an invalid configuration asks for is not opened
		if invalid := e.mistakes(ctx, prog, cmp.Or(opts.BaseDir, ".")); invalid != nil {
			return e.failedPlan(prior, opts), append(diags, invalid...)
		}
	}
	diags = append(diags, CheckVariables(config, opts.Variables)...)
	plan, moreDiags, told := e.replay(ctx, prog, prior, &opts)
	if plan != nil {
		return plan, moreDiags
	}
	p := e.newPlanner(prog, prior, opts)
	p.walk.answers = told
	diags = append(diags, p.selectTargets()...)
	diags = append(diags, p.untargetedMoves()...)
	diags = append(diags, p.relocation.diags...)
	diags = append(diags, p.staleRemovals()...)
	if diags.HasErrors() {
		return e.failedPlan(prior, opts), diags
	}
	p.walk.prepare()
	p.addRecorded()
	e.hook.Expect(len(p.reads) - len(told.objects))
	diags = append(diags, p.walk.run(ctx)...)
	e.hook.Ended()
	diags = append(diags, p.relocation.blockedWarning()...)
	diags = append(diags, p.homelessImports()...)
	moreDiags = p.staleMoves()
	diags = append(diags, moreDiags...)
	if moreDiags.HasErrors() || opts.Mode == plans.DestroyMode && slices.ContainsFunc(diags, isRuleOfVariable) {
		return e.failedPlan(prior, opts), diags
	}
	if invalid := p.invalid(ctx, diags); invalid != nil {
		return e.failedPlan(prior, opts), invalid
	}
	plan = p.result()
	diags = append(diags, forgetWarning(plan.Changes)...)
	plan.Errored = diags.HasErrors()
	if len(plan.Drift) > 0 {
		plan.Relevant = relevance.Attributes(plan, config, func(provider addrs.Provider, addr addrs.Resource) *providers.Block {
			return e.pool.block(ctx, provider, addr)
		})
	}
	p.remember(plan, diags)
	return plan, diags
}

func (e *Engine) failedPlan(prior *states.State, opts PlanOptions) *plans.Plan {
	return &plans.Plan{Mode: opts.Mode, Created: e.opts.Now(), Previous: prior, Prior: prior, Errored: true, Refused: true}
}

// planner is the operation of a plan.
type planner struct {
	engine *Engine
	walk   *walk
	opts   PlanOptions
	prior  *states.State
	forced map[string]bool
	// relocation is what became of recorded addresses; prior is its state.
	relocation relocation
	// imports are the objects that import blocks ask for, by address; guarded by mu.
	imports map[string]*wantedImport
	reads   map[*states.Instance]*objectRead
	// readList is the same in the order of the state.
	readList []*objectRead
	seen     observed
	// byCall finds the recorded resources below a module call, see indexModules.
	byCall map[string][]recordedBelow
	target *targeting

	mu        sync.Mutex
	changes   []*plans.Change
	drift     []*plans.Change
	refreshed *states.State
	// pending holds the instances that change, for what depends on the change.
	pending map[*instance]*plans.Change
	// upstream is the same by declarations, for data; guarded by mu.
	upstream upstream
	// listed is what list blocks named; guarded by mu.
	listed []plans.Listed
	// left is what is left alone; guarded by mu.
	left leaving
	// awaited are instances that do not exist and are not to be made; guarded by mu.
	awaited []addrs.ResourceInstance
	// generation numbers this plan among those of the engine.
	generation uint64
}

func (e *Engine) newPlanner(prog *program, prior *states.State, opts PlanOptions) *planner {
	baseDir := opts.BaseDir
	if baseDir == "" {
		baseDir = "."
	}
	p := &planner{
		engine: e, opts: opts, forced: map[string]bool{}, pending: map[*instance]*plans.Change{}, upstream: newUpstream(),
		reads: map[*states.Instance]*objectRead{}, imports: map[string]*wantedImport{},
		seen: observed{overrides: map[string]plans.Overrides{}, clients: map[*providerRun]*answering{}, lists: listsOf{looked: opts.Lists != nil}},
		left: leaving{resources: map[string]bool{}, instances: map[string]addrs.ResourceInstance{}},
	}
	p.relocation = relocate(prog, prior)
	p.prior = p.relocation.state
	p.refreshed = p.prior.Copy()
	for _, addr := range opts.ForceReplace {
		p.forced[addr.String()] = true
	}
	p.walk = e.newWalk(prog, p, opts.Variables, lang.Functions(lang.FunctionOptions{BaseDir: baseDir, PlanTime: e.opts.Now(), Pure: true}))
	p.walk.last = e.begins(prog, opts.Variables)
	p.generation = e.last.generation
	if opts.Mode == plans.DestroyMode {
		p.walk.include = neededToDestroy(prog)
		p.walk.tolerant = true
	}
	return p
}

// neededByProviders returns the provider configurations and what they need.
func neededByProviders(prog *program) map[*object]bool {
	include := map[*object]bool{}
	for _, o := range prog.providers {
		includeNeeds(o, include)
	}
	return include
}

// neededToDestroy returns all that is evaluated while planning to destroy
// everything: what providers need, and the variables whose values are checked.
func neededToDestroy(prog *program) map[*object]bool {
	include := neededByProviders(prog)
	for _, o := range prog.objects {
		if o.kind != kindVariable || len(o.variable.Validations) == 0 {
			continue
		}
		includeNeeds(o, include)
		if o.mod.call != nil {
			includeNeeds(o.mod.call, include)
		}
	}
	return include
}

// addRecorded adds the nodes that recorded objects need, whether or not the
// configuration still declares them: one to read each, and one to delete each
// that no module instance will claim.
func (p *planner) addRecorded() {
	p.byCall = map[string][]recordedBelow{}
	var release []*dag.Node
	for _, r := range p.prior.Resources() {
		o := p.walk.prog.find(r)
		if r.Addr.Mode != addrs.Managed {
			if o == nil && p.opts.Mode == plans.NormalMode {
				p.forgetData(r, nil)
			}
			continue
		}
		for key, inst := range r.Instances {
			addr := addrs.ResourceInstance{Module: r.Module, Resource: r.Addr, Key: key}
			if !p.target.includesRecorded(addr) {
				continue
			}
			if o == nil && p.given(addr) {
				continue // nothing can refer to it
			}
			if o == nil && p.opts.Mode == plans.NormalMode && p.forgets(addr) {
				release = append(release, p.addForget(addr, r, inst)...)
				continue
			}
			release = append(release, p.addRead(addr, r, inst, o)...)
			release = append(release, p.addDeposed(addr, r, inst, o)...)
			switch {
			case p.opts.Mode == plans.DestroyMode:
				release = append(release, p.addDelete(addr, r, inst, o, plans.ReasonNone))
			case o == nil && p.opts.Mode == plans.NormalMode:
				release = append(release, p.addDelete(addr, r, inst, nil, p.lostBecause(addr)))
			}
		}
		if o != nil {
			p.indexModules(r, o)
		}
	}
	p.walk.sched.Release(release...)
}

// recordedBelow is a recorded resource below a module call, with the instance key of that call.
type recordedBelow struct {
	key      addrs.InstanceKey
	resource *states.Resource
	object   *object
}

// indexModules enters a recorded resource under each module call on its path.
func (p *planner) indexModules(r *states.Resource, o *object) {
	for i, step := range r.Module {
		key := callKey(r.Module[:i], step.Name)
		p.byCall[key] = append(p.byCall[key], recordedBelow{step.Key, r, o})
	}
}

func callKey(parent addrs.ModuleInstance, call string) string { return parent.String() + "/" + call }

// estimate implements operation: planning a managed resource is local, reading a
// data source is not.
func (p *planner) estimate(o *object) time.Duration {
	switch o.resource.Addr.Mode {
	case addrs.Data:
		return p.engine.opts.Durations.estimate("data " + o.resource.Addr.Type)
	case addrs.Ephemeral:
		return p.engine.opts.Durations.estimate("ephemeral " + o.resource.Addr.Type)
	}
	return time.Millisecond
}

// expandedCall implements operation: it deletes what belongs to instances of a
// module call that are no more.
func (p *planner) expandedCall(mi *moduleInst, o *object, keys []addrs.InstanceKey) {
	if p.opts.Mode != plans.NormalMode {
		return
	}
	var release []*dag.Node
	for _, below := range p.byCall[callKey(mi.path, o.name)] {
		if slices.Contains(keys, below.key) {
			continue
		}
		for key, inst := range below.resource.Instances {
			addr := addrs.ResourceInstance{Module: below.resource.Module, Resource: below.resource.Addr, Key: key}
			if p.target.includesRecorded(addr) {
				release = append(release, p.addDelete(addr, below.resource, inst, below.object, plans.DeleteBecauseNoModule))
			}
		}
	}
	p.walk.sched.Release(release...)
}

// expanded implements operation: it deletes instances that are no more, and warns
// where none is replaced.
func (p *planner) expanded(mi *moduleInst, o *object, set *instanceSet) {
	p.walk.report(p.keylessReplace(mi, o, set))
	r := p.prior.Resource(mi.path, o.resource.Addr)
	if r == nil || p.opts.Mode != plans.NormalMode {
		return
	}
	if o.resource.Addr.Mode != addrs.Managed {
		p.forgetData(r, set)
		return
	}
	var release []*dag.Node
	for key, inst := range r.Instances {
		addr := addrs.ResourceInstance{Module: r.Module, Resource: r.Addr, Key: key}
		if set.byKey[key] == nil && p.target.includesRecorded(addr) {
			release = append(release, p.addDelete(addr, r, inst, o, lostReason(set.mode, key)))
			p.mu.Lock()
			p.upstream.notePending(o)
			p.mu.Unlock()
		}
	}
	if o.resource.Lifecycle.PreventDestroy { // what needs the resource is not planned if one of them may not go
		p.walk.sched.DependAll(mi.slots[o.local].gate, release)
	}
	p.walk.sched.Release(release...)
}

// forgetData drops the recorded results of a data source but for the instances
// that there still are; nil means none.
func (p *planner) forgetData(r *states.Resource, set *instanceSet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range r.Instances {
		addr := addrs.ResourceInstance{Module: r.Module, Resource: r.Addr, Key: key}
		if (set == nil || set.byKey[key] == nil) && p.target.includesRecorded(addr) {
			p.refreshed.SetObject(addr, r.Provider, nil)
		}
	}
}

// lostReason says why a recorded instance is not among a resource's instances.
func lostReason(mode repeatMode, key addrs.InstanceKey) plans.Reason {
	_, isInt := key.Int()
	_, isText := key.Text()
	switch {
	case mode == repeatCount && isInt:
		return plans.DeleteBecauseCountIndex
	case mode == repeatEach && isText:
		return plans.DeleteBecauseEachKey
	default:
		return plans.DeleteBecauseWrongRepetition
	}
}

// instance implements operation.
func (p *planner) instance(inst *instance) dag.Step {
	run := p.walk.providers[inst.object.provider]
	p.walk.sched.Depend(inst.node, run.node)
	if inst.object.isEphemeral() {
		return p.walk.ephemeralStep(inst, run)
	}
	if inst.object.resource.Addr.Mode == addrs.Data {
		return p.dataStep(inst, run)
	}
	read := p.reads[p.prior.Instance(inst.addr)]
	if read != nil {
		p.walk.sched.Depend(inst.node, read.node)
	}
	if p.opts.Mode != plans.NormalMode || !p.target.includesRecorded(inst.addr) || p.frozen(inst.addr) {
		return inst.mi.computeStep(func() tfdiags.Diagnostics { return p.keep(inst, read) })
	}
	p.waitForImports(inst)
	return p.managedStep(inst, run, read)
}

func (p *planner) addChange(c *plans.Change) {
	p.mu.Lock()
	p.changes = append(p.changes, c)
	p.mu.Unlock()
}

func (p *planner) setPending(inst *instance, change *plans.Change) {
	p.mu.Lock()
	p.pending[inst] = change
	p.upstream.notePending(inst.object)
	p.mu.Unlock()
}

// result puts the plan together once the walk has ended.
func (p *planner) result() *plans.Plan {
	p.engine.forgetMemos(p.changes)
	p.noteMoves()
	slices.SortFunc(p.changes, plans.CompareChanges)
	slices.SortFunc(p.drift, plans.CompareChanges)
	plan := &plans.Plan{
		Mode: p.opts.Mode, Created: p.engine.opts.Now(), Variables: p.plannedVariables(),
		Changes: p.changes, Drift: p.drift, Previous: p.prior, Prior: p.refreshed,
		Targets: p.opts.Targets, ForceReplace: p.opts.ForceReplace, Complete: len(p.opts.Targets) == 0,
	}
	plan.Listed = sortedListed(p.listed)
	plan.Outputs = p.outputChanges()
	if p.opts.Mode != plans.DestroyMode {
		plan.ModuleOutputs = map[string][]string{}
		p.walk.root.moduleOutputs(plan.ModuleOutputs)
	}
	plan.Checks = p.walk.outcomes(plan)
	plan.Functions = p.walk.results.kept()
	p.withoutWaiting(plan)
	p.withoutLeft(plan)
	return plan
}

// forgetMemos drops what is remembered of instances that are no more, once they
// outnumber those that are.
func (e *Engine) forgetMemos(changes []*plans.Change) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.memo) <= 2*len(changes)+minMemos {
		return
	}
	kept := make(map[string]*planMemo, len(changes))
	for _, c := range changes {
		name := c.Addr.String()
		if memo := e.memo[name]; memo != nil {
			kept[name] = memo
		}
	}
	e.memo = kept
}

// minMemos is a number of memos that is not worth looking after.
const minMemos = 1000
