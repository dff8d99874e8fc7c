package lang

import (
	"fmt"
	"time"

	"github.com/hashicorp/go-cty-funcs/filesystem"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
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
	// ephemeralAsNullFunc returns its argument: no value is ephemeral yet.
	ephemeralAsNullFunc = ofAnyValue(func(v cty.Value) cty.Value { return v })
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

// maxTemplateDepth bounds templates that render templates.
const maxTemplateDepth = 64

// templateFunctions are the functions inside templates. Templates may not render
// themselves without end, so the render functions inside count their depth.
func templateFunctions(fns map[string]function.Function, baseDir string, depth int) map[string]function.Function {
	out := make(map[string]function.Function, len(fns)+1)
	for name, fn := range fns {
		out[name] = fn
	}
	out["templatefile"] = templateFileAt(baseDir, fns, depth+1)
	return out
}

func templateFileFunc(baseDir string, fns map[string]function.Function) function.Function {
	return templateFileAt(baseDir, fns, 0)
}

func templateFileAt(baseDir string, fns map[string]function.Function, depth int) function.Function {
	read := filesystem.MakeFileFunc(baseDir, false)
	load := func(args []cty.Value) (hclsyntax.Expression, error) {
		path, _ := args[0].Unmark()
		if depth > maxTemplateDepth {
			return nil, function.NewArgErrorf(0, "maximum recursion depth %d reached in %s", maxTemplateDepth, path.AsString())
		}
		content, err := read.Call([]cty.Value{path})
		if err != nil {
			return nil, err
		}
		expr, hclDiags := hclsyntax.ParseTemplate([]byte(content.AsString()), path.AsString(), hcl.InitialPos)
		if hclDiags.HasErrors() {
			return nil, hclDiags
		}
		return expr, nil
	}
	return templateFunc(function.Parameter{Name: "path", Type: cty.String, AllowMarked: true}, load, func() map[string]function.Function {
		return templateFunctions(fns, baseDir, depth)
	})
}

func templateStringFunc(fns map[string]function.Function) function.Function {
	load := func(args []cty.Value) (hclsyntax.Expression, error) {
		text, _ := args[0].Unmark()
		expr, hclDiags := hclsyntax.ParseTemplate([]byte(text.AsString()), "<templatestring argument>", hcl.InitialPos)
		if hclDiags.HasErrors() {
			return nil, hclDiags
		}
		return expr, nil
	}
	return templateFunc(function.Parameter{Name: "template", Type: cty.String, AllowMarked: true}, load, func() map[string]function.Function {
		out := make(map[string]function.Function, len(fns))
		for name, fn := range fns {
			if name != "templatestring" {
				out[name] = fn
			}
		}
		return out
	})
}

// templateFunc makes a function that renders a template with the variables of its second argument.
func templateFunc(source function.Parameter, load func([]cty.Value) (hclsyntax.Expression, error), functions func() map[string]function.Function) function.Function {
	render := func(args []cty.Value) (cty.Value, error) {
		expr, err := load(args)
		if err != nil {
			return cty.DynamicVal, err
		}
		vars, varMarks := args[1].Unmark()
		if ty := vars.Type(); !ty.IsObjectType() && !ty.IsMapType() {
			return cty.DynamicVal, function.NewArgErrorf(1, "invalid vars value: must be a map")
		}
		variables := vars.AsValueMap()
		for _, traversal := range expr.Variables() {
			if _, ok := variables[traversal.RootName()]; !ok {
				return cty.DynamicVal, function.NewArgError(1, fmt.Errorf("vars map does not contain key %q, referenced at %s", traversal.RootName(), traversal[0].SourceRange()))
			}
		}
		val, hclDiags := expr.Value(&hcl.EvalContext{Variables: variables, Functions: functions()})
		if hclDiags.HasErrors() {
			return cty.DynamicVal, hclDiags
		}
		_, sourceMarks := args[0].Unmark()
		return val.WithMarks(varMarks, sourceMarks), nil
	}
	return function.New(&function.Spec{
		Params: []function.Parameter{source, {Name: "vars", Type: cty.DynamicPseudoType, AllowMarked: true}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].IsKnown() || !args[1].IsKnown() {
				return cty.DynamicPseudoType, nil
			}
			val, err := render(args)
			return val.Type(), err
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return render(args) },
	})
}
