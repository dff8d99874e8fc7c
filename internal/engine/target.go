package engine

import (
	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// targeting restricts a plan to what -target names. The nil value restricts nothing.
type targeting struct {
	targets []addrs.Target
	// needed are the resources that targeted ones need, by configuration address,
	// or, when destroying, those that need them.
	needed map[string]bool
}

// includesRecorded tells whether a recorded instance takes part.
func (t *targeting) includesRecorded(addr addrs.ResourceInstance) bool {
	if t == nil {
		return true
	}
	for _, target := range t.targets {
		if target.Contains(addr) {
			return true
		}
	}
	return t.needed[addr.Config().String()]
}

// selectTargets works out what takes part in a plan with targets.
func (p *planner) selectTargets() tfdiags.Diagnostics {
	if len(p.opts.Targets) == 0 {
		return nil
	}
	t := &targeting{targets: p.opts.Targets, needed: map[string]bool{}}
	p.target = t
	prog := p.walk.prog
	selected := map[*object]bool{}
	for _, o := range prog.objects {
		if o.kind == kindResource && targetsObject(p.opts.Targets, o) {
			selected[o] = true
		}
	}
	if p.opts.Mode == plans.DestroyMode {
		t.addDependents(prog, selected)
		return targetWarning()
	}
	include := targetedObjects(prog, p.opts.Targets)
	for o := range include {
		if o.kind == kindResource && !selected[o] {
			t.needed[o.addr.String()] = true
		}
	}
	p.walk.include = include
	return targetWarning()
}

func targetWarning() tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Warning, "Resource targeting is in effect",
		"The plan was made with -target and may leave changes out that the configuration asks for. It is meant for exceptional situations, such as recovering from errors.")
}

// targetsObject tells whether any target may cover instances of a declared resource.
func targetsObject(targets []addrs.Target, o *object) bool {
	for _, target := range targets {
		if len(target.Module) > len(o.addr.Module) {
			continue
		}
		match := true
		for i, step := range target.Module {
			match = match && step.Name == o.addr.Module[i]
		}
		if !match {
			continue
		}
		if target.Resource == (addrs.Resource{}) || (len(target.Module) == len(o.addr.Module) && target.Resource == o.addr.Resource) {
			return true
		}
	}
	return false
}

func includeNeeds(o *object, include map[*object]bool) {
	work := []*object{o}
	for len(work) > 0 {
		next := work[len(work)-1]
		work = work[:len(work)-1]
		if include[next] {
			continue
		}
		include[next] = true
		next.needs(func(need *object) { work = append(work, need) })
	}
}

// outputIncluded tells whether an output needs resources, all of which take part.
func outputIncluded(o *object, include map[*object]bool) bool {
	needs := map[*object]bool{}
	includeNeeds(o, needs)
	found := false
	for need := range needs {
		if need.kind == kindResource {
			if !include[need] {
				return false
			}
			found = true
		}
	}
	return found
}

// addDependents adds every resource that needs a selected one.
func (t *targeting) addDependents(prog *program, selected map[*object]bool) {
	names := map[string]bool{}
	for o := range selected {
		names[o.addr.String()] = true
	}
	for _, o := range prog.objects {
		if o.kind != kindResource || selected[o] {
			continue
		}
		for _, need := range prog.dependencies(o) {
			if names[need] {
				t.needed[o.addr.String()] = true
			}
		}
	}
}
