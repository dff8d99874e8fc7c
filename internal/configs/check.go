package configs

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

var checkSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "assert"}, {Type: "data", LabelNames: []string{"type", "name"}},
}}

func decodeCheck(block *hcl.Block) (*Check, tfdiags.Diagnostics) {
	c := &Check{Name: block.Labels[0], Range: block.DefRange}
	diags := checkName(c.Name, block.LabelRanges[0])
	content, hclDiags := block.Body.Content(checkSchema)
	diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	for _, inner := range content.Blocks {
		if inner.Type == "data" {
			diags = append(diags, notYet(inner.DefRange, "A data block inside a check block")...)
			continue
		}
		rule, moreDiags := decodeCheckRule(inner)
		diags = append(diags, moreDiags...)
		c.Asserts = append(c.Asserts, rule)
	}
	if len(c.Asserts) == 0 {
		diags = append(diags, tfdiags.At(block.DefRange, "Zero assert blocks",
			"A check block without assertions checks nothing. Write at least one assert block, or remove the check block.")...)
	}
	return c, diags
}
