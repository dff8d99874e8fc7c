package engine

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

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
		obj, diags := importObject(ctx, run.clientFor(p.walk.prog, addr.Module), addr, o.schema, id, p.walk.prog.dependencies(o))
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

// invalidImport checks that an import gave one object that can be recorded.
func invalidImport(addr addrs.ResourceInstance, imported []providers.ImportedResource) tfdiags.Diagnostics {
	name := addr.String()
	switch {
	case len(imported) == 0:
		return providerBug("Import returned no resources", name, "it imported nothing and told of no error")
	case len(imported) > 1:
		return tfdiags.New(tfdiags.Error, "Multiple import states not supported",
			fmt.Sprintf("The provider found several objects for the id given for %s, and an import takes one. Import them one by one.", name))
	case imported[0].TypeName != addr.Resource.Type:
		return providerBug("Import returned an unexpected result", name, "it imported an object of the type "+imported[0].TypeName)
	case imported[0].State == cty.NilVal || imported[0].State.IsNull():
		return providerBug("Import returned null resource", name, "it imported an object that is not there")
	case !imported[0].State.IsWhollyKnown():
		return providerBug("Provider produced invalid object", name, "it imported an object with unknown values")
	}
	return nil
}

// importObject asks the provider for an object and reads it.
func importObject(ctx context.Context, client providers.Interface, addr addrs.ResourceInstance, schema *providers.ResourceSchema, id string, dependencies []string) (*states.Object, tfdiags.Diagnostics) {
	resp := client.ImportResourceState(ctx, providers.ImportResourceStateRequest{TypeName: addr.Resource.Type, ID: id})
	diags := resp.Diagnostics
	if diags.HasErrors() {
		return nil, diags
	}
	diags = append(diags, invalidImport(addr, resp.Imported)...)
	if diags.HasErrors() {
		return nil, diags
	}
	found := resp.Imported[0]
	stub, err := newObject(schema, found.State, nil, objectMeta{private: found.Private, dependencies: dependencies})
	if err != nil {
		return nil, append(diags, providerBug("Import returned an unexpected result", addr.String(), err.Error())...)
	}
	obj, moreDiags := readObject(ctx, client, addr, schema, stub, stub.Decoded())
	diags = append(diags, moreDiags...)
	if obj == nil && !diags.HasErrors() {
		diags = append(diags, tfdiags.New(tfdiags.Error, "Cannot import non-existent remote object",
			fmt.Sprintf("The provider looked for the object with the id %q and found none. Check the id, and that the provider is configured for the right account and region.", id))...)
	}
	return obj, diags
}
