package engine

import (
	"context"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// ResourceNode is a declared resource with those that it needs first.
type ResourceNode struct {
	Addr addrs.ConfigResource
	// Needs leaves out what another one of them needs as well.
	Needs []addrs.ConfigResource
}

// Graph returns the declared resources of all modules with what each needs,
// through locals, outputs, modules and provider configurations too.
func (e *Engine) Graph(ctx context.Context, config *configs.Config) ([]ResourceNode, tfdiags.Diagnostics) {
	prog, diags := e.program(ctx, config)
	if diags.HasErrors() {
		return nil, diags
	}
	g := resourceGraph{direct: map[*object]map[*object]bool{}, all: map[*object]map[*object]bool{}}
	var out []ResourceNode
	for _, o := range prog.order {
		g.add(o)
		if o.kind == kindResource {
			out = append(out, ResourceNode{Addr: o.addr, Needs: g.reduced(o)})
		}
	}
	return out, diags
}

// resourceGraph joins resources over whatever lies between them.
type resourceGraph struct {
	// direct are the nearest resources that an object needs, all are those that a
	// resource needs at all.
	direct, all map[*object]map[*object]bool
}

// add notes an object after everything that it needs.
func (g *resourceGraph) add(o *object) {
	direct := map[*object]bool{}
	o.needs(func(needed *object) {
		if needed.kind == kindResource {
			direct[needed] = true
			return
		}
		for r := range g.direct[needed] {
			direct[r] = true
		}
	})
	g.direct[o] = direct
	if o.kind != kindResource {
		return
	}
	all := map[*object]bool{}
	for r := range direct {
		all[r] = true
		for further := range g.all[r] {
			all[further] = true
		}
	}
	g.all[o] = all
}

// reduced are the direct needs of a resource that none of the others brings along.
func (g *resourceGraph) reduced(o *object) []addrs.ConfigResource {
	var out []addrs.ConfigResource
	for r := range g.direct[o] {
		implied := false
		for other := range g.direct[o] {
			implied = implied || g.all[other][r]
		}
		if !implied {
			out = append(out, r.addr)
		}
	}
	return out
}
