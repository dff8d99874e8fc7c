package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// keylessReplace warns of requests to replace objects of a resource whose instances
// have keys, which the request does not name, so that it replaces nothing.
func (p *planner) keylessReplace(mi *moduleInst, o *object, set *instanceSet) (diags tfdiags.Diagnostics) {
	if set.byKey[addrs.NoKey] != nil || o.resource.Addr.Mode != addrs.Managed {
		return nil
	}
	for _, asked := range p.opts.ForceReplace {
		if asked.Key != addrs.NoKey || asked.Resource != o.resource.Addr || !slices.Equal(asked.Module.Module(), mi.path.Module()) {
			continue
		}
		diags = append(diags, tfdiags.New(tfdiags.Warning, "Incompletely-matched force-replace resource instance",
			fmt.Sprintf("%s names no instance, so -replace with it replaces nothing. %s", asked, replaceInstead(mi, o, set)))...)
	}
	return diags
}

// replaceInstead says what can be replaced.
func replaceInstead(mi *moduleInst, o *object, set *instanceSet) string {
	if len(set.keys) == 0 {
		return "The resource has no instances."
	}
	options := make([]string, len(set.keys))
	for i, key := range set.keys {
		options[i] = fmt.Sprintf("-replace=%q", addrs.ResourceInstance{Module: mi.path, Resource: o.resource.Addr, Key: key}.String())
	}
	return "To replace one or more of its instances, use:\n  " + strings.Join(options, "\n  ")
}
