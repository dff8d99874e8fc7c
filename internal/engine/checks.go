package engine

import (
	"slices"
	"sync"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// checkLog collects the outcomes of conditions during a walk. It is safe for
// concurrent use.
type checkLog struct {
	mu      sync.Mutex
	entries map[*object]*checkEntry
}

// checkEntry is what is known of one object with conditions.
type checkEntry struct {
	rules int // conditions of each instance
	// expanded tells that all instances in some module instance are known.
	expanded bool
	objects  map[string]*checkedInstance
}

type checkedInstance struct {
	states.CheckObject

	evaluated int
}

// outcome is the result of one condition.
type outcome struct {
	status  states.CheckStatus
	message string // why it fails
}

func newCheckLog(prog *program) *checkLog {
	l := &checkLog{entries: map[*object]*checkEntry{}}
	for _, o := range prog.objects {
		if n := o.conditions(); n > 0 {
			l.entries[o] = &checkEntry{rules: n, objects: map[string]*checkedInstance{}}
		}
	}
	return l
}

// conditions returns the number of an object's conditions.
func (o *object) conditions() int {
	switch o.kind {
	case kindResource:
		return len(o.resource.Lifecycle.Preconditions) + len(o.resource.Lifecycle.Postconditions)
	case kindOutput:
		return len(o.output.Preconditions)
	case kindVariable:
		return len(o.variable.Validations)
	case kindCheck:
		return len(o.check.Asserts)
	default:
		return 0
	}
}

// expand enters a resource's instances.
func (l *checkLog) expand(o *object, mi *moduleInst, keys []addrs.InstanceKey) {
	entry := l.entries[o]
	if entry == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	entry.expanded = true
	for _, key := range keys {
		entry.instance(mi.path, key)
	}
}

func (e *checkEntry) instance(module addrs.ModuleInstance, key addrs.InstanceKey) *checkedInstance {
	id := module.String() + "|" + key.String()
	c := e.objects[id]
	if c == nil {
		c = &checkedInstance{CheckObject: states.CheckObject{Module: module, Key: key, Status: states.CheckPass}}
		e.objects[id] = c
	}
	return c
}

// note enters the outcomes of an instance's conditions.
func (l *checkLog) note(o *object, mi *moduleInst, key addrs.InstanceKey, outcomes []outcome) {
	entry := l.entries[o]
	if entry == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := entry.instance(mi.path, key)
	for _, out := range outcomes {
		c.evaluated++
		c.Status = c.Status.Worse(out.status)
		if out.message != "" {
			c.Messages = append(c.Messages, out.message)
		}
	}
}

// outcomes are the results of all conditions after a walk that makes a plan or
// applies it. Where everything is destroyed they are unknown, whatever was evaluated
// for it, and only outputs of the root module are still known by name.
func (w *walk) outcomes(plan *plans.Plan) []states.CheckResult {
	if plan.Mode != plans.DestroyMode {
		return w.checks.results(plan.Checks)
	}
	l := newCheckLog(w.prog)
	for o, entry := range l.entries {
		if o.kind == kindOutput && o.mod == w.prog.root && len(plan.Targets) == 0 {
			entry.instance(nil, addrs.NoKey)
		}
	}
	return l.results(nil)
}

// results returns all outcomes, ordered. What was not evaluated counts as in
// earlier, or as unknown, as a check always does: it says how things are now.
func (l *checkLog) results(earlier []states.CheckResult) []states.CheckResult {
	known := map[string]states.CheckStatus{}
	for i := range earlier {
		for j := range earlier[i].Objects {
			known[earlier[i].ObjectAddr(&earlier[i].Objects[j])] = earlier[i].Objects[j].Status
		}
	}
	out := make([]states.CheckResult, 0, len(l.entries))
	for o, entry := range l.entries {
		r := o.checkResult()
		r.Status = states.CheckUnknown
		if entry.expanded || len(entry.objects) > 0 {
			r.Status = states.CheckPass
		}
		for _, c := range entry.objects {
			if before, ok := known[r.ObjectAddr(&c.CheckObject)]; ok && c.evaluated == 0 && o.kind != kindCheck {
				c.Status = before
			} else if c.evaluated < entry.rules {
				c.Status = c.Status.Worse(states.CheckUnknown)
			}
			slices.Sort(c.Messages)
			r.Status = r.Status.Worse(c.Status)
			r.Objects = append(r.Objects, c.CheckObject)
		}
		out = append(out, r)
	}
	states.SortChecks(out)
	return out
}

// checkResult names an object with conditions.
func (o *object) checkResult() states.CheckResult {
	out := states.CheckResult{Module: o.mod.config.Path, Name: o.name}
	switch o.kind {
	case kindResource:
		out.Kind, out.Resource, out.Name = states.CheckResource, o.addr.Resource, ""
	case kindOutput:
		out.Kind = states.CheckOutput
	case kindCheck:
		out.Kind = states.CheckBlock
	default:
		out.Kind = states.CheckVariable
	}
	return out
}
