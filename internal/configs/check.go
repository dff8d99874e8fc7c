package configs

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

var checkSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "assert"}, {Type: "data", LabelNames: []string{"type", "name"}},
}}

func decodeCheck(block *hcl.Block) (*Check, tfdiags.Diagnostics) {
	c := &Check{Name: block.Labels[0], Range: block.DefRange}
	diags := checkName("check block", c.Name, block.LabelRanges[0])
	content, hclDiags := block.Body.Content(checkSchema)
	diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	for _, inner := range content.Blocks {
		if inner.Type == "data" {
			diags = append(diags, c.addData(inner)...)
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

// addData reads the nested data block.
func (c *Check) addData(block *hcl.Block) tfdiags.Diagnostics {
	if c.Data != nil {
		return tfdiags.At(block.DefRange, "Multiple data resource blocks",
			fmt.Sprintf("A check block can have one data block, and it has one at %s already. Move one of them out of the check block, or write a second check block.", c.Data.Range))
	}
	data, diags := decodeResource(block, addrs.Data)
	data.Check = c.Name
	c.Data = data
	content, _, _ := block.Body.PartialContent(dataSchema) // what is wrong was reported already
	for _, inner := range content.Blocks {
		if inner.Type == "lifecycle" {
			diags = append(diags, tfdiags.At(inner.DefRange, "Invalid lifecycle block",
				"A data block in a check block has no lifecycle of its own: it is read whenever the check is made. Remove the block.")...)
		}
	}
	for _, name := range []string{"count", "for_each"} {
		if attr := content.Attributes[name]; attr != nil {
			diags = append(diags, tfdiags.At(attr.NameRange, fmt.Sprintf("Invalid %q attribute", name),
				"A data block in a check block is read once, so it takes neither count nor for_each. Move it out of the check block, or remove the argument.")...)
		}
	}
	return diags
}
