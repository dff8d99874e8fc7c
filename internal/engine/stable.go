package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/lang"
)

// A value is stable in a plan if it is the same as in the engine's last plan of
// the same program. What is computed from stable values alone is stable itself,
// so that a round evaluates only what follows from a change.

// lastPlan is what the engine knows of its last plan.
type lastPlan struct {
	program   *program
	variables map[string]cty.Value
	// generation counts plans, so that what is remembered of an older one is told apart.
	generation uint64
}

// begins notes that a plan begins and tells it what the last one was.
func (e *Engine) begins(prog *program, variables map[string]cty.Value) lastPlan {
	last := e.last
	e.last = lastPlan{program: prog, variables: maps.Clone(variables), generation: last.generation + 1}
	return last
}

// isPure tells whether expressions give the same for the same references: whether
// they call no function that looks at the time, at chance or at files. Only
// native syntax can be looked through.
func isPure(exprs ...hcl.Expression) bool {
	for _, expr := range exprs {
		if expr == nil {
			continue
		}
		node, native := expr.(hclsyntax.Node)
		if !native || !pureNode(node) {
			return false
		}
	}
	return true
}

// isPureBody is [isPure] for all expressions in a body.
func isPureBody(body hcl.Body) bool {
	native, ok := body.(*hclsyntax.Body)
	return ok && pureNode(native)
}

func pureNode(node hclsyntax.Node) bool {
	pure := true
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics { // it returns what this function does
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok && lang.Impure(strings.TrimPrefix(call.Name, "core::")) {
			pure = false
		}
		return nil
	})
	return pure
}

// purity computes, once for a program, whether an object's expressions are pure.
func (o *object) purity() bool {
	switch o.kind {
	case kindVariable:
		return o.argument == nil || isPure(o.argument.Expr)
	case kindLocal:
		return isPure(o.localVal.Expr)
	case kindOutput:
		return isPure(o.output.Expr)
	case kindCall:
		return isPure(o.callDecl.Count, o.callDecl.ForEach)
	case kindResource:
		return isPure(o.resource.Count, o.resource.ForEach) && isPureBody(o.resource.Config)
	default:
		return false
	}
}

// repeats tells whether a program gives the same for the same variables, record and
// answers of providers, so that a plan of it can be replayed.
func (p *program) repeats() bool {
	return !p.opens && len(p.callers) == 0 && !slices.ContainsFunc(p.objects, func(o *object) bool { return !o.repeats() })
}

func (o *object) repeats() bool {
	switch o.kind {
	case kindVariable:
		return o.pure && pureRules(o.variable.Validations)
	case kindOutput:
		return o.pure && pureRules(o.output.Preconditions)
	case kindProvider:
		return o.providerDecl == nil || isPureBody(o.providerDecl.Config)
	case kindImport:
		return isPure(o.importDecl.ID, o.importDecl.ForEach)
	case kindCheck:
		return pureRules(o.check.Asserts)
	case kindList:
		return isPure(o.list.Count, o.list.ForEach, o.list.IncludeResource, o.list.Limit) && isPureBody(o.list.Config)
	default:
		return o.pure
	}
}

func pureRules(rules []*configs.CheckRule) bool {
	return !slices.ContainsFunc(rules, func(r *configs.CheckRule) bool { return !isPure(r.Condition, r.ErrorMessage) })
}

// stays marks a variable, local or output as stable if all it is computed from is.
func (mi *moduleInst) stays(o *object) {
	last := mi.walk.last
	if last.program != mi.walk.prog || !o.pure {
		return
	}
	s := &mi.slots[o.local]
	if o.kind != kindVariable {
		s.stable = mi.stable(o.refs, repetition{})
		return
	}
	if mi.parent != nil {
		s.stable = mi.parent.stable(o.refs, mi.repeat)
		return
	}
	before, hadBefore := last.variables[o.name]
	now, hasNow := mi.walk.variables[o.name]
	s.stable = hadBefore == hasNow && (!hasNow || before.RawEquals(now))
}

// sameExpansion tells whether a resource or a module call has the same instances
// as in the last plan.
func (mi *moduleInst) sameExpansion(o *object) bool {
	return mi.walk.last.program == mi.walk.prog && o.pure && mi.stable(o.repeatRefs, repetition{})
}

// stable tells whether all references are to stable values. repeat is what count
// and each stand for.
func (mi *moduleInst) stable(refs []ref, repeat repetition) bool {
	for _, r := range refs {
		if !mi.stableRef(r, repeat) {
			return false
		}
	}
	return true
}

func (mi *moduleInst) stableRef(r ref, repeat repetition) bool {
	switch r.Kind {
	case lang.RefVariable, lang.RefLocal:
		return mi.slots[r.target.local].stable
	case lang.RefModule:
		return mi.stableOutputs(r)
	case lang.RefResource:
		s := &mi.slots[r.target.local]
		if one := s.single(r, repeat); one != nil {
			return one.stable
		}
		return s.instances.wholeStable()
	case lang.RefCount, lang.RefPath, lang.RefTerraform:
		return true
	case lang.RefEach:
		return repeat.stable
	default:
		return false
	}
}

// wholeStable tells whether there are the same instances with the same values.
// It is asked only when all of them have ended.
func (s *instanceSet) wholeStable() bool {
	if s == nil {
		return false
	}
	s.onceStable.Do(func() {
		s.allStable = s.stable
		for _, inst := range s.byKey {
			s.allStable = s.allStable && inst.stable
		}
	})
	return s.allStable
}

// stableOutputs tells whether what a reference to a module call means is the same.
func (mi *moduleInst) stableOutputs(r ref) bool {
	set := mi.slots[r.target.local].children
	if set == nil || !set.stable {
		return false
	}
	stable := true
	for _, child := range set.byKey {
		r.eachOutput(func(o *object) { stable = stable && child.slots[o.local].stable })
	}
	return stable
}

// remembered returns an instance's configuration from the last plan if nothing
// that it is computed from has changed since.
func (p *planner) remembered(inst *instance, memo *planMemo) (evaluated, bool) {
	o := inst.object
	if memo == nil || !p.walk.follows(memo.generation) || !o.pure || len(o.provisioners) > 0 || len(o.resource.Lifecycle.Preconditions) > 0 {
		return evaluated{}, false
	}
	if !inst.mi.stable(o.refs, inst.repeat) {
		return evaluated{}, false
	}
	return evaluated{config: memo.written, written: memo.written, sensitive: memo.sensitive}, true
}

// follows tells whether something was remembered by the plan before this one, of
// the same program.
func (w *walk) follows(generation uint64) bool {
	return w.last.program == w.prog && generation == w.last.generation
}

// memoOf returns what is remembered of an instance, or nil.
func (e *Engine) memoOf(name string) *planMemo {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.memo[name]
}

// noteAnswer remembers what a data source answered, and whether it is the same as the last time.
func (p *planner) noteAnswer(inst *instance) {
	p.engine.mu.Lock()
	defer p.engine.mu.Unlock()
	memo := p.engine.memo[inst.name]
	if memo == nil || !memo.value.RawEquals(inst.value) {
		p.engine.memo[inst.name] = &planMemo{value: inst.value, generation: p.generation}
		return
	}
	inst.stable = p.walk.follows(memo.generation)
	memo.generation = p.generation
}
