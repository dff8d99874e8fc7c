package configs

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/lang"
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
		if !moreDiags.HasErrors() {
			c.Asserts = append(c.Asserts, rule)
		}
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

var checkRuleSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "condition", Required: true}, {Name: "error_message", Required: true}},
}

func decodeCheckRule(block *hcl.Block) (*CheckRule, tfdiags.Diagnostics) {
	content, hclDiags := block.Body.Content(checkRuleSchema)
	rule := &CheckRule{Range: block.DefRange}
	if attr, ok := content.Attributes["condition"]; ok {
		rule.Condition = attr.Expr
	}
	if attr, ok := content.Attributes["error_message"]; ok {
		rule.ErrorMessage = attr.Expr
	}
	diags := tfdiags.FromHCL(hclDiags)
	if rule.Condition != nil && len(rule.Condition.Variables()) == 0 {
		diags = append(diags, tfdiags.At(rule.Condition.Range(), "Invalid "+block.Type+" expression",
			"The condition refers to nothing, so it is always true or always false. Refer to at least one object of this module.")...)
	}
	return rule, diags
}

// refuseReferencesTo refuses rules of a resource that refer to it by its name: their
// conditions are decided before, or with, what the name stands for.
func (r *CheckRule) refuseReferencesTo(addr addrs.Resource, kind string) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, expr := range []hcl.Expression{r.Condition, r.ErrorMessage} {
		if expr == nil {
			continue
		}
		refs, _ := lang.ExprRefs(expr) // what is wrong is reported where they are resolved
		if slices.ContainsFunc(refs, func(ref lang.Ref) bool { return ref.Kind == lang.RefResource && ref.Resource == addr }) {
			diags = append(diags, tfdiags.At(expr.Range(), "Invalid reference in "+kind,
				fmt.Sprintf("A rule of %s cannot refer to it by that name. A postcondition refers to the finished object as self.", addr))...)
		}
	}
	return diags
}

// requireReferenceTo refuses validation rules that say nothing about their variable.
func (r *CheckRule) requireReferenceTo(variable string) tfdiags.Diagnostics {
	if r.Condition == nil {
		return nil
	}
	refs, _ := lang.ExprRefs(r.Condition) // what is wrong is reported where they are resolved
	if slices.ContainsFunc(refs, func(ref lang.Ref) bool { return ref.Kind == lang.RefVariable && ref.Name == variable }) {
		return nil
	}
	return tfdiags.At(r.Condition.Range(), "Invalid variable validation condition",
		fmt.Sprintf("The condition does not refer to var.%s, so it says nothing about the values that the variable may have. Refer to var.%[1]s, or use a check block or a precondition.", variable))
}
