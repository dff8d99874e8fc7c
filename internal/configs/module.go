package configs

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
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
	{Type: "moved"}, {Type: "removed"}, {Type: "import"},
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
	}
}

func (m *Module) addBlock(block *hcl.Block) tfdiags.Diagnostics {
	switch block.Type {
	case "terraform":
		return m.addTerraform(block)
	case "locals":
		return m.addLocals(block)
	case "provider":
		p, diags := decodeProvider(block)
		return declare(diags, m.ProviderConfigs, p.Addr, p, func(p *ProviderConfig) hcl.Range { return p.Range }, "provider configuration")
	case "variable":
		v, diags := decodeVariable(block)
		return declare(diags, m.Variables, v.Name, v, func(v *Variable) hcl.Range { return v.Range }, "variable")
	case "output":
		o, diags := decodeOutput(block)
		return declare(diags, m.Outputs, o.Name, o, func(o *Output) hcl.Range { return o.Range }, "output")
	case "module":
		c, diags := decodeModuleCall(block)
		return declare(diags, m.ModuleCalls, c.Name, c, func(c *ModuleCall) hcl.Range { return c.Range }, "module call")
	case "resource", "data", "ephemeral":
		r, diags := decodeResource(block, map[string]addrs.ResourceMode{"resource": addrs.Managed, "data": addrs.Data, "ephemeral": addrs.Ephemeral}[block.Type])
		return declare(diags, m.Resources, r.Addr, r, func(r *Resource) hcl.Range { return r.Range }, block.Type)
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
		m.Imports = append(m.Imports, imported)
		return diags
	case "check":
		c, diags := decodeCheck(block)
		if other, taken := m.Checks[c.Name]; taken {
			return append(diags, tfdiags.At(c.Range, fmt.Sprintf("Duplicate check %q configuration", c.Name),
				fmt.Sprintf("A check of this name was already declared at %s. Names must be unique within a module; rename or remove one of the two.", other.Range))...)
		}
		m.Checks[c.Name] = c
		if c.Data != nil {
			return declare(diags, m.Resources, c.Data.Addr, c.Data, func(r *Resource) hcl.Range { return r.Range }, "data")
		}
		return diags
	default:
		return notYet(block.DefRange, "A "+block.Type+" block")
	}
}

// declare enters a declaration unless its name is taken.
func declare[K comparable, V any](diags tfdiags.Diagnostics, into map[K]V, key K, decl V, at func(V) hcl.Range, what string) tfdiags.Diagnostics {
	if previous, taken := into[key]; taken {
		return append(diags, tfdiags.At(at(decl), "Duplicate "+what+" declaration",
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
		diags = append(diags, declare(moreDiags, m.Locals, name, local, func(l *Local) hcl.Range { return l.Range }, "local value")...)
	}
	return diags
}

var terraformSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "required_version"}, {Name: "experiments"}},
	Blocks: []hcl.BlockHeaderSchema{
		{Type: "required_providers"}, {Type: "backend", LabelNames: []string{"type"}}, {Type: "cloud"},
		{Type: "provider_meta", LabelNames: []string{"provider"}},
	},
}

func (m *Module) addTerraform(block *hcl.Block) tfdiags.Diagnostics {
	content, hclDiags := block.Body.Content(terraformSchema)
	diags := tfdiags.FromHCL(hclDiags)
	if attr, ok := content.Attributes["required_version"]; ok {
		c := VersionConstraint{Range: attr.Expr.Range()}
		diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(attr.Expr, nil, &c.Text))...)
		m.RequiredVersions = append(m.RequiredVersions, c)
		if !diags.HasErrors() {
			diags = append(diags, c.check()...)
		}
	}
	if attr, ok := content.Attributes["experiments"]; ok {
		diags = append(diags, notYet(attr.NameRange, "A language experiment")...)
	}
	for _, inner := range content.Blocks {
		switch inner.Type {
		case "required_providers":
			diags = append(diags, m.addRequiredProviders(inner)...)
		case "backend":
			m.Backend = &Backend{Type: inner.Labels[0], Config: inner.Body, Range: inner.DefRange}
		case "cloud":
			diags = append(diags, tfdiags.At(inner.DefRange, "Unsupported cloud block",
				"Towline keeps state itself and does not work with HCP Terraform. Remove the cloud block, or use another backend.")...)
		case "provider_meta":
			diags = append(diags, m.addProviderMeta(inner)...)
		}
	}
	return diags
}

func (m *Module) addRequiredProviders(block *hcl.Block) tfdiags.Diagnostics {
	attrs, hclDiags := block.Body.JustAttributes()
	diags := tfdiags.FromHCL(hclDiags)
	for name, attr := range attrs {
		required, moreDiags := decodeRequiredProvider(name, attr)
		diags = append(diags, declare(moreDiags, m.RequiredProviders, name, required, func(r *RequiredProvider) hcl.Range { return r.Range }, "required provider")...)
	}
	return diags
}

func decodeRequiredProvider(name string, attr *hcl.Attribute) (*RequiredProvider, tfdiags.Diagnostics) {
	required := &RequiredProvider{LocalName: name, Source: addrs.DefaultProvider(name), Range: attr.Range}
	invalid := func(at hcl.Range, detail string) (*RequiredProvider, tfdiags.Diagnostics) {
		return required, tfdiags.At(at, "Invalid required_providers object", detail)
	}
	pairs, hclDiags := hcl.ExprMap(attr.Expr)
	if hclDiags.HasErrors() { // the short form: only a version constraint
		return required, tfdiags.FromHCL(gohcl.DecodeExpression(attr.Expr, nil, &required.Constraints))
	}
	var diags tfdiags.Diagnostics
	for _, pair := range pairs {
		key := hcl.ExprAsKeyword(pair.Key)
		if key == "" {
			if val, hclDiags := pair.Key.Value(nil); !hclDiags.HasErrors() && val.Type() == cty.String && !val.IsNull() {
				key = val.AsString()
			}
		}
		switch key {
		case "version":
			diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(pair.Value, nil, &required.Constraints))...)
		case "source":
			var source string
			diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(pair.Value, nil, &source))...)
			provider, err := addrs.ParseProviderSource(source)
			if err != nil {
				return invalid(pair.Value.Range(), "The provider source is invalid: "+oneLine(err.Error())+".")
			}
			required.Source = provider
		case "configuration_aliases":
			exprs, hclDiags := hcl.ExprList(pair.Value)
			diags = append(diags, tfdiags.FromHCL(hclDiags)...)
			for _, expr := range exprs {
				alias, moreDiags := decodeProviderRef(expr)
				diags = append(diags, moreDiags...)
				required.Aliases = append(required.Aliases, alias)
			}
		default:
			return invalid(pair.Key.Range(), "An entry of required_providers may set source, version and configuration_aliases only.")
		}
	}
	return required, diags
}
