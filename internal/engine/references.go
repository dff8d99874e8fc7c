package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// dependsOn resolves what depends_on names: whole objects, since any part of one is
// there only when all of it is.
func (c *compiler) dependsOn(m *moduleProgram, traversals []hcl.Traversal) []ref {
	refs, diags := lang.TraversalRefs(traversals)
	c.diags = append(c.diags, diags...)
	return c.resolveRefs(m, slices.DeleteFunc(refs, func(r lang.Ref) bool {
		if len(r.Path) == 0 {
			return false
		}
		c.diags = append(c.diags, tfdiags.At(r.Path.SourceRange(), "Invalid depends_on reference",
			"References in depends_on name whole objects, such as a resource or a module. Leave out what follows the object.")...)
		return true
	}))
}

func (c *compiler) resolveRefs(m *moduleProgram, refs []lang.Ref) []ref {
	out := make([]ref, 0, len(refs))
	for _, r := range refs {
		resolved := ref{Ref: r}
		switch r.Kind {
		case lang.RefVariable:
			resolved.target = c.lookup(m, r, m.variables[r.Name], "input variable", "var."+r.Name, sortedNames(m.variables))
		case lang.RefLocal:
			resolved.target = c.lookup(m, r, m.locals[r.Name], "local value", "local."+r.Name, sortedNames(m.locals))
		case lang.RefModule:
			resolved.target = c.lookup(m, r, m.calls[r.Name], "module", "module."+r.Name, sortedNames(m.calls))
			c.resolveOutput(&resolved)
		case lang.RefResource:
			resolved.target = c.lookup(m, r, m.resources[r.Resource], "resource", r.Resource.String(), nil)
		}
		out = append(out, resolved)
	}
	return out
}

// lookup reports a reference to something that is not declared.
func (c *compiler) lookup(m *moduleProgram, r lang.Ref, found *object, what, name string, known []string) *object {
	if found == nil {
		where := "the root module"
		if len(m.config.Path) > 0 {
			where = m.config.Path.String()
		}
		_, short, _ := strings.Cut(name, ".")
		c.diags = append(c.diags, tfdiags.At(r.Range, "Reference to undeclared "+what,
			fmt.Sprintf("%s is used here, but it is not declared in %s.%s", name, where, suggest(short, known)))...)
	}
	return found
}

// resolveOutput finds the output behind a module reference and notes its use.
func (c *compiler) resolveOutput(r *ref) {
	if r.target == nil || r.target.child == nil {
		return
	}
	child := r.target.child
	if r.Output != "" {
		if r.output = child.outputs[r.Output]; r.output == nil {
			c.diags = append(c.diags, tfdiags.At(r.OutputRange, "Unsupported attribute",
				fmt.Sprintf("Module %q has no output named %q.%s", r.Name, r.Output, suggest(r.Output, sortedNames(child.outputs))))...)
			return
		}
	}
	r.eachOutput(func(o *object) {
		if !slices.Contains(r.target.usedOutputs, o) {
			r.target.usedOutputs = append(r.target.usedOutputs, o)
		}
	})
}
