package providers

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// Most bodies have arguments and no blocks. hcldec looks through the whole schema for each body; these are
// decoded by what they set. Whatever is amiss with one is left to hcldec, to be told as ever.

// flatBlock is what a schema implies for bodies without blocks.
type flatBlock struct {
	// absent is the value of a body that sets nothing, by name; nil if there must be blocks.
	absent map[string]cty.Value
	types  map[string]cty.Type
	// required counts the attributes that a body must set.
	required int
}

func (b *Block) buildFlat(rewritten bool) flatBlock {
	if rewritten {
		return flatBlock{}
	}
	blocks := hcldec.ObjectSpec{}
	for name, nested := range b.BlockTypes {
		if spec := nested.decoderSpec(name); spec != nil {
			blocks[name] = spec
		}
	}
	empty, diags := hcldec.Decode(hcl.EmptyBody(), blocks, nil)
	if diags.HasErrors() {
		return flatBlock{}
	}
	out := flatBlock{absent: empty.AsValueMap(), types: make(map[string]cty.Type, len(b.Attributes))}
	if out.absent == nil {
		out.absent = map[string]cty.Value{}
	}
	for name, attr := range b.Attributes {
		out.types[name] = attr.constraint()
		out.absent[name] = cty.NullVal(attr.constraint().WithoutOptionalAttributesDeep())
		if attr.Required {
			out.required++
		}
	}
	return out
}

// flatAttributes returns what a body sets, false if it is none of those that are decoded by that.
func flatAttributes(body hcl.Body) (hcl.Attributes, bool) {
	native, ok := body.(*hclsyntax.Body)
	if !ok || len(native.Blocks) > 0 {
		return nil, false
	}
	attrs, diags := native.JustAttributes()
	return attrs, len(diags) == 0
}

// decode decodes a body by what it sets, and tells whether it could.
func (f *flatBlock) decode(b *Block, body hcl.Body, hclCtx *hcl.EvalContext) (cty.Value, bool) {
	if f.absent == nil {
		return cty.NilVal, false
	}
	attrs, ok := flatAttributes(body)
	if !ok {
		return cty.NilVal, false
	}
	vals, required := maps.Clone(f.absent), 0
	for name, attr := range attrs {
		ty, known := f.types[name]
		if !known {
			return cty.NilVal, false
		}
		val, diags := attr.Expr.Value(hclCtx)
		if len(diags) > 0 {
			return cty.NilVal, false
		}
		conforming, err := convert.Convert(val, ty)
		if err != nil {
			return cty.NilVal, false
		}
		vals[name] = conforming
		if b.Attributes[name].Required {
			required++
		}
	}
	if required < f.required {
		return cty.NilVal, false
	}
	return cty.ObjectVal(vals), true
}

// variables returns what a body refers to, and tells whether it is one without blocks.
func (f *flatBlock) variables(body hcl.Body) ([]hcl.Traversal, bool) {
	if f.absent == nil {
		return nil, false
	}
	attrs, ok := flatAttributes(body)
	if !ok {
		return nil, false
	}
	var out []hcl.Traversal
	for name, attr := range attrs {
		if _, known := f.types[name]; known {
			out = append(out, attr.Expr.Variables()...)
		}
	}
	return out, true
}
