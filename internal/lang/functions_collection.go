package lang

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-cty-funcs/collection"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// truth folds a list of bools until one decides.
func truth(decides bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:   function.StaticReturnType(cty.Bool),
		RefineResult: func(b *cty.RefinementBuilder) *cty.RefinementBuilder {
			return b.NotNull()
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			open := false
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				switch {
				case !v.IsKnown():
					open = true
				case v.IsNull():
					if !decides {
						return cty.False, nil
					}
				case v.True() == decides:
					return cty.BoolVal(decides), nil
				}
			}
			if open {
				return cty.UnknownVal(cty.Bool), nil
			}
			return cty.BoolVal(!decides), nil
		},
	})
}

var (
	allTrueFunc = truth(false)
	anyTrueFunc = truth(true)
)

// lengthFunc is the length of a collection, or of a string in characters as people count them.
var lengthFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true, AllowUnknown: true, AllowMarked: true}},
	Type: func(args []cty.Value) (cty.Type, error) {
		ty := args[0].Type()
		switch {
		case ty == cty.String, ty.IsTupleType(), ty.IsObjectType(), ty.IsListType(), ty.IsMapType(), ty.IsSetType(), ty == cty.DynamicPseudoType:
			return cty.Number, nil
		default:
			return cty.Number, errors.New("argument must be a string, a collection type, or a structural type")
		}
	},
	RefineResult: func(b *cty.RefinementBuilder) *cty.RefinementBuilder { return b.NotNull() },
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		val, marks := args[0].Unmark()
		ty := val.Type()
		switch {
		case ty == cty.DynamicPseudoType:
			return cty.UnknownVal(cty.Number).WithMarks(marks), nil
		case ty.IsTupleType():
			return cty.NumberIntVal(int64(len(ty.TupleElementTypes()))).WithMarks(marks), nil
		case ty.IsObjectType():
			return cty.NumberIntVal(int64(len(ty.AttributeTypes()))).WithMarks(marks), nil
		case ty == cty.String && !val.IsKnown():
			length := cty.UnknownVal(cty.Number).Refine().NotNull().NumberRangeLowerBound(cty.NumberIntVal(int64(prefixLength(val))), true).NewValue()
			return length.WithMarks(marks), nil
		case ty == cty.String:
			n, err := stdlib.Strlen(val)
			return n.WithMarks(marks), err
		default:
			return val.Length().WithMarks(marks), nil
		}
	},
})

// prefixLength is the least length of an unknown string whose beginning is known.
func prefixLength(val cty.Value) int {
	n, err := stdlib.Strlen(cty.StringVal(val.Range().StringPrefix()))
	if err != nil {
		return 0
	}
	length, _ := n.AsBigFloat().Int64()
	return int(length)
}

var indexFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}, {Name: "value", Type: cty.DynamicPseudoType}},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		ty := args[0].Type()
		if !ty.IsListType() && !ty.IsTupleType() {
			return cty.NilVal, errors.New("argument must be a list or tuple")
		}
		if args[0].LengthInt() == 0 {
			return cty.NilVal, errors.New("cannot search an empty list")
		}
		for it := args[0].ElementIterator(); it.Next(); {
			i, v := it.Element()
			eq, err := stdlib.Equal(v, args[1])
			if err != nil {
				return cty.NilVal, err
			}
			if !eq.IsKnown() {
				return cty.UnknownVal(cty.Number), nil
			}
			if eq.True() {
				return i, nil
			}
		}
		return cty.NilVal, errors.New("item not found")
	},
})

// lookupFunc finds an element of a map, or takes the default.
var lookupFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "inputMap", Type: cty.DynamicPseudoType, AllowMarked: true},
		{Name: "key", Type: cty.String, AllowMarked: true},
	},
	VarParam: &function.Parameter{Name: "default", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowDynamicType: true, AllowNull: true, AllowMarked: true},
	Type: func(args []cty.Value) (cty.Type, error) {
		if len(args) > 3 {
			return cty.NilType, fmt.Errorf("lookup() takes two or three arguments, got %d", len(args))
		}
		ty := args[0].Type()
		switch {
		case ty.IsObjectType():
			if !args[1].IsKnown() {
				return cty.DynamicPseudoType, nil
			}
			key, _ := args[1].Unmark()
			if ty.HasAttribute(key.AsString()) {
				return ty.AttributeType(key.AsString()), nil
			}
			if len(args) == 3 {
				return args[2].Type(), nil
			}
			return cty.DynamicPseudoType, function.NewArgErrorf(0, "the given object has no attribute %q", key.AsString())
		case ty.IsMapType():
			if len(args) == 3 {
				if _, err := convert.Convert(args[2], ty.ElementType()); err != nil {
					return cty.NilType, function.NewArgErrorf(2, "the default value must have the same type as the map elements")
				}
			}
			return ty.ElementType(), nil
		default:
			return cty.NilType, function.NewArgErrorf(0, "lookup() requires a map as the first argument")
		}
	},
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		m, mapMarks := args[0].Unmark()
		key, keyMarks := args[1].Unmark()
		marks := []cty.ValueMarks{mapMarks, keyMarks}
		if !m.IsKnown() || !key.IsKnown() {
			return cty.UnknownVal(retType).WithMarks(marks...), nil
		}
		if m.Type().IsObjectType() {
			if m.Type().HasAttribute(key.AsString()) {
				return m.GetAttr(key.AsString()).WithMarks(marks...), nil
			}
		} else if m.HasIndex(key).True() {
			return m.Index(key).WithMarks(marks...), nil
		}
		if len(args) == 3 {
			val, err := convert.Convert(args[2], retType)
			return val.WithMarks(marks...), err
		}
		return cty.UnknownVal(cty.DynamicPseudoType), fmt.Errorf("the given map does not contain the key %q", key.AsString())
	},
})

var matchKeysFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "values", Type: cty.List(cty.DynamicPseudoType)},
		{Name: "keys", Type: cty.List(cty.DynamicPseudoType)},
		{Name: "searchset", Type: cty.List(cty.DynamicPseudoType)},
	},
	Type: func(args []cty.Value) (cty.Type, error) {
		ty, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()})
		if ty == cty.NilType {
			return cty.NilType, errors.New("keys and searchset must be of the same type")
		}
		return args[0].Type(), nil
	},
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		if !args[0].IsKnown() || !args[1].IsWhollyKnown() || !args[2].IsKnown() {
			return cty.UnknownVal(retType), nil
		}
		if args[0].LengthInt() != args[1].LengthInt() {
			return cty.NilVal, errors.New("length of keys and values should be equal")
		}
		var out []cty.Value
		ty, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()})
		for i := 1; i < 3; i++ {
			converted, err := convert.Convert(args[i], ty)
			if err != nil {
				return cty.NilVal, function.NewArgError(i, err)
			}
			args[i] = converted
		}
		values, keys, search := args[0].AsValueSlice(), args[1].AsValueSlice(), args[2].AsValueSlice()
		for i, key := range keys {
			if slices.ContainsFunc(search, func(s cty.Value) bool {
				eq, err := stdlib.Equal(key, s)
				return err == nil && eq.IsKnown() && eq.True()
			}) {
				out = append(out, values[i])
			}
		}
		if len(out) == 0 {
			return cty.ListValEmpty(retType.ElementType()), nil
		}
		return cty.ListVal(out), nil
	},
})

// oneFunc is the only element of a collection, or null if it is empty.
var oneFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowDynamicType: true}},
	Type: func(args []cty.Value) (cty.Type, error) {
		ty := args[0].Type()
		switch {
		case ty == cty.DynamicPseudoType:
			return ty, nil
		case ty.IsListType(), ty.IsSetType():
			return ty.ElementType(), nil
		case ty.IsTupleType():
			switch elems := ty.TupleElementTypes(); len(elems) {
			case 0:
				return cty.DynamicPseudoType, nil
			case 1:
				return elems[0], nil
			default:
				return cty.NilType, function.NewArgErrorf(0, "must be a list, set, or tuple value with either zero or one elements")
			}
		default:
			return cty.NilType, function.NewArgErrorf(0, "must be a list, set, or tuple value with either zero or one elements")
		}
	},
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		val := args[0]
		if ty := val.Type(); ty.IsTupleType() {
			if len(ty.TupleElementTypes()) == 0 {
				return cty.NullVal(retType), nil
			}
			return val.Index(cty.Zero), nil
		}
		if !val.IsKnown() || !val.Length().IsKnown() {
			return cty.UnknownVal(retType), nil
		}
		switch val.LengthInt() {
		case 0:
			return cty.NullVal(retType), nil
		case 1:
			it := val.ElementIterator()
			it.Next()
			_, v := it.Element()
			return v, nil
		default:
			return cty.NilVal, function.NewArgErrorf(0, "must be a list, set, or tuple value with either zero or one elements")
		}
	},
})

var sumFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if !args[0].CanIterateElements() || args[0].Type().IsMapType() || args[0].Type().IsObjectType() {
			return cty.NilVal, function.NewArgErrorf(0, "argument must be list, set, or tuple. Received %s", args[0].Type().FriendlyName())
		}
		if args[0].LengthInt() == 0 {
			return cty.NilVal, function.NewArgErrorf(0, "cannot sum an empty list")
		}
		total := cty.Zero
		for it := args[0].ElementIterator(); it.Next(); {
			_, v := it.Element()
			number, err := convert.Convert(v, cty.Number)
			if err != nil || number.IsNull() {
				return cty.NilVal, function.NewArgErrorf(0, "argument must be list, set, or tuple of number values")
			}
			total = total.Add(number)
		}
		return total, nil
	},
})

var transposeFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "values", Type: cty.Map(cty.List(cty.String))}},
	Type:   function.StaticReturnType(cty.Map(cty.List(cty.String))),
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		if !args[0].IsWhollyKnown() {
			return cty.UnknownVal(retType), nil
		}
		lists := map[string][]cty.Value{}
		for it := args[0].ElementIterator(); it.Next(); {
			key, list := it.Element()
			for inner := list.ElementIterator(); inner.Next(); {
				_, v := inner.Element()
				if v.IsNull() {
					return cty.MapValEmpty(cty.List(cty.String)), errors.New("input must not contain null list elements")
				}
				lists[v.AsString()] = append(lists[v.AsString()], key)
			}
		}
		if len(lists) == 0 {
			return cty.MapValEmpty(cty.List(cty.String)), nil
		}
		out := make(map[string]cty.Value, len(lists))
		for key, list := range lists {
			slices.SortFunc(list, func(a, b cty.Value) int {
				return strings.Compare(a.AsString(), b.AsString())
			})
			out[key] = cty.ListVal(list)
		}
		return cty.MapVal(out), nil
	},
})

// coalesceFunc is coalesce that knows of an unknown result that it is not null.
var coalesceFunc = function.New(&function.Spec{
	VarParam: collection.CoalesceFunc.VarParam(),
	Type: func(args []cty.Value) (cty.Type, error) {
		return collection.CoalesceFunc.ReturnTypeForValues(args)
	},
	RefineResult: func(b *cty.RefinementBuilder) *cty.RefinementBuilder { return b.NotNull() },
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return collection.CoalesceFunc.Call(args)
	},
})
