package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/provisioners"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// provisioner is a provisioner block, compiled.
type provisioner struct {
	decl   *configs.Provisioner
	runs   provisioners.Provisioner
	schema *providers.Block
	// refs are what its arguments and its connection need.
	refs []ref
}

// connectionSchema is that of every connection block.
var connectionSchema = provisioners.ConnectionSchema()

// compileProvisioners finds the types of provisioner blocks and what they refer
// to. owner is the resource, or nil for a removed block.
func (c *compiler) compileProvisioners(m *moduleProgram, owner *object, decls []*configs.Provisioner) []provisioner {
	var out []provisioner
	for _, decl := range decls {
		runs, ok := c.provisioners[decl.Type]
		if !ok {
			c.diags = append(c.diags, noProvisioner(decl, c.provisioners)...)
			continue
		}
		p := provisioner{decl: decl, runs: runs, schema: runs.Schema()}
		p.refs = c.bodyRefs(m, decl.Config, p.schema)
		if decl.Connection != nil {
			p.refs = append(p.refs, c.bodyRefs(m, decl.Connection, connectionSchema)...)
		}
		for _, r := range p.refs {
			if owner != nil && r.target == owner && (owner.resource.Count != nil || owner.resource.ForEach != nil) {
				c.diags = append(c.diags, tfdiags.At(r.Range, "Self-referential block",
					fmt.Sprintf("A provisioner of %s refers to all instances of it, of which some may not be there yet. Use self for the instance that it belongs to.", owner.addr.Resource))...)
			}
		}
		out = append(out, p)
	}
	return out
}

// noProvisioner says why a provisioner cannot run.
func noProvisioner(decl *configs.Provisioner, known map[string]provisioners.Provisioner) tfdiags.Diagnostics {
	if len(known) == 0 {
		return tfdiags.At(decl.Range, "Provisioners are not allowed here",
			"A provisioner runs commands on the machine of whoever applies, with all that this machine may do, so an agent runs none. Remove the block, or apply the configuration with towline apply.")
	}
	return tfdiags.At(decl.Range, "Missing required provisioner plugin",
		fmt.Sprintf("There is no provisioner of type %q. The types are %s.", decl.Type, strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
}

// resolveProvisioners compiles a resource's provisioners. What those that run at
// creation refer to is needed before the resource is.
func (c *compiler) resolveProvisioners(o *object) {
	o.provisioners = c.compileProvisioners(o.mod, o, o.resource.Provisioners)
	for _, p := range o.provisioners {
		for _, r := range p.refs {
			if r.target != nil && r.target != o {
				o.refs = append(o.refs, r)
			}
		}
	}
}

// provisionersOf returns a resource's provisioners of one time, creation or destruction.
func provisionersOf(all []provisioner, destroy bool) []provisioner {
	var out []provisioner
	for _, p := range all {
		if p.decl.Destroy == destroy {
			out = append(out, p)
		}
	}
	return out
}

// prepared is a provisioner's work with everything evaluated.
type prepared struct {
	provisioner

	config, connection cty.Value
	// secret says why its output is not shown, or is "".
	secret string
}

// prepare evaluates a provisioner for an object, which self stands for.
func (p provisioner) prepare(mi *moduleInst, owner *object, repeat repetition, self cty.Value) (prepared, tfdiags.Diagnostics) {
	out := prepared{provisioner: p, connection: cty.NullVal(connectionSchema.ImpliedType())}
	hclCtx, diags := mi.evalContext(p.refs, evalOptions{repeat: repeat, self: self, owner: owner})
	if diags.HasErrors() {
		return out, diags
	}
	decode := func(body hcl.Body, schema *providers.Block) cty.Value {
		val, moreDiags := decodeBody(body, schema, hclCtx)
		diags = append(diags, moreDiags...)
		plain, paths := lang.UnmarkPaths(val)
		switch {
		case len(paths.Sensitive) > 0:
			out.secret = "sensitive"
		case len(paths.Ephemeral) > 0 && out.secret == "":
			out.secret = "ephemeral"
		}
		return plain
	}
	out.config = decode(p.decl.Config, p.schema)
	if p.decl.Connection != nil {
		secret := out.secret // what only leads to the machine is not in the output
		out.connection = decode(p.decl.Connection, connectionSchema)
		out.secret = secret
	}
	if !diags.HasErrors() {
		diags = append(diags, p.runs.Validate(out.config).WithSubject(p.decl.Range)...)
	}
	return out, diags
}

// checkProvisioners evaluates an instance's provisioners as far as it can be
// before there is an object.
func (w *walk) checkProvisioners(inst *instance) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	self := cty.UnknownVal(inst.object.schema.Block.ImpliedType())
	for _, p := range inst.object.provisioners {
		_, moreDiags := p.prepare(inst.mi, inst.object, inst.repeat, self)
		diags = append(diags, moreDiags...)
	}
	return diags.WithAddress(inst.name)
}

// provision runs provisioners in order until one fails that may not.
func (a *applier) provision(ctx context.Context, addr addrs.ResourceInstance, all []provisioner, mi *moduleInst, owner *object, repeat repetition, self cty.Value) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, p := range all {
		ready, moreDiags := p.prepare(mi, owner, repeat, self)
		if !moreDiags.HasErrors() && !ready.config.IsWhollyKnown() {
			moreDiags = tfdiags.At(p.decl.Range, "Invalid provisioner configuration", "An argument is not known even now. This is a bug in Towline; report it.")
		}
		if !moreDiags.HasErrors() {
			moreDiags = append(moreDiags, a.runProvisioner(ctx, addr, ready)...)
		}
		if p.decl.Continue {
			moreDiags = nil // its output has told
		}
		diags = append(diags, moreDiags...)
		if moreDiags.HasErrors() {
			break
		}
	}
	return diags.WithAddress(addr.String())
}

func (a *applier) runProvisioner(ctx context.Context, addr addrs.ResourceInstance, p prepared) tfdiags.Diagnostics {
	hook := a.engine.hook
	ev := ProvisionEvent{Addr: addr, Type: p.decl.Type}
	hook.Provisioning(ev)
	diags := p.runs.Run(ctx, provisioners.Request{Config: p.config, Connection: p.connection, Output: func(line string) {
		if p.secret != "" {
			line = fmt.Sprintf("(output suppressed due to %s value in config)", p.secret)
		}
		hook.ProvisionOutput(ev, line)
	}})
	hook.Provisioned(ev, diags.HasErrors())
	if p.secret != "" {
		for i := range diags {
			diags[i].Detail = fmt.Sprintf("What went wrong is not shown, because the configuration of the provisioner holds a %s value.", p.secret)
		}
	}
	return diags.WithSubject(p.decl.Config.MissingItemRange())
}

// repetitionOf is what count.index and each.key stand for in an instance that may
// not be declared any more.
func repetitionOf(key addrs.InstanceKey) repetition {
	switch {
	case key == addrs.NoKey:
		return repetition{}
	default:
		if _, ok := key.Int(); ok {
			return repetition{key: key, mode: repeatCount}
		}
		return repetition{key: key, mode: repeatEach, value: cty.DynamicVal}
	}
}

// destroyProvisioners returns what runs before an object is destroyed: nothing
// for an object that was never finished, for one that its replacement has
// outlived, and for one whose block is gone without a word.
func (a *applier) destroyProvisioners(job *destroyJob) []provisioner {
	if job.late || job.object.Tainted || job.change.Deposed != "" {
		return nil
	}
	addr := job.change.Addr
	if o := a.walk.prog.declared(addr.Config()); o != nil {
		return provisionersOf(o.provisioners, true)
	}
	for _, r := range a.walk.prog.removals {
		if r.resource != (addrs.Resource{}) && r.covers(addr.Config()) {
			return r.provisioners
		}
	}
	return nil
}
