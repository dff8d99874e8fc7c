package engine

import (
	"cmp"
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// classCompute is the scheduler class of steps that only evaluate. Each provider
// configuration has a class of its own for its calls.
const classCompute dag.Class = 0

// operation is what a walk does with the things it meets. The walk itself only
// expands modules and resources and evaluates variables, locals and outputs.
type operation interface {
	// instance adds the work of one declared resource instance: it returns the
	// step of its node and may add edges to inst.node, which is held.
	instance(inst *instance) dag.Step
	// estimate is how long the work of a resource's instances takes, one after the other.
	estimate(o *object) time.Duration
	// expanded is told the instances of a resource in one module instance, from
	// the step that found them, before any of them starts.
	expanded(mi *moduleInst, o *object, set *instanceSet)
	// expandedCall is told the instances of a module call.
	expandedCall(mi *moduleInst, o *object, keys []addrs.InstanceKey)
}

// walk is one pass over a program.
type walk struct {
	engine *Engine
	prog   *program
	op     operation
	sched  *dag.Scheduler
	root   *moduleInst

	variables map[string]cty.Value
	functions map[string]function.Function
	// moduleFunctions are functions together with those of providers, for modules
	// that call any. They do not change while the walk runs.
	moduleFunctions map[*moduleProgram]map[string]function.Function
	// results tells whether functions of providers give what they gave before.
	results *functionResults
	// ctx is that of the run, for calls in the middle of an evaluation.
	ctx       context.Context //nolint:containedctx // functions of the language library are called without one
	workspace string
	// last is the plan before this one; the zero value if there is nothing to compare with.
	last lastPlan
	// answers are those that a replay got just before.
	answers answers
	// include limits the walk to some objects; nil means all.
	include map[*object]bool
	// tolerant makes failing conditions no obstacle, as when destroying.
	tolerant bool
	// unseen tells that blocks without instances were passed over.
	unseen atomic.Bool

	providers map[*object]*providerRun
	// priorities are the longest remaining paths by object id, see setPriorities.
	priorities []int

	ephemerals ephemeralObjects

	// settled ends when everything but checks has; nil if no check looks at it.
	settled *dag.Node

	// checks are the outcomes of conditions.
	checks *checkLog

	mu    sync.Mutex
	diags tfdiags.Diagnostics
}

// moduleInst is one instance of a module during a walk.
type moduleInst struct {
	walk   *walk
	prog   *moduleProgram
	parent *moduleInst
	path   addrs.ModuleInstance
	repeat repetition
	slots  []slot // by the object's local index
}

// slot holds what a walk knows of one object in one module instance. Fields are
// written by the object's node before it ends and read by nodes that wait for it.
type slot struct {
	// node evaluates a variable, local or output, or expands a resource or call.
	node  *dag.Node
	value cty.Value
	// stable tells that value is the same as in the last plan.
	stable bool

	// Resources: gate ends when all instances have ended.
	instances *instanceSet
	gate      *dag.Node
	// ready is instances once all have their nodes, for what does not wait for
	// the expansion: the variables of module instances made meanwhile.
	ready atomic.Pointer[instanceSet]

	// Calls: outputGates end when all instances of one output have ended, inside
	// when everything in all instances of the module has.
	children    *childSet
	outputGates map[*object]*dag.Node
	inside      *dag.Node
}

// instanceSet is the expansion of a resource in one module instance.
type instanceSet struct {
	mode  repeatMode
	keys  []addrs.InstanceKey
	byKey map[addrs.InstanceKey]*instance
	// stable tells that keys and each.value are the same as in the last plan.
	stable bool

	once  sync.Once
	whole cty.Value

	onceStable sync.Once
	allStable  bool
}

// childSet is the expansion of a module call in one module instance.
type childSet struct {
	mode  repeatMode
	keys  []addrs.InstanceKey
	byKey map[addrs.InstanceKey]*moduleInst
	// stable tells that keys and each.value are the same as in the last plan.
	stable bool
}

// instance is one resource instance during a walk.
type instance struct {
	mi     *moduleInst
	object *object
	addr   addrs.ResourceInstance
	name   string // addr as text
	repeat repetition
	node   *dag.Node
	// value is what references to the instance see, with marks.
	value cty.Value
	// stable tells that value is the same as in the last plan.
	stable bool
	// failures are why the data block of a check block could not be read.
	failures []outcome
}

func (e *Engine) newWalk(prog *program, op operation, variables map[string]cty.Value, functions map[string]function.Function) *walk {
	w := &walk{
		engine: e, prog: prog, op: op, variables: variables, functions: functions, workspace: cmp.Or(e.opts.Workspace, "default"),
		sched:     dag.New(runtime.GOMAXPROCS(0)),
		providers: map[*object]*providerRun{}, checks: newCheckLog(prog), results: newFunctionResults(plans.FunctionResults{}),
	}
	for _, m := range prog.callers {
		w.addFunctions(m, m.functions)
	}
	return w
}

// priority is the length of the longest path from an object on, itself included,
// in units of [cost].
func (w *walk) priority(o *object) int {
	if o.id < len(w.priorities) && w.prog.objects[o.id] == o {
		return w.priorities[o.id]
	}
	return 0 // a provider that only recorded objects need
}

// cost is a duration as a priority.
func cost(d time.Duration) int { return int(d.Microseconds()) }

// prepare makes the nodes of all provider configurations and of the root module.
func (w *walk) prepare() {
	w.priorities = w.prog.longestPaths(w.op.estimate)
	for _, o := range w.prog.providers {
		if w.included(o) {
			w.providers[o] = w.newProviderRun(o)
		}
	}
	w.addSettled()
	w.root = w.newModuleInst(w.prog.root, nil, nil, repetition{})
}

// run executes the walk and returns its problems.
func (w *walk) run(ctx context.Context) tfdiags.Diagnostics {
	w.ctx = ctx
	w.joinSettled()
	stuck := w.sched.Run(ctx)
	w.closeEphemerals(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil {
		return append(w.diags, tfdiags.New(tfdiags.Error, "Operation interrupted",
			"The operation was stopped before its end. What was under way has been waited for and recorded; the rest was not begun.")...)
	}
	if len(stuck) > 0 && !w.diags.HasErrors() {
		var names []string
		for _, n := range stuck {
			if n.Label != nil {
				names = append(names, n.Label())
			}
		}
		w.diags = append(w.diags, tfdiags.New(tfdiags.Error, "Cycle: "+strings.Join(names, ", "),
			"Each of these waits for another of them. Break the cycle by removing one of the references.")...)
	}
	return w.diags
}

func (w *walk) included(o *object) bool { return w.include == nil || w.include[o] }

// report keeps problems and tells whether any is an error.
func (w *walk) report(diags tfdiags.Diagnostics) (failed bool) {
	if len(diags) == 0 {
		return false
	}
	w.mu.Lock()
	w.diags = append(w.diags, diags...)
	w.mu.Unlock()
	return diags.HasErrors()
}

// newModuleInst makes a module instance with a node for each of its objects and releases them.
func (w *walk) newModuleInst(prog *moduleProgram, parent *moduleInst, path addrs.ModuleInstance, repeat repetition) *moduleInst {
	mi := &moduleInst{walk: w, prog: prog, parent: parent, path: path, repeat: repeat, slots: make([]slot, len(prog.objects))}
	for _, o := range prog.objects {
		if w.included(o) {
			mi.addNodes(o)
		}
	}
	var release []*dag.Node
	for _, o := range prog.objects {
		if w.included(o) {
			release = append(release, mi.addEdges(o)...)
			if o.isEphemeral() {
				release = append(release, mi.addClosing(o))
			}
		}
	}
	w.sched.Release(release...)
	return mi
}

// expandResource finds a resource's instances and adds their nodes.
func (mi *moduleInst) expandResource(o *object) tfdiags.Diagnostics {
	w, s := mi.walk, &mi.slots[o.local]
	keys, mode, repeats, diags := mi.repetitions(o.resource.Count, o.resource.ForEach, o.repeatRefs)
	if diags.HasErrors() {
		return diags
	}
	set := &instanceSet{mode: mode, keys: keys, byKey: make(map[addrs.InstanceKey]*instance, len(keys)), stable: mi.sameExpansion(o)}
	s.instances = set
	nodes := make([]*dag.Node, 0, len(keys))
	for i, key := range keys {
		repeat := repeats(i)
		repeat.stable = set.stable
		inst := &instance{mi: mi, object: o, repeat: repeat,
			addr: addrs.ResourceInstance{Module: mi.path, Resource: o.resource.Addr, Key: key}}
		inst.name = inst.addr.String()
		set.byKey[key] = inst
	}
	after := o.after
	if o.resource.Addr.Mode == addrs.Data { // a change of any instance matters to it
		after = append(managedAmong(o.refs), after...)
	}
	for _, key := range keys {
		inst := set.byKey[key]
		inst.node = w.sched.Hold(w.priority(o), func() string { return inst.name }, dag.Step{})
		mi.wait(inst.node, o.refs, inst.repeat)
		mi.waitAfter(inst.node, after)
		if o.isNested() {
			w.sched.Depend(inst.node, w.settled)
		}
		inst.node.SetStep(w.op.instance(inst))
		nodes = append(nodes, inst.node)
	}
	s.ready.Store(set)
	w.checks.expand(o, mi, keys)
	w.op.expanded(mi, o, set)
	w.sched.DependAll(s.gate, nodes)
	w.sched.Release(nodes...)
	return diags
}

// expandCall finds a module call's instances and makes them.
func (mi *moduleInst) expandCall(o *object) tfdiags.Diagnostics {
	w, s := mi.walk, &mi.slots[o.local]
	keys, mode, repeats, diags := mi.repetitions(o.callDecl.Count, o.callDecl.ForEach, o.repeatRefs)
	if diags.HasErrors() {
		return diags
	}
	set := &childSet{mode: mode, keys: keys, byKey: make(map[addrs.InstanceKey]*moduleInst, len(keys)), stable: mi.sameExpansion(o)}
	for i, key := range keys {
		repeat := repeats(i)
		repeat.stable = set.stable
		child := w.newModuleInst(o.child, mi, mi.path.Child(o.name, key), repeat)
		set.byKey[key] = child
		for output, gate := range s.outputGates {
			w.sched.Depend(gate, child.slots[output.local].node)
		}
		child.eachNode(func(n *dag.Node) { w.sched.Depend(s.inside, n) })
	}
	s.children = set
	w.op.expandedCall(mi, o, keys)
	return diags
}

// eachNode yields nodes that together end after everything in the module instance
// but its checks, which change nothing and look at everything, and its listings.
func (mi *moduleInst) eachNode(yield func(*dag.Node)) {
	for _, o := range mi.prog.objects {
		s := &mi.slots[o.local]
		switch o.kind {
		case kindResource:
			if !o.isNested() {
				yield(s.gate)
			}
		case kindCall:
			yield(s.inside)
		case kindProvider, kindCheck, kindList:
		default:
			yield(s.node)
		}
	}
}
