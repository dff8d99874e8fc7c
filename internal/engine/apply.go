package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Recorder makes changes durable around the provider calls that cause them. The
// engine calls no provider for a change whose intent could not be recorded.
type Recorder interface {
	Begin(journal.Intent) (id uint64, err error)
	End(journal.Result) error
}

// ApplyOptions are the inputs of an apply besides configuration and plan.
type ApplyOptions struct {
	// Recorder is required.
	Recorder Recorder
	// BaseDir is the directory that relative paths in functions start from; "" means ".".
	BaseDir string
	// Variables are values of root input variables. Only those that are ephemeral
	// count: the others are as they were planned.
	Variables map[string]cty.Value
}

// Apply makes an approved plan true and returns the state afterwards, also with
// errors: it then holds what was done. A cancelled ctx lets calls in flight end
// and begins no further one.
func (e *Engine) Apply(ctx context.Context, config *configs.Config, approved guard.Approved, opts ApplyOptions) (*states.State, tfdiags.Diagnostics) {
	plan := approved.Plan()
	if plan == nil {
		return nil, tfdiags.New(tfdiags.Error, "Plan not approved", "A plan can be applied only after it was approved. This is a bug in Towline; report it.")
	}
	if plan.Errored {
		return plan.Prior, tfdiags.New(tfdiags.Error, "Cannot apply incomplete plan",
			"The plan is incomplete, because errors occurred while it was made. Mend them and plan again.")
	}
	prog, diags := e.program(ctx, config)
	if diags.HasErrors() {
		return plan.Prior, diags
	}
	variables, diags := appliedVariables(config, plan, opts.Variables) // warnings about the configuration came with the plan
	if diags.HasErrors() {
		return plan.Prior, diags
	}
	a := e.newApplier(prog, plan, variables, opts)
	a.approved = approved
	if plan.Mode == plans.RefreshOnlyMode && !plan.Applyable() {
		return plan.Prior, diags
	}
	a.walk.prepare()
	a.addDestroys()
	a.forget()
	e.hook.Expect(countCalls(plan))
	release := a.ending(ctx)
	diags = append(diags, a.walk.run(ctx)...)
	diags = append(diags, targetedWarning(plan)...)
	release()
	e.hook.Ended()
	a.dropData()
	a.recordOutputs(diags.HasErrors())
	encoded, err := states.EncodeChecks(a.walk.outcomes(plan))
	a.state.CheckResults = encoded
	return a.state, append(diags, tfdiags.FromError("Failed to record the outcome of conditions", err)...)
}

// targetedWarning warns after an apply that left something out.
func targetedWarning(plan *plans.Plan) tfdiags.Diagnostics {
	if len(plan.Targets) == 0 {
		return nil
	}
	return tfdiags.New(tfdiags.Warning, "Applied changes may be incomplete",
		"The plan was restricted with -target, so some changes of the configuration may not have been made and outputs may be as before. Plan again without -target to see what is left; targets are for recovering from mistakes, not for daily use.")
}

// countCalls counts the calls that an apply makes, two for a replacement.
func countCalls(plan *plans.Plan) int {
	n := 0
	for _, c := range plan.Changes {
		switch {
		case c.Action.IsReplace():
			n += 2
		case c.Action != plans.NoOp && c.Action != plans.Forget:
			n++
		}
	}
	return n
}

// applier is the operation of an apply.
type applier struct {
	engine *Engine
	walk   *walk
	plan   *plans.Plan
	// approved is asked before every call that changes something.
	approved guard.Approved
	rec      Recorder
	// changes finds the planned change of a current object.
	changes map[string]*plans.Change
	// destroys finds the node that destroys an instance's current object.
	destroys map[string]*dag.Node
	// gone finds, by resource address, the node that ends when all objects of the
	// resource that are destroyed before others are changed are gone.
	gone map[string]*dag.Node
	// estimates are how long changes take, by resource address.
	estimates map[string]time.Duration
	// deposed are the keys under which replaced objects are set aside.
	deposed map[*plans.Change]string
	// cutOff tells that providers were asked to stop, so that an error of theirs says
	// nothing about whether a change was made.
	cutOff atomic.Bool

	// provisioning is the class of steps that run provisioners.
	provisioning dag.Class

	mu    sync.Mutex
	state *states.State
}

func (w *walk) applying() bool {
	_, is := w.op.(*applier)
	return is
}

func (e *Engine) newApplier(prog *program, plan *plans.Plan, variables map[string]cty.Value, opts ApplyOptions) *applier {
	baseDir := opts.BaseDir
	if baseDir == "" {
		baseDir = "."
	}
	a := &applier{
		engine: e, plan: plan, rec: opts.Recorder, state: plan.Prior.Copy(),
		changes: make(map[string]*plans.Change, len(plan.Changes)), destroys: map[string]*dag.Node{}, gone: map[string]*dag.Node{}, deposed: map[*plans.Change]string{},
		estimates: applyEstimates(plan, e.opts.Durations),
	}
	for _, c := range plan.Changes {
		if c.Deposed == "" {
			a.changes[c.Addr.String()] = c
		}
	}
	a.walk = e.newWalk(prog, a, variables, lang.Functions(lang.FunctionOptions{BaseDir: baseDir, PlanTime: plan.Created}))
	a.walk.results = newFunctionResults(plan.Functions)
	a.provisioning = a.walk.sched.AddClass(cmp.Or(e.opts.Parallelism, DefaultParallelism))
	switch {
	case plan.Mode == plans.DestroyMode:
		a.walk.include = neededByProviders(prog)
		a.walk.tolerant = true
	case len(plan.Targets) > 0:
		a.walk.include = targetedObjects(prog, plan.Targets)
	}
	return a
}

// instance implements operation.
func (a *applier) instance(inst *instance) dag.Step {
	run := a.walk.providers[inst.object.provider]
	a.walk.sched.Depend(inst.node, run.node)
	change := a.changes[inst.name]
	switch {
	case inst.object.isEphemeral():
		return a.walk.ephemeralStep(inst, run)
	case inst.object.resource.Addr.Mode == addrs.Data:
		return a.dataStep(inst, run, change)
	case change == nil || change.Action == plans.NoOp || change.Action == plans.Delete:
		return a.keepStep(inst, run, change)
	}
	if obj := a.plan.Prior.Object(inst.addr); obj != nil && change.Action != plans.CreateThenDelete {
		// What this object needed and is destroyed now goes first.
		for _, dep := range obj.Dependencies {
			a.walk.sched.Depend(inst.node, a.gone[dep])
		}
	}
	a.walk.sched.Depend(inst.node, a.destroys[inst.name])
	return a.changeStep(inst, run, change)
}

// keepStep gives an unchanged instance its value.
func (a *applier) keepStep(inst *instance, run *providerRun, change *plans.Change) dag.Step {
	return dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) {
		obj := a.plan.Prior.Object(inst.addr)
		if obj == nil { // not part of this plan
			inst.value = cty.UnknownVal(inst.object.schema.Block.ImpliedType())
			return dag.Done()
		}
		if obj.Decoded() != nil {
			return nil, !a.walk.report(a.keep(inst, obj, change))
		}
		if run.failed {
			return dag.Done() // it is left alone, and so is what needs its value
		}
		return &dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
			_, diags := decodeObject(ctx, run.client, inst.addr, inst.object.schema, obj)
			if !diags.HasErrors() {
				diags = append(diags, a.keep(inst, obj, change)...)
			}
			return nil, !a.walk.report(diags.WithAddress(inst.name))
		}}, true
	}}
}

func (a *applier) keep(inst *instance, obj *states.Object, change *plans.Change) tfdiags.Diagnostics {
	inst.value = markObject(inst.object.schema, shown(change, obj.Decoded().Value), obj.Sensitive)
	if change == nil || change.Action == plans.Delete {
		return nil
	}
	if kept := withMeta(obj, change.Dependencies, change.CreateBeforeDestroy); kept != obj {
		a.setObject(change, kept)
	}
	return nil
}

// dataStep gives a data source its value: as read while planning, or read now.
func (a *applier) dataStep(inst *instance, run *providerRun, change *plans.Change) dag.Step {
	if change == nil {
		return dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) {
			obj := a.plan.Prior.Object(inst.addr)
			if obj == nil {
				return dag.Done()
			}
			val, err := decodeData(inst.object.schema, obj)
			if err != nil {
				return nil, !a.walk.report(tfdiags.FromError("Invalid data source state", err).WithAddress(inst.name))
			}
			inst.value = markObject(inst.object.schema, val, obj.Sensitive)
			return dag.Done()
		}}
	}
	return dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) {
		ev, diags := a.walk.evaluate(inst)
		if a.walk.report(diags) {
			return dag.Failed()
		}
		return &dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
			read := a.walk.readData
			if inst.object.isNested() {
				read = a.walk.readNested
			}
			obj, diags := read(ctx, inst, run, ev)
			if a.walk.report(diags) {
				return dag.Failed()
			}
			a.setObject(change, obj)
			return nil, !a.walk.report(inst.postconditions())
		}}, true
	}}
}

// estimate implements operation.
func (a *applier) estimate(o *object) time.Duration { return a.estimates[o.addr.String()] }

// applyEstimates estimates, by resource address, how long one instance's change takes.
func applyEstimates(plan *plans.Plan, durations *Durations) map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, c := range plan.Changes {
		var verbs []string
		switch c.Action {
		case plans.Create:
			verbs = []string{"create "}
		case plans.Update:
			verbs = []string{"update "}
		case plans.Read:
			verbs = []string{"data "}
		case plans.DeleteThenCreate, plans.CreateThenDelete:
			verbs = []string{"create ", "delete "}
		}
		var total time.Duration
		for _, verb := range verbs {
			total += durations.estimate(verb + c.Addr.Resource.Type)
		}
		if total > 0 {
			key := c.Addr.Config().String()
			out[key] = max(out[key], total)
		}
	}
	return out
}

// expanded implements operation.
func (a *applier) expanded(*moduleInst, *object, *instanceSet) {}

// expandedCall implements operation.
func (a *applier) expandedCall(*moduleInst, *object, []addrs.InstanceKey) {}

func (a *applier) setObject(change *plans.Change, obj *states.Object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state.SetObject(change.Addr, change.Provider, obj)
}

func (a *applier) setDeposed(change *plans.Change, key string, obj *states.Object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state.SetDeposed(change.Addr, key, change.Provider, obj)
}

// dropData drops what data sources answered, once what used it is destroyed.
func (a *applier) dropData() {
	if a.plan.Mode != plans.DestroyMode {
		return
	}
	for _, r := range a.state.Resources() {
		if r.Addr.Mode != addrs.Data {
			continue
		}
		for key := range r.Instances {
			addr := addrs.ResourceInstance{Module: r.Module, Resource: r.Addr, Key: key}
			targeted := func(t addrs.Target) bool { return t.Contains(addr) }
			if len(a.plan.Targets) == 0 || slices.ContainsFunc(a.plan.Targets, targeted) {
				a.state.SetObject(addr, r.Provider, nil)
			}
		}
	}
}

// recordOutputs puts root outputs into the state. Outputs that could not be
// evaluated keep their recorded value.
func (a *applier) recordOutputs(failed bool) {
	if a.plan.Mode == plans.DestroyMode {
		if !failed && len(a.plan.Targets) == 0 {
			a.state.Outputs = map[string]*states.Output{}
		}
		return
	}
	prog := a.walk.prog
	for name := range a.state.Outputs {
		if prog.root.outputs[name] == nil && len(a.plan.Targets) == 0 {
			delete(a.state.Outputs, name)
		}
	}
	for name, o := range prog.root.outputs {
		val := a.walk.root.slots[o.local].value
		if val == cty.NilVal || len(a.plan.LeftAlone)+len(a.plan.Awaited)+len(a.plan.Missing) > 0 && !a.plan.HasOutput(name) {
			continue
		}
		recordOutput(a.state, o, val)
	}
}

// recordOutput records the value of an output of the root module, if it has one.
// What is still unknown belongs to objects that were left out.
func recordOutput(state *states.State, o *object, val cty.Value) {
	plain, _ := val.UnmarkDeep()
	if plain.IsKnown() && plain.IsNull() {
		delete(state.Outputs, o.name)
		return
	}
	state.Outputs[o.name] = &states.Output{Value: cty.UnknownAsNull(plain), Sensitive: o.output.Sensitive}
}

// newDeposedKey returns a key for an object that is replaced: eight hexadecimal digits.
func newDeposedKey() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
