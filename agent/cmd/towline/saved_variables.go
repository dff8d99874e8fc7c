package main

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// checkGiven refuses variables on the command line that differ from those that a
// saved plan was made with. Ephemeral ones are not kept, so the apply needs them.
func (s *session) checkGiven(plan *plans.Plan) tfdiags.Diagnostics {
	// Files that are read without being named do not count; nothing is below a device.
	given, diags := configs.CollectVariables(s.config.Module, configs.VariableSources{Dir: os.DevNull, Given: s.in.given})
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if v := s.config.Module.Variables[name]; v == nil || v.Ephemeral {
			continue
		}
		planned, ok := plan.Variables[name]
		switch {
		case !ok:
			diags = append(diags, tfdiags.New(tfdiags.Error, "Value for undeclared variable",
				fmt.Sprintf("The variable %q is given on the command line, but the saved plan was made without it. Leave it out, or plan again with it.", name))...)
		case !planned.Value.RawEquals(given[name]):
			diags = append(diags, tfdiags.New(tfdiags.Error, "Can't change variable when applying a saved plan",
				fmt.Sprintf("The variable %q is given on the command line with another value than the saved plan was made with. Leave it out, or plan again with it. A variable that differs from time to time can be ephemeral, so that plans do not keep it.", name))...)
		}
	}
	return diags
}
