package lang

import (
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

var timestampFunc = function.New(&function.Spec{
	Type: function.StaticReturnType(cty.String),
	Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
		return cty.StringVal(time.Now().UTC().Format(time.RFC3339)), nil
	},
})

func planTimestampFunc(planTime time.Time) function.Function {
	return function.New(&function.Spec{
		Type: function.StaticReturnType(cty.String),
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
			return cty.StringVal(planTime.UTC().Format(time.RFC3339)), nil
		},
	})
}

var timeCompareFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "timestamp_a", Type: cty.String}, {Name: "timestamp_b", Type: cty.String}},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		var times [2]time.Time
		for i := range times {
			parsed, err := time.Parse(time.RFC3339, args[i].AsString())
			if err != nil {
				return cty.UnknownVal(cty.Number), function.NewArgErrorf(i, "not a valid RFC3339 timestamp: %q", args[i].AsString())
			}
			times[i] = parsed
		}
		return cty.NumberIntVal(int64(times[0].Compare(times[1]))), nil
	},
})

// ofAnyValue makes a function of one value of any kind that keeps its type.
func ofAnyValue(impl func(cty.Value) cty.Value) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowNull: true, AllowMarked: true, AllowDynamicType: true}},
		Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return impl(args[0]), nil },
	})
}

var (
	sensitiveFunc    = ofAnyValue(func(v cty.Value) cty.Value { return v.Mark(Sensitive) })
	nonsensitiveFunc = ofAnyValue(func(v cty.Value) cty.Value {
		unmarked, marks := v.Unmark()
		delete(marks, Sensitive)
		return unmarked.WithMarks(marks)
	})
	ephemeralAsNullFunc = ofAnyValue(ephemeralAsNull)
)

var isSensitiveFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowNull: true, AllowMarked: true, AllowDynamicType: true}},
	Type:   function.StaticReturnType(cty.Bool),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if args[0].HasMark(Sensitive) {
			return cty.True, nil
		}
		if !args[0].IsKnown() {
			return cty.UnknownVal(cty.Bool), nil
		}
		return cty.False, nil
	},
})

// ephemeralAsNull puts null in the place of every ephemeral part. Other marks stay:
// that something is null may itself be a secret.
func ephemeralAsNull(v cty.Value) cty.Value {
	if !ContainsEphemeral(v) {
		return v
	}
	out, err := cty.Transform(v, func(_ cty.Path, part cty.Value) (cty.Value, error) {
		if !part.HasMark(Ephemeral) {
			return part, nil
		}
		_, marks := part.Unmark()
		delete(marks, Ephemeral)
		return cty.NullVal(part.Type()).WithMarks(marks), nil
	})
	if err != nil { // the transformation above has none
		return cty.NullVal(v.Type())
	}
	return out
}
