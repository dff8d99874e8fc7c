package configs

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// ProviderMeta is a provider_meta block: what a module tells a provider about
// itself with every call. It holds constants only.
type ProviderMeta struct {
	// LocalName is the provider's name in the module.
	LocalName string
	Config    hcl.Body
	// Range is the block's header, NameRange the provider's name in it.
	Range, NameRange hcl.Range
}

func (m *Module) addProviderMeta(block *hcl.Block) tfdiags.Diagnostics {
	meta := &ProviderMeta{LocalName: block.Labels[0], Config: block.Body, Range: block.DefRange, NameRange: block.LabelRanges[0]}
	diags := checkProviderName(meta.LocalName, block.DefRange)
	if other := m.ProviderMetas[meta.LocalName]; other != nil {
		return append(diags, tfdiags.At(meta.Range, "Duplicate provider_meta block",
			fmt.Sprintf("A provider_meta block for the provider %q stands at %s already, and a module may have one. Join the two.", meta.LocalName, other.Range))...)
	}
	m.ProviderMetas[meta.LocalName] = meta
	attrs, hclDiags := block.Body.JustAttributes()
	diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	for _, name := range sortedKeys(attrs) {
		_, hclDiags := attrs[name].Expr.Value(nil) // which allows no references
		diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	}
	return diags
}
