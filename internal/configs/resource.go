package configs

import (
	"github.com/hashicorp/hcl/v2"

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
	Provider addrs.LocalProviderConfig
	// ProviderGiven tells that the block names it; else its type implies it.
	ProviderGiven bool
	DependsOn     []hcl.Traversal
	Lifecycle     Lifecycle
	// Provisioners run in this order.
	Provisioners []*Provisioner
	// Check is the name of the check block that a data block is nested in, or "".
	Check string
	// Range is the block's header.
	// TypeRange is where the type is named.
	TypeRange hcl.Range
	Range     hcl.Range
}

// Overridden tells that not all of the resource is written in its block: an override
// file has a say.
func (r *Resource) Overridden() bool {
	_, laid := r.Config.(overlay)
	return laid
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
		{Type: "lifecycle"}, {Type: "locals"}, {Type: escapeBlock}, {Type: "connection"}, {Type: "provisioner", LabelNames: []string{"type"}},
	},
}

var dataSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "count"}, {Name: "for_each"}, {Name: "provider"}, {Name: "depends_on"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "lifecycle"}, {Type: "locals"}, {Type: escapeBlock}},
}

// resourceKinds is what the labels of a block are the names of.
var resourceKinds = map[addrs.ResourceMode][2]string{
	addrs.Managed: {"resource type", "resource"}, addrs.Data: {"data source", "data resource"},
	addrs.Ephemeral: {"ephemeral resource type", "ephemeral resource"},
}

func decodeResource(block *hcl.Block, mode addrs.ResourceMode) (*Resource, tfdiags.Diagnostics) {
	r := &Resource{
		Addr:  addrs.Resource{Mode: mode, Type: block.Labels[0], Name: block.Labels[1]},
		Range: block.DefRange, TypeRange: block.LabelRanges[0],
	}
	kinds := resourceKinds[mode]
	diags := checkName(kinds[0], r.Addr.Type, block.LabelRanges[0])
	diags = append(diags, checkName(kinds[1], r.Addr.Name, block.LabelRanges[1])...)

	schema := resourceSchema
	if mode != addrs.Managed {
		schema = dataSchema
	}
	content, remain, hclDiags := block.Body.PartialContent(schema)
	diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	body, moreDiags := reserved(remain, content.Blocks, block.Type, "locals")
	diags = append(diags, moreDiags...)
	r.Config = body
	r.Provider = addrs.LocalProviderConfig{LocalName: r.Addr.ImpliedProvider()}

	repeat, moreDiags := decodeRepetition(content)
	diags = append(diags, moreDiags...)
	r.Count, r.ForEach, r.DependsOn = repeat.count, repeat.forEach, repeat.dependsOn
	if attr, ok := content.Attributes["provider"]; ok {
		r.Provider, moreDiags = decodeProviderRef(attr.Expr)
		r.ProviderGiven = true
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
