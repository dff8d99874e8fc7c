package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// unknownConfig refuses a configuration of which something is unknown while applying.
// What it refers to has been applied by then, unless that was not to be: a provider that
// is handed such values may make anything of them.
func unknownConfig(inst *instance, config cty.Value) tfdiags.Diagnostics {
	if config.IsWhollyKnown() {
		return nil
	}
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(config.Type().AttributeTypes())) {
		if !config.GetAttr(name).IsWhollyKnown() {
			unknown = append(unknown, name)
		}
	}
	return tfdiags.At(inst.object.resource.Range, "Configuration contains unknown value",
		fmt.Sprintf("The configuration of %s has values that are not known even now, in %s: they come from something that does not exist and was not made by this plan. Its provider was not asked to do anything. See that what it refers to is made first, and plan again.", inst.name, strings.Join(unknown, ", "))).WithAddress(inst.name)
}
