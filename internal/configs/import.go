package configs

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Import is an import block of the root module: a real object is to be recorded
// as that of a declared instance.
type Import struct {
	To      ImportTarget
	ID      hcl.Expression
	ForEach hcl.Expression
	// Provider is the provider configuration to read the object with while no
	// resource block says which.
	Provider addrs.LocalProviderConfig
	Range    hcl.Range
}

// ImportTarget is the address of a resource instance whose keys may be expressions.
type ImportTarget struct {
	Modules  []ImportStep
	Resource addrs.Resource
	// Key is nil for an address without one.
	Key   hcl.Expression
	Range hcl.Range
}

// ImportStep is one module step of an import target.
type ImportStep struct {
	Name string
	Key  hcl.Expression // nil without one
}

// Config returns the address of the resource in the configuration.
func (t ImportTarget) Config() addrs.ConfigResource {
	out := addrs.ConfigResource{Resource: t.Resource}
	for _, step := range t.Modules {
		out.Module = append(out.Module, step.Name)
	}
	return out
}

var importSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "to", Required: true}, {Name: "id", Required: true}, {Name: "for_each"}, {Name: "provider"}},
}

func decodeImport(block *hcl.Block) (*Import, tfdiags.Diagnostics) {
	i := &Import{Range: block.DefRange}
	content, hclDiags := block.Body.Content(importSchema)
	diags := tfdiags.FromHCL(hclDiags)
	if attr, ok := content.Attributes["id"]; ok {
		i.ID = attr.Expr
	}
	if attr, ok := content.Attributes["for_each"]; ok {
		i.ForEach = attr.Expr
	}
	if attr, ok := content.Attributes["to"]; ok {
		to, moreDiags := decodeImportTarget(attr.Expr, i.ForEach != nil)
		i.To = to
		diags = append(diags, moreDiags...)
		i.Provider = addrs.LocalProviderConfig{LocalName: to.Resource.ImpliedProvider()}
	}
	if attr, ok := content.Attributes["provider"]; ok {
		provider, moreDiags := decodeProviderRef(attr.Expr)
		i.Provider = provider
		diags = append(diags, moreDiags...)
	}
	return i, diags
}

// addressPart is a name or a key of an address.
type addressPart struct {
	name string
	key  hcl.Expression
}

// decodeImportTarget reads an address. Keys may be computed only with for_each.
func decodeImportTarget(expr hcl.Expression, computed bool) (ImportTarget, tfdiags.Diagnostics) {
	target := ImportTarget{Range: expr.Range()}
	parts, diags := addressParts(expr, computed)
	if diags.HasErrors() {
		return target, diags
	}
	for len(parts) >= 2 && parts[0].name == "module" && parts[1].name != "" {
		step := ImportStep{Name: parts[1].name}
		if parts = parts[2:]; len(parts) > 0 && parts[0].key != nil {
			step.Key, parts = parts[0].key, parts[1:]
		}
		target.Modules = append(target.Modules, step)
	}
	if len(parts) == 3 && parts[2].key != nil {
		target.Key, parts = parts[2].key, parts[:2]
	}
	if len(parts) != 2 || parts[0].name == "" || parts[1].name == "" || parts[0].name == "data" || parts[0].name == "ephemeral" {
		return target, tfdiags.At(expr.Range(), "Invalid import address",
			`Objects can be imported for instances of managed resources only. Examples: aws_instance.a, aws_instance.a["x"], module.m[0].aws_instance.a.`)
	}
	target.Resource = addrs.Resource{Mode: addrs.Managed, Type: parts[0].name, Name: parts[1].name}
	return target, nil
}

// addressParts takes an address expression apart.
func addressParts(expr hcl.Expression, computed bool) ([]addressPart, tfdiags.Diagnostics) {
	if computed {
		switch expr := expr.(type) {
		case *hclsyntax.IndexExpr:
			parts, diags := addressParts(expr.Collection, computed)
			diags = append(diags, refuseCalls(expr.Key)...)
			return append(parts, addressPart{key: expr.Key}), diags
		case *hclsyntax.RelativeTraversalExpr:
			parts, diags := addressParts(expr.Source, computed)
			return append(parts, traversalParts(expr.Traversal)...), diags
		}
	}
	traversal, hclDiags := hcl.AbsTraversalForExpr(expr)
	return traversalParts(traversal), tfdiags.FromHCL(hclDiags)
}

// refuseCalls refuses function calls in a key, which has to say plainly what it names.
func refuseCalls(expr hclsyntax.Expression) tfdiags.Diagnostics {
	return tfdiags.FromHCL(hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		if call, ok := node.(*hclsyntax.FunctionCallExpr); ok {
			return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Function calls not allowed", Subject: call.Range().Ptr(),
				Detail: "The key of an import address must not call functions. Compute the keys in for_each and refer to each.key or each.value."}}
		}
		return nil
	}))
}

func traversalParts(traversal hcl.Traversal) []addressPart {
	var out []addressPart
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			out = append(out, addressPart{name: step.Name})
		case hcl.TraverseAttr:
			out = append(out, addressPart{name: step.Name})
		case hcl.TraverseIndex:
			out = append(out, addressPart{key: hcl.StaticExpr(step.Key, step.SrcRange)})
		default:
			out = append(out, addressPart{})
		}
	}
	return out
}
