package lang

import "github.com/zclconf/go-cty/cty/function"

// addOwnFunctions adds the functions that no library has as Terraform defines them.
func addOwnFunctions(fns map[string]function.Function, opts FunctionOptions) {}
