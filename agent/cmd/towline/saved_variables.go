package main

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// checkGiven refuses variables on the command line that differ from those that a
// saved plan was made with, and warns of those in the environment, which may be
// meant for others. Ephemeral ones are not kept, so the apply needs them.
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
	return append(diags, s.ignored(plan, given)...)
}

// ignored warns of variables that only the environment sets, to other values than
// those that a plan keeps.
func (s *session) ignored(plan *plans.Plan, given map[string]cty.Value) (diags tfdiags.Diagnostics) {
	// What is wrong with them was told when all variables were collected.
	environ, _ := configs.CollectVariables(s.config.Module, configs.VariableSources{Dir: os.DevNull, Environ: os.Environ()})
	files, _ := configs.CollectVariables(s.config.Module, configs.VariableSources{Dir: "."})
	for _, name := range slices.Sorted(maps.Keys(environ)) {
		planned, ok := plan.Variables[name]
		_, inFile := files[name]
		_, onLine := given[name]
		if ok && !planned.Ephemeral && !inFile && !onLine && !planned.Value.RawEquals(environ[name]) {
			diags = append(diags, tfdiags.New(tfdiags.Warning, "Ignoring variable when applying a saved plan",
				fmt.Sprintf("The environment variable TF_VAR_%s sets another value than the saved plan was made with. The plan keeps its own. Plan again to use the new value, or let the variable be ephemeral, so that plans do not keep it.", name))...)
		}
	}
	return diags
}
