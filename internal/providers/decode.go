package providers

import (
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// blockKey is the label under which a block of a map of blocks is filed.
var blockKey = []string{"key"}

// derivedBlock is what a block's schema implies for decoding and for marks.
type derivedBlock struct {
	once sync.Once
	spec hcldec.Spec
	flat flatBlock
	// optionals says that decoding may leave optional attributes in the types
	// of empty collections, which no value may have.
	optionals              bool
	hasSensitive           bool
	hasWriteOnly           bool
	ambiguous              map[string]cty.Type
	blocksForAttrsDisabled bool
}

func (b *Block) derive() *derivedBlock {
	b.derived.once.Do(func() {
		d := &b.derived
		d.spec = b.buildSpec()
		d.blocksForAttrsDisabled = !b.maybeLegacy()
		d.ambiguous = b.blockLikeAttributes()
		d.flat = b.buildFlat(d.mayRewrite(b))
		for _, attr := range b.Attributes {
			d.hasSensitive = d.hasSensitive || attr.any(func(a *Attribute) bool { return a.Sensitive })
			d.hasWriteOnly = d.hasWriteOnly || attr.any(func(a *Attribute) bool { return a.WriteOnly })
			d.optionals = d.optionals || attr.NestedType != nil
		}
		for _, nested := range b.BlockTypes {
			child := nested.derive()
			d.hasSensitive = d.hasSensitive || child.hasSensitive
			d.hasWriteOnly = d.hasWriteOnly || child.hasWriteOnly
			d.optionals = d.optionals || child.optionals
		}
	})
	return &b.derived
}

// HasWriteOnly tells whether the block or anything in it has write-only attributes.
func (b *Block) HasWriteOnly() bool { return b.derive().hasWriteOnly }

// DecoderSpec returns how a configuration body is decoded into a value of the
// block. It is built once. [Block.Decode] is what most callers want.
func (b *Block) DecoderSpec() hcldec.Spec { return b.derive().spec }

// Decode evaluates a body, in which dynamic blocks are already expanded, into a
// value that conforms to [Block.ImpliedType]. Attributes that were written as
// blocks are accepted (see [BlocksAsAttributes]). The value is usable, with
// unknown parts, even when there are errors.
func (b *Block) Decode(body hcl.Body, hclCtx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	d := b.derive()
	var diags hcl.Diagnostics
	val, ok := d.flat.decode(b, body, hclCtx)
	if !ok {
		val, diags = hcldec.Decode(BlocksAsAttributes(body, b), d.spec, hclCtx)
	}
	if !d.optionals {
		return val, diags
	}
	conforming, err := convert.Convert(val, b.ImpliedType())
	if err != nil {
		return cty.UnknownVal(b.ImpliedType()), append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Invalid block content",
			Detail:   "The block's content does not fit the provider's schema: " + err.Error() + ".",
			Subject:  body.MissingItemRange().Ptr(),
		})
	}
	return conforming, diags
}

func (b *Block) buildSpec() hcldec.Spec {
	spec := make(hcldec.ObjectSpec, len(b.Attributes)+len(b.BlockTypes))
	for name, nested := range b.BlockTypes {
		if s := nested.decoderSpec(name); s != nil {
			spec[name] = s
		}
	}
	for name, attr := range b.Attributes {
		spec[name] = &hcldec.AttrSpec{Name: name, Type: attr.constraint(), Required: attr.Required}
	}
	return spec
}

func (n *NestedBlock) decoderSpec(name string) hcldec.Spec {
	child := n.DecoderSpec()
	dynamic := n.Block.ImpliedType().HasDynamicTypes()
	switch n.Nesting {
	case NestingSingle:
		return &hcldec.BlockSpec{TypeName: name, Nested: child, Required: n.MinItems == 1}
	case NestingGroup:
		return &hcldec.DefaultSpec{
			Primary: &hcldec.BlockSpec{TypeName: name, Nested: child, Required: n.MinItems == 1},
			Default: &hcldec.LiteralSpec{Value: n.EmptyValue()},
		}
	case NestingList:
		if dynamic {
			return &hcldec.BlockTupleSpec{TypeName: name, Nested: child, MinItems: n.MinItems, MaxItems: n.MaxItems}
		}
		return &hcldec.BlockListSpec{TypeName: name, Nested: child, MinItems: n.MinItems, MaxItems: n.MaxItems}
	case NestingSet:
		return &hcldec.BlockSetSpec{TypeName: name, Nested: child, MinItems: n.MinItems, MaxItems: n.MaxItems}
	case NestingMap:
		if dynamic {
			return &hcldec.BlockObjectSpec{TypeName: name, Nested: child, LabelNames: blockKey}
		}
		return &hcldec.BlockMapSpec{TypeName: name, Nested: child, LabelNames: blockKey}
	default:
		return nil // refused by InternalValidate
	}
}

// constraint is the type that a configured value is converted to: as
// ImpliedType, but nested attributes that need not be set are optional.
func (a *Attribute) constraint() cty.Type {
	if a.NestedType == nil {
		return a.Type
	}
	return a.NestedType.constraint()
}

func (o *Object) constraint() cty.Type {
	atys := make(map[string]cty.Type, len(o.Attributes))
	var optional []string
	for name, attr := range o.Attributes {
		atys[name] = attr.constraint()
		if attr.Optional || attr.Computed {
			optional = append(optional, name)
		}
	}
	return o.Nesting.collectionOf(cty.ObjectWithOptionalAttrs(atys, optional))
}

// collectionOf returns the type that elements of type ety form.
func (m NestingMode) collectionOf(ety cty.Type) cty.Type {
	switch m {
	case NestingList:
		return cty.List(ety)
	case NestingSet:
		return cty.Set(ety)
	case NestingMap:
		return cty.Map(ety)
	default:
		return ety
	}
}

// any tells whether f holds for the attribute or one nested in it.
func (a *Attribute) any(f func(*Attribute) bool) bool {
	if f(a) {
		return true
	}
	if a.NestedType == nil {
		return false
	}
	for _, nested := range a.NestedType.Attributes {
		if nested.any(f) {
			return true
		}
	}
	return false
}
