package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// A list block asks a provider which objects of a type there are. Nothing can refer to
// it, and a plan asks only where somebody wants to know. It is checked in any case, so
// that one that is wrong is found before it is needed.

// declareLists makes the objects of the root module's list blocks.
func (c *compiler) declareLists(m *moduleProgram) {
	for _, addr := range sortedNames(m.config.Module.Lists) {
		o := c.add(m, &object{kind: kindList, name: addr, list: m.config.Module.Lists[addr]})
		c.attempt(o, c.findListSchema)
	}
}

// findListSchema finds the schema of a list block's configuration.
func (c *compiler) findListSchema(o *object) {
	decl := o.list
	provider := o.mod.config.LocalProviderFor(decl.Provider).Provider
	schema, diags := c.schemas.schema(c.ctx, provider)
	c.diags = append(c.diags, diags.WithSubject(decl.Range)...)
	if diags.HasErrors() {
		return
	}
	if schema.Lists == nil || len(schema.Lists.Names()) == 0 {
		c.diags = append(c.diags, tfdiags.At(decl.TypeRange, "Invalid list resource",
			fmt.Sprintf("This version of the provider %s offers no list resources, so it cannot say which objects there are. Use a newer version that does, or have a data source list them.", provider.ForDisplay()))...)
		return
	}
	switch o.schema = schema.Lists.Get(decl.Type); {
	case o.schema == nil:
		c.diags = append(c.diags, tfdiags.At(decl.TypeRange, "Invalid list resource",
			fmt.Sprintf("The provider %s does not list objects of type %q.%s", provider.ForDisplay(), decl.Type, suggest(decl.Type, schema.Lists.Names())))...)
	case o.schema.Invalid != nil:
		c.diags = append(c.diags, tfdiags.At(decl.TypeRange, "Invalid provider schema",
			fmt.Sprintf("The schema of list resource %q is invalid: %s. This is a bug in the provider; report it to its developers.", decl.Type, o.schema.Invalid))...)
	}
}

func (c *compiler) resolveList(o *object) {
	decl := o.list
	o.provider = c.providerFor(o.mod, decl.Provider, decl.Range, o.name)
	o.repeatRefs = append(c.exprRefs(o.mod, decl.Count), c.exprRefs(o.mod, decl.ForEach)...)
	o.refs = c.bodyRefs(o.mod, decl.Config, o.schema.Block)
	for _, expr := range []hcl.Expression{decl.IncludeResource, decl.Limit} {
		o.refs = append(o.refs, c.exprRefs(o.mod, expr)...)
	}
}

// wantedList is one instance of a list block.
type wantedList struct {
	// listed is without what was found.
	listed plans.Listed
	req    providers.ListResourcesRequest
}

// listStep asks for what a list block is about if the walk is a plan that wants it.
func (mi *moduleInst) listStep(o *object) dag.Step {
	if o.broken {
		return failedStep
	}
	return dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) {
		p, planning := mi.walk.op.(*planner)
		planning = planning && p.opts.Mode == plans.NormalMode && p.opts.Lists != nil
		if !planning && !mi.walk.validating() {
			return dag.Done()
		}
		wanted, diags := mi.evalList(o)
		if mi.walk.report(diags) {
			return dag.Failed()
		}
		run := mi.walk.providers[o.provider]
		if !planning {
			return &dag.Step{Class: run.local, Run: func(ctx context.Context) (*dag.Step, bool) {
				return nil, !mi.walk.report(validateLists(ctx, o, run, wanted))
			}}, true
		}
		return &dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
			return nil, !mi.walk.report(p.list(ctx, o, run, wanted))
		}}, true
	}}
}

// evalList evaluates the instances of a list block.
func (mi *moduleInst) evalList(o *object) ([]wantedList, tfdiags.Diagnostics) {
	keys, _, repeats, diags := mi.repetitions(o.list.Count, o.list.ForEach, o.repeatRefs)
	if diags.HasErrors() {
		return nil, diags
	}
	wanted := make([]wantedList, 0, len(keys))
	for i, key := range keys {
		want, moreDiags := mi.evalListInstance(o, key, evalOptions{repeat: repeats(i)})
		diags = append(diags, moreDiags...)
		wanted = append(wanted, want)
	}
	return wanted, diags
}

func (mi *moduleInst) evalListInstance(o *object, key addrs.InstanceKey, opts evalOptions) (wantedList, tfdiags.Diagnostics) {
	decl := o.list
	want := wantedList{listed: plans.Listed{Addr: o.name + key.String(), Type: decl.Type, Provider: o.provider.providerAddr.Provider}, req: providers.ListResourcesRequest{TypeName: decl.Type}}
	hclCtx, diags := mi.evalContext(o.refs, opts)
	if diags.HasErrors() {
		return want, diags.WithAddress(want.listed.Addr)
	}
	config, moreDiags := decodeBody(decl.Config, o.schema.Block, hclCtx)
	diags = append(diags, moreDiags.WithSubject(decl.Range)...)
	want.req.Config, _ = lang.UnmarkPaths(config)
	include, moreDiags := mi.listArgument(o, decl.IncludeResource, cty.Bool, opts)
	diags = append(diags, moreDiags...)
	if include != cty.NilVal && include.IsKnown() {
		want.req.IncludeResource = include.True()
	}
	limit, moreDiags := mi.listArgument(o, decl.Limit, cty.Number, opts)
	diags = append(diags, moreDiags...)
	if limit != cty.NilVal && limit.IsKnown() {
		n, accuracy := limit.AsBigFloat().Int64()
		if accuracy != 0 || n < 1 || n > providers.MaxListed {
			diags = append(diags, tfdiags.At(decl.Limit.Range(), "Invalid limit argument",
				fmt.Sprintf("The limit is how many objects are listed at most: a whole number from 1 to %d.", providers.MaxListed))...)
		}
		want.req.Limit = int(n)
	}
	for _, arg := range []cty.Value{include, limit} {
		want.listed.Unknown = want.listed.Unknown || arg != cty.NilVal && !arg.IsKnown()
	}
	want.listed.Unknown = want.listed.Unknown || !want.req.Config.IsWhollyKnown()
	return want, diags.WithAddress(want.listed.Addr)
}

// listArgument evaluates an argument of a list block; NilVal if it is not given.
func (mi *moduleInst) listArgument(o *object, expr hcl.Expression, want cty.Type, opts evalOptions) (cty.Value, tfdiags.Diagnostics) {
	if expr == nil {
		return cty.NilVal, nil
	}
	opts.want = want
	val, diags := mi.eval(expr, o.refs, opts)
	if val, _ = val.Unmark(); diags.HasErrors() || val.IsNull() {
		return cty.NilVal, diags
	}
	return val, diags
}

// validateLists has the provider check the configuration of a list block.
func validateLists(ctx context.Context, o *object, run *providerRun, wanted []wantedList) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, want := range wanted {
		diags = append(diags, locate(run.client.ValidateListConfig(ctx, want.req.TypeName, want.req.Config), o.name, o.list.Config)...)
	}
	return diags
}

// list asks for what the instances of a list block are about, one after the other.
func (p *planner) list(ctx context.Context, o *object, run *providerRun, wanted []wantedList) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, want := range wanted {
		if !p.opts.Lists(want.listed.Addr) {
			p.noteUnlisted(want)
			continue
		}
		var moreDiags tfdiags.Diagnostics
		switch {
		case run.failed:
			want.listed.Unknown = true
		case !want.listed.Unknown:
			moreDiags = want.ask(ctx, run.clientFor(p.walk.prog, nil))
			if p.opts.LeaveUnreadable && moreDiags.HasErrors() {
				moreDiags, want.listed.Unknown = moreDiags.Warnings(), true
			}
		}
		p.noteListed(run, want, moreDiags)
		diags = append(diags, locate(moreDiags, want.listed.Addr, o.list.Config)...)
	}
	return diags.WithSubject(o.list.Range)
}

// ask makes the calls about one instance and keeps what was found.
func (w *wantedList) ask(ctx context.Context, client providers.Interface) tfdiags.Diagnostics {
	diags := client.ValidateListConfig(ctx, w.req.TypeName, w.req.Config)
	if diags.HasErrors() {
		return diags
	}
	resp := client.ListResources(ctx, w.req)
	diags = append(diags, resp.Diagnostics...)
	if diags.HasErrors() {
		return diags
	}
	w.listed.Resources, w.listed.RequiredIdentity = resp.Listed, resp.RequiredIdentity
	if resp.Full {
		diags = append(diags, tfdiags.Diagnostic{Severity: tfdiags.Warning, Summary: "Perhaps not everything is listed",
			Detail: fmt.Sprintf("The listing holds %d objects, as many as it may, so there may be more. Raise its limit, up to %d, or have its configuration ask for fewer.", len(resp.Listed), providers.MaxListed)})
	}
	return diags
}

// noteListed keeps what was found, for the plan and for replays.
func (p *planner) noteListed(run *providerRun, want wantedList, diags tfdiags.Diagnostics) {
	if want.listed.Unknown || len(diags) > 0 {
		p.seen.odd.Store(true)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listed = append(p.listed, want.listed)
	p.seen.lists.asked = append(p.seen.lists.asked, replayedList{client: p.answering(run), want: want})
}

func (p *planner) noteUnlisted(want wantedList) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.lists.passed = append(p.seen.lists.passed, want.listed.Addr)
}

func sortedListed(listed []plans.Listed) []plans.Listed {
	slices.SortFunc(listed, func(a, b plans.Listed) int { return strings.Compare(a.Addr, b.Addr) })
	return listed
}

// listsOf are the instances of list blocks that a plan met: those that it asked for, and
// those that nobody wanted to know of.
type listsOf struct {
	// looked tells that the plan was told what is wanted.
	looked bool
	asked  []replayedList
	passed []string
}

// replayedList is one listing. Its answer does not matter to the rest of the plan.
type replayedList struct {
	client *answering
	want   wantedList
}

// ask lists again, and tells whether that went as well as it did for the plan.
func (l *replayedList) ask(ctx context.Context, prog *program) bool {
	return len(l.want.ask(ctx, l.client.run.clientFor(prog, nil))) == 0
}

// same tells whether the same instances are asked for.
func (l *listsOf) same(wanted func(string) bool) bool {
	if wanted == nil || !l.looked {
		return wanted == nil && !l.looked
	}
	return !slices.ContainsFunc(l.asked, func(r replayedList) bool { return !wanted(r.want.listed.Addr) }) && !slices.ContainsFunc(l.passed, wanted)
}

// answers is what the last replay was told.
func (l *listsOf) answers() []plans.Listed {
	var out []plans.Listed
	for _, r := range l.asked {
		out = append(out, r.want.listed)
	}
	return sortedListed(out)
}
