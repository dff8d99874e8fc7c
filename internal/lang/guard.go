package lang

import (
	"errors"

	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// errHidden replaces the text of an error that may repeat a sensitive argument.
var errHidden = errors.New("the arguments are not valid; why is not shown, because one of them is sensitive or ephemeral")

// Guarded returns a function whose errors neither repeat sensitive arguments nor
// hold stack traces.
func Guarded(fn function.Function) function.Function {
	params := make([]function.Parameter, 0, len(fn.Params()))
	for _, p := range fn.Params() {
		if takesExpression(p) {
			return fn // what it is given are expressions, not values
		}
		params = append(params, anything(p))
	}
	varParam := fn.VarParam()
	if varParam != nil {
		if takesExpression(*varParam) {
			return fn
		}
		open := anything(*varParam)
		varParam = &open
	}
	return function.New(&function.Spec{
		Description: fn.Description(), Params: params, VarParam: varParam,
		Type: func(args []cty.Value) (cty.Type, error) {
			ty, err := fn.ReturnTypeForValues(args)
			return ty, harmless(args, err)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			val, err := fn.Call(args)
			return val, harmless(args, err)
		},
	})
}

func takesExpression(p function.Parameter) bool {
	return customdecode.CustomExpressionDecoderForType(p.Type) != nil
}

// anything lets every value through to the function inside, which decides itself.
func anything(p function.Parameter) function.Parameter {
	p.AllowNull, p.AllowUnknown, p.AllowDynamicType, p.AllowMarked = true, true, true, true
	return p
}

// harmless replaces an error that says too much. Which argument is wrong is kept.
func harmless(args []cty.Value, err error) error {
	var panicked function.PanicError
	var arg function.ArgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &panicked):
		return errors.New("the function is not defined for these arguments")
	case !anySecret(args):
		return err
	case errors.As(err, &arg):
		return function.NewArgError(arg.Index, errHidden)
	default:
		return errHidden
	}
}

// anySecret tells whether any argument must not be shown, or not be kept.
func anySecret(args []cty.Value) bool {
	for _, v := range args {
		if ContainsSensitive(v) || ContainsEphemeral(v) {
			return true
		}
	}
	return false
}
