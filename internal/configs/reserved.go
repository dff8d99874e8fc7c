package configs

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// escapeBlock is the type of the block whose arguments are the object type's even
// where they have the name of a meta-argument.
const escapeBlock = "_"

// reserved takes the blocks that mean something else than the object type's own out
// of a block: the arguments of an escaping block join those of body, and words that
// the language keeps for later are refused. owner names the block in problems.
func reserved(body hcl.Body, blocks hcl.Blocks, owner string, words ...string) (hcl.Body, tfdiags.Diagnostics) {
	var diags tfdiags.Diagnostics
	var escape *hcl.Block
	for _, block := range blocks {
		switch {
		case block.Type == escapeBlock && escape != nil:
			diags = append(diags, tfdiags.At(block.DefRange, "Duplicate escaping block",
				fmt.Sprintf("The block type \"_\" marks arguments that are not meta-arguments, and a %s block can have one such block; there is one at %s already. Join the two.", owner, escape.DefRange))...)
		case block.Type == escapeBlock:
			escape = block
			body = hcl.MergeBodies([]hcl.Body{body, block.Body})
		case slices.Contains(words, block.Type):
			diags = append(diags, tfdiags.At(block.TypeRange, "Reserved block type name in "+owner+" block",
				fmt.Sprintf("Blocks of type %q have no meaning in a %s block yet. Remove it.", block.Type, owner))...)
		}
	}
	return body, diags
}

// reservedArguments refuses arguments that the language keeps for later.
func reservedArguments(attrs hcl.Attributes, owner string, words ...string) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, word := range words {
		if attr := attrs[word]; attr != nil {
			diags = append(diags, tfdiags.At(attr.NameRange, "Reserved argument name in "+owner+" block",
				fmt.Sprintf("The argument %q has no meaning in a %s block yet. Remove it.", word, owner))...)
		}
	}
	return diags
}

// settingsOnce refuses settings that a module, or an override file, can make once
// and makes again.
func settingsOnce(blocks hcl.Blocks) tfdiags.Diagnostics {
	summaries := map[string]string{
		"required_providers": "Duplicate required providers configuration",
		"backend":            "Duplicate backend configuration",
		"cloud":              "Duplicate HCP Terraform configurations",
	}
	first := map[string]*hcl.Block{}
	var diags tfdiags.Diagnostics
	for _, block := range blocks {
		if block.Type != "terraform" {
			continue
		}
		content, _, _ := block.Body.PartialContent(terraformSchema) // what is wrong is reported where it is decoded
		for _, inner := range content.Blocks {
			summary, once := summaries[inner.Type]
			if other := first[inner.Type]; once && other != nil {
				diags = append(diags, tfdiags.At(inner.DefRange, summary,
					fmt.Sprintf("A module can have one %s block, and there is one at %s already. Join the two, or remove one.", inner.Type, other.DefRange))...)
				continue
			}
			first[inner.Type] = inner
		}
	}
	if backend := first["backend"]; backend != nil && first["cloud"] != nil {
		diags = append(diags, tfdiags.At(backend.DefRange, "Both a backend and cloud configuration are present",
			fmt.Sprintf("The state is kept in one place: by the backend, or by what the cloud block at %s names. Remove one of the two.", first["cloud"].DefRange))...)
	}
	return diags
}
