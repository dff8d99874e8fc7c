package configs

import (
	"fmt"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/modulesource"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

var callSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "source", Required: true}, {Name: "version"}, {Name: "count"}, {Name: "for_each"}, {Name: "depends_on"}, {Name: "providers"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: escapeBlock}, {Type: "lifecycle"}, {Type: "locals"}, {Type: "provider", LabelNames: []string{"type"}}},
}

func decodeModuleCall(block *hcl.Block) (*ModuleCall, tfdiags.Diagnostics) {
	c := &ModuleCall{Name: block.Labels[0], Allowed: versions.All, Range: block.DefRange}
	diags := checkName("module instance", c.Name, block.LabelRanges[0])
	content, remain, hclDiags := block.Body.PartialContent(callSchema)
	diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	body, moreDiags := reserved(remain, content.Blocks, "module", "lifecycle", "locals", "provider")
	diags = append(diags, moreDiags...)
	c.Config = body
	diags = append(diags, c.decodeSource(content.Attributes["source"], content.Attributes["version"])...)
	repeat, moreDiags := decodeRepetition(content)
	diags = append(diags, moreDiags...)
	c.Count, c.ForEach, c.DependsOn = repeat.count, repeat.forEach, repeat.dependsOn
	if attr, ok := content.Attributes["providers"]; ok {
		diags = append(diags, c.decodeProviders(attr)...)
	}
	return c, diags
}

// decodeSource reads where a module comes from.
func (c *ModuleCall) decodeSource(source, version *hcl.Attribute) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	if version != nil {
		text, allowed, moreDiags := constraint(version.Expr)
		c.Version, c.Allowed = text, allowed
		diags = append(diags, moreDiags...)
	}
	if source == nil {
		return diags
	}
	c.SourceRange = source.Expr.Range()
	var text string
	if hclDiags := gohcl.DecodeExpression(source.Expr, nil, &text); hclDiags.HasErrors() {
		return append(diags, tfdiags.FromHCL(hclDiags)...)
	}
	addr, err := modulesource.Parse(text, version != nil)
	if err != nil {
		summary := "Invalid module source address"
		if version != nil {
			summary = "Invalid registry module source address"
		}
		return append(diags, tfdiags.At(c.SourceRange, summary, fmt.Sprintf("The source address %q cannot be understood: %s.", text, err))...)
	}
	c.Source, c.Address = text, addr
	return diags
}

func (c *ModuleCall) decodeProviders(attr *hcl.Attribute) tfdiags.Diagnostics {
	pairs, hclDiags := hcl.ExprMap(attr.Expr)
	diags := tfdiags.FromHCL(hclDiags)
	for _, pair := range pairs {
		inChild, moreDiags := decodeProviderRef(pair.Key)
		inParent, evenMoreDiags := decodeProviderRef(pair.Value)
		moreDiags = append(moreDiags, evenMoreDiags...)
		if diags = append(diags, moreDiags...); moreDiags.HasErrors() {
			continue
		}
		if _, taken := c.passed(inChild); taken {
			diags = append(diags, tfdiags.At(pair.Value.Range(), "Duplicate provider address",
				fmt.Sprintf("A configuration is passed as %s already. Remove one of the two.", inChild))...)
			continue
		}
		c.Providers = append(c.Providers, PassedProvider{InChild: inChild, InParent: inParent, ChildRange: pair.Key.Range(), Range: pair.Value.Range()})
	}
	return diags
}

var providerSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "alias"}, {Name: "version"},
		{Name: "count"}, {Name: "depends_on"}, {Name: "for_each"}, {Name: "source"},
	},
	Blocks: []hcl.BlockHeaderSchema{{Type: escapeBlock}, {Type: "lifecycle"}, {Type: "locals"}},
}

func decodeProvider(block *hcl.Block) (*ProviderConfig, tfdiags.Diagnostics) {
	p := &ProviderConfig{Addr: addrs.LocalProviderConfig{LocalName: block.Labels[0]}, Range: block.DefRange}
	diags := checkProviderName(block.Labels[0], block.DefRange)
	content, remain, hclDiags := block.Body.PartialContent(providerSchema)
	diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	body, moreDiags := reserved(remain, content.Blocks, "provider", "lifecycle", "locals")
	p.Config = body
	diags = append(diags, moreDiags...)
	diags = append(diags, reservedArguments(content.Attributes, "provider", "count", "depends_on", "for_each", "source")...)
	if attr, ok := content.Attributes["alias"]; ok {
		diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(attr.Expr, nil, &p.Addr.Alias))...)
		if !hclsyntax.ValidIdentifier(p.Addr.Alias) {
			diags = append(diags, tfdiags.New(tfdiags.Error, "Invalid provider configuration alias",
				fmt.Sprintf("The alias of the provider configuration at %s is not a name: it must begin with a letter or an underscore and hold letters, digits, underscores and dashes only.", block.DefRange))...)
		}
	}
	if attr, ok := content.Attributes["version"]; ok {
		text, _, moreDiags := constraint(attr.Expr)
		p.Version = text
		warning := tfdiags.At(attr.Expr.Range(), "Version constraints inside provider configuration blocks are deprecated",
			"Put the constraint into the required_providers block of the terraform block.")
		diags = append(append(diags, moreDiags...), warning.Warnings()...)
	}
	return p, diags
}
