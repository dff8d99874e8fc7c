package configs

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/parallel"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

var fileSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "terraform"},
	{Type: "locals"},
	{Type: "provider", LabelNames: []string{"name"}},
	{Type: "variable", LabelNames: []string{"name"}},
	{Type: "output", LabelNames: []string{"name"}},
	{Type: "module", LabelNames: []string{"name"}},
	{Type: "resource", LabelNames: []string{"type", "name"}},
	{Type: "data", LabelNames: []string{"type", "name"}},
	{Type: "ephemeral", LabelNames: []string{"type", "name"}},
	{Type: "check", LabelNames: []string{"name"}},
	{Type: "moved"}, {Type: "removed"}, {Type: "import"}, {Type: "required_providers"},
}}

func newModule(dir string) *Module {
	return &Module{
		Dir:               dir,
		RequiredProviders: map[string]*RequiredProvider{},
		ProviderConfigs:   map[addrs.LocalProviderConfig]*ProviderConfig{},
		ProviderMetas:     map[string]*ProviderMeta{},
		Variables:         map[string]*Variable{},
		Locals:            map[string]*Local{},
		Outputs:           map[string]*Output{},
		ModuleCalls:       map[string]*ModuleCall{},
		Resources:         map[addrs.Resource]*Resource{},
		Checks:            map[string]*Check{},
		Lists:             map[string]*List{},
		imported:          map[string]*Import{},
	}
}

// decodedResource is a resource block, nil for a block of another kind.
type decodedResource struct {
	decl  *Resource
	diags tfdiags.Diagnostics
}

// resourceModes are the kinds of blocks that declare resources.
var resourceModes = map[string]addrs.ResourceMode{"resource": addrs.Managed, "data": addrs.Data, "ephemeral": addrs.Ephemeral}

// addBlocks adds top-level blocks in their order. Resources, of which there may be thousands, are decoded first
// and at once.
func (m *Module) addBlocks(blocks hcl.Blocks) tfdiags.Diagnostics {
	resources := make([]decodedResource, len(blocks))
	parallel.Each(len(blocks), func(i int) {
		if mode, ok := resourceModes[blocks[i].Type]; ok {
			resources[i].decl, resources[i].diags = decodeResource(blocks[i], mode)
		}
	})
	var diags tfdiags.Diagnostics
	for i, block := range blocks {
		if r := resources[i]; r.decl != nil {
			diags = append(diags, declare(r.diags, m.Resources, r.decl.Addr, r.decl, func(r *Resource) hcl.Range { return r.Range },
				fmt.Sprintf("Duplicate %s %q configuration", block.Type, r.decl.Addr.Type))...)
		} else {
			diags = append(diags, m.addBlock(block)...)
		}
	}
	return diags
}

// addBlock adds a top-level block that is no resource.
func (m *Module) addBlock(block *hcl.Block) tfdiags.Diagnostics {
	switch block.Type {
	case "terraform":
		return m.addTerraform(block)
	case "locals":
		return m.addLocals(block)
	case "provider":
		p, diags := decodeProvider(block)
		return declare(diags, m.ProviderConfigs, p.Addr, p, func(p *ProviderConfig) hcl.Range { return p.Range }, "Duplicate provider configuration")
	case "variable":
		v, diags := decodeVariable(block)
		return declare(diags, m.Variables, v.Name, v, func(v *Variable) hcl.Range { return v.Range }, "Duplicate variable declaration")
	case "output":
		o, diags := decodeOutput(block)
		return declare(diags, m.Outputs, o.Name, o, func(o *Output) hcl.Range { return o.Range }, "Duplicate output definition")
	case "module":
		c, diags := decodeModuleCall(block)
		return declare(diags, m.ModuleCalls, c.Name, c, func(c *ModuleCall) hcl.Range { return c.Range }, "Duplicate module call")
	default:
		return m.addRefactoring(block)
	}
}

// addRefactoring adds a block that speaks of recorded objects, or of all of them.
func (m *Module) addRefactoring(block *hcl.Block) tfdiags.Diagnostics {
	switch block.Type {
	case "moved":
		moved, diags := decodeMoved(block)
		m.Moved = append(m.Moved, moved)
		return diags
	case "removed":
		removed, diags := decodeRemoved(block)
		m.Removed = append(m.Removed, removed)
		return diags
	case "import":
		imported, diags := decodeImport(block)
		return append(diags, m.addImport(imported)...)
	case "check":
		c, diags := decodeCheck(block)
		diags = declare(diags, m.Checks, c.Name, c, func(c *Check) hcl.Range { return c.Range }, fmt.Sprintf("Duplicate check %q configuration", c.Name))
		if c.Data != nil {
			return declare(diags, m.Resources, c.Data.Addr, c.Data, func(r *Resource) hcl.Range { return r.Range }, fmt.Sprintf("Duplicate data %q configuration", c.Data.Addr.Type))
		}
		return diags
	default: // required_providers, which is looked for only to tell where it belongs
		return tfdiags.At(block.DefRange, "Invalid required_providers block",
			"A required_providers block belongs into a terraform block. Move it there.")
	}
}

// declare enters a declaration unless its name is taken; then summary says so.
func declare[K comparable, V any](diags tfdiags.Diagnostics, into map[K]V, key K, decl V, at func(V) hcl.Range, summary string) tfdiags.Diagnostics {
	if previous, taken := into[key]; taken {
		return append(diags, tfdiags.At(at(decl), summary,
			fmt.Sprintf("%v was already declared at %s. Names must be unique within a module; rename or remove one of the two.", key, at(previous)))...)
	}
	into[key] = decl
	return diags
}

func (m *Module) addLocals(block *hcl.Block) tfdiags.Diagnostics {
	attrs, hclDiags := block.Body.JustAttributes()
	diags := tfdiags.FromHCL(hclDiags)
	for name, attr := range attrs {
		moreDiags := checkName("local value", name, attr.NameRange)
		local := &Local{Name: name, Expr: attr.Expr, Range: attr.Range}
		diags = append(diags, declare(moreDiags, m.Locals, name, local, func(l *Local) hcl.Range { return l.Range }, "Duplicate local value definition")...)
	}
	return diags
}
