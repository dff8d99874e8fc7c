package tfdiags

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// describe says in a few words what a value is; "" if there is nothing to say,
// or nothing that may be said.
func describe(val cty.Value) string {
	if val.ContainsMarked() {
		return ""
	}
	ty := val.Type()
	switch {
	case !val.IsKnown() && ty == cty.DynamicPseudoType:
		return ""
	case !val.IsKnown():
		return "is a " + ty.FriendlyName()
	case val.IsNull():
		return "is null"
	case ty == cty.Bool && val.True():
		return "is true"
	case ty == cty.Bool:
		return "is false"
	case ty == cty.Number:
		return "is " + val.AsBigFloat().Text('g', 10)
	case ty == cty.String:
		return fmt.Sprintf("is %q", val.AsString())
	case ty.IsCollectionType() || ty.IsTupleType():
		return "is " + describeLength(ty, val.LengthInt())
	case ty.IsObjectType():
		return "is object with " + describeAttributes(ty)
	default:
		return "is " + ty.FriendlyName()
	}
}

func describeLength(ty cty.Type, n int) string {
	name := "tuple"
	if !ty.IsTupleType() {
		name = ty.FriendlyName()
	}
	switch n {
	case 0:
		return "empty " + name
	case 1:
		return name + " with 1 element"
	default:
		return fmt.Sprintf("%s with %d elements", name, n)
	}
}

func describeAttributes(ty cty.Type) string {
	names := ty.AttributeTypes()
	switch len(names) {
	case 0:
		return "no attributes"
	case 1:
		for name := range names {
			return fmt.Sprintf("1 attribute %q", name)
		}
	}
	return fmt.Sprintf("%d attributes", len(names))
}

// traversalText writes a reference as in configuration.
func traversalText(traversal hcl.Traversal) string {
	var b strings.Builder
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			b.WriteString(step.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + step.Name)
		case hcl.TraverseIndex:
			b.WriteString("[" + keyText(step.Key) + "]")
		}
	}
	return b.String()
}

func keyText(key cty.Value) string {
	switch {
	case key.IsNull() || !key.IsKnown() || key.IsMarked():
		return "..."
	case key.Type() == cty.String:
		return fmt.Sprintf("%q", key.AsString())
	case key.Type() == cty.Number:
		return key.AsBigFloat().Text('f', -1)
	default:
		return "..."
	}
}

// calledFunction is the function whose call failed.
type calledFunction struct {
	CalledAs  string     `json:"called_as"`
	Signature *signature `json:"signature,omitempty"`
}

type signature struct {
	Name     string      `json:"name"`
	Params   []parameter `json:"params"`
	Variadic *parameter  `json:"variadic_param,omitempty"`
	Return   cty.Type    `json:"return_type"`
}

type parameter struct {
	Name string   `json:"name"`
	Type cty.Type `json:"type"`
}

// parameters lists the names of the parameters.
func (c *calledFunction) parameters() string {
	if c.Signature == nil {
		return ""
	}
	var names []string
	for _, p := range c.Signature.Params {
		names = append(names, p.Name)
	}
	if c.Signature.Variadic != nil {
		names = append(names, c.Signature.Variadic.Name+"...")
	}
	return strings.Join(names, ", ")
}

// functionCall returns the function that a problem comes from, or nil.
func functionCall(d *Diagnostic) *calledFunction {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](&hcl.Diagnostic{Extra: d.Extra})
	if !ok || call.CalledFunctionName() == "" {
		return nil
	}
	out := &calledFunction{CalledAs: call.CalledFunctionName()}
	if fn, found := findFunction(d.EvalContext, out.CalledAs); found {
		out.Signature = newSignature(out.CalledAs, fn)
	}
	return out
}

func findFunction(hclCtx *hcl.EvalContext, name string) (function.Function, bool) {
	for ; hclCtx != nil; hclCtx = hclCtx.Parent() {
		if fn, ok := hclCtx.Functions[name]; ok {
			return fn, true
		}
	}
	return function.Function{}, false
}

func newSignature(name string, fn function.Function) *signature {
	if i := strings.LastIndex(name, "::"); i >= 0 {
		name = name[i+2:]
	}
	out := &signature{Name: name, Params: []parameter{}, Return: cty.DynamicPseudoType}
	var types []cty.Type
	for _, p := range fn.Params() {
		out.Params = append(out.Params, parameter{p.Name, p.Type})
		types = append(types, p.Type)
	}
	if p := fn.VarParam(); p != nil {
		out.Variadic = &parameter{p.Name, p.Type}
	}
	if ty, err := fn.ReturnType(types); err == nil {
		out.Return = ty
	}
	return out
}
