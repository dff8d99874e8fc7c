package configs

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Moved is a moved block: what was recorded at one address belongs to another.
// Both addresses are relative to the module that holds the block, and either
// both name resources or both modules.
type Moved struct {
	From, To addrs.Target
	Range    hcl.Range
}

// Removed is a removed block: what is recorded at an address is wanted no more.
// The address is relative to the module that holds the block and has no keys.
type Removed struct {
	From addrs.Target
	// Destroy tells that the objects are destroyed; else they are only forgotten.
	Destroy bool
	// Provisioners run before the objects are destroyed.
	Provisioners []*Provisioner
	Range        hcl.Range
}

var movedSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "from", Required: true}, {Name: "to", Required: true}},
}

func decodeMoved(block *hcl.Block) (*Moved, tfdiags.Diagnostics) {
	m := &Moved{Range: block.DefRange}
	content, hclDiags := block.Body.Content(movedSchema)
	diags := tfdiags.FromHCL(hclDiags)
	for name, target := range map[string]*addrs.Target{"from": &m.From, "to": &m.To} {
		if attr, ok := content.Attributes[name]; ok {
			addr, moreDiags := decodeTarget(attr.Expr)
			*target = addr
			diags = append(diags, moreDiags...)
		}
	}
	if !diags.HasErrors() && isModule(m.From) != isModule(m.To) {
		diags = append(diags, tfdiags.At(block.DefRange, `Invalid "moved" addresses`,
			"One of the two addresses is that of a module and the other that of a resource. Name two modules, or two resources.")...)
	}
	return m, diags
}

func isModule(t addrs.Target) bool { return t.Resource == addrs.Resource{} }

var removedSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "from", Required: true}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "lifecycle"}, {Type: "connection"}, {Type: "provisioner", LabelNames: []string{"type"}}},
}

var removedLifecycleSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "destroy"}}}

func decodeRemoved(block *hcl.Block) (*Removed, tfdiags.Diagnostics) {
	r := &Removed{Destroy: true, Range: block.DefRange}
	content, hclDiags := block.Body.Content(removedSchema)
	diags := tfdiags.FromHCL(hclDiags)
	if attr, ok := content.Attributes["from"]; ok {
		addr, moreDiags := decodeTarget(attr.Expr)
		r.From = addr
		diags = append(diags, moreDiags...)
		if !moreDiags.HasErrors() {
			diags = append(diags, checkRemoved(addr, attr.Expr)...)
		}
	}
	for _, inner := range content.Blocks {
		if inner.Type != "lifecycle" {
			continue
		}
		lifecycle, hclDiags := inner.Body.Content(removedLifecycleSchema)
		diags = append(diags, tfdiags.FromHCL(hclDiags)...)
		if attr, ok := lifecycle.Attributes["destroy"]; ok {
			diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(attr.Expr, nil, &r.Destroy))...)
		}
	}
	return r, append(diags, r.decodeProvisioners(content.Blocks)...)
}

func (r *Removed) decodeProvisioners(blocks hcl.Blocks) tfdiags.Diagnostics {
	provisioners, diags := decodeProvisioners(blocks, "removed block")
	for _, p := range provisioners {
		switch {
		case isModule(r.From):
			diags = append(diags, tfdiags.At(p.Range, "Invalid provisioner block",
				"A removed block with provisioners names one managed resource, not a module.")...)
		case !p.Destroy:
			diags = append(diags, tfdiags.At(p.Range, "Invalid provisioner block",
				"What a removed block speaks of is never created, so only a provisioner with when = destroy can run. Add that.")...)
		}
	}
	r.Provisioners = provisioners
	return diags
}

// checkRemoved refuses what a removed block cannot speak of.
func checkRemoved(addr addrs.Target, expr hcl.Expression) tfdiags.Diagnostics {
	at := expr.Range()
	traversal, _ := hcl.AbsTraversalForExpr(expr) // which was read before
	for _, part := range traversalParts(traversal) {
		if part.key != nil {
			at = part.at
			break
		}
	}
	keyed := slices.ContainsFunc(addr.Module, func(step addrs.ModuleStep) bool { return step.Key != addrs.NoKey })
	switch {
	case keyed:
		return tfdiags.At(at, "Module instance keys not allowed",
			"A removed block speaks of a module with all its instances, such as module.a, not of one instance such as module.a[0]. Leave the key out.")
	case addr.HasKey:
		return tfdiags.At(at, "Resource instance keys not allowed",
			"A removed block speaks of a resource with all its instances, such as aws_instance.a, not of one instance such as aws_instance.a[0]. Leave the key out.")
	case !isModule(addr) && addr.Resource.Mode != addrs.Managed:
		return tfdiags.At(at, "Data source address not allowed",
			"Data sources have no objects that could be destroyed or forgotten, so a removed block cannot name one. Remove the data block, which is enough.")
	default:
		return nil
	}
}

// reservedRoots begin references to other things than resources.
var reservedRoots = []string{"var", "local", "each", "count", "path", "self", "terraform", "template", "lazy", "arg"}

// decodeTarget reads the address of a module, a resource or an instance of either.
func decodeTarget(expr hcl.Expression) (addrs.Target, tfdiags.Diagnostics) {
	traversal, hclDiags := hcl.AbsTraversalForExpr(expr)
	if hclDiags.HasErrors() {
		return addrs.Target{}, tfdiags.FromHCL(hclDiags)
	}
	target, diags := addrs.ParseTargetTraversal(traversal, "")
	if diags.HasErrors() || slices.Contains(reservedRoots, target.Resource.Type) {
		at := expr.Range()
		if _, rest := moduleParts(traversalParts(traversal)); len(rest) > 2 && rest[2].key == nil {
			at = rest[2].at
		}
		return addrs.Target{}, tfdiags.At(at, "Invalid address",
			`This is not the address of a module, a resource or an instance of either. Examples: module.a, module.a["x"], aws_instance.a, module.a.aws_instance.b[0].`)
	}
	return target, nil
}
