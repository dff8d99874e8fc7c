package engine

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// checkEphemeral refuses ephemeral values in what is kept in plan and state: all
// attributes of resources but those that are only written.
func checkEphemeral(o *object, paths []cty.Path) tfdiags.Diagnostics {
	if o.resource.Addr.Mode == addrs.Ephemeral {
		return nil
	}
	var diags tfdiags.Diagnostics
	body, _ := o.resource.Config.(*hclsyntax.Body)
	for _, path := range paths {
		path, attr := attributeAround(o.schema.Block, path)
		if attr != nil && attr.WriteOnly {
			continue
		}
		name := attributeName(path)
		at := o.resource.Range
		if body != nil {
			if found := attributeRange(body, path); found != nil {
				at = *found
			}
		}
		diags = append(diags, tfdiags.At(at, "Invalid use of ephemeral value",
			fmt.Sprintf("The value of %s comes from something ephemeral, which must not be kept, and this attribute is kept in the state. Use another value, or an attribute that is only written, if the resource type has one.", name))...)
	}
	return diags
}

// attributeAround returns the attribute in whose value a path leads, with the path
// to it; nil and the path itself if there is none.
func attributeAround(schema *providers.Block, path cty.Path) (cty.Path, *providers.Attribute) {
	for n := len(path); n > 0; n-- {
		if attr := schema.AttributeByPath(path[:n]); attr != nil {
			return path[:n], attr
		}
	}
	return path, nil
}

// attributeName names an attribute for people, without the keys of what is around it.
func attributeName(path cty.Path) string {
	var names []string
	for _, step := range path {
		if get, ok := step.(cty.GetAttrStep); ok {
			names = append(names, get.Name)
		}
	}
	return strings.Join(names, ".")
}
