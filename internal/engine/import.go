package engine

import (
	"context"
	"fmt"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Import records a real object, which the provider knows by id, as that of a
// declared instance, and returns the state with it. prior is not changed.
func (e *Engine) Import(ctx context.Context, config *configs.Config, prior *states.State, addr addrs.ResourceInstance, id string, opts PlanOptions) (*states.State, tfdiags.Diagnostics) {
	prog, diags := e.program(ctx, config)
	if diags.HasErrors() {
		return prior, diags
	}
	o := prog.find(&states.Resource{Module: addr.Module, Addr: addr.Resource})
	switch {
	case o == nil || addr.Resource.Mode != addrs.Managed:
		return prior, append(diags, tfdiags.New(tfdiags.Error, "Resource address does not exist in configuration",
			fmt.Sprintf("An object can only be imported for a resource that is declared, and %s is not. Write its resource block first.", addr))...)
	case prior.Object(addr) != nil:
		return prior, append(diags, tfdiags.New(tfdiags.Error, "Resource already managed",
			fmt.Sprintf("An object is recorded for %s already. To import another one, remove that from the state first.", addr))...)
	}
	p := e.newPlanner(prog, prior, opts)
	p.walk.include = neededByProviders(prog)
	p.walk.tolerant = true
	p.walk.prepare()
	state := prior.Copy()
	run := p.walk.providers[o.provider]
	node := p.walk.sched.Hold(0, func() string { return "import of " + addr.String() }, dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
		obj, diags := importObject(ctx, run, addr, o.schema, id, p.walk.prog.dependencies(o))
		if p.walk.report(diags.WithAddress(addr.String())) {
			return dag.Failed()
		}
		state.SetObject(addr, run.object.providerAddr, obj)
		return dag.Done()
	}})
	p.walk.sched.Depend(node, run.node)
	p.walk.sched.Release(node)
	diags = append(diags, p.walk.run(ctx)...)
	if diags.HasErrors() {
		return prior, diags
	}
	return state, diags
}

// importObject asks the provider for an object and reads it.
func importObject(ctx context.Context, run *providerRun, addr addrs.ResourceInstance, schema *providers.ResourceSchema, id string, dependencies []string) (*states.Object, tfdiags.Diagnostics) {
	resp := run.client.ImportResourceState(ctx, providers.ImportResourceStateRequest{TypeName: addr.Resource.Type, ID: id})
	diags := resp.Diagnostics
	if diags.HasErrors() {
		return nil, diags
	}
	if len(resp.Imported) != 1 || resp.Imported[0].TypeName != addr.Resource.Type || resp.Imported[0].State.IsNull() {
		return nil, append(diags, providerBug("Import returned an unexpected result", addr.String(), "an import must give exactly one object of the type asked for")...)
	}
	found := resp.Imported[0]
	stub, err := newObject(schema, found.State, nil, objectMeta{private: found.Private, dependencies: dependencies})
	if err != nil {
		return nil, append(diags, providerBug("Import returned an unexpected result", addr.String(), err.Error())...)
	}
	obj, moreDiags := readObject(ctx, run.client, addr, schema, stub, stub.Decoded())
	diags = append(diags, moreDiags...)
	if obj == nil && !diags.HasErrors() {
		diags = append(diags, tfdiags.New(tfdiags.Error, "Cannot import non-existent remote object",
			fmt.Sprintf("The provider looked for the object with the id %q and found none. Check the id, and that the provider is configured for the right account and region.", id))...)
	}
	return obj, diags
}
