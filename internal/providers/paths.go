package providers

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// SensitivePaths returns where in v the schema declares a sensitive value, in a
// stable order. Attributes count also when null, as in Terraform's state files;
// what is inside a sensitive attribute is not listed again.
func (b *Block) SensitivePaths(v cty.Value) []cty.Path {
	if !b.derive().hasSensitive {
		return nil
	}
	f := pathFinder{
		wanted: func(a *Attribute) bool { return a.Sensitive },
		within: func(b *Block) bool { return b.derive().hasSensitive },
	}
	f.block(b, v, nil)
	return f.found
}

// WriteOnlyPaths returns where in v the schema declares write-only attributes,
// in a stable order, also where they are null.
func (b *Block) WriteOnlyPaths(v cty.Value) []cty.Path {
	if !b.derive().hasWriteOnly {
		return nil
	}
	f := pathFinder{
		wanted: func(a *Attribute) bool { return a.WriteOnly },
		within: func(b *Block) bool { return b.derive().hasWriteOnly },
	}
	f.block(b, v, nil)
	return f.found
}

// AttributeByPath returns the attribute at a path, or nil if the path leads to
// a block, into the inside of an attribute's type, or nowhere. Index steps are
// not checked.
func (b *Block) AttributeByPath(path cty.Path) *Attribute {
	for i, step := range path {
		get, ok := step.(cty.GetAttrStep)
		if !ok {
			continue
		}
		if attr := b.Attributes[get.Name]; attr != nil {
			return attr.byPath(path[i+1:])
		}
		nested := b.BlockTypes[get.Name]
		if nested == nil {
			return nil
		}
		b = &nested.Block
	}
	return nil
}

func (a *Attribute) byPath(rest cty.Path) *Attribute {
	if len(rest) == 0 {
		return a
	}
	if a.NestedType == nil {
		return nil
	}
	return a.NestedType.AttributeByPath(rest)
}

// AttributeByPath is [Block.AttributeByPath] for nested attributes.
func (o *Object) AttributeByPath(path cty.Path) *Attribute {
	for i, step := range path {
		if get, ok := step.(cty.GetAttrStep); ok {
			if attr := o.Attributes[get.Name]; attr != nil {
				return attr.byPath(path[i+1:])
			}
			return nil
		}
	}
	return nil
}

// pathFinder collects the paths of attributes that have a property. It stops at
// what is null or unknown: there is no path into that.
type pathFinder struct {
	wanted func(*Attribute) bool
	within func(*Block) bool
	found  []cty.Path
}

func (f *pathFinder) block(b *Block, v cty.Value, path cty.Path) {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() || !v.Type().IsObjectType() {
		return
	}
	f.attributes(b.Attributes, v, path)
	for _, name := range slices.Sorted(maps.Keys(b.BlockTypes)) {
		nested := b.BlockTypes[name]
		if !f.within(&nested.Block) {
			continue
		}
		eachElement(nested.Nesting, v.GetAttr(name), extend(path, cty.GetAttrStep{Name: name}),
			func(ev cty.Value, epath cty.Path) { f.block(&nested.Block, ev, epath) })
	}
}

func (f *pathFinder) attributes(attrs map[string]*Attribute, v cty.Value, path cty.Path) {
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		attr := attrs[name]
		attrPath := extend(path, cty.GetAttrStep{Name: name})
		switch {
		case f.wanted(attr):
			f.found = append(f.found, attrPath)
		case attr.NestedType != nil && attr.any(f.wanted):
			eachElement(attr.NestedType.Nesting, v.GetAttr(name), attrPath, func(ev cty.Value, epath cty.Path) {
				ev, _ = ev.Unmark()
				if !ev.IsNull() && ev.IsKnown() {
					f.attributes(attr.NestedType.Attributes, ev, epath)
				}
			})
		}
	}
}

// eachElement visits the objects that nested blocks or attributes consist of.
func eachElement(nesting NestingMode, v cty.Value, path cty.Path, visit func(cty.Value, cty.Path)) {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() {
		return
	}
	if nesting == NestingSingle || nesting == NestingGroup {
		visit(v, path)
		return
	}
	if !v.CanIterateElements() {
		return
	}
	for it := v.ElementIterator(); it.Next(); {
		key, ev := it.Element()
		visit(ev, extend(path, cty.IndexStep{Key: key}))
	}
}

// extend returns a longer path that shares no memory with path.
func extend(path cty.Path, step cty.PathStep) cty.Path {
	out := make(cty.Path, len(path), len(path)+1)
	copy(out, path)
	return append(out, step)
}
