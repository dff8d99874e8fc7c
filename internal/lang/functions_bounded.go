package lang

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

const (
	// maxProduct bounds the elements that setproduct returns.
	maxProduct = 1_000_000
	// maxText bounds the text that indent returns, in bytes.
	maxText = 64 << 20
)

// bounded is a function that first looks at its arguments. A result beyond all
// measure takes the memory of the whole process, which then dies without a word.
func bounded(fn function.Function, check func(args []cty.Value) error) function.Function {
	spec := &function.Spec{
		Description: fn.Description(), Params: fn.Params(), VarParam: fn.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if err := checkKnown(args, check); err != nil {
				return cty.DynamicPseudoType, err
			}
			return fn.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return fn.Call(args) },
	}
	return function.New(spec)
}

func checkKnown(args []cty.Value, check func([]cty.Value) error) error {
	plain := make([]cty.Value, len(args))
	for i, arg := range args {
		plain[i], _ = arg.Unmark()
		if !plain[i].IsKnown() || plain[i].IsNull() {
			return nil
		}
	}
	return check(plain)
}

// checkText checks the only argument, a text.
func checkText(check func([]byte) error) func([]cty.Value) error {
	return func(args []cty.Value) error {
		if err := check([]byte(args[0].AsString())); err != nil {
			return function.NewArgError(0, err)
		}
		return nil
	}
}

func checkProduct(args []cty.Value) error {
	product := 1
	for _, arg := range args {
		if !arg.CanIterateElements() {
			return nil // an error of the function's own
		}
		if n := arg.LengthInt(); n > 0 {
			if product *= n; product > maxProduct {
				return fmt.Errorf("the product would have more than %d elements", maxProduct)
			}
		}
	}
	return nil
}

func checkIndent(args []cty.Value) error {
	spaces, _ := args[0].AsBigFloat().Int64()
	lines := int64(strings.Count(args[1].AsString(), "\n")) + 1
	if spaces > maxText/lines {
		return fmt.Errorf("the indented text would be larger than %d bytes", maxText)
	}
	return nil
}
