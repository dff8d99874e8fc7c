package engine

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

type repeatMode uint8

const (
	repeatNone repeatMode = iota
	repeatCount
	repeatEach
)

// repetition is the instance's own part of an evaluation context: count.index,
// each.key and each.value.
type repetition struct {
	key   addrs.InstanceKey
	value cty.Value // each.value; NilVal without for_each
	mode  repeatMode
	// unknown stands for all instances at once, when validating.
	unknown bool
	// stable tells that key and value are the same as in the last plan.
	stable bool
}

// instanceKey returns the key of the instance that a reference means.
func (r ref) instanceKey(repeat repetition) addrs.InstanceKey {
	switch r.Key {
	case lang.KeyCount, lang.KeyEach:
		return repeat.key
	default:
		return r.Literal
	}
}

// repetitions evaluates count or for_each. The returned function gives the
// repetition of the i-th key.
func (mi *moduleInst) repetitions(count, forEach hcl.Expression, refs []ref) ([]addrs.InstanceKey, repeatMode, func(int) repetition, tfdiags.Diagnostics) {
	var keys []addrs.InstanceKey
	var mode repeatMode
	var at func(int) repetition
	var diags tfdiags.Diagnostics
	switch {
	case count != nil:
		keys, mode, at, diags = mi.countKeys(count, refs)
	case forEach != nil:
		keys, mode, at, diags = mi.eachKeys(forEach, refs)
	default:
		return []addrs.InstanceKey{addrs.NoKey}, repeatNone, func(int) repetition { return repetition{} }, nil
	}
	if len(keys) == 0 && !diags.HasErrors() {
		mi.walk.unseen.Store(true)
		if mi.walk.validating() { // a block is valid or not however often it is there
			return []addrs.InstanceKey{mode.anyKey()}, mode, func(int) repetition { return repetition{mode: mode, unknown: true} }, diags
		}
	}
	return keys, mode, at, diags
}

// anyKey is the key of the instance that stands for all, when validating.
func (m repeatMode) anyKey() addrs.InstanceKey {
	if m == repeatCount {
		return addrs.IntKey(0)
	}
	return addrs.StringKey("")
}

// maxInstances bounds one resource's or module call's instances; a count beyond it is a mistake.
const maxInstances = 1_000_000

func (mi *moduleInst) countKeys(expr hcl.Expression, refs []ref) ([]addrs.InstanceKey, repeatMode, func(int) repetition, tfdiags.Diagnostics) {
	bad := func(detail string) ([]addrs.InstanceKey, repeatMode, func(int) repetition, tfdiags.Diagnostics) {
		return nil, repeatCount, nil, tfdiags.At(expr.Range(), "Invalid count argument", detail)
	}
	val, diags := mi.eval(expr, refs, evalOptions{})
	if diags.HasErrors() {
		return nil, repeatCount, nil, diags
	}
	if val.HasMark(lang.Ephemeral) {
		return bad("The given count comes from something ephemeral, which may differ between plan and apply, so the instances would too. Use a value that is not ephemeral.")
	}
	val, _ = val.Unmark()
	if val.IsNull() {
		return bad("The given count is null. A whole number is required; use 0 for no instances.")
	}
	if mi.walk.validating() && !val.IsKnown() {
		return []addrs.InstanceKey{repeatCount.anyKey()}, repeatCount, func(int) repetition { return repetition{mode: repeatCount, unknown: true} }, nil
	}
	if !val.IsKnown() {
		return bad("The count depends on values that are known only after apply, so it cannot be said now how many instances there will be. Use values from the configuration, or apply what it depends on first with -target.")
	}
	val, err := convert.Convert(val, cty.Number)
	if err != nil {
		return nil, repeatCount, nil, tfdiags.At(expr.Range(), "Incorrect value type", fmt.Sprintf("The given count is unsuitable: %s.", err))
	}
	n, accuracy := val.AsBigFloat().Int64()
	if !val.AsBigFloat().IsInt() || accuracy != 0 || n < 0 {
		return bad("The given count is unsuitable: it must be a whole number of 0 or more.")
	}
	if n > maxInstances {
		return bad(fmt.Sprintf("The given count is larger than %d.", maxInstances))
	}
	keys := make([]addrs.InstanceKey, n)
	for i := range keys {
		keys[i] = addrs.IntKey(i)
	}
	return keys, repeatCount, func(i int) repetition { return repetition{key: keys[i], mode: repeatCount} }, diags
}

func (mi *moduleInst) eachKeys(expr hcl.Expression, refs []ref) ([]addrs.InstanceKey, repeatMode, func(int) repetition, tfdiags.Diagnostics) {
	refuse := func(summary, detail string) ([]addrs.InstanceKey, repeatMode, func(int) repetition, tfdiags.Diagnostics) {
		return nil, repeatEach, nil, tfdiags.At(expr.Range(), summary, detail)
	}
	bad := func(detail string) ([]addrs.InstanceKey, repeatMode, func(int) repetition, tfdiags.Diagnostics) {
		return refuse("Invalid for_each argument", detail)
	}
	val, diags := mi.eval(expr, refs, evalOptions{})
	if diags.HasErrors() {
		return nil, repeatEach, nil, diags
	}
	if val.HasMark(lang.Ephemeral) {
		return bad("The given for_each value comes from something ephemeral, which may differ between plan and apply, so the instances would too. Use a value that is not ephemeral.")
	}
	if val.IsMarked() {
		return bad("The given for_each value is sensitive, or is derived from a sensitive value, and its keys would appear in addresses. Use nonsensitive() if the keys are no secret.")
	}
	ty := val.Type()
	if val.IsNull() {
		return bad("The given for_each value is null. A map or a set of strings is required; use an empty one for no instances.")
	}
	unknown := !val.IsKnown() || (ty.IsSetType() && !val.IsWhollyKnown())
	if unknown && mi.walk.validating() {
		return []addrs.InstanceKey{repeatEach.anyKey()}, repeatEach, func(int) repetition { return repetition{mode: repeatEach, unknown: true} }, nil
	}
	if unknown {
		return bad("The keys of the given for_each value are known only after apply, so it cannot be said now which instances there will be. Use a map whose keys are in the configuration, or apply what it depends on first with -target.")
	}
	switch {
	case ty.IsMapType(), ty.IsObjectType():
	case ty.IsSetType() && (ty.ElementType() == cty.String || val.LengthInt() == 0):
	case ty.IsSetType():
		return refuse("Invalid for_each set argument", fmt.Sprintf("The given for_each value is %s, and only a set of strings gives every instance a key of its own. Convert the elements with tostring().", ty.FriendlyName()))
	default:
		return bad(fmt.Sprintf("The given for_each value is %s. A map or a set of strings is required; use toset() for a list of strings.", ty.FriendlyName()))
	}
	var keys []addrs.InstanceKey
	var values []cty.Value
	for it := val.ElementIterator(); it.Next(); {
		k, v := it.Element()
		if k, _ = k.Unmark(); k.IsNull() {
			return refuse("Invalid for_each set argument", "A set for for_each must not hold a null value. Filter it out with an expression such as [for x in LIST : x if x != null].")
		}
		keys = append(keys, addrs.StringKey(k.AsString()))
		values = append(values, v)
	}
	return keys, repeatEach, func(i int) repetition { return repetition{key: keys[i], value: values[i], mode: repeatEach} }, diags
}
