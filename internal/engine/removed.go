package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// removal is a removed block with its address from the root on.
type removal struct {
	module addrs.Module
	// resource is the zero value if the block speaks of a whole module.
	resource     addrs.Resource
	decl         *configs.Removed
	provisioners []provisioner
}

// String names what the block speaks of.
func (r removal) String() string {
	if r.resource == (addrs.Resource{}) {
		return r.module.String()
	}
	return addrs.ConfigResource{Module: r.module, Resource: r.resource}.String()
}

// covers tells whether the block speaks of a resource.
func (r removal) covers(addr addrs.ConfigResource) bool {
	if r.resource != (addrs.Resource{}) {
		return r.resource == addr.Resource && r.module.Equal(addr.Module)
	}
	return len(addr.Module) >= len(r.module) && r.module.Equal(addr.Module[:len(r.module)])
}

// removals collects the removed blocks of a module and of those below it.
func (c *compiler) removals(m *moduleProgram) []removal {
	var out []removal
	for _, decl := range m.config.Module.Removed {
		r := removal{module: slices.Clone(m.config.Path), resource: decl.From.Resource, decl: decl}
		r.module = append(r.module, decl.From.Module.Module()...)
		r.provisioners = c.compileProvisioners(m, nil, decl.Provisioners)
		out = append(out, r)
	}
	for _, name := range sortedNames(m.children) {
		out = append(out, c.removals(m.children[name])...)
	}
	return out
}

// staleRemovals refuses removed blocks of what is still declared.
func (p *planner) staleRemovals() tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, r := range p.walk.prog.removals {
		what, declared := "module", p.walk.prog.root.config.Descendent(r.module)
		exists := declared != nil
		if r.resource != (addrs.Resource{}) {
			what, exists = "resource", declared != nil && declared.Module.Resources[r.resource] != nil
		}
		if exists {
			diags = append(diags, tfdiags.At(r.decl.Range, "Removed "+what+" still exists",
				fmt.Sprintf("This block says that %s was removed, but it is still declared. Remove the declaration as well, or remove this block.", r))...)
		}
	}
	return diags
}

// forgets tells whether an undeclared object is to be left alone and only
// dropped from the state.
func (p *planner) forgets(addr addrs.ResourceInstance) bool {
	for _, r := range p.walk.prog.removals {
		if r.covers(addr.Config()) && !r.decl.Destroy {
			return true
		}
	}
	return false
}

// addForget adds the plan to forget an instance's objects. They are not read:
// what became of them does not matter any more.
func (p *planner) addForget(addr addrs.ResourceInstance, r *states.Resource, inst *states.Instance) []*dag.Node {
	run, diags, release := p.providerFor(r, nil)
	if p.walk.report(diags) {
		return release
	}
	objects := map[string]*states.Object{}
	for key, obj := range inst.Deposed {
		objects[key] = obj
	}
	if inst.Current != nil {
		objects[""] = inst.Current
	}
	for key, obj := range objects {
		read := &objectRead{run: run, addr: addr, was: obj, deposed: key, unread: true}
		node := p.walk.sched.Hold(0, func() string { return addr.String() + " (forget)" }, dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
			if p.walk.report(p.read(ctx, read).WithAddress(addr.String())) {
				return dag.Failed()
			}
			p.planForget(read)
			return dag.Done()
		}})
		p.walk.sched.Depend(node, run.node)
		release = append(release, node)
	}
	return release
}

func (p *planner) planForget(read *objectRead) {
	before := read.now.Decoded().Value
	p.addChange(&plans.Change{
		Addr: read.addr, PrevAddr: p.previousAddr(read.addr), Deposed: read.deposed, Provider: read.run.object.providerAddr,
		Action: plans.Forget, Reason: p.lostBecause(read.addr),
		Before: before, After: cty.NullVal(before.Type()), SchemaVersion: read.schema.Version,
		BeforeSensitive: allSensitive(read.schema, before, read.now.Sensitive),
	})
}

// forgetWarning names the objects that will not be managed any more.
func forgetWarning(changes []*plans.Change) tfdiags.Diagnostics {
	var names []string
	for _, c := range changes {
		if c.Action == plans.Forget {
			names = append(names, "\n  - "+c.Addr.String())
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return tfdiags.New(tfdiags.Warning, "Some objects will no longer be managed by Towline",
		fmt.Sprintf("Applying this plan drops these objects from the state and leaves them as they are:%s\n\nTo manage one of them again, import it.", strings.Join(slices.Compact(names), "")))
}

// forget drops from the state what the plan forgets.
func (a *applier) forget() {
	for _, c := range a.plan.Changes {
		switch {
		case c.Action != plans.Forget:
		case c.Deposed != "":
			a.setDeposed(c, c.Deposed, nil)
		default:
			a.setObject(c, nil)
		}
	}
}
