package configs

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Resource is a resource, data or ephemeral block.
type Resource struct {
	Addr addrs.Resource
	// Config is the body without the meta-arguments.
	Config         hcl.Body
	Count, ForEach hcl.Expression
	// Provider is the provider configuration in this module's terms.
	Provider  addrs.LocalProviderConfig
	DependsOn []hcl.Traversal
	Lifecycle Lifecycle
	// Provisioners run in this order.
	Provisioners []*Provisioner
	// Check is the name of the check block that a data block is nested in, or "".
	Check string
	// Range is the block's header.
	// TypeRange is where the type is named.
	TypeRange hcl.Range
	Range     hcl.Range
}

// Lifecycle is a resource's lifecycle block.
type Lifecycle struct {
	CreateBeforeDestroy, PreventDestroy bool
	// IgnoreAll stands for ignore_changes = all.
	IgnoreAll     bool
	IgnoreChanges []hcl.Traversal
	// ReplaceTriggeredBy are references to resources or their attributes.
	ReplaceTriggeredBy            []hcl.Expression
	Preconditions, Postconditions []*CheckRule
}

var resourceSchema = &hcl.BodySchema{
	Attributes: dataSchema.Attributes,
	Blocks: []hcl.BlockHeaderSchema{
		{Type: "lifecycle"}, {Type: "connection"}, {Type: "provisioner", LabelNames: []string{"type"}},
	},
}

var dataSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "count"}, {Name: "for_each"}, {Name: "provider"}, {Name: "depends_on"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "lifecycle"}},
}

func decodeResource(block *hcl.Block, mode addrs.ResourceMode) (*Resource, tfdiags.Diagnostics) {
	r := &Resource{
		Addr:  addrs.Resource{Mode: mode, Type: block.Labels[0], Name: block.Labels[1]},
		Range: block.DefRange, TypeRange: block.LabelRanges[0],
	}
	kinds := map[addrs.ResourceMode][2]string{
		addrs.Managed: {"resource type", "resource"}, addrs.Data: {"data source", "data resource"},
		addrs.Ephemeral: {"ephemeral resource type", "ephemeral resource"},
	}[mode]
	diags := checkName(kinds[0], r.Addr.Type, block.LabelRanges[0])
	diags = append(diags, checkName(kinds[1], r.Addr.Name, block.LabelRanges[1])...)

	schema := resourceSchema
	if mode != addrs.Managed {
		schema = dataSchema
	}
	content, remain, hclDiags := block.Body.PartialContent(schema)
	diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	r.Config = remain
	r.Provider = addrs.LocalProviderConfig{LocalName: r.Addr.ImpliedProvider()}

	repeat, moreDiags := decodeRepetition(content)
	diags = append(diags, moreDiags...)
	r.Count, r.ForEach, r.DependsOn = repeat.count, repeat.forEach, repeat.dependsOn
	if attr, ok := content.Attributes["provider"]; ok {
		r.Provider, moreDiags = decodeProviderRef(attr.Expr)
		diags = append(diags, moreDiags...)
	}
	diags = append(diags, r.decodeBlocks(content.Blocks)...)
	return r, diags
}

// decodeBlocks reads the nested blocks that are the language's and not the resource type's.
func (r *Resource) decodeBlocks(blocks hcl.Blocks) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	seen := false
	for _, inner := range blocks {
		switch {
		case inner.Type == "lifecycle" && seen:
			diags = append(diags, tfdiags.At(inner.DefRange, "Duplicate lifecycle block", "A resource can have one lifecycle block only. Join the two.")...)
		case inner.Type == "lifecycle":
			seen = true
			diags = append(diags, r.decodeLifecycle(inner)...)
		}
	}
	provisioners, moreDiags := decodeProvisioners(blocks, "resource")
	r.Provisioners = provisioners
	return append(diags, moreDiags...)
}

// repetition is what resources and module calls share: count, for_each, depends_on.
type repetition struct {
	count, forEach hcl.Expression
	dependsOn      []hcl.Traversal
}

func decodeRepetition(content *hcl.BodyContent) (repetition, tfdiags.Diagnostics) {
	var out repetition
	var diags tfdiags.Diagnostics
	if attr, ok := content.Attributes["count"]; ok {
		out.count = attr.Expr
	}
	if attr, ok := content.Attributes["for_each"]; ok {
		out.forEach = attr.Expr
		if out.count != nil {
			diags = append(diags, tfdiags.At(attr.NameRange, `Invalid combination of "count" and "for_each"`,
				`The "count" and "for_each" meta-arguments exclude each other: both say how many instances there are. Keep one of them.`)...)
		}
	}
	if attr, ok := content.Attributes["depends_on"]; ok {
		refs, moreDiags := decodeTraversals(attr.Expr)
		out.dependsOn = refs
		diags = append(diags, moreDiags...)
	}
	return out, diags
}

var modeNames = map[addrs.ResourceMode]string{addrs.Managed: "managed", addrs.Data: "data", addrs.Ephemeral: "ephemeral"}

var lifecycleSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "create_before_destroy"}, {Name: "prevent_destroy"}, {Name: "ignore_changes"}, {Name: "replace_triggered_by"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "precondition"}, {Type: "postcondition"}},
}

func (r *Resource) decodeLifecycle(block *hcl.Block) tfdiags.Diagnostics {
	content, hclDiags := block.Body.Content(lifecycleSchema)
	diags := tfdiags.FromHCL(hclDiags)
	for name, attr := range content.Attributes {
		if r.Addr.Mode != addrs.Managed {
			diags = append(diags, tfdiags.At(attr.NameRange, "Invalid "+modeNames[r.Addr.Mode]+" resource lifecycle argument",
				fmt.Sprintf("The lifecycle argument %q is for managed resources only: there is no other object to keep. Remove it.", name))...)
			continue
		}
		switch name {
		case "create_before_destroy":
			diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(attr.Expr, nil, &r.Lifecycle.CreateBeforeDestroy))...)
		case "prevent_destroy":
			diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(attr.Expr, nil, &r.Lifecycle.PreventDestroy))...)
		case "ignore_changes":
			diags = append(diags, r.Lifecycle.decodeIgnoreChanges(attr.Expr)...)
		case "replace_triggered_by":
			exprs, hclDiags := hcl.ExprList(attr.Expr)
			diags = append(diags, tfdiags.FromHCL(hclDiags)...)
			r.Lifecycle.ReplaceTriggeredBy = exprs
		}
	}
	for _, inner := range content.Blocks {
		rule, moreDiags := decodeCheckRule(inner)
		diags = append(diags, moreDiags...)
		if inner.Type == "precondition" {
			r.Lifecycle.Preconditions = append(r.Lifecycle.Preconditions, rule)
		} else {
			r.Lifecycle.Postconditions = append(r.Lifecycle.Postconditions, rule)
		}
	}
	return diags
}

func (l *Lifecycle) decodeIgnoreChanges(expr hcl.Expression) tfdiags.Diagnostics {
	if hcl.ExprAsKeyword(expr) == "all" {
		l.IgnoreAll = true
		return nil
	}
	exprs, hclDiags := hcl.ExprList(expr)
	diags := tfdiags.FromHCL(hclDiags)
	for _, e := range exprs {
		traversal, hclDiags := hcl.RelTraversalForExpr(e)
		diags = append(diags, tfdiags.FromHCL(hclDiags)...)
		if len(traversal) > 0 {
			l.IgnoreChanges = append(l.IgnoreChanges, traversal)
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

// decodeTraversals reads a list of references, as in depends_on.
func decodeTraversals(expr hcl.Expression) ([]hcl.Traversal, tfdiags.Diagnostics) {
	exprs, hclDiags := hcl.ExprList(expr)
	diags := tfdiags.FromHCL(hclDiags)
	var out []hcl.Traversal
	for _, e := range exprs {
		traversal, hclDiags := hcl.AbsTraversalForExpr(e)
		diags = append(diags, tfdiags.FromHCL(hclDiags)...)
		if len(traversal) > 0 {
			out = append(out, traversal)
		}
	}
	return out, diags
}

// decodeProviderRef reads "aws" or "aws.west".
func decodeProviderRef(expr hcl.Expression) (addrs.LocalProviderConfig, tfdiags.Diagnostics) {
	traversal, hclDiags := hcl.AbsTraversalForExpr(expr)
	if hclDiags.HasErrors() {
		return addrs.LocalProviderConfig{}, tfdiags.FromHCL(hclDiags)
	}
	out := addrs.LocalProviderConfig{LocalName: traversal.RootName()}
	if len(traversal) == 1 {
		return out, nil
	}
	alias, ok := traversal[1].(hcl.TraverseAttr)
	if !ok || len(traversal) > 2 {
		return out, tfdiags.At(expr.Range(), "Invalid provider configuration reference",
			"A provider configuration is named by the provider's local name, with a dot and an alias if it has one, such as aws or aws.west.")
	}
	out.Alias = alias.Name
	return out, nil
}
