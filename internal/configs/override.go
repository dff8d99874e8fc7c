package configs

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// fileBlocks reads the top-level blocks of one file.
func fileBlocks(body hcl.Body) (hcl.Blocks, tfdiags.Diagnostics) {
	content, hclDiags := body.Content(fileSchema)
	return content.Blocks, tfdiags.FromHCL(hclDiags)
}

// override lays the blocks of one override file over those of the module.
func override(blocks, over hcl.Blocks) (hcl.Blocks, tfdiags.Diagnostics) {
	var diags tfdiags.Diagnostics
	for _, block := range over {
		var moreDiags tfdiags.Diagnostics
		blocks, moreDiags = overrideBlock(blocks, block)
		diags = append(diags, moreDiags...)
	}
	return blocks, diags
}

func overrideBlock(blocks hcl.Blocks, over *hcl.Block) (hcl.Blocks, tfdiags.Diagnostics) {
	switch over.Type {
	case "terraform":
		return overrideTerraform(blocks, over), nil
	case "locals":
		return blocks, overrideLocals(blocks, over)
	case "removed", "required_providers": // the latter is refused like any other of its kind
		return append(blocks, over), nil
	case "check":
		return blocks, tfdiags.At(over.DefRange, "Can't override check blocks",
			"The assertions of a check cannot be replaced. Change the block where it is declared.")
	case "moved", "import":
		return blocks, tfdiags.At(over.DefRange, fmt.Sprintf("Cannot override '%s' blocks", over.Type),
			fmt.Sprintf("A %s block has no name by which another one could replace it. Write it into a file that is not an override file.", over.Type))
	}
	diags := overrideForbidden(over)
	key := blockKey(over)
	for _, base := range blocks {
		if blockKey(base) == key {
			base.Body = overlay{base: base.Body, over: over.Body, deep: []string{"lifecycle"}}
			return blocks, diags
		}
	}
	if over.Type == "provider" && !strings.Contains(key, " alias ") {
		return append(blocks, over), diags // a provider needs no block to be configured
	}
	return blocks, append(diags, tfdiags.At(over.DefRange, missingBase[over.Type],
		fmt.Sprintf("There is no %s %s in this module. An override file changes what other files declare; declare it there, or correct the name.", over.Type, strings.Join(over.Labels, ".")))...)
}

// missingBase are the summaries for overrides of what is not declared, by type of block.
var missingBase = map[string]string{
	"resource":  "Missing resource to override",
	"data":      "Missing data resource to override",
	"ephemeral": "Missing ephemeral resource to override",
	"variable":  "Missing base variable declaration to override",
	"output":    "Missing base output definition to override",
	"module":    "Missing module call to override",
	"provider":  "Missing base provider configuration for override",
}

// overrideForbidden refuses the argument that cannot be overridden.
func overrideForbidden(over *hcl.Block) tfdiags.Diagnostics {
	content, _, _ := over.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "depends_on"}}})
	attr := content.Attributes["depends_on"]
	if attr == nil || over.Type == "variable" || over.Type == "provider" {
		return nil
	}
	return tfdiags.At(attr.NameRange, "Unsupported override", "The depends_on argument may not be overridden. Change it where the block is declared.")
}

// blockKey tells which block another one overrides.
func blockKey(block *hcl.Block) string {
	key := block.Type + " " + strings.Join(block.Labels, " ")
	if block.Type != "provider" {
		return key
	}
	content, _, _ := block.Body.PartialContent(providerSchema)
	var alias string
	if attr, ok := content.Attributes["alias"]; ok && !gohcl.DecodeExpression(attr.Expr, nil, &alias).HasErrors() {
		key += " alias " + alias
	}
	return key
}

// overrideTerraform replaces settings, wherever in the module they are made, and
// required providers one by one.
func overrideTerraform(blocks hcl.Blocks, over *hcl.Block) hcl.Blocks {
	for _, base := range blocks {
		if base.Type == "terraform" {
			base.Body = overlay{base: base.Body, over: over.Body, deep: []string{"required_providers"}, hide: true}
		}
	}
	return append(blocks, over)
}

// overrideLocals replaces local values, each in the block that declares it.
func overrideLocals(blocks hcl.Blocks, over *hcl.Block) tfdiags.Diagnostics {
	attrs, hclDiags := over.Body.JustAttributes()
	diags := tfdiags.FromHCL(hclDiags)
	known := map[string]bool{}
	for _, base := range blocks {
		if base.Type != "locals" {
			continue
		}
		declared, _ := base.Body.JustAttributes()
		for name := range declared {
			known[name] = true
		}
		base.Body = overlay{base: base.Body, over: over.Body, known: true}
	}
	for _, name := range sortedKeys(attrs) {
		if !known[name] {
			diags = append(diags, tfdiags.At(attrs[name].NameRange, "Missing base local value definition to override",
				fmt.Sprintf("There is no local value named %q in this module. An override file changes what other files declare; declare it there, or correct the name.", name))...)
		}
	}
	return diags
}
