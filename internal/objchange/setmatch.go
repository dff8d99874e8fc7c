package objchange

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
)

// setMatcher finds, for elements of a configured set, the prior elements that
// may have come from the same configuration. Set elements have no identity, so
// an element matches if the provider can have made it from the configuration by
// filling in computed attributes. Each prior element is taken once, the first
// match in the set's own order.
//
// Candidates are kept by a hash of the attributes that cannot be computed, so
// that matching is linear unless elements differ in nested parts only.
type setMatcher struct {
	fields     fields
	keyed      []string
	candidates map[uint64][]cty.Value
	unknown    cty.Value // what to answer if the prior set is unknown
}

func newSetMatcher(f fields, prior cty.Value) *setMatcher {
	m := &setMatcher{fields: f, candidates: make(map[uint64][]cty.Value)}
	for _, name := range slices.Sorted(maps.Keys(f.attributes)) {
		if attr := f.attributes[name]; !attr.Computed && attr.NestedType == nil {
			m.keyed = append(m.keyed, name)
		}
	}
	switch {
	case prior.IsNull():
	case !prior.IsKnown():
		m.unknown = unknownElement(prior.Type())
	default:
		for it := prior.ElementIterator(); it.Next(); {
			_, elem := it.Element()
			key := m.key(elem)
			m.candidates[key] = append(m.candidates[key], elem)
		}
	}
	return m
}

// take returns the prior element for a configured one, or NilVal.
func (m *setMatcher) take(config cty.Value) cty.Value {
	if m.unknown != cty.NilVal {
		return m.unknown
	}
	key := m.key(config)
	for i, prior := range m.candidates[key] {
		if m.fields.mayComeFrom(prior, config) {
			m.candidates[key] = slices.Delete(m.candidates[key], i, i+1)
			return prior
		}
	}
	return cty.NilVal
}

// key is equal for elements of which one may come from the other.
func (m *setMatcher) key(elem cty.Value) uint64 {
	if elem.IsNull() || !elem.IsKnown() {
		return 0
	}
	var key uint64 = 1
	for _, name := range m.keyed {
		key = key*1099511628211 + uint64(uint32(elem.GetAttr(name).Hash())) //nolint:gosec // a CRC-32, the FNV prime mixes
	}
	return key
}

// mayComeFrom tells whether prior is config with nothing but computed
// attributes added. Lists and maps in prior may be shorter than in config.
func (f fields) mayComeFrom(prior, config cty.Value) bool {
	if sameButRefinements(prior, config) || prior.IsNull() || !prior.IsKnown() {
		return true
	}
	if config.IsNull() {
		return false
	}
	for name, attr := range f.attributes {
		if !attributeMayComeFrom(attr, prior.GetAttr(name), config.GetAttr(name)) {
			return false
		}
	}
	for name, nested := range f.blocks {
		if !nestedMayComeFrom(nested.Nesting, blockFields(&nested.Block), prior.GetAttr(name), config.GetAttr(name)) {
			return false
		}
	}
	return true
}

func attributeMayComeFrom(attr *providers.Attribute, prior, config cty.Value) bool {
	switch {
	case sameButRefinements(prior, config):
		return true
	case config.Type().IsSetType():
		return false // elements of sets in sets cannot be told apart, not even computed ones
	case attr.NestedType != nil:
		return nestedMayComeFrom(attr.NestedType.Nesting, objectFields(attr.NestedType), prior, config)
	default:
		return attr.Computed && config.IsNull()
	}
}

func nestedMayComeFrom(nesting providers.NestingMode, f fields, prior, config cty.Value) bool {
	switch {
	case sameButRefinements(prior, config):
		return true
	case nesting == providers.NestingSet:
		return false
	case prior.IsNull() || !prior.IsKnown():
		return true
	case nesting == providers.NestingSingle || nesting == providers.NestingGroup:
		return f.mayComeFrom(prior, config)
	}
	for it := prior.ElementIterator(); it.Next(); {
		key, priorElem := it.Element()
		configElem := elementOf(config, key)
		if configElem == cty.NilVal || !f.mayComeFrom(priorElem, configElem) {
			return false
		}
	}
	return true
}

// sameButRefinements is equality in which any two unknown values of a type are equal.
func sameButRefinements(a, b cty.Value) bool {
	if a.RawEquals(b) {
		return true
	}
	if a.IsWhollyKnown() || b.IsWhollyKnown() {
		return false
	}
	return unrefined(a).RawEquals(unrefined(b))
}

func unrefined(v cty.Value) cty.Value {
	out, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if !v.IsKnown() {
			return cty.UnknownVal(v.Type()), nil
		}
		return v, nil
	})
	if err != nil {
		return v // cannot be: the function returns none
	}
	return out
}
