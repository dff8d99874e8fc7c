package render

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// blockGroup is the difference of all blocks of one type inside a block.
type blockGroup struct {
	// blocks in their order; keys hold the label of each for map blocks, else it is nil.
	blocks []diff
	keys   []string
	isSet  bool
	// replace tells that the blocks together force replacement.
	replace bool
	// before and after tell whether the blocks together were, or become, sensitive.
	before, after bool
	// unknown tells that it is open how many blocks there will be.
	unknown bool
}

// compareGroup compares the blocks of one type. The last result is false if
// there are and were none.
func compareGroup(nested *providers.NestedBlock, c change) (blockGroup, plans.Action, bool) {
	group := blockGroup{replace: c.forced(), before: isSensitive(c.before), after: isSensitive(c.after)}
	c.before, c.after, c.noEmpty = unmark(c.before), unmark(c.after), true
	element := func(c change) diff { return compareContent(&nested.Block, c) }
	if isUnknown(c.after) {
		return unknownGroup(group, c, element)
	}
	if isNull(c.before) && isNull(c.after) {
		return group, plans.NoOp, false
	}
	var action plans.Action
	switch nested.Nesting {
	case providers.NestingList:
		group.blocks, action = compareByIndex(c, element)
	case providers.NestingSet:
		group.isSet = true
		group.blocks, action = compareSets(c, element)
	case providers.NestingMap:
		var elems map[string]diff
		elems, action = compareKeys(c, element)
		for _, key := range sortedKeys(elems) {
			group.keys = append(group.keys, key)
			group.blocks = append(group.blocks, elems[key])
		}
	default:
		d := element(c.part(orAbsent(c.before), orAbsent(c.after), c.replace))
		group.blocks, action = []diff{d}, d.action
	}
	return group, action, true
}

// unknownGroup is for blocks of which the number is unknown: one line for what
// there will be, and those that there are.
func unknownGroup(group blockGroup, c change, element func(change) diff) (blockGroup, plans.Action, bool) {
	group.unknown = true
	action := plans.Create
	if !isNull(c.before) {
		action = plans.Update
	}
	group.blocks = []diff{{action, c.forced(), unknown{}}}
	olds, _ := compareByIndex(c.part(c.before, cty.NilVal, nil), element)
	group.blocks = append(group.blocks, olds...)
	return group, plans.NoOp, true
}
