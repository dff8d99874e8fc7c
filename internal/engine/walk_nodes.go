package engine

import (
	"context"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// addNodes makes the nodes of one object.
func (mi *moduleInst) addNodes(o *object) {
	w, s := mi.walk, &mi.slots[o.local]
	label := func() string { return o.String() }
	switch o.kind {
	case kindVariable:
		s.node = w.sched.Hold(w.priority(o), label, mi.objectStep(o, mi.evalVariable))
	case kindLocal:
		s.node = w.sched.Hold(w.priority(o), label, mi.objectStep(o, mi.evalLocal))
	case kindOutput:
		s.node = w.sched.Hold(w.priority(o), label, mi.objectStep(o, mi.evalOutput))
	case kindCheck:
		w.checks.expand(o, mi, []addrs.InstanceKey{addrs.NoKey})
		s.node = w.sched.Hold(w.priority(o), label, mi.objectStep(o, mi.evalCheck))
	case kindList:
		s.node = w.sched.Hold(w.priority(o), label, mi.listStep(o))
	case kindImport:
		s.node = w.sched.Hold(w.priority(o), label, mi.objectStep(o, mi.evalImport))
	case kindResource:
		s.node = w.sched.Hold(w.priority(o)+1, label, mi.objectStep(o, mi.expandResource))
		s.gate = w.sched.Hold(w.priority(o), label, gateStep)
	case kindCall:
		s.node = w.sched.Hold(w.priority(o)+1, label, mi.objectStep(o, mi.expandCall))
		s.inside = w.sched.Hold(w.priority(o), label, gateStep)
		s.outputGates = make(map[*object]*dag.Node, len(o.usedOutputs))
		for _, output := range o.usedOutputs {
			s.outputGates[output] = w.sched.Hold(w.priority(output), label, gateStep)
		}
	}
}

// gateStep is the step of nodes that only join others.
var gateStep = dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) { return dag.Done() }}

// objectStep is the step that works an object out. One that is known to be wrong
// fails, and nothing that needs it begins.
func (mi *moduleInst) objectStep(o *object, f func(*object) tfdiags.Diagnostics) dag.Step {
	if o.broken {
		return failedStep
	}
	return mi.computeStep(func() tfdiags.Diagnostics { return f(o) })
}

// failedStep is the step of nodes that cannot do anything.
var failedStep = dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) { return dag.Failed() }}

// computeStep wraps an evaluation that reports its problems.
func (mi *moduleInst) computeStep(f func() tfdiags.Diagnostics) dag.Step {
	return dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) {
		return nil, !mi.walk.report(f())
	}}
}

// addEdges makes an object's nodes wait for what the object needs and returns the nodes to release.
func (mi *moduleInst) addEdges(o *object) []*dag.Node {
	w, s := mi.walk, &mi.slots[o.local]
	switch o.kind {
	case kindVariable:
		if mi.parent != nil {
			mi.parent.wait(s.node, o.refs, mi.repeat)
		}
		mi.waitForRules(o, s.node)
	case kindLocal, kindOutput, kindCheck:
		mi.wait(s.node, o.refs, repetition{})
		mi.waitAfter(s.node, o.after)
	case kindResource:
		mi.wait(s.node, o.repeatRefs, repetition{})
		// An instance waits for single instances of other resources, which must
		// be known when it is made.
		for _, r := range o.refs {
			if r.target != nil && r.target.kind == kindResource && r.Key != 0 {
				w.sched.Depend(s.node, mi.slots[r.target.local].node)
			}
		}
		w.sched.Depend(s.gate, s.node)
		return []*dag.Node{s.node, s.gate}
	case kindCall:
		mi.wait(s.node, o.repeatRefs, repetition{})
		mi.waitAfter(s.node, o.after)
		w.sched.Depend(s.inside, s.node)
		release := []*dag.Node{s.node, s.inside}
		for _, gate := range s.outputGates {
			w.sched.Depend(gate, s.node)
			release = append(release, gate)
		}
		return release
	case kindImport:
		mi.wait(s.node, o.refs, repetition{})
		mi.wait(s.node, o.repeatRefs, repetition{})
	case kindList:
		mi.wait(s.node, o.refs, repetition{})
		mi.wait(s.node, o.repeatRefs, repetition{})
		if run := w.providers[o.provider]; run != nil && !o.broken {
			w.sched.Depend(s.node, run.node)
		}
	case kindProvider:
		run := w.providers[o]
		mi.wait(run.node, o.refs, repetition{})
		run.mi = mi
		return []*dag.Node{run.node}
	}
	return []*dag.Node{s.node}
}

// waitForRules makes a variable wait for what its validation rules compare it with.
func (mi *moduleInst) waitForRules(o *object, node *dag.Node) {
	for _, r := range o.ruleRefs {
		if r.target != o {
			mi.wait(node, []ref{r}, repetition{})
		}
	}
}

// wait makes node wait for what references need. For a reference to an instance
// that does not exist it waits for the whole resource, so that evaluation can say so.
func (mi *moduleInst) wait(node *dag.Node, refs []ref, repeat repetition) {
	for _, r := range refs {
		if r.target == nil || !mi.walk.included(r.target) {
			continue
		}
		s := &mi.slots[r.target.local]
		switch r.target.kind {
		case kindResource:
			if inst := s.single(r, repeat); inst != nil {
				mi.walk.sched.Depend(node, inst.node)
			} else {
				mi.walk.sched.Depend(node, s.gate)
			}
		case kindCall:
			mi.walk.sched.Depend(node, s.node)
			r.eachOutput(func(output *object) { mi.walk.sched.Depend(node, s.outputGates[output]) })
		default:
			mi.walk.sched.Depend(node, s.node)
		}
	}
}

// waitAfter makes node wait for everything that depends_on names.
func (mi *moduleInst) waitAfter(node *dag.Node, after []ref) {
	for _, r := range after {
		if r.target == nil || !mi.walk.included(r.target) {
			continue
		}
		s := &mi.slots[r.target.local]
		switch r.target.kind {
		case kindResource:
			mi.walk.sched.Depend(node, s.gate)
		case kindCall:
			mi.walk.sched.Depend(node, s.inside)
		default:
			mi.walk.sched.Depend(node, s.node)
		}
	}
}

// single returns the one instance that a reference means, if the expression says
// which and the instance exists.
func (s *slot) single(r ref, repeat repetition) *instance {
	set := s.ready.Load()
	if r.Key == 0 || set == nil {
		return nil
	}
	return set.byKey[r.instanceKey(repeat)]
}
