package lang

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/towline/terraform-provider-towline/internal/bounds"
)

// renderers are the functions that render templates.
var renderers = []string{"templatefile", "templatestring"}

// templateFunctions are the functions inside templates: all but those that render
// templates, which may not be nested.
func templateFunctions(fns map[string]function.Function) map[string]function.Function {
	out := make(map[string]function.Function, len(fns))
	for name, fn := range fns {
		out[name] = fn
	}
	for _, name := range renderers {
		out[name] = function.New(&function.Spec{
			VarParam: &function.Parameter{Name: "args", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true},
			Type: func([]cty.Value) (cty.Type, error) {
				return cty.DynamicPseudoType, fmt.Errorf("%s cannot be called inside a template", name)
			},
			Impl: func([]cty.Value, cty.Type) (cty.Value, error) { return cty.DynamicVal, nil },
		})
	}
	return out
}

// templateFileFunc renders a template from a file. The functions are looked up
// at each call, so that fns may still be filled.
func templateFileFunc(baseDir string, fns map[string]function.Function) function.Function {
	source := func(arg cty.Value) (cty.Value, string, error) {
		path, marks := arg.Unmark()
		data, err := readBounded(baseDir, path.AsString())
		if err != nil {
			return cty.NilVal, "", function.NewArgError(0, err)
		}
		return cty.StringVal(string(data)).WithMarks(marks), path.AsString(), nil
	}
	return templateFunc(function.Parameter{Name: "path", Type: cty.String, AllowMarked: true}, source, fns)
}

// templateStringFunc renders a template that some object of the configuration
// holds. It takes a reference only: a template that is written down can be
// rendered where it is.
func templateStringFunc(fns map[string]function.Function) function.Function {
	source := func(arg cty.Value) (cty.Value, string, error) {
		closure := customdecode.ExpressionClosureFromVal(arg)
		if _, diags := hcl.AbsTraversalForExpr(closure.Expression); diags.HasErrors() && !isIndex(closure.Expression) {
			return cty.NilVal, "", function.NewArgErrorf(0, "it must refer to an object that holds the template; write a template that is known beforehand directly as an expression")
		}
		val, diags := closure.Value()
		if diags.HasErrors() {
			return cty.NilVal, "", function.NewArgError(0, diags)
		}
		if bare, _ := val.Unmark(); bare.IsKnown() && (bare.IsNull() || bare.Type() != cty.String) {
			return cty.NilVal, "", function.NewArgErrorf(0, "a template is a text")
		}
		return val, "<templatestring argument>", nil
	}
	return templateFunc(function.Parameter{Name: "template", Type: customdecode.ExpressionClosureType}, source, fns)
}

// isIndex tells whether an expression takes a part of an object by a key that is
// only known later.
func isIndex(expr hcl.Expression) bool {
	var inside hclsyntax.Expression
	switch expr := expr.(type) {
	case *hclsyntax.IndexExpr:
		inside = expr.Collection
	case *hclsyntax.RelativeTraversalExpr:
		inside = expr.Source
	default:
		return false
	}
	_, plain := inside.(*hclsyntax.ScopeTraversalExpr)
	return plain || isIndex(inside)
}

// templateSource turns the first argument into a template and what to call it in
// problems. The template may be unknown.
type templateSource func(arg cty.Value) (text cty.Value, name string, err error)

// templateFunc makes a function that renders a template with the variables of its second argument.
func templateFunc(first function.Parameter, source templateSource, fns map[string]function.Function) function.Function {
	render := func(args []cty.Value) (cty.Value, error) {
		text, name, err := source(args[0])
		if err != nil {
			return cty.DynamicVal, err
		}
		vars, varMarks := args[1].Unmark()
		bare, textMarks := text.Unmark()
		if !bare.IsKnown() || !vars.IsKnown() {
			return cty.DynamicVal.WithMarks(varMarks, textMarks), nil
		}
		if hclDiags := bounds.Template([]byte(bare.AsString()), name); hclDiags.HasErrors() {
			return cty.DynamicVal, function.NewArgError(0, hclDiags)
		}
		expr, hclDiags := hclsyntax.ParseTemplate([]byte(bare.AsString()), name, hcl.InitialPos)
		if hclDiags.HasErrors() {
			return cty.DynamicVal, function.NewArgError(0, hclDiags)
		}
		variables, err := templateVariables(vars, expr)
		if err != nil {
			return cty.DynamicVal, function.NewArgError(1, err)
		}
		val, hclDiags := expr.Value(&hcl.EvalContext{Variables: variables, Functions: templateFunctions(fns)})
		if hclDiags.HasErrors() {
			return cty.DynamicVal, hclDiags
		}
		return val.WithMarks(varMarks, textMarks), nil
	}
	return function.New(&function.Spec{
		Params: []function.Parameter{first, {Name: "vars", Type: cty.DynamicPseudoType, AllowMarked: true}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].IsKnown() || !args[1].IsKnown() {
				return cty.DynamicPseudoType, nil
			}
			val, err := render(args)
			return val.Type(), err
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return render(args) },
	})
}

// templateVariables checks the variables of a template against what it refers to.
func templateVariables(vars cty.Value, expr hcl.Expression) (map[string]cty.Value, error) {
	if ty := vars.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		return nil, errors.New("the variables of a template are a map")
	}
	variables := vars.AsValueMap()
	for name := range variables {
		if !hclsyntax.ValidIdentifier(name) {
			return nil, fmt.Errorf("%q cannot name a variable: a name begins with a letter and holds letters, digits and underscores", name)
		}
	}
	for _, traversal := range expr.Variables() {
		if _, ok := variables[traversal.RootName()]; !ok {
			return nil, fmt.Errorf("the template refers to %q at %s, which is not among its variables", traversal.RootName(), traversal[0].SourceRange())
		}
	}
	return variables, nil
}
