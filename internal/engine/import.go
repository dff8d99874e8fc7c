package engine

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/lang"
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
	if moreDiags := e.importable(ctx, prog, prior, addr, opts.Variables); moreDiags.HasErrors() {
		return prior, append(diags, moreDiags...)
	}
	o := prog.find(&states.Resource{Module: addr.Module, Addr: addr.Resource})
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
	if moreDiags := e.recordOutputs(ctx, prog, state, opts.Variables); moreDiags.HasErrors() {
		return prior, append(diags, moreDiags...)
	}
	return state, diags
}

// recordOutputs evaluates outputs of the root module with the objects that a state
// records, and records them as well.
func (e *Engine) recordOutputs(ctx context.Context, prog *program, state *states.State, variables map[string]cty.Value) tfdiags.Diagnostics {
	w := e.newViewer(prog, state, variables, lang.Functions(lang.FunctionOptions{BaseDir: ".", PlanTime: e.opts.Now()}), true)
	diags := w.run(ctx)
	for _, o := range prog.root.outputs {
		if val := w.root.slots[o.local].value; val != cty.NilVal {
			recordOutput(state, o, val)
		}
	}
	return diags
}

// importable checks that an object can be recorded for an instance: that the
// configuration declares it, and nothing is recorded yet.
func (e *Engine) importable(ctx context.Context, prog *program, prior *states.State, addr addrs.ResourceInstance, variables map[string]cty.Value) tfdiags.Diagnostics {
	module := prog.root
	for _, step := range addr.Module {
		if module = module.children[step.Name]; module == nil {
			return tfdiags.New(tfdiags.Error, "Import to non-existent module",
				fmt.Sprintf("%s is not declared, so nothing can be recorded in it. Write its module block first.", addr.Module))
		}
	}
	switch o := module.resources[addr.Resource]; {
	case addr.Resource.Mode != addrs.Managed:
		return tfdiags.New(tfdiags.Error, "A managed resource address is required. Importing into a data resource is not allowed.",
			"What a data source reads belongs to somebody else. Name a resource of a resource block.")
	case o == nil:
		return tfdiags.New(tfdiags.Error, fmt.Sprintf("resource address %q does not exist in the configuration.", addr),
			"An object can only be imported for a resource that is declared. Write its resource block first.")
	case prior.Object(addr) != nil:
		return tfdiags.New(tfdiags.Error, "Resource already managed by Towline",
			fmt.Sprintf("An object is recorded for %s already. To import another one, remove that from the state first.", addr))
	}
	w := e.newViewer(prog, prior, variables, lang.Functions(lang.FunctionOptions{BaseDir: ".", PlanTime: e.opts.Now()}), false)
	if diags := w.run(ctx); diags.HasErrors() {
		return diags
	}
	if w.instanceExists(addr) {
		return nil
	}
	return tfdiags.New(tfdiags.Error, "Configuration for import target does not exist",
		fmt.Sprintf("The resource is declared, but without an instance %s: its count or for_each, or that of a module, says otherwise.", addr))
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
