package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// objectRead is the read of one recorded object. Reads depend on nothing but the
// provider, so all of them start at once.
type objectRead struct {
	node   *dag.Node
	run    *providerRun
	addr   addrs.ResourceInstance
	schema *providers.ResourceSchema
	// declared is the resource's declaration, or nil.
	declared *object
	// deposed is the key of a deposed object, or "".
	deposed string
	// left tells that the object cannot be read and is left alone.
	left bool
	// from says where the record comes from if it is not of this type yet, else nil.
	from *foreign
	// unread tells that the record is taken for the real object.
	unread bool
	// was is the record, now the record of what was read: the same pointer if
	// nothing differs, nil if the object is gone.
	was, now *states.Object
}

// value is the object as it was read, or NilVal.
func (r *objectRead) value() cty.Value {
	if r == nil || r.now == nil {
		return cty.NilVal
	}
	return r.now.Decoded().Value
}

// addRead adds the read of an instance's current object. Deposed objects are
// read when they are planned.
func (p *planner) addRead(addr addrs.ResourceInstance, r *states.Resource, inst *states.Instance, o *object) []*dag.Node {
	if inst.Current == nil {
		return nil
	}
	run, diags, release := p.providerFor(r, o)
	read := &objectRead{run: run, addr: addr, declared: o, was: inst.Current, from: p.foreignTo(addr, r, o)}
	p.reads[inst] = read
	p.readList = append(p.readList, read)
	read.node = p.walk.sched.Hold(p.readPriority(addr, o), func() string { return "read of " + addr.String() }, dag.Step{})
	if p.walk.report(diags) {
		read.node.SetStep(dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) { return dag.Failed() }})
		return append(release, read.node)
	}
	read.node.SetStep(dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
		return p.readOrLeave(ctx, read)
	}})
	p.walk.sched.Depend(read.node, run.node)
	return append(release, read.node)
}

// readPriority is the read itself and all that waits for the object.
func (p *planner) readPriority(addr addrs.ResourceInstance, o *object) int {
	cost := cost(p.engine.opts.Durations.estimate("read " + addr.Resource.Type))
	if o == nil {
		return cost
	}
	return cost + p.walk.priority(o)
}

// providerFor returns the provider of a recorded resource: the one its
// declaration uses, or the recorded one, which is started for it if needed.
func (p *planner) providerFor(r *states.Resource, o *object) (*providerRun, tfdiags.Diagnostics, []*dag.Node) {
	w := p.walk
	if o != nil {
		return w.providers[o.provider], nil, nil
	}
	if known := w.prog.providers[r.Provider.String()]; known != nil {
		return w.providers[known], nil, nil
	}
	for extra, run := range w.providers {
		if extra.providerAddr.String() == r.Provider.String() {
			return run, nil, nil
		}
	}
	if r.Provider.Alias != "" || len(r.Provider.Module) > 0 {
		return nil, tfdiags.New(tfdiags.Error, "Provider configuration not present",
			fmt.Sprintf("To work with %s its original provider configuration at %s is needed, but it is gone from the configuration. Put it back, apply once so that the object is destroyed, and remove it then.", r.Addr, r.Provider)), nil
	}
	extra := &object{kind: kindProvider, mod: w.prog.root, name: r.Provider.String(), providerAddr: r.Provider}
	run := w.newProviderRun(extra)
	run.mi = w.root
	w.providers[extra] = run
	return run, nil, []*dag.Node{run.node}
}

// resourceSchema returns the schema of a managed resource type from a connected provider.
func resourceSchema(run *providerRun, typeName string) (*providers.ResourceSchema, tfdiags.Diagnostics) {
	if schema := run.schema.ResourceTypes.Get(typeName); schema != nil {
		return schema, nil
	}
	return nil, tfdiags.New(tfdiags.Error, "Invalid resource type",
		fmt.Sprintf("The provider %s does not support the resource type %q, of which there is an object in the state. Use a version of the provider that does.", run.object.providerAddr.Provider.ForDisplay(), typeName))
}

// read brings the record of one object up to date and notes drift.
func (p *planner) read(ctx context.Context, read *objectRead) tfdiags.Diagnostics {
	schema, diags := resourceSchema(read.run, read.addr.Resource.Type)
	if diags.HasErrors() {
		return diags
	}
	read.schema = schema
	if read.from != nil {
		moreDiags := p.takeOver(ctx, read)
		diags = append(diags, moreDiags...)
		if moreDiags.HasErrors() {
			return diags
		}
	}
	prior, moreDiags := decodeObject(ctx, read.run.client, read.addr, schema, read.was)
	diags = append(diags, moreDiags...)
	if diags.HasErrors() {
		return diags
	}
	if read.unread || p.opts.SkipRefresh || p.given(read.addr) || (p.opts.SkipRead != nil && p.opts.SkipRead(read.addr)) {
		read.now = read.was
		return diags
	}
	if known := p.walk.answers.objects[read.addr.String()]; known != nil && known.was == read.was && known.client.base == read.run.base {
		read.now = known.again
	} else {
		p.engine.hook.Refreshing(read.addr, objectID(prior.Value))
		defer p.engine.hook.Refreshed(read.addr)
		read.now, moreDiags = readObject(ctx, read.run.clientFor(p.walk.prog, read.addr.Module), read.addr, schema, read.was, prior)
		diags = append(diags, moreDiags...)
		if diags.HasErrors() {
			return diags
		}
	}
	if read.now != read.was {
		p.noteDrift(read, prior.Value)
	}
	p.noteDependencies(read)
	return diags
}

// noteDependencies adds what the declaration needs now to the recorded
// dependencies: until the object is changed, it has to go before either.
func (p *planner) noteDependencies(read *objectRead) {
	if read.declared == nil || read.now == nil {
		return
	}
	configured := p.walk.prog.dependencies(read.declared)
	if equalStrings(read.now.Dependencies, configured) {
		return
	}
	merged := mergeNames(read.now.Dependencies, configured)
	if len(merged) == len(read.now.Dependencies) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refreshed.SetObject(read.addr, read.run.object.providerAddr, withMeta(read.now, merged, read.now.CreateBeforeDestroy))
}

// mergeNames joins two sorted lists without duplicates.
func mergeNames(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// noteDrift records what was read and that it differs from the record.
func (p *planner) noteDrift(read *objectRead, before cty.Value) {
	provider := read.run.object.providerAddr
	change := &plans.Change{
		Addr: read.addr, PrevAddr: p.previousAddr(read.addr), Provider: provider, Action: plans.Delete,
		Before: before, After: cty.NullVal(before.Type()), SchemaVersion: read.schema.Version,
		BeforeSensitive: allSensitive(read.schema, before, read.was.Sensitive),
	}
	if read.now != nil {
		change.Action, change.After = plans.Update, read.now.Decoded().Value
		change.AfterSensitive = allSensitive(read.schema, change.After, read.now.Sensitive)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if read.deposed != "" {
		p.refreshed.SetDeposed(read.addr, read.deposed, provider, read.now)
		return
	}
	p.refreshed.SetObject(read.addr, provider, read.now)
	if change.Action == plans.Delete || !change.Before.RawEquals(change.After) {
		p.drift = append(p.drift, change)
	}
}

// previousAddr is the address that a change names as the recorded one.
func (p *planner) previousAddr(addr addrs.ResourceInstance) addrs.ResourceInstance {
	if p.opts.Mode == plans.DestroyMode {
		return addr // everything goes, wherever it is recorded
	}
	if len(p.relocation.previous) > 0 {
		if prev, ok := p.relocation.previous[addr.String()]; ok {
			return prev
		}
	}
	return addr
}

// allSensitive joins the paths that the configuration marks with those that the schema does.
func allSensitive(schema *providers.ResourceSchema, val cty.Value, config []cty.Path) []cty.Path {
	if val == cty.NilVal || val.IsNull() {
		return config
	}
	bySchema := schema.Block.SensitivePaths(val)
	if len(bySchema) == 0 {
		return config
	}
	return append(config[:len(config):len(config)], bySchema...)
}

// markObject gives an object the marks that configuration and schema ask for.
func markObject(schema *providers.ResourceSchema, val cty.Value, config []cty.Path) cty.Value {
	return lang.MarkPaths(val, allSensitive(schema, val, config))
}
