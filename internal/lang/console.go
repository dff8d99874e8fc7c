package lang

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// typeResult is the type of what the function type returns: a type as a value.
var typeResult = cty.Capsule("type", reflect.TypeOf(cty.Type{}))

var typeFunc = function.New(&function.Spec{
	Params: []function.Parameter{{
		Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
	}},
	Type: function.StaticReturnType(typeResult),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		ty := args[0].Type()
		return cty.CapsuleVal(typeResult, &ty), nil
	},
})

// ConsoleFunctions are the functions of an interactive console: type is there, and
// what belongs to a plan is not.
func ConsoleFunctions(fns map[string]function.Function) map[string]function.Function {
	out := maps.Clone(fns)
	out["type"] = typeFunc
	delete(out, "plantimestamp")
	delete(out, "core::plantimestamp")
	return out
}

// TypeValue returns the type that the function type found; within tells that a
// value holds the result of the function somewhere inside, which nobody can show.
func TypeValue(v cty.Value) (ty cty.Type, is, within bool) {
	v, _ = v.UnmarkDeep()
	if v.Type() == typeResult && v.IsKnown() && !v.IsNull() {
		if found, ok := v.EncapsulatedValue().(*cty.Type); ok {
			return *found, true, false
		}
	}
	return cty.NilType, false, holdsType(v.Type())
}

func holdsType(ty cty.Type) bool {
	switch {
	case ty == typeResult:
		return true
	case ty.IsObjectType():
		return slices.ContainsFunc(slices.Collect(maps.Values(ty.AttributeTypes())), holdsType)
	case ty.IsTupleType():
		return slices.ContainsFunc(ty.TupleElementTypes(), holdsType)
	case ty.IsCollectionType():
		return holdsType(ty.ElementType())
	}
	return false
}

// TypeText writes a type as a type constraint, one attribute or element a line.
func TypeText(ty cty.Type) string { return typeText(ty, 0) }

func typeText(ty cty.Type, indent int) string {
	inner := strings.Repeat("    ", indent+1)
	var lines []string
	switch {
	case ty.IsObjectType():
		for _, name := range slices.Sorted(maps.Keys(ty.AttributeTypes())) {
			lines = append(lines, fmt.Sprintf("%s%s: %s,\n", inner, name, typeText(ty.AttributeType(name), indent+1)))
		}
		return enclose("object({", lines, "})", indent)
	case ty.IsTupleType():
		for _, element := range ty.TupleElementTypes() {
			lines = append(lines, fmt.Sprintf("%s%s,\n", inner, typeText(element, indent+1)))
		}
		return enclose("tuple([", lines, "])", indent)
	case ty.IsListType():
		return "list(" + typeText(ty.ElementType(), indent) + ")"
	case ty.IsSetType():
		return "set(" + typeText(ty.ElementType(), indent) + ")"
	case ty.IsMapType():
		return "map(" + typeText(ty.ElementType(), indent) + ")"
	}
	return ty.FriendlyName()
}

// enclose puts lines between brackets.
func enclose(open string, lines []string, closing string, indent int) string {
	if len(lines) == 0 {
		return open + closing
	}
	return open + "\n" + strings.Join(lines, "") + strings.Repeat("    ", indent) + closing
}
