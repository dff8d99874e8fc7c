package configs

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	tfaddr "github.com/hashicorp/terraform-registry-address"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// decodeTraversals reads a list of references, as in depends_on.
func decodeTraversals(expr hcl.Expression) ([]hcl.Traversal, tfdiags.Diagnostics) {
	exprs, hclDiags := hcl.ExprList(expr)
	diags := tfdiags.FromHCL(hclDiags)
	var out []hcl.Traversal
	for _, e := range exprs {
		e, moreDiags := unquoted(e, "references")
		traversal, hclDiags := hcl.AbsTraversalForExpr(e)
		diags = append(append(diags, moreDiags...), tfdiags.FromHCL(hclDiags)...)
		if len(traversal) > 0 {
			out = append(out, traversal)
		}
	}
	return out, diags
}

// decodeProviderRef reads "aws" or "aws.west".
func decodeProviderRef(expr hcl.Expression) (addrs.LocalProviderConfig, tfdiags.Diagnostics) {
	const help = "A provider configuration is named by the provider's local name, with a dot and an alias if it has one, such as aws or aws.west."
	expr, diags := unquoted(expr, "references")
	traversal, hclDiags := hcl.AbsTraversalForExpr(expr)
	if hclDiags.HasErrors() || len(traversal) == 0 || len(traversal) > 2 {
		return addrs.LocalProviderConfig{}, append(diags, tfdiags.At(expr.Range(), "Invalid provider configuration reference", help)...)
	}
	out := addrs.LocalProviderConfig{LocalName: traversal.RootName()}
	diags = append(diags, checkProviderName(out.LocalName, traversal[0].SourceRange())...)
	if len(traversal) == 1 {
		return out, diags
	}
	alias, ok := traversal[1].(hcl.TraverseAttr)
	if !ok {
		return out, append(diags, tfdiags.At(traversal[1].SourceRange(), "Invalid provider configuration reference", help)...)
	}
	out.Alias = alias.Name
	return out, diags
}

// checkProviderName refuses local names that are not written as providers are named.
func checkProviderName(name string, at hcl.Range) tfdiags.Diagnostics {
	normal, err := tfaddr.ParseProviderPart(name)
	switch {
	case err != nil:
		return tfdiags.At(at, "Invalid provider local name", fmt.Sprintf("%q cannot name a provider: it %s.", name, err))
	case normal != name:
		return tfdiags.At(at, "Invalid provider local name", fmt.Sprintf("Local names of providers are written in lower case. Write %q instead of %q.", normal, name))
	default:
		return nil
	}
}
