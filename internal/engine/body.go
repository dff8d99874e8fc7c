package engine

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/dynblock"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// decodeBody evaluates a block's body, dynamic blocks included, into a value that conforms to its schema.
func decodeBody(body hcl.Body, schema *providers.Block, hclCtx *hcl.EvalContext) (cty.Value, tfdiags.Diagnostics) {
	if hasDynamic(body) {
		body = dynblock.Expand(body, hclCtx)
	}
	val, hclDiags := schema.Decode(body, hclCtx)
	return val, tfdiags.FromHCL(hclDiags)
}

// hasDynamic tells whether a body may hold dynamic blocks; only bodies in native
// syntax can be known not to.
func hasDynamic(body hcl.Body) bool {
	native, ok := body.(*hclsyntax.Body)
	if !ok {
		return true
	}
	for _, block := range native.Blocks {
		if block.Type == "dynamic" || hasDynamic(block.Body) {
			return true
		}
	}
	return false
}

// locate gives a provider's problems the source range of the attribute they
// name, or else the place in the block where something would have to be added.
func locate(diags tfdiags.Diagnostics, addr string, body hcl.Body) tfdiags.Diagnostics {
	if len(diags) == 0 {
		return nil
	}
	out := diags.WithAddress(addr)
	native, _ := body.(*hclsyntax.Body)
	for i := range out {
		if out[i].Subject == nil && native != nil {
			out[i].Subject = attributeRange(native, out[i].Attribute)
		}
	}
	return out.WithSubject(body.MissingItemRange())
}

// attributeRange follows a path into a body as far as it goes.
func attributeRange(body *hclsyntax.Body, path cty.Path) *hcl.Range {
	if len(path) == 0 {
		return nil
	}
	step, ok := path[0].(cty.GetAttrStep)
	if !ok {
		return nil
	}
	if attr := body.Attributes[step.Name]; attr != nil {
		return attr.Expr.Range().Ptr()
	}
	index := 0
	rest := path[1:]
	if len(rest) > 0 {
		if step, ok := rest[0].(cty.IndexStep); ok {
			rest = rest[1:]
			if step.Key.Type() == cty.Number && step.Key.IsKnown() && !step.Key.IsNull() {
				n, _ := step.Key.AsBigFloat().Int64()
				index = int(n)
			}
		}
	}
	for _, block := range body.Blocks {
		if block.Type != step.Name {
			continue
		}
		if index > 0 {
			index--
			continue
		}
		if inner := attributeRange(block.Body, rest); inner != nil {
			return inner
		}
		return block.DefRange().Ptr()
	}
	return nil
}
