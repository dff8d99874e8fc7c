package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/parallel"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/provisioners"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// schemaSource gives providers' schemas.
type schemaSource interface {
	schema(ctx context.Context, provider addrs.Provider) (*providers.Schema, tfdiags.Diagnostics)
}

// compile resolves a configuration. With errors the program, which is nil if there is
// none, can only be validated: objects that are wrong are broken in it, so that what
// else is wrong can be told of with them.
func compile(ctx context.Context, config *configs.Config, schemas schemaSource, known map[string]provisioners.Provisioner) (*program, tfdiags.Diagnostics) {
	c := &compiler{ctx: ctx, schemas: schemas, provisioners: known, program: &program{providers: map[string]*object{}}}
	c.program.root = c.declare(config, nil, nil)
	if c.arguments.HasErrors() {
		return nil, c.arguments
	}
	c.mentions = mentionsOf(c.program.objects)
	for _, o := range slices.Clone(c.program.objects) {
		c.attempt(o, c.resolve)
	}
	for _, o := range c.program.objects {
		c.attempt(o, c.scopedRefs)
	}
	c.program.removals = c.removals(c.program.root)
	for _, o := range c.program.objects {
		o.abandon()
	}
	order, cycles := sortObjects(c.program.objects)
	if cycles != nil {
		return nil, append(c.diags, circularity(cycles)...)
	}
	c.program.order = order
	if c.diags.HasErrors() {
		return c.program, c.diags
	}
	for _, o := range order {
		o.pure = o.purity()
	}
	propagateCreateFirst(order)
	c.program.opens = slices.ContainsFunc(c.program.objects, (*object).isEphemeral)
	c.program.plain = c.program.repeats()
	c.program.ephemeralUsers = findEphemeralUsers(c.program.objects)
	c.program.closures = resourceClosures(c.program.objects, order)
	return c.program, c.diags
}

type compiler struct {
	// called are the local names of providers whose functions are called, by folder.
	called map[string]map[string]bool

	ctx          context.Context
	schemas      schemaSource
	provisioners map[string]provisioners.Provisioner
	program      *program
	// mentions is what the resources' bodies refer to, by the objects' ids.
	mentions []mention
	diags    tfdiags.Diagnostics
	// arguments are the mistakes in what modules are called with. As in terraform
	// they are told of before any others: they show that a module is misunderstood.
	arguments tfdiags.Diagnostics
}

// declare makes the objects of a module and of those it calls, without references.
func (c *compiler) declare(config *configs.Config, parent *moduleProgram, call *object) *moduleProgram {
	m := &moduleProgram{
		config: config, parent: parent, call: call,
		children:  map[string]*moduleProgram{},
		variables: map[string]*object{}, locals: map[string]*object{}, outputs: map[string]*object{},
		calls: map[string]*object{}, resources: map[addrs.Resource]*object{},
	}
	for _, name := range sortedNames(config.Module.Variables) {
		m.variables[name] = c.add(m, &object{kind: kindVariable, name: name, variable: config.Module.Variables[name]})
	}
	for _, name := range sortedNames(config.Module.Locals) {
		m.locals[name] = c.add(m, &object{kind: kindLocal, name: name, localVal: config.Module.Locals[name]})
	}
	for _, addr := range sortedResources(config.Module.Resources) {
		o := c.newResource(m, config.Module.Resources[addr])
		m.resources[addr] = o
		c.attempt(o, c.findSchema)
	}
	for _, name := range sortedNames(config.Module.ModuleCalls) {
		callObject := c.add(m, &object{kind: kindCall, name: name, callDecl: config.Module.ModuleCalls[name]})
		m.calls[name] = callObject
		if child := config.Children[name]; child != nil {
			callObject.child = c.declare(child, m, callObject)
			m.children[name] = callObject.child
			c.checkArguments(callObject)
		}
	}
	for _, name := range sortedNames(config.Module.Outputs) {
		m.outputs[name] = c.add(m, &object{kind: kindOutput, name: name, output: config.Module.Outputs[name]})
	}
	c.declareImports(m)
	c.declareLists(m)
	c.resolveFunctions(m)
	c.resolveMeta(m)
	for _, name := range sortedNames(config.Module.Checks) {
		c.add(m, &object{kind: kindCheck, name: name, check: config.Module.Checks[name]})
	}
	for _, local := range sortedProviders(config.Module.ProviderConfigs) {
		addr := addrs.ProviderConfig{Module: config.Path, Provider: config.Module.LocalProvider(local.LocalName), Alias: local.Alias}
		c.provider(m, addr, config.Module.ProviderConfigs[local])
	}
	return m
}

func (c *compiler) add(m *moduleProgram, o *object) *object {
	o.mod = m
	o.id, o.local = len(c.program.objects), len(m.objects)
	c.program.objects = append(c.program.objects, o)
	m.objects = append(m.objects, o)
	return o
}

// provider enters a provider configuration, or returns the one already known.
func (c *compiler) provider(m *moduleProgram, addr addrs.ProviderConfig, decl *configs.ProviderConfig) *object {
	key := addr.String()
	if o, ok := c.program.providers[key]; ok {
		if decl != nil {
			o.providerDecl = decl
		}
		return o
	}
	o := c.add(m, &object{kind: kindProvider, name: key, providerAddr: addr, providerDecl: decl})
	c.program.providers[key] = o
	return o
}

// attempt works something out about an object, which is broken if that fails.
func (c *compiler) attempt(o *object, f func(*object)) {
	if o.broken {
		return
	}
	before := len(c.diags)
	f(o)
	o.broken = c.diags[before:].HasErrors()
}

// abandon takes its references from an object that is broken.
func (o *object) abandon() {
	if o.broken {
		o.refs, o.postRefs, o.ruleRefs, o.repeatRefs, o.after, o.imports = nil, nil, nil, nil, nil, nil
	}
}

func (c *compiler) newResource(m *moduleProgram, decl *configs.Resource) *object {
	addr := addrs.ConfigResource{Module: m.config.Path, Resource: decl.Addr}
	return c.add(m, &object{kind: kindResource, name: addr.String(), resource: decl, addr: addr, createFirst: decl.Lifecycle.CreateBeforeDestroy})
}

// findSchema finds the schema of a resource's type.
func (c *compiler) findSchema(o *object) {
	decl := o.resource
	provider := o.mod.config.LocalProviderFor(decl.Provider).Provider
	schema, diags := c.schemas.schema(c.ctx, provider)
	c.diags = append(c.diags, diags.WithSubject(decl.Range)...)
	if diags.HasErrors() {
		return
	}
	types, what := schema.ResourceTypes, "resource type"
	switch decl.Addr.Mode {
	case addrs.Data:
		types, what = schema.DataSources, "data source"
	case addrs.Ephemeral:
		types, what = schema.Ephemerals, "ephemeral resource"
	}
	switch o.schema = types.Get(decl.Addr.Type); {
	case o.schema != nil && o.schema.Invalid != nil:
		c.diags = append(c.diags, tfdiags.At(decl.TypeRange, "Invalid provider schema",
			fmt.Sprintf("The schema of %s %q is invalid: %s. This is a bug in the provider; report it to its developers.", what, decl.Addr.Type, o.schema.Invalid))...)
	case o.schema == nil:
		c.diags = append(c.diags, tfdiags.At(decl.TypeRange, "Invalid "+what,
			fmt.Sprintf("The provider %s does not support %s %q.%s", provider.ForDisplay(), what, decl.Addr.Type, suggest(decl.Addr.Type, types.Names())))...)
	}
}

// resolve finds what an object's expressions refer to.
func (c *compiler) resolve(o *object) {
	switch o.kind {
	case kindVariable:
		c.resolveVariable(o)
	case kindLocal:
		o.refs = c.exprRefs(o.mod, o.localVal.Expr)
	case kindOutput:
		o.refs = c.exprRefs(o.mod, o.output.Expr)
		for _, rule := range o.output.Preconditions {
			o.refs = append(o.refs, c.ruleRefs(o.mod, rule)...)
		}
		o.after = c.dependsOn(o.mod, o.output.DependsOn)
	case kindCall:
		o.repeatRefs = append(c.exprRefs(o.mod, o.callDecl.Count), c.exprRefs(o.mod, o.callDecl.ForEach)...)
		o.after = c.dependsOn(o.mod, o.callDecl.DependsOn)
	case kindResource:
		c.resolveResource(o)
	case kindProvider:
		c.resolveProvider(o)
	case kindImport:
		c.resolveImport(o)
	case kindList:
		c.resolveList(o)
	case kindCheck:
		for _, rule := range o.check.Asserts {
			o.refs = append(o.refs, c.ruleRefs(o.mod, rule)...)
		}
	}
}

func (c *compiler) resolveVariable(o *object) {
	c.resolveValidations(o)
	call := o.mod.call
	if call == nil {
		return
	}
	attrs, _ := call.callDecl.Config.JustAttributes()
	if attr := attrs[o.name]; attr != nil {
		o.argument = attr
		o.refs = c.exprRefs(o.mod.parent, attr.Expr)
	}
}

// resolveValidations finds what a variable's rules use: the variable, and any
// other objects of its own module.
func (c *compiler) resolveValidations(o *object) {
	for _, rule := range o.variable.Validations {
		o.ruleRefs = append(o.ruleRefs, c.ruleRefs(o.mod, rule)...)
	}
}

// checkArguments refuses arguments for which a module has no variable, and misses
// those for variables that need one.
func (c *compiler) checkArguments(o *object) {
	attrs, hclDiags := o.callDecl.Config.JustAttributes()
	c.arguments = append(c.arguments, tfdiags.FromHCL(hclDiags)...)
	for _, name := range sortedNames(attrs) {
		if o.child.variables[name] == nil {
			c.arguments = append(c.arguments, tfdiags.At(attrs[name].NameRange, "Unsupported argument",
				fmt.Sprintf("An argument named %q is not expected here: module %q has no such variable.%s", name, o.name, suggest(name, sortedNames(o.child.variables))))...)
		}
	}
	for _, name := range sortedNames(o.child.variables) {
		if attrs[name] == nil && o.child.variables[name].variable.Required() {
			c.arguments = append(c.arguments, tfdiags.At(o.callDecl.Config.MissingItemRange(), "Missing required argument",
				fmt.Sprintf("Module %q needs a value for its variable %q, which has no default. Set it in the module block.", o.name, name))...)
		}
	}
}

func (c *compiler) resolveResource(o *object) {
	decl := o.resource
	o.provider = c.resourceProvider(o)
	o.repeatRefs = append(c.exprRefs(o.mod, decl.Count), c.exprRefs(o.mod, decl.ForEach)...)
	o.after = c.dependsOn(o.mod, decl.DependsOn)
	o.refs = c.mentioned(o.mod, c.mentions[o.id])
	for _, r := range o.refs {
		if r.target == o {
			c.diags = append(c.diags, tfdiags.At(r.Range, "Self-referential block",
				fmt.Sprintf("The configuration of %s may not refer to itself.", o.addr.Resource))...)
		}
	}
	for _, rule := range decl.Lifecycle.Preconditions {
		o.refs = append(o.refs, c.ruleRefs(o.mod, rule)...)
	}
	for _, rule := range decl.Lifecycle.Postconditions {
		for _, r := range c.ruleRefs(o.mod, rule) {
			if r.target == o {
				continue
			}
			o.postRefs = append(o.postRefs, r)
			if r.Kind != lang.RefSelf {
				o.refs = append(o.refs, r)
			}
		}
	}
	c.resolveLifecycle(o)
	c.resolveProvisioners(o)
}

// resourceProvider finds or implies the provider configuration of a resource.
func (c *compiler) resourceProvider(o *object) *object {
	return c.providerFor(o.mod, o.resource.Provider, o.resource.Range, o.addr.String())
}

// providerFor finds or implies a provider configuration, which user at a range needs.
func (c *compiler) providerFor(m *moduleProgram, local addrs.LocalProviderConfig, at hcl.Range, user string) *object {
	addr := m.config.LocalProviderFor(local)
	if known, ok := c.program.providers[addr.String()]; ok {
		return known
	}
	if addr.Alias != "" {
		c.diags = append(c.diags, tfdiags.At(at, "Provider configuration not present",
			fmt.Sprintf("%s wants the provider configuration %s, which is not declared. Add a provider block with alias = %q, or pass the configuration to the module.", user, addr, addr.Alias))...)
		return nil
	}
	root := c.program.root
	addr.Module = root.config.Path
	return c.provider(root, addr, nil)
}

func (c *compiler) resolveProvider(o *object) {
	if o.providerDecl == nil {
		return
	}
	schema, diags := c.schemas.schema(c.ctx, o.providerAddr.Provider)
	c.diags = append(c.diags, diags.WithSubject(o.providerDecl.Range)...)
	if diags.HasErrors() {
		return
	}
	o.refs = c.bodyRefs(o.mod, o.providerDecl.Config, schema.Provider)
}

// mention is what a body refers to, by names.
type mention struct {
	refs  []lang.Ref
	diags tfdiags.Diagnostics
}

func mentionOf(body hcl.Body, schema *providers.Block) mention {
	refs, diags := lang.BodyRefs(body, providers.BodyVariables(body, schema))
	return mention{refs, diags}
}

// mentionsOf looks through the bodies of all resources at once: no other part of compiling takes as long.
func mentionsOf(objects []*object) []mention {
	found := make([]mention, len(objects))
	parallel.Each(len(objects), func(i int) {
		if o := objects[i]; o.resource != nil && !o.broken {
			found[i] = mentionOf(o.resource.Config, o.schema.Block)
		}
	})
	return found
}

func (c *compiler) mentioned(m *moduleProgram, found mention) []ref {
	c.diags = append(c.diags, found.diags...)
	return c.resolveRefs(m, found.refs)
}

func (c *compiler) bodyRefs(m *moduleProgram, body hcl.Body, schema *providers.Block) []ref {
	return c.mentioned(m, mentionOf(body, schema))
}

func (c *compiler) exprRefs(m *moduleProgram, expr hcl.Expression) []ref {
	refs, diags := lang.ExprRefs(expr)
	c.diags = append(c.diags, diags...)
	return c.resolveRefs(m, refs)
}

func (c *compiler) ruleRefs(m *moduleProgram, rule *configs.CheckRule) []ref {
	return append(c.exprRefs(m, rule.Condition), c.exprRefs(m, rule.ErrorMessage)...)
}

// suggest offers the most similar known name, as a sentence with a leading space, or "".
func suggest(name string, known []string) string {
	best, bestDistance := "", 3
	for _, k := range known {
		if d := editDistance(name, k, bestDistance); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" Did you mean %q?", best)
}

// editDistance is Levenshtein's, cut off at limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func sortedResources(m map[addrs.Resource]*configs.Resource) []addrs.Resource {
	out := make([]addrs.Resource, 0, len(m))
	for addr := range m {
		out = append(out, addr)
	}
	slices.SortFunc(out, addrs.Resource.Compare)
	return out
}

func sortedProviders(m map[addrs.LocalProviderConfig]*configs.ProviderConfig) []addrs.LocalProviderConfig {
	out := make([]addrs.LocalProviderConfig, 0, len(m))
	for local := range m {
		out = append(out, local)
	}
	slices.SortFunc(out, func(a, b addrs.LocalProviderConfig) int { return strings.Compare(a.String(), b.String()) })
	return out
}
