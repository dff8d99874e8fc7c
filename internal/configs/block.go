package configs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

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
		diags = append(diags, v.decodeType(attr.Expr)...)
	}
	if attr, ok := content.Attributes["default"]; ok {
		diags = append(diags, v.decodeDefault(attr)...)
	}
	for _, inner := range content.Blocks {
		rule, moreDiags := decodeCheckRule(inner)
		diags = append(append(diags, moreDiags...), rule.requireReferenceTo(v.Name)...)
		v.Validations = append(v.Validations, rule)
	}
	return v, diags
}

func (v *Variable) decodeType(expr hcl.Expression) tfdiags.Diagnostics {
	switch keyword := hcl.ExprAsKeyword(expr); keyword {
	case "list", "map": // without the type of their elements, as before 0.12
		v.Type = map[string]cty.Type{"list": cty.List(cty.DynamicPseudoType), "map": cty.Map(cty.DynamicPseudoType)}[keyword]
		return nil
	}
	if template, ok := expr.(*hclsyntax.TemplateExpr); ok && template.IsStringLiteral() {
		val, _ := template.Value(nil)
		summary := "Invalid legacy variable type hint"
		if slices.Contains([]string{"string", "list", "map"}, val.AsString()) {
			summary = "Invalid quoted type constraints"
		}
		return tfdiags.At(expr.Range(), summary, "A type is written without quotes, such as string, list(string) or map(string).")
	}
	ty, defaults, hclDiags := typeexpr.TypeConstraintWithDefaults(expr)
	v.Type, v.TypeDefaults = ty, defaults
	return tfdiags.FromHCL(hclDiags)
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

// checkName refuses what cannot be named in a reference.
// The summary says what is named.
func checkName(what, name string, at hcl.Range) tfdiags.Diagnostics {
	if hclsyntax.ValidIdentifier(name) {
		return nil
	}
	return tfdiags.At(at, "Invalid "+what+" name", "A name must begin with a letter or an underscore and hold letters, digits, underscores and dashes only.")
}

// oneLine is for names inside details.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
