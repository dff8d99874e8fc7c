package configs

import (
	"fmt"

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
	// ProviderRange is where the block names it; empty if the type implies it.
	ProviderRange hcl.Range
	Range         hcl.Range
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
		to, moreDiags := decodeImportTarget(attr, i.ForEach != nil)
		i.To = to
		diags = append(diags, moreDiags...)
		i.Provider = addrs.LocalProviderConfig{LocalName: to.Resource.ImpliedProvider()}
	}
	if attr, ok := content.Attributes["provider"]; ok {
		provider, moreDiags := decodeProviderRef(attr.Expr)
		i.Provider, i.ProviderRange = provider, attr.Range
		diags = append(diags, moreDiags...)
	}
	return i, diags
}

// instance is the address of the instance, if its keys are constants.
func (t ImportTarget) instance() (addrs.ResourceInstance, bool) {
	out := addrs.ResourceInstance{Resource: t.Resource}
	for _, step := range t.Modules {
		key, ok := constantKey(step.Key)
		if !ok {
			return out, false
		}
		out.Module = out.Module.Child(step.Name, key)
	}
	key, ok := constantKey(t.Key)
	out.Key = key
	return out, ok && t.Resource.Type != ""
}

// constantKey is the instance key that an expression stands for, if it is a constant.
func constantKey(expr hcl.Expression) (addrs.InstanceKey, bool) {
	if expr == nil {
		return addrs.NoKey, true
	}
	val, hclDiags := expr.Value(nil)
	if hclDiags.HasErrors() {
		return addrs.NoKey, false
	}
	return addrs.ParseInstanceKey(val)
}

// addImport adds an import block, unless another one is for the same instance.
func (m *Module) addImport(decl *Import) tfdiags.Diagnostics {
	m.Imports = append(m.Imports, decl)
	addr, ok := decl.To.instance()
	if !ok || decl.ForEach != nil {
		return nil
	}
	if other := m.imported[addr.String()]; other != nil {
		return tfdiags.At(decl.To.Range, fmt.Sprintf("Duplicate import configuration for %q", addr),
			fmt.Sprintf("An import block at %s names the same instance, and one object can be imported for it. Remove one of the two.", other.Range))
	}
	m.imported[addr.String()] = decl
	return nil
}

// addressPart is a name or a key of an address.
type addressPart struct {
	name string
	key  hcl.Expression
	at   hcl.Range
}

// decodeImportTarget reads an address. Its keys may be computed with for_each only.
func decodeImportTarget(attr *hcl.Attribute, computed bool) (ImportTarget, tfdiags.Diagnostics) {
	target := ImportTarget{Range: attr.Expr.Range()}
	const help = `Objects can be imported for instances of managed resources only. Examples: aws_instance.a, aws_instance.a["x"], module.m[0].aws_instance.a.`
	invalid := tfdiags.At(attr.Range, "Invalid import address", help)
	expr, diags := fromJSON(attr.Expr)
	parts, moreDiags := addressParts(expr, computed)
	if diags = append(diags, moreDiags...); diags.HasErrors() {
		return target, append(diags, invalid...)
	}
	if diags = refuseCalls(expr); diags.HasErrors() {
		return target, diags
	}
	target.Modules, parts = moduleParts(parts)
	if len(parts) > 0 && parts[0].name == "data" {
		return target, invalid
	}
	if len(parts) < 2 || parts[0].name == "" || parts[1].name == "" {
		return target, append(tfdiags.At(attr.Expr.Range(), "Invalid address", help), invalid...)
	}
	target.Resource = addrs.Resource{Mode: addrs.Managed, Type: parts[0].name, Name: parts[1].name}
	if rest := parts[2:]; len(rest) > 0 {
		if target.Key = rest[0].key; target.Key == nil || len(rest) > 1 {
			target.Resource = addrs.Resource{}
			return target, append(tfdiags.At(rest[len(rest)-1].at, "Invalid address", help), invalid...)
		}
	}
	return target, nil
}

// moduleParts takes the module steps off the front of an address.
func moduleParts(parts []addressPart) (modules []ImportStep, rest []addressPart) {
	for len(parts) >= 2 && parts[0].name == "module" && parts[1].name != "" {
		step := ImportStep{Name: parts[1].name}
		if parts = parts[2:]; len(parts) > 0 && parts[0].key != nil {
			step.Key, parts = parts[0].key, parts[1:]
		}
		modules = append(modules, step)
	}
	return modules, parts
}

// addressParts takes an address expression apart.
func addressParts(expr hcl.Expression, computed bool) ([]addressPart, tfdiags.Diagnostics) {
	if !computed {
		traversal, hclDiags := hcl.AbsTraversalForExpr(expr)
		return traversalParts(traversal), tfdiags.FromHCL(hclDiags)
	}
	switch expr := expr.(type) {
	case *hclsyntax.IndexExpr:
		parts, diags := addressParts(expr.Collection, computed)
		return append(parts, addressPart{key: expr.Key, at: expr.BracketRange}), diags
	case *hclsyntax.RelativeTraversalExpr:
		parts, diags := addressParts(expr.Source, computed)
		return append(parts, traversalParts(expr.Traversal)...), diags
	}
	return addressParts(expr, false)
}

// refuseCalls refuses function calls in an address, which has to say plainly what it names.
func refuseCalls(expr hcl.Expression) tfdiags.Diagnostics {
	node, ok := expr.(hclsyntax.Node)
	if !ok {
		return nil
	}
	return tfdiags.FromHCL(hclsyntax.VisitAll(node, func(node hclsyntax.Node) hcl.Diagnostics {
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
		part := addressPart{at: step.SourceRange()}
		switch step := step.(type) {
		case hcl.TraverseRoot:
			part.name = step.Name
		case hcl.TraverseAttr:
			part.name = step.Name
		case hcl.TraverseIndex:
			part.key = hcl.StaticExpr(step.Key, step.SrcRange)
		}
		out = append(out, part)
	}
	return out
}
