package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// untargetedMoves refuses a plan that takes only one end of a move in.
func (p *planner) untargetedMoves() tfdiags.Diagnostics {
	if p.target == nil {
		return nil
	}
	var missing []string
	for _, to := range sortedNames(p.relocation.previous) {
		now, _ := addrs.ParseResourceInstance(to)
		for _, end := range []addrs.ResourceInstance{p.relocation.previous[to], now} {
			covers := func(target addrs.Target) bool { return target.Contains(end) }
			if !slices.ContainsFunc(p.opts.Targets, covers) {
				missing = append(missing, fmt.Sprintf("-target=%q", end.String()))
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return tfdiags.New(tfdiags.Error, "Moved resource instances excluded by targeting",
		fmt.Sprintf("Objects have moved to new addresses, and the targets cover one of the two addresses only. A move must be planned as a whole: plan without targets, or add %s.", strings.Join(missing, " ")))
}

// noteMoves adds what moved to the drift of a refresh-only plan, which has no
// other place for it.
func (p *planner) noteMoves() {
	if p.opts.Mode != plans.RefreshOnlyMode || len(p.relocation.previous) == 0 {
		return
	}
	drifted := map[string]bool{}
	for _, c := range p.drift {
		drifted[c.Addr.String()] = true
	}
	for _, read := range p.reads {
		if !p.hasMoved(read.addr) || drifted[read.addr.String()] || read.schema == nil || read.now == nil {
			continue
		}
		val := read.now.Decoded().Value
		sensitive := allSensitive(read.schema, val, read.now.Sensitive)
		p.drift = append(p.drift, &plans.Change{
			Addr: read.addr, PrevAddr: p.previousAddr(read.addr), Provider: read.run.object.providerAddr, Action: plans.NoOp,
			Before: val, After: val, BeforeSensitive: sensitive, AfterSensitive: sensitive, SchemaVersion: read.schema.Version,
		})
	}
}

// hasMoved tells whether an instance is recorded at another address.
func (p *planner) hasMoved(addr addrs.ResourceInstance) bool {
	_, ok := p.relocation.previous[addr.String()]
	return ok
}

// lostBecause says why a recorded object has no declaration.
func (p *planner) lostBecause(addr addrs.ResourceInstance) plans.Reason {
	if p.hasMoved(addr) {
		return plans.DeleteBecauseNoMoveTarget
	}
	return plans.DeleteBecauseNoResource
}

// staleMoves refuses moves away from what is still declared.
func (p *planner) staleMoves() tfdiags.Diagnostics {
	if p.walk.root == nil {
		return nil
	}
	var diags tfdiags.Diagnostics
	for _, m := range p.relocation.declared {
		addr, at, found := p.walk.root.declares(m.from)
		if !found {
			continue
		}
		diags = append(diags, tfdiags.At(m.at, "Moved object still exists",
			fmt.Sprintf("This block moves %s to %s, but %s is still declared at %s. Rename the declaration as well, or remove the block.", m.from.text, m.to.text, addr, at))...)
	}
	return diags
}

// declares finds an object of the configuration that a pattern names, below a
// module instance.
func (mi *moduleInst) declares(e moveEnd) (addr string, at hcl.Range, found bool) {
	depth := len(mi.path)
	if depth == len(e.modules) {
		return mi.declaresResource(e)
	}
	step := e.modules[depth]
	call := mi.prog.calls[step.name]
	if call == nil {
		return "", hcl.Range{}, false
	}
	children := mi.slots[call.local].children
	last := e.isModule() && depth == len(e.modules)-1
	if last && step.any {
		return mi.path.Child(step.name, addrs.NoKey).String(), call.callDecl.Range, true
	}
	if children == nil {
		return "", hcl.Range{}, false
	}
	for _, key := range children.keys {
		if !step.any && step.key != key {
			continue
		}
		if last {
			return children.byKey[key].path.String(), call.callDecl.Range, true
		}
		if addr, at, found = children.byKey[key].declares(e); found {
			return addr, at, true
		}
	}
	return "", hcl.Range{}, false
}

func (mi *moduleInst) declaresResource(e moveEnd) (string, hcl.Range, bool) {
	o := mi.prog.resources[e.resource]
	if o == nil {
		return "", hcl.Range{}, false
	}
	addr := addrs.ResourceInstance{Module: mi.path, Resource: e.resource, Key: e.key}
	set := mi.slots[o.local].instances
	found := e.anyKey || (set != nil && set.byKey[e.key] != nil)
	return addr.String(), o.resource.Range, found
}
