package adopt

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/towline/terraform-provider-towline/internal/configs"
)

// A plan does not tell a set from a list, and it has the elements of a set in an order
// of its own. So a place in a list means the same in the text and in the plan only if
// each element of the text is what the plan has at its place.

// written is one element in the text: an expression or a block. It tells whether it
// may be what the plan has.
type written func(want any) bool

func exprElements(exprs []hclsyntax.Expression) []written {
	out := make([]written, len(exprs))
	for i, expr := range exprs {
		out[i] = func(want any) bool { return mayBe(expr, want) }
	}
	return out
}

func blockElements(blocks []*hclsyntax.Block) []written {
	out := make([]written, len(blocks))
	for i, block := range blocks {
		out[i] = func(want any) bool {
			object, _ := want.(map[string]any)
			for name, attr := range block.Body.Attributes {
				if !mayBe(attr.Expr, object[name]) {
					return false
				}
			}
			return true
		}
	}
	return out
}

// isPaired tells whether elements stand where the plan has them, and whether that was
// asked before.
func (w *rewriter) isPaired(of hclsyntax.Node, elements []written, want []any) (paired, seen bool) {
	if paired, seen = w.paired[of]; !seen {
		paired = pair(elements, want)
		w.paired[of] = paired
	}
	return paired, seen
}

// pair tells whether each element is what the plan has at its place, and no two could
// be each other's as well, as those that are written with variables could.
func pair(elements []written, want []any) bool {
	if len(elements) != len(want) {
		return false
	}
	if len(elements) == 1 {
		return true
	}
	for i, element := range elements {
		if !element(want[i]) {
			return false
		}
	}
	for i := range elements {
		if isLeaf(want[i]) { // nothing but its own text is the same
			continue
		}
		for j := range i {
			if elements[i](want[j]) && elements[j](want[i]) && !reflect.DeepEqual(want[i], want[j]) {
				return false
			}
		}
	}
	return true
}

// mayBe tells whether an expression could have a planned value. What is not written
// out could have any, and what an object does not say is the provider's to choose.
func mayBe(expr hclsyntax.Expression, want any) bool {
	switch expr := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		return mayBe(expr.Expression, want)
	case *hclsyntax.TupleConsExpr:
		list, ok := want.([]any)
		return ok && (pairInOrder(expr.Exprs, list) || len(expr.Exprs) > 0 && arrange(expr.Exprs, list) != nil)
	case *hclsyntax.ObjectConsExpr:
		object, ok := want.(map[string]any)
		for _, item := range expr.Items {
			if name, known := keyOf(item); known && ok && element(expr, name) == item.ValueExpr {
				ok = mayBe(item.ValueExpr, object[name])
			}
		}
		return ok
	}
	if !isConstant(expr) {
		return true
	}
	value, diags := expr.Value(nil)
	return !diags.HasErrors() && same(value, want)
}

func pairInOrder(exprs []hclsyntax.Expression, want []any) bool {
	ok := len(exprs) == len(want)
	for i := 0; ok && i < len(exprs); i++ {
		ok = mayBe(exprs[i], want[i])
	}
	return ok
}

// arrange finds for each expression the place of its value in a planned set, or nothing
// if they are not the same elements.
func arrange(exprs []hclsyntax.Expression, want []any) []int {
	if len(exprs) != len(want) {
		return nil
	}
	places := make([]int, 0, len(exprs))
	taken := make([]bool, len(want))
	for _, expr := range exprs {
		at := -1
		for i := range want {
			if !taken[i] && mayBe(expr, want[i]) {
				at = i
				break
			}
		}
		if at < 0 {
			return nil
		}
		taken[at] = true
		places = append(places, at)
	}
	return places
}

// same tells whether a value is a planned one, after the conversion that a provider's
// schema asks for. Values that have parts are the same as none.
func same(value cty.Value, want any) bool {
	if want == nil || value.IsNull() {
		return want == nil && value.IsNull()
	}
	var kind cty.Type
	switch want.(type) {
	case string:
		kind = cty.String
	case bool:
		kind = cty.Bool
	case json.Number:
		kind = cty.Number
	default:
		return false
	}
	converted, err := convert.Convert(value, kind)
	return err == nil && converted.IsWhollyKnown() && converted.RawEquals(valueOf(want))
}

// unordered adopts a list as a whole if its elements do not stand where the plan has
// them, and tells whether they do not.
func (w *rewriter) unordered(d Drift, module *configs.Config, attr *hclsyntax.Attribute, expr hclsyntax.Expression, depth int) bool {
	l, isList := d.listAt(depth)
	tuple, isTuple := expr.(*hclsyntax.TupleConsExpr)
	if !isList || !isTuple {
		return false
	}
	paired, seen := w.isPaired(tuple, exprElements(tuple.Exprs), l.want)
	if !paired && !seen {
		w.set(d.whole(l), module, attr, tuple, l)
	}
	return !paired
}

// set replaces the elements of a set that are gone by those that are new, each in a
// place of its own, so that the others stay as they are written. What has parts is
// written anew with all of the set.
func (w *rewriter) set(d Drift, module *configs.Config, attr *hclsyntax.Attribute, tuple *hclsyntax.TupleConsExpr, l list) {
	places := arrange(tuple.Exprs, l.want)
	if d.Sensitive || !isConstant(tuple) || places == nil || !isSetOfLeaves(l.want) || !isSetOfLeaves(l.real) {
		w.expression(d, module, attr, tuple, nil)
		return
	}
	added := slices.DeleteFunc(slices.Clone(l.real), func(v any) bool { return slices.Contains(l.want, v) })
	for i, place := range places {
		if !slices.Contains(l.real, l.want[place]) {
			w.replace(d, tuple.Exprs[i].Range(), text(valueOf(added[0])))
			added = added[1:]
		}
	}
}

// isSetOfLeaves tells whether values have no parts and are all different.
func isSetOfLeaves(values []any) bool {
	seen := map[any]bool{}
	for _, v := range values {
		if !isLeaf(v) || seen[v] {
			return false
		}
		seen[v] = true
	}
	return true
}

func isLeaf(v any) bool {
	switch v.(type) {
	case string, bool, json.Number:
		return true
	}
	return false
}
