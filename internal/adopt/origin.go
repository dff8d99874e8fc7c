package adopt

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/towline/terraform-provider-towline/internal/configs"
)

// pointAt says where a value comes from that is not written where it is used.
func (w *rewriter) pointAt(d Drift, module *configs.Config, expr hclsyntax.Expression) {
	at := expr.Range().Ptr()
	what, place := origin(module, expr)
	if place != nil {
		what = fmt.Sprintf("%s, at %s:%d", what, place.Filename, place.Start.Line)
		at = place
	}
	w.refuse(d, at, "Value comes from elsewhere", fmt.Sprintf("What the block says of %s comes from %s. Change it there.%s", d.Name(), what, w.saying(d)))
}

// origin names what an expression refers to, and where that is declared.
func origin(module *configs.Config, expr hclsyntax.Expression) (what string, place *hcl.Range) {
	variables := expr.Variables()
	if len(variables) == 0 {
		return "a function's result", nil
	}
	traversal := variables[0]
	name := ""
	if len(traversal) > 1 {
		if step, ok := traversal[1].(hcl.TraverseAttr); ok {
			name = step.Name
		}
	}
	switch traversal.RootName() {
	case "var":
		return variable(module, name)
	case "local":
		if local := module.Module.Locals[name]; local != nil {
			return "local." + name, local.Range.Ptr()
		}
	case "module":
		if call := module.Module.ModuleCalls[name]; call != nil {
			return "module." + name, call.Range.Ptr()
		}
	}
	return fmt.Sprintf("%s.%s", traversal.RootName(), name), nil
}

// variable names the place of a variable's value: the argument of the module's call, or
// the declaration of the root module's variable.
func variable(module *configs.Config, name string) (what string, place *hcl.Range) {
	declared := module.Module.Variables[name]
	if declared == nil {
		return "var." + name, nil
	}
	if module.Parent == nil {
		return fmt.Sprintf("var.%s: its default, or a variable file", name), declared.Range.Ptr()
	}
	call := module.Parent.Module.ModuleCalls[module.Path[len(module.Path)-1]]
	attrs, _ := call.Config.JustAttributes() // what is wrong with other arguments does not matter here
	if attr := attrs[name]; attr != nil {
		return fmt.Sprintf("the argument %s of module.%s", name, call.Name), attr.Range.Ptr()
	}
	return fmt.Sprintf("the default of var.%s", name), declared.Range.Ptr()
}
