package lang

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// logFunc is the logarithm. It never gives negative zero, which is written "-0".
var logFunc = function.New(&function.Spec{
	Params: stdlib.LogFunc.Params(),
	Type:   stdlib.LogFunc.ReturnTypeForValues,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		val, err := stdlib.LogFunc.Call(args)
		if err == nil && val.IsKnown() && val.AsBigFloat().Sign() == 0 {
			val = cty.Zero
		}
		return val, err
	},
})

// toFunc converts to a type. A null of no type stays one.
func toFunc(want cty.Type) function.Function {
	convert := stdlib.MakeToFunc(want)
	untyped := func(args []cty.Value) bool {
		return args[0].Type() == cty.DynamicPseudoType && args[0].IsKnown() && args[0].IsNull()
	}
	return function.New(&function.Spec{
		Params: convert.Params(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if untyped(args) {
				return cty.DynamicPseudoType, nil
			}
			return convert.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if untyped(args) {
				return args[0], nil
			}
			return convert.Call(args)
		},
	})
}
