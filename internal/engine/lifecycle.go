package engine

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// resolveLifecycle finds what replace_triggered_by refers to, and refuses what a
// lifecycle block names that is not there: it would be ignored in silence.
func (c *compiler) resolveLifecycle(o *object) {
	for _, traversal := range o.resource.Lifecycle.IgnoreChanges {
		c.diags = append(c.diags, o.checkIgnored(traversal)...)
	}
	for _, expr := range o.resource.Lifecycle.ReplaceTriggeredBy {
		refs := c.exprRefs(o.mod, expr)
		for _, r := range refs {
			if r.target != nil && r.target.addr.Resource.Mode != addrs.Managed {
				c.diags = append(c.diags, tfdiags.At(r.Range, "Invalid reference in replace_triggered_by expression",
					"Only managed resources of the same module, their instances and attributes can be named here: data is read anew each time.")...)
			}
		}
		o.refs = append(o.refs, refs...)
	}
}

// checkIgnored follows an element of ignore_changes into the resource type.
func (o *object) checkIgnored(traversal hcl.Traversal) tfdiags.Diagnostics {
	at := traversal.SourceRange()
	var diags tfdiags.Diagnostics
	root, isName := traversal[0].(hcl.TraverseAttr)
	if !isName {
		return tfdiags.At(at, "Invalid ignore_changes element", "An element of ignore_changes begins with the name of an attribute or a nested block of the resource type.")
	}
	if attr := o.schema.Block.Attributes[root.Name]; attr != nil && attr.Computed && !attr.Optional && len(traversal) == 1 {
		warning := tfdiags.At(o.resource.TypeRange, "Redundant ignore_changes element",
			fmt.Sprintf("The attribute %s is decided by the provider alone, so that there is no configured value to ignore. Remove it; nothing changes by that.", root.Name))
		return warning.Warnings()
	}
	_, hclDiags := traversal.TraverseRel(cty.UnknownVal(o.schema.Block.ImpliedType()))
	return append(diags, tfdiags.FromHCL(hclDiags)...)
}
