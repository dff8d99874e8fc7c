package objchange

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
)

// AssertPlanValid checks that a provider's planned object is a way to get from
// prior to config. A planned value may differ from the configured one only if
// the attribute is computed and not configured, if it keeps the prior value of
// a configured attribute (the provider says that both mean the same), or if a
// write-only value is dropped. The errors are cty.PathErrors; each is a bug of
// the provider.
func AssertPlanValid(schema *providers.Block, prior, config, planned cty.Value) []error {
	c := &planChecker{}
	c.watch(schema, &prior, &config, &planned)
	c.block(schema, prior, config, planned, nil)
	return c.errs
}

type planChecker struct{ checker }

func (c *planChecker) block(schema *providers.Block, prior, config, planned cty.Value, path cty.Path) {
	if !c.existence(config, planned, path) {
		return
	}
	c.attributes(schema.Attributes, prior, config, planned, path)
	for _, name := range sorted(schema.BlockTypes) {
		c.nestedBlock(schema.BlockTypes[name],
			attributeOf(prior, name), config.GetAttr(name), planned.GetAttr(name),
			extend(path, cty.GetAttrStep{Name: name}))
	}
}

// existence checks that both objects are there or not, and tells whether there
// is more to compare.
func (c *planChecker) existence(config, planned cty.Value, path cty.Path) bool {
	switch {
	case planned.IsNull() && !config.IsNull():
		c.fail(path, "planned to be absent, but the configuration has it")
		return false
	case config.IsNull() && !planned.IsNull():
		c.fail(path, "planned to exist, but the configuration does not have it")
		return false
	}
	return !planned.IsNull()
}

func (c *planChecker) attributes(attrs map[string]*providers.Attribute, prior, config, planned cty.Value, path cty.Path) {
	remarkable := sortedIf(attrs, func(name string, attr *providers.Attribute) bool {
		return !permitted(attr, attributeOf(prior, name), config.GetAttr(name), planned.GetAttr(name))
	})
	for _, name := range remarkable {
		c.attribute(attrs[name], attributeOf(prior, name), config.GetAttr(name), planned.GetAttr(name),
			extend(path, cty.GetAttrStep{Name: name}))
	}
}

// permitted tells whether an attribute may be planned like that, without a look into it.
func permitted(attr *providers.Attribute, prior, config, planned cty.Value) bool {
	switch {
	case sameButRefinements(planned, config) || planned.IsNull() && config.IsNull():
		return true
	case !prior.IsNull() && !config.IsNull() && sameButRefinements(planned, prior):
		return true
	case attr.Computed && (!attr.Optional || config.IsNull()):
		return true // a configured value of a computed-only attribute comes from ignore_changes
	default:
		return !config.IsNull() && attr.WriteOnly && planned.IsNull()
	}
}

// attribute checks what is not simply permitted.
func (c *planChecker) attribute(attr *providers.Attribute, prior, config, planned cty.Value, path cty.Path) {
	switch {
	case config.IsNull():
		c.fail(path, "planned a value for an attribute that is not configured and not computed",
			shown{"the plan", planned})
	case attr.NestedType != nil:
		c.nestedAttribute(attr.NestedType, prior, config, planned, path)
	case prior.IsNull():
		c.fail(path, "planned a value other than the configured one",
			shown{"the plan", planned}, shown{"the configuration", config})
	default:
		c.fail(path, "planned a value that is neither the configured nor the prior one",
			shown{"the plan", planned}, shown{"the configuration", config}, shown{"the prior value", prior})
	}
}

func (c *planChecker) nestedAttribute(o *providers.Object, prior, config, planned cty.Value, path cty.Path) {
	if !c.existence(config, planned, path) {
		return
	}
	if !planned.IsKnown() {
		c.fail(path, "planned as unknown, but the configuration sets it")
		return
	}
	if o.Nesting == providers.NestingSingle {
		c.attributes(o.Attributes, prior, config, planned, path)
		return
	}
	if !c.sameCount(o.Nesting, config, planned, path) || o.Nesting == providers.NestingSet {
		return // elements of sets cannot be matched with certainty
	}
	c.elements(prior, config, planned, path, func(prior, config, planned cty.Value, path cty.Path) {
		switch {
		case sameButRefinements(planned, config):
		case !planned.IsKnown():
			c.fail(path, "planned as unknown, but the configuration sets it")
		case c.existence(config, planned, path):
			c.attributes(o.Attributes, prior, config, planned, path)
		}
	})
}

// sameCount compares the numbers of elements as far as they are known. A set
// with unknown elements may turn out smaller.
func (c *planChecker) sameCount(nesting providers.NestingMode, config, planned cty.Value, path cty.Path) bool {
	plannedLen, configLen := planned.Length(), config.Length()
	if nesting == providers.NestingSet {
		if ok := plannedLen.Range().Includes(configLen); ok.IsKnown() && ok.False() {
			c.fail(path, "the number of elements in the plan differs from that in the configuration")
			return false
		}
		return true
	}
	if same := plannedLen.Equals(configLen); !same.IsKnown() || same.False() {
		c.fail(path, fmt.Sprintf("planned %s elements, but the configuration has %s", countText(plannedLen), countText(configLen)))
		return false
	}
	return true
}

func countText(n cty.Value) string {
	if !n.IsKnown() || n.IsNull() {
		return "an unknown number"
	}
	return n.AsBigFloat().Text('f', 0)
}

// elements visits the planned elements with their counterparts, and reports
// elements that only one of plan and configuration has.
func (c *planChecker) elements(prior, config, planned cty.Value, path cty.Path, visit func(prior, config, planned cty.Value, path cty.Path)) {
	for it := planned.ElementIterator(); it.Next(); {
		key, plannedElem := it.Element()
		elemPath := extend(path, cty.IndexStep{Key: key})
		configElem := elementOf(config, key)
		if configElem == cty.NilVal {
			c.fail(elemPath, "planned, but not in the configuration")
			continue
		}
		priorElem := elementOf(prior, key)
		if priorElem == cty.NilVal {
			priorElem = cty.NullVal(plannedElem.Type())
		}
		visit(priorElem, configElem, plannedElem, elemPath)
	}
	if config.IsNull() || !config.CanIterateElements() {
		return // null comes from ignore_changes with an old SDK's answer
	}
	for it := config.ElementIterator(); it.Next(); {
		key, _ := it.Element()
		if elementOf(planned, key) == cty.NilVal {
			c.fail(extend(path, cty.IndexStep{Key: key}), "in the configuration, but not planned")
		}
	}
}

func (c *planChecker) nestedBlock(nested *providers.NestedBlock, prior, config, planned cty.Value, path cty.Path) {
	switch {
	case planned.RawEquals(config):
		return
	case !config.IsKnown():
		c.fail(path, "planned blocks where their number is not known yet", shown{"the plan", planned})
		return
	case !planned.IsKnown():
		c.fail(path, "blocks themselves must not be unknown in a plan, only attributes in them")
		return
	}
	if nested.Nesting == providers.NestingSingle || nested.Nesting == providers.NestingGroup {
		c.block(&nested.Block, prior, config, planned, path)
		return
	}
	if planned.IsNull() || !planned.CanIterateElements() {
		c.fail(path, "the absence of blocks must be planned as an empty collection, not null")
		return
	}
	c.blocks(nested, prior, config, planned, path)
}

func (c *planChecker) blocks(nested *providers.NestedBlock, prior, config, planned cty.Value, path cty.Path) {
	switch nested.Nesting {
	case providers.NestingSet:
		// What a planned element was made from cannot be told: it may mix parts
		// of the configuration and of the prior object.
		for it := planned.ElementIterator(); it.Next(); {
			key, elem := it.Element()
			c.knownBlock(elem, extend(path, cty.IndexStep{Key: key}))
		}
		return
	case providers.NestingList:
		if got, want := length(planned), length(config); got != want {
			c.fail(path, fmt.Sprintf("planned %d blocks, but the configuration has %d", got, want))
			return
		}
	}
	c.elements(prior, config, planned, path, func(prior, config, planned cty.Value, path cty.Path) {
		if c.knownBlock(planned, path) {
			c.block(&nested.Block, prior, config, planned, path)
		}
	})
}

func (c *planChecker) knownBlock(planned cty.Value, path cty.Path) bool {
	if !planned.IsKnown() {
		c.fail(path, "blocks themselves must not be unknown in a plan, only attributes in them")
		return false
	}
	return true
}
