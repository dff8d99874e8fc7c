package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// builtinFunctions are the functions of the built-in provider, by name.
var builtinFunctions = map[string]struct {
	schema *providers.FunctionSchema
	call   func(cty.Value) (cty.Value, error)
}{
	"encode_expr": {
		&providers.FunctionSchema{
			Summary: "Write a value as an expression", Description: "Returns the text of an expression that gives the value.",
			Parameters: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType}}, Return: cty.String,
		}, encodeExpr,
	},
	"encode_tfvars": {
		&providers.FunctionSchema{
			Summary: "Write values for variables", Description: "Returns the text of a file that gives each variable its value, from an object with the variables as attributes.",
			Parameters: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType}}, Return: cty.String,
		}, encodeTFVars,
	},
	"decode_tfvars": {
		&providers.FunctionSchema{
			Summary: "Read values for variables", Description: "Returns an object with the variables of a text as attributes.",
			Parameters: []function.Parameter{{Name: "src", Type: cty.String}}, Return: cty.DynamicPseudoType,
		}, decodeTFVars,
	},
}

func builtinFunctionSchemas() map[string]*providers.FunctionSchema {
	out := make(map[string]*providers.FunctionSchema, len(builtinFunctions))
	for name, fn := range builtinFunctions {
		out[name] = fn.schema
	}
	return out
}

// CallFunction implements [providers.Interface].
func (b *builtin) CallFunction(_ context.Context, name string, args []cty.Value) (cty.Value, error) {
	fn, ok := builtinFunctions[name]
	if !ok || len(args) != 1 {
		return cty.DynamicVal, fmt.Errorf("the built-in provider has no function %q of %d arguments", name, len(args))
	}
	if !args[0].IsWhollyKnown() {
		return cty.UnknownVal(fn.schema.Return), nil
	}
	return fn.call(args[0])
}

func encodeExpr(v cty.Value) (cty.Value, error) {
	return cty.StringVal(string(hclwrite.Format(hclwrite.TokensForValue(v).Bytes()))), nil
}

func encodeTFVars(v cty.Value) (cty.Value, error) {
	if ty := v.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		return cty.DynamicVal, errors.New("the value to encode must be an object whose attributes are the variables")
	}
	file := hclwrite.NewEmptyFile()
	for it := v.ElementIterator(); it.Next(); {
		name, val := it.Element()
		if !hclsyntax.ValidIdentifier(name.AsString()) {
			return cty.DynamicVal, fmt.Errorf("%q cannot be the name of a variable", name.AsString())
		}
		file.Body().SetAttributeValue(name.AsString(), val)
	}
	return cty.StringVal(string(hclwrite.Format(file.Bytes()))), nil
}

func decodeTFVars(v cty.Value) (cty.Value, error) {
	const name = "<decode_tfvars argument>"
	src := []byte(v.AsString())
	if hclDiags := bounds.HCL(src, name); hclDiags.HasErrors() {
		return cty.DynamicVal, hclDiags
	}
	file, hclDiags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if hclDiags.HasErrors() {
		return cty.DynamicVal, hclDiags
	}
	attrs, hclDiags := file.Body.JustAttributes()
	if hclDiags.HasErrors() {
		return cty.DynamicVal, hclDiags
	}
	out := make(map[string]cty.Value, len(attrs))
	for name, attr := range attrs {
		val, hclDiags := attr.Expr.Value(nil)
		if hclDiags.HasErrors() {
			return cty.DynamicVal, fmt.Errorf("variable %q: %w", name, hclDiags)
		}
		out[name] = val
	}
	return cty.ObjectVal(out), nil
}
