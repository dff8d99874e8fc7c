package configs

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Variable is a variable block.
type Variable struct {
	Name        string
	Description string
	// Type is the constraint; cty.DynamicPseudoType if none is given.
	Type cty.Type
	// TypeDefaults are the defaults of optional attributes inside Type; may be nil.
	TypeDefaults *typeexpr.Defaults
	// Typed tells whether a constraint is given: values of untyped variables from
	// the command line and the environment are raw text.
	Typed bool
	// Default is cty.NilVal if the variable is required.
	Default              cty.Value
	Nullable             bool
	Sensitive, Ephemeral bool
	Validations          []*CheckRule
	Range                hcl.Range
}

// Required tells whether a value must be given.
func (v *Variable) Required() bool { return v.Default == cty.NilVal }

var variableSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "description"}, {Name: "type"}, {Name: "default"}, {Name: "nullable"}, {Name: "sensitive"}, {Name: "ephemeral"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "validation"}},
}

func decodeVariable(block *hcl.Block) (*Variable, tfdiags.Diagnostics) {
	v := &Variable{Name: block.Labels[0], Type: cty.DynamicPseudoType, Nullable: true, Range: block.DefRange}
	diags := checkName("variable", v.Name, block.LabelRanges[0])
	switch v.Name {
	case "source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals":
		diags = append(diags, tfdiags.At(block.LabelRanges[0], "Invalid variable name",
			fmt.Sprintf("The variable name %q is reserved, because a module block gives it a meaning of its own. Choose another name.", v.Name))...)
	}
	content, hclDiags := block.Body.Content(variableSchema)
	diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	for name, target := range map[string]any{"description": &v.Description, "nullable": &v.Nullable, "sensitive": &v.Sensitive, "ephemeral": &v.Ephemeral} {
		if attr, ok := content.Attributes[name]; ok {
			diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(attr.Expr, nil, target))...)
		}
	}
	if attr, ok := content.Attributes["type"]; ok {
		v.Typed = true
		v.Type, v.TypeDefaults, hclDiags = typeexpr.TypeConstraintWithDefaults(attr.Expr)
		diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	}
	if attr, ok := content.Attributes["default"]; ok {
		diags = append(diags, v.decodeDefault(attr)...)
	}
	for _, inner := range content.Blocks {
		rule, moreDiags := decodeCheckRule(inner)
		diags = append(diags, moreDiags...)
		v.Validations = append(v.Validations, rule)
	}
	return v, diags
}

func (v *Variable) decodeDefault(attr *hcl.Attribute) tfdiags.Diagnostics {
	val, hclDiags := attr.Expr.Value(nil)
	if hclDiags.HasErrors() {
		v.Default = cty.DynamicVal
		return tfdiags.FromHCL(hclDiags)
	}
	if val.IsNull() && !v.Nullable {
		v.Default = cty.DynamicVal
		return tfdiags.At(attr.Expr.Range(), "Invalid default value for variable", "The default is null, but nullable is false. Give another default, or allow null.")
	}
	if v.TypeDefaults != nil && !val.IsNull() {
		val = v.TypeDefaults.Apply(val)
	}
	converted, err := convert.Convert(val, v.Type)
	if err != nil {
		v.Default = cty.DynamicVal
		return tfdiags.At(attr.Expr.Range(), "Invalid default value for variable",
			fmt.Sprintf("The default does not fit the variable's type constraint: %s.", err))
	}
	v.Default = converted
	return nil
}

var outputSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "description"}, {Name: "value", Required: true}, {Name: "sensitive"}, {Name: "ephemeral"}, {Name: "depends_on"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "precondition"}},
}

func decodeOutput(block *hcl.Block) (*Output, tfdiags.Diagnostics) {
	o := &Output{Name: block.Labels[0], Range: block.DefRange}
	diags := checkName("output", o.Name, block.LabelRanges[0])
	content, hclDiags := block.Body.Content(outputSchema)
	diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	for name, target := range map[string]any{"description": &o.Description, "sensitive": &o.Sensitive, "ephemeral": &o.Ephemeral} {
		if attr, ok := content.Attributes[name]; ok {
			diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(attr.Expr, nil, target))...)
		}
	}
	if attr, ok := content.Attributes["value"]; ok {
		o.Expr = attr.Expr
	} else {
		o.Expr = hcl.StaticExpr(cty.DynamicVal, block.DefRange)
	}
	if attr, ok := content.Attributes["depends_on"]; ok {
		refs, moreDiags := decodeTraversals(attr.Expr)
		o.DependsOn = refs
		diags = append(diags, moreDiags...)
	}
	for _, inner := range content.Blocks {
		rule, moreDiags := decodeCheckRule(inner)
		diags = append(diags, moreDiags...)
		o.Preconditions = append(o.Preconditions, rule)
	}
	return o, diags
}

var callSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "source", Required: true}, {Name: "version"}, {Name: "count"}, {Name: "for_each"}, {Name: "depends_on"}, {Name: "providers"}},
}

func decodeModuleCall(block *hcl.Block) (*ModuleCall, tfdiags.Diagnostics) {
	c := &ModuleCall{Name: block.Labels[0], Range: block.DefRange}
	diags := checkName("module instance", c.Name, block.LabelRanges[0])
	content, remain, hclDiags := block.Body.PartialContent(callSchema)
	diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	c.Config = remain
	if attr, ok := content.Attributes["source"]; ok {
		c.SourceRange = attr.Expr.Range()
		diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(attr.Expr, nil, &c.Source))...)
	}
	if attr, ok := content.Attributes["version"]; ok {
		diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(attr.Expr, nil, &c.Version))...)
	}
	repeat, moreDiags := decodeRepetition(content)
	diags = append(diags, moreDiags...)
	c.Count, c.ForEach, c.DependsOn = repeat.count, repeat.forEach, repeat.dependsOn
	if attr, ok := content.Attributes["providers"]; ok {
		diags = append(diags, c.decodeProviders(attr)...)
	}
	return c, diags
}

func (c *ModuleCall) decodeProviders(attr *hcl.Attribute) tfdiags.Diagnostics {
	pairs, hclDiags := hcl.ExprMap(attr.Expr)
	diags := tfdiags.FromHCL(hclDiags)
	for _, pair := range pairs {
		inChild, moreDiags := decodeProviderRef(pair.Key)
		diags = append(diags, moreDiags...)
		inParent, moreDiags := decodeProviderRef(pair.Value)
		diags = append(diags, moreDiags...)
		c.Providers = append(c.Providers, PassedProvider{InChild: inChild, InParent: inParent, Range: pair.Value.Range()})
	}
	return diags
}

var providerSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "alias"}, {Name: "version"}},
}

func decodeProvider(block *hcl.Block) (*ProviderConfig, tfdiags.Diagnostics) {
	p := &ProviderConfig{Addr: addrs.LocalProviderConfig{LocalName: block.Labels[0]}, Range: block.DefRange}
	diags := checkName("provider", block.Labels[0], block.LabelRanges[0])
	content, remain, hclDiags := block.Body.PartialContent(providerSchema)
	diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	p.Config = remain
	if attr, ok := content.Attributes["alias"]; ok {
		diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(attr.Expr, nil, &p.Addr.Alias))...)
	}
	if attr, ok := content.Attributes["version"]; ok {
		warning := tfdiags.At(attr.NameRange, "Version constraints inside provider configuration blocks are deprecated",
			"This constraint is ignored. Put it into the required_providers block of the terraform block.")
		diags = append(diags, warning.Warnings()...)
	}
	return p, diags
}

// checkName refuses what cannot be named in a reference.
// The summary says what is named.
func checkName(what, name string, at hcl.Range) tfdiags.Diagnostics {
	if hclsyntax.ValidIdentifier(name) {
		return nil
	}
	return tfdiags.At(at, "Invalid "+what+" name", "A name must begin with a letter or an underscore and hold letters, digits, underscores and dashes only.")
}

// notYet refuses language that this version does not run, rather than ignoring it.
func notYet(at hcl.Range, what string) tfdiags.Diagnostics {
	return tfdiags.At(at, "Unsupported language feature",
		what+" is valid Terraform, but this version of towline does not run it yet. Ignoring it could do harm, so the configuration is refused.")
}

// oneLine is for names inside details.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
