package providers

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/dynblock"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
)

// BlocksAsAttributes wraps a body so that an attribute whose type is a list or
// set of objects may be written as a series of blocks of its name. Old
// providers rely on it. Bodies for schemas that no old provider can have are
// returned as they are.
//
// dynamic blocks must already be expanded in body.
func BlocksAsAttributes(body hcl.Body, schema *Block) hcl.Body {
	d := schema.derive()
	if d.blocksForAttrsDisabled || !d.mayRewrite(schema) {
		return body
	}
	return &attrBlocksBody{original: body, schema: schema, ambiguous: d.ambiguous}
}

// mayRewrite tells whether the wrapper would change anything in the block or below it.
func (d *derivedBlock) mayRewrite(schema *Block) bool {
	if len(d.ambiguous) > 0 {
		return true
	}
	for _, nested := range schema.BlockTypes {
		if child := nested.derive(); child.mayRewrite(&nested.Block) {
			return true
		}
	}
	return false
}

// blockLikeAttributes returns the element types of attributes that may be written as blocks.
func (b *Block) blockLikeAttributes() map[string]cty.Type {
	names := make(map[string]cty.Type)
	for name, attr := range b.Attributes {
		if ety, ok := blockLike(attr.Type); ok && attr.NestedType == nil {
			names[name] = ety
		}
	}
	return names
}

func blockLike(ty cty.Type) (element cty.Type, ok bool) {
	if ty == cty.NilType || !ty.IsListType() && !ty.IsSetType() {
		return cty.NilType, false
	}
	ety := ty.ElementType()
	return ety, ety.IsObjectType()
}

// maybeLegacy tells whether the schema can be that of a provider on the old
// SDK, the only ones whose users may mix up attributes and blocks.
func (b *Block) maybeLegacy() bool {
	for _, attr := range b.Attributes {
		if attr.NestedType != nil || !maybeLegacyType(attr.Type) {
			return false
		}
	}
	for _, nested := range b.BlockTypes {
		if !nested.maybeLegacy() {
			return false
		}
	}
	return true
}

func maybeLegacyType(ty cty.Type) bool {
	switch {
	case ty.IsTupleType() || ty.IsObjectType():
		return false
	case !ty.IsCollectionType():
		return true
	}
	ety := ty.ElementType()
	if ty.IsMapType() && ety.IsObjectType() {
		return false
	}
	return !ety.IsCollectionType() || ety.ElementType().IsPrimitiveType()
}

// elementSchema is a block schema for objects of an attribute's element type. A
// type says less than a schema, so everything is optional and the provider
// judges what is missing.
func elementSchema(ety cty.Type) *Block {
	b := &Block{Attributes: make(map[string]*Attribute)}
	for name, aty := range ety.AttributeTypes() {
		b.Attributes[name] = &Attribute{Type: aty, Optional: true}
	}
	return b
}

type attrBlocksBody struct {
	original  hcl.Body
	schema    *Block
	ambiguous map[string]cty.Type
}

// Unknown passes on that the body stands for an unknown number of dynamic blocks.
func (b *attrBlocksBody) Unknown() bool {
	u, ok := b.original.(hcldec.UnknownBody)
	return ok && u.Unknown()
}

// BodyValueMarks passes on the marks of a dynamic block's for_each.
func (b *attrBlocksBody) BodyValueMarks() cty.ValueMarks {
	if m, ok := b.original.(hcldec.MarkedBody); ok {
		return m.BodyValueMarks()
	}
	return nil
}

// Content implements hcl.Body.
func (b *attrBlocksBody) Content(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	content, diags := b.original.Content(asWritten(schema, b.original, b.ambiguous, true))
	return b.rewrite(content), diags
}

// PartialContent implements hcl.Body.
func (b *attrBlocksBody) PartialContent(schema *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	content, remain, diags := b.original.PartialContent(asWritten(schema, b.original, b.ambiguous, true))
	rest := &attrBlocksBody{original: remain, schema: b.schema, ambiguous: b.ambiguous}
	return b.rewrite(content), rest, diags
}

// JustAttributes implements hcl.Body; no block can be meant here.
func (b *attrBlocksBody) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	return b.original.JustAttributes()
}

// MissingItemRange implements hcl.Body.
func (b *attrBlocksBody) MissingItemRange() hcl.Range { return b.original.MissingItemRange() }

// rewrite turns blocks that stand for an attribute into that attribute.
func (b *attrBlocksBody) rewrite(content *hcl.BodyContent) *hcl.BodyContent {
	out := &hcl.BodyContent{
		Attributes:       maps.Clone(content.Attributes),
		MissingItemRange: b.MissingItemRange(),
	}
	if out.Attributes == nil {
		out.Attributes = make(hcl.Attributes)
	}
	standIns := make(map[string]hcl.Blocks)
	for _, block := range content.Blocks {
		if _, ok := b.ambiguous[block.Type]; ok {
			standIns[block.Type] = append(standIns[block.Type], block)
			continue
		}
		inner := *block
		if nested := b.schema.BlockTypes[block.Type]; nested != nil {
			inner.Body = BlocksAsAttributes(inner.Body, &nested.Block)
		}
		out.Blocks = append(out.Blocks, &inner)
	}
	for name, blocks := range standIns {
		// HCL wants one place for an attribute; the first block serves.
		out.Attributes[name] = &hcl.Attribute{
			Name:      name,
			Expr:      &blocksExpr{blocks: blocks, ety: b.ambiguous[name]},
			Range:     blocks[0].DefRange,
			NameRange: blocks[0].TypeRange,
		}
	}
	return out
}

// blocksExpr is a series of blocks seen as a list of objects. It has at least one block.
type blocksExpr struct {
	blocks hcl.Blocks
	ety    cty.Type
}

// Value implements hcl.Expression.
func (e *blocksExpr) Value(hclCtx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	schema := elementSchema(e.ety)
	var diags hcl.Diagnostics
	vals := make([]cty.Value, 0, len(e.blocks))
	for _, block := range e.blocks {
		val, moreDiags := schema.Decode(block.Body, hclCtx)
		diags = append(diags, moreDiags...)
		vals = append(vals, val)
	}
	// A tuple: the elements' types can differ where attributes have the dynamic
	// type, and the attribute's own conversion then says so.
	return cty.TupleVal(vals), diags
}

// Variables implements hcl.Expression.
func (e *blocksExpr) Variables() []hcl.Traversal {
	schema := elementSchema(e.ety)
	var out []hcl.Traversal
	for _, block := range e.blocks {
		out = append(out, hcldec.Variables(BlocksAsAttributes(block.Body, schema), schema.DecoderSpec())...)
	}
	return out
}

// Range implements hcl.Expression.
func (e *blocksExpr) Range() hcl.Range { return e.blocks[0].DefRange }

// StartRange implements hcl.Expression.
func (e *blocksExpr) StartRange() hcl.Range { return e.blocks[0].DefRange }

// BodyVariables returns all that a body refers to, given its schema: in
// attributes, in blocks, in dynamic blocks not yet expanded, and in attributes
// that are written as blocks.
func BodyVariables(body hcl.Body, schema *Block) []hcl.Traversal {
	if vars, ok := schema.derive().flat.variables(body); ok {
		return vars
	}
	return walkVariables(dynblock.WalkVariables(body), body, schema)
}

func walkVariables(node dynblock.WalkVariablesNode, body hcl.Body, schema *Block) []hcl.Traversal {
	d := schema.derive()
	plain := hcldec.ImpliedSchema(d.spec)
	vars, children := node.Visit(asWritten(plain, body, d.ambiguous, false))
	for _, child := range children {
		if nested := schema.BlockTypes[child.BlockTypeName]; nested != nil {
			vars = append(vars, walkVariables(child.Node, child.Body(), &nested.Block)...)
		} else if ety, ok := d.ambiguous[child.BlockTypeName]; ok {
			vars = append(vars, walkVariables(child.Node, child.Body(), elementSchema(ety))...)
		}
	}
	return vars
}

// asWritten returns given with each ambiguous attribute declared as a block
// type where the body does not set it as an attribute. JSON answers to both and
// then counts as an attribute. Where dynamic blocks are expanded an attribute
// that is not there at all is taken as blocks too, since an expansion may have
// come out empty.
func asWritten(given *hcl.BodySchema, body hcl.Body, ambiguous map[string]cty.Type, expanded bool) *hcl.BodySchema {
	if len(ambiguous) == 0 {
		return given
	}
	asBlock := writtenAsBlocks(body, ambiguous, expanded)
	out := &hcl.BodySchema{Blocks: slices.Clone(given.Blocks)}
	for _, attr := range given.Attributes {
		if asBlock[attr.Name] {
			out.Blocks = append(out.Blocks, hcl.BlockHeaderSchema{Type: attr.Name})
		} else {
			out.Attributes = append(out.Attributes, attr)
		}
	}
	return out
}

func writtenAsBlocks(body hcl.Body, ambiguous map[string]cty.Type, expanded bool) map[string]bool {
	probe := &hcl.BodySchema{}
	for name := range ambiguous {
		probe.Attributes = append(probe.Attributes, hcl.AttributeSchema{Name: name})
	}
	attrs, _, _ := body.PartialContent(probe)
	asBlock := make(map[string]bool)
	probe = &hcl.BodySchema{}
	for name := range ambiguous {
		if _, isAttr := attrs.Attributes[name]; isAttr {
			continue
		}
		asBlock[name] = expanded
		probe.Blocks = append(probe.Blocks, hcl.BlockHeaderSchema{Type: name})
	}
	if expanded {
		return asBlock
	}
	probe.Blocks = append(probe.Blocks, hcl.BlockHeaderSchema{Type: "dynamic", LabelNames: []string{"type"}})
	blocks, _, _ := body.PartialContent(probe)
	for _, block := range blocks.Blocks {
		name := block.Type
		if name == "dynamic" && len(block.Labels) == 1 {
			name = block.Labels[0]
		}
		if _, ok := asBlock[name]; ok {
			asBlock[name] = true
		}
	}
	return asBlock
}
