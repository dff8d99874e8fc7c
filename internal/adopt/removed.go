package adopt

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/towline/terraform-provider-towline/internal/configs"
)

// remove takes a block out and says that its object is not to be destroyed: it is gone.
func (w *rewriter) remove(d Drift, module *configs.Config, block *hclsyntax.Block) {
	if at := w.reference(module, d); at != nil {
		w.refuse(d, at, "Resource is still referred to", fmt.Sprintf("The object of %s is gone, and its block cannot be removed as long as this expression refers to it.", d.Addr))
		return
	}
	removed := fmt.Sprintf("removed {\n  from = %s\n\n  lifecycle {\n    destroy = false\n  }\n}", d.Addr.Resource)
	w.replace(d, hcl.RangeBetween(block.TypeRange, block.CloseBraceRange), removed)
}

// reference finds an expression of the module that refers to a resource.
func (w *rewriter) reference(module *configs.Config, d Drift) (at *hcl.Range) {
	for name, src := range w.config.Root.Sources {
		if !strings.HasSuffix(name, ".tf") || dirOf(name) != dirOf(w.fileOf(module, d)) {
			continue
		}
		file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
		body, ok := bodyOf(file)
		if diags.HasErrors() || !ok {
			continue
		}
		_ = hclsyntax.VisitAll(body, func(node hclsyntax.Node) hcl.Diagnostics {
			if expr, ok := node.(*hclsyntax.ScopeTraversalExpr); ok && at == nil && refersTo(expr.Traversal, d) {
				at = expr.SrcRange.Ptr()
			}
			return nil
		})
	}
	return at
}

func bodyOf(file *hcl.File) (*hclsyntax.Body, bool) {
	if file == nil {
		return nil, false
	}
	body, ok := file.Body.(*hclsyntax.Body)
	return body, ok
}

func (w *rewriter) fileOf(module *configs.Config, d Drift) string {
	return module.Module.Resources[d.Addr.Resource].Range.Filename
}

func dirOf(file string) string {
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		return file[:i]
	}
	return ""
}

func refersTo(traversal hcl.Traversal, d Drift) bool {
	if len(traversal) < 2 || traversal.RootName() != d.Addr.Resource.Type {
		return false
	}
	step, ok := traversal[1].(hcl.TraverseAttr)
	return ok && step.Name == d.Addr.Resource.Name
}
