package engine

import (
	"context"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/genconfig"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Generated is the configuration of an object that an import block asks for and
// that no resource block declares.
type Generated struct {
	Addr addrs.ResourceInstance
	// ID is the one under which the provider knows the object.
	ID string
	// Text is a resource block.
	Text string
}

// Generate reads the objects of import blocks that no resource block declares,
// and writes configuration for them. It is for resources of the root module
// without keys: for others nobody can say where the block belongs.
func (e *Engine) Generate(ctx context.Context, config *configs.Config, prior *states.State, opts PlanOptions) ([]Generated, tfdiags.Diagnostics) {
	prog, diags := e.program(ctx, config)
	if diags.HasErrors() {
		return nil, diags
	}
	opts.Mode = plans.NormalMode
	p := e.newPlanner(prog, prior, opts)
	p.walk.include = neededByProviders(prog)
	for _, o := range prog.objects {
		if o.generates() {
			includeNeeds(o, p.walk.include)
			includeNeeds(o.provider, p.walk.include)
		}
	}
	p.walk.prepare()
	var out []Generated
	for _, o := range prog.objects {
		if o.generates() {
			p.addGenerate(o, &out)
		}
	}
	return out, append(diags, p.walk.run(ctx)...)
}

// generates tells whether configuration can be written for an import block.
func (o *object) generates() bool {
	return o.kind == kindImport && o.provider != nil && o.importDecl.ForEach == nil && o.importDecl.To.Key == nil && len(o.importDecl.To.Modules) == 0
}

// addGenerate adds the work for one import block.
func (p *planner) addGenerate(o *object, out *[]Generated) {
	run := p.walk.providers[o.provider]
	addr := addrs.ResourceInstance{Resource: o.importDecl.To.Resource}
	node := p.walk.sched.Hold(0, func() string { return "configuration of " + addr.String() }, dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
		p.mu.Lock()
		want := p.imports[addr.String()]
		p.mu.Unlock()
		if want == nil { // an object is recorded there
			return dag.Done()
		}
		schema, diags := resourceSchema(run, addr.Resource.Type)
		var obj *states.Object
		if !diags.HasErrors() {
			obj, diags = importObject(ctx, run.clientFor(p.walk.prog, nil), addr, schema, want.id, nil)
		}
		if p.walk.report(diags.WithAddress(addr.String()).WithSubject(o.importDecl.Range)) {
			return dag.Failed()
		}
		text := genconfig.Resource(addr.Resource, o.importDecl.Provider, schema.Block, obj.Decoded().Value)
		p.mu.Lock()
		defer p.mu.Unlock()
		*out = append(*out, Generated{Addr: addr, ID: want.id, Text: text})
		return dag.Done()
	}})
	p.walk.sched.Depend(node, run.node)
	p.walk.sched.Depend(node, p.walk.root.slots[o.local].node)
	p.walk.sched.Release(node)
}
