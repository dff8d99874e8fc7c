package objchange

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
)

// AssertObjectCompatible checks that actual is a completion of planned: what
// was known is the same, what was unknown has the planned type and keeps the
// planned refinements. Sets may shrink, since elements may turn out equal, and
// never grow. The errors are cty.PathErrors; each is a bug of the provider.
func AssertObjectCompatible(schema *providers.Block, planned, actual cty.Value) []error {
	c := &resultChecker{}
	c.watch(schema, &planned, &actual)
	c.block(schema, planned, actual, nil)
	return c.errs
}

type resultChecker struct{ checker }

// probe runs a comparison for its outcome alone.
func probe(f func(*resultChecker)) bool {
	c := &resultChecker{}
	f(c)
	return len(c.errs) == 0
}

func (c *resultChecker) block(schema *providers.Block, planned, actual cty.Value, path cty.Path) {
	switch {
	case planned.IsNull() && !actual.IsNull():
		c.fail(path, "was planned to be absent, but is present")
		return
	case actual.IsNull() && !planned.IsNull():
		c.fail(path, "was planned to be present, but is absent")
		return
	case planned.IsNull():
		return
	}
	for _, name := range sorted(schema.Attributes) {
		c.value(planned.GetAttr(name), actual.GetAttr(name), extend(path, cty.GetAttrStep{Name: name}))
	}
	for _, name := range sorted(schema.BlockTypes) {
		c.nestedBlock(schema.BlockTypes[name], planned.GetAttr(name), actual.GetAttr(name),
			extend(path, cty.GetAttrStep{Name: name}))
	}
}

func (c *resultChecker) nestedBlock(nested *providers.NestedBlock, planned, actual cty.Value, path cty.Path) {
	if nested.Nesting == providers.NestingSingle || nested.Nesting == providers.NestingGroup {
		if planned.IsKnown() || !actual.IsNull() { // an unknown block may come to nothing
			c.block(&nested.Block, planned, actual, path)
		}
		return
	}
	// How many blocks unknown ones become cannot be foretold, and null stands for
	// none in what old SDKs answer.
	if !planned.IsKnown() || !actual.IsKnown() || planned.IsNull() || actual.IsNull() {
		return
	}
	if !planned.CanIterateElements() || !actual.CanIterateElements() {
		c.fail(path, "is not a collection of blocks")
		return
	}
	if nested.Nesting == providers.NestingSet {
		c.set(planned, actual, path, func(c *resultChecker, planned, actual cty.Value) {
			c.block(&nested.Block, planned, actual, nil)
		})
		return
	}
	c.elements(planned, actual, path, func(planned, actual cty.Value, path cty.Path) {
		c.block(&nested.Block, planned, actual, path)
	})
}

func (c *resultChecker) value(planned, actual cty.Value, path cty.Path) {
	if planned.Type() == cty.DynamicPseudoType {
		return
	}
	if problems := actual.Type().TestConformance(planned.Type()); len(problems) > 0 {
		c.fail(path, fmt.Sprintf("was planned as %s, but is %s", planned.Type().FriendlyName(), actual.Type().FriendlyName()))
		return
	}
	if !planned.IsKnown() {
		if ok := planned.Range().Includes(actual); ok.IsKnown() && ok.False() {
			c.differ(path, "does not fit what the plan promised", planned, actual)
		}
		return
	}
	switch {
	case actual.IsNull() && planned.IsNull():
	case actual.IsNull():
		c.differ(path, "was planned, but is null", planned, actual)
	case planned.IsNull():
		c.differ(path, "was planned to be null, but has a value", planned, actual)
	case !actual.IsKnown():
		c.fail(path, "was planned with a known value, but is unknown")
	default:
		c.knownValue(planned, actual, path)
	}
}

func (c *resultChecker) knownValue(planned, actual cty.Value, path cty.Path) {
	switch ty := planned.Type(); {
	case ty.IsPrimitiveType():
		if !actual.RawEquals(planned) {
			c.differ(path, "is not what was planned", planned, actual)
		}
	case ty.IsSetType():
		c.set(planned, actual, path, func(c *resultChecker, planned, actual cty.Value) {
			c.value(planned, actual, nil)
		})
	case ty.IsObjectType():
		for _, name := range sorted(ty.AttributeTypes()) {
			c.value(planned.GetAttr(name), actual.GetAttr(name), extend(path, cty.GetAttrStep{Name: name}))
		}
	case ty.IsListType() || ty.IsMapType() || ty.IsTupleType():
		c.elements(planned, actual, path, c.value)
	}
}

// elements compares what lists, maps, tuples and objects of blocks consist of.
func (c *resultChecker) elements(planned, actual cty.Value, path cty.Path, compare func(planned, actual cty.Value, path cty.Path)) {
	for it := planned.ElementIterator(); it.Next(); {
		key, plannedElem := it.Element()
		elemPath := extend(path, cty.IndexStep{Key: key})
		actualElem := elementOf(actual, key)
		if actualElem == cty.NilVal {
			c.fail(elemPath, "was planned, but has vanished")
			continue
		}
		compare(plannedElem, actualElem, elemPath)
	}
	for it := actual.ElementIterator(); it.Next(); {
		key, _ := it.Element()
		if elementOf(planned, key) == cty.NilVal {
			c.fail(extend(path, cty.IndexStep{Key: key}), "was not planned, but has appeared")
		}
	}
}

func (c *resultChecker) differ(path cty.Path, text string, planned, actual cty.Value) {
	c.fail(path, text, shown{"the plan", planned}, shown{"the result", actual})
}

// set checks that every planned element has a counterpart in the result and the
// other way round. Elements that are equal in both, normally all, are found by
// hash; only the others are compared with each other.
func (c *resultChecker) set(planned, actual cty.Value, path cty.Path, compare func(c *resultChecker, planned, actual cty.Value)) {
	plannedElems, actualElems := planned.AsValueSlice(), actual.AsValueSlice()
	inPlan, inActual := matchEqual(plannedElems, actualElems)
	matches := func(p, a cty.Value) bool {
		return probe(func(c *resultChecker) { compare(c, p, a) })
	}
	before := len(c.errs)
	for i, p := range plannedElems {
		if !inPlan[i] && !anyMatch(actualElems, func(a cty.Value) bool { return matches(p, a) }) {
			c.fail(path, "a planned element of the set has no counterpart in the result", shown{"the element", p})
		}
	}
	if len(c.errs) > before {
		return // the other direction would report the same once more
	}
	for i, a := range actualElems {
		if !inActual[i] && !anyMatch(plannedElems, func(p cty.Value) bool { return matches(p, a) }) {
			c.fail(path, "an element of the resulting set has no counterpart in the plan", shown{"the element", a})
		}
	}
	if len(plannedElems) < len(actualElems) {
		c.fail(path, fmt.Sprintf("was planned with %d elements, but has %d", len(plannedElems), len(actualElems)))
	}
}

// matchEqual tells of each element whether the other side holds an equal one.
func matchEqual(as, bs []cty.Value) (inA, inB []bool) {
	inA, inB = make([]bool, len(as)), make([]bool, len(bs))
	byHash := make(map[int][]int, len(bs))
	for i, b := range bs {
		byHash[b.Hash()] = append(byHash[b.Hash()], i)
	}
	for i, a := range as {
		for _, j := range byHash[a.Hash()] {
			if a.RawEquals(bs[j]) {
				inA[i], inB[j] = true, true
			}
		}
	}
	return inA, inB
}

func anyMatch(vals []cty.Value, match func(cty.Value) bool) bool {
	for _, v := range vals {
		if match(v) {
			return true
		}
	}
	return false
}
