package configs

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// overlay is a body with another one laid over it, as an override file does:
// arguments replace those of the same name, and nested blocks replace all nested
// blocks of the same type.
type overlay struct {
	base, over hcl.Body
	// deep are types of nested blocks that are laid over each other instead.
	deep []string
	// hide leaves out what over replaces, and over itself as well.
	hide bool
	// known takes only arguments from over that base has too.
	known bool
}

// Content implements hcl.Body.
func (b overlay) Content(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	relaxed := withoutRequired(schema)
	base, diags := b.base.Content(relaxed)
	over, moreDiags := b.over.Content(relaxed)
	content := b.join(base, over)
	diags = append(diags, moreDiags...)
	return content, append(diags, b.missing(schema, content)...)
}

// PartialContent implements hcl.Body.
func (b overlay) PartialContent(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	relaxed := withoutRequired(schema)
	base, baseRemain, diags := b.base.PartialContent(relaxed)
	over, overRemain, moreDiags := b.over.PartialContent(relaxed)
	content := b.join(base, over)
	diags = append(diags, moreDiags...)
	rest := b
	rest.base, rest.over = baseRemain, overRemain
	return content, rest, append(diags, b.missing(schema, content)...)
}

// JustAttributes implements hcl.Body.
func (b overlay) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	base, diags := b.base.JustAttributes()
	over, moreDiags := b.over.JustAttributes()
	return b.joinAttributes(base, over), append(diags, moreDiags...)
}

// MissingItemRange implements hcl.Body.
func (b overlay) MissingItemRange() hcl.Range { return b.base.MissingItemRange() }

func (b overlay) join(base, over *hcl.BodyContent) *hcl.BodyContent {
	out := &hcl.BodyContent{Attributes: b.joinAttributes(base.Attributes, over.Attributes), MissingItemRange: base.MissingItemRange}
	replaced := map[string]*hcl.Block{}
	for _, block := range over.Blocks {
		replaced[blockType(block)] = block
	}
	merged := map[string]bool{}
	for _, block := range base.Blocks {
		by := replaced[blockType(block)]
		switch {
		case by == nil:
			out.Blocks = append(out.Blocks, block)
		case slices.Contains(b.deep, block.Type):
			merged[block.Type] = true
			copied := *block
			copied.Body = overlay{base: block.Body, over: by.Body, hide: b.hide}
			out.Blocks = append(out.Blocks, &copied)
		}
	}
	for _, block := range over.Blocks {
		if !b.hide && !merged[block.Type] {
			out.Blocks = append(out.Blocks, block)
		}
	}
	return out
}

func (b overlay) joinAttributes(base, over hcl.Attributes) hcl.Attributes {
	out := maps.Clone(base)
	for name, attr := range over {
		_, exists := base[name]
		switch {
		case b.hide:
			delete(out, name)
		case exists || !b.known:
			if out == nil {
				out = hcl.Attributes{}
			}
			out[name] = attr
		}
	}
	return out
}

// missing reports required arguments that neither body has.
func (b overlay) missing(schema *hcl.BodySchema, content *hcl.BodyContent) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, attr := range schema.Attributes {
		if attr.Required && content.Attributes[attr.Name] == nil {
			at := b.MissingItemRange()
			diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Missing required argument", Subject: &at,
				Detail: "The argument \"" + attr.Name + "\" is required, but neither the block nor what overrides it sets it."})
		}
	}
	return diags
}

func withoutRequired(schema *hcl.BodySchema) *hcl.BodySchema {
	out := &hcl.BodySchema{Blocks: schema.Blocks, Attributes: slices.Clone(schema.Attributes)}
	for i := range out.Attributes {
		out.Attributes[i].Required = false
	}
	return out
}

// blockType is the type of the blocks that a block stands for.
func blockType(block *hcl.Block) string {
	if block.Type == "dynamic" && len(block.Labels) == 1 {
		return block.Labels[0]
	}
	return block.Type
}
