package genconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// Resource returns the resource block of an object, formatted. val is the object,
// wholly known and without marks; what its schema calls sensitive is left out.
// provider is the provider configuration in the module's terms.
func Resource(addr addrs.Resource, provider addrs.LocalProviderConfig, schema *providers.Block, val cty.Value) string {
	var w writer
	w.printf("resource %q %q {\n", addr.Type, addr.Name)
	if provider.Alias != "" || provider.LocalName != addr.ImpliedProvider() {
		w.printf("provider = %s\n", provider)
	}
	w.block(schema, val)
	w.printf("}")
	return string(hclwrite.Format([]byte(w.String())))
}

// writer collects configuration in which only the spaces are missing.
type writer struct{ strings.Builder }

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(&w.Builder, format, args...) }

// block writes the arguments and the nested blocks of an object.
func (w *writer) block(schema *providers.Block, val cty.Value) {
	w.attributes(schema.Attributes, val)
	for _, name := range slices.Sorted(maps.Keys(schema.BlockTypes)) {
		if nested := schema.BlockTypes[name]; !nested.Block.Deprecated {
			w.nested(name, nested, val.GetAttr(name))
		}
	}
}

// attributes writes what a configuration should set, nulls included: they show what else there is.
func (w *writer) attributes(attrs map[string]*providers.Attribute, val cty.Value) {
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		if attr := attrs[name]; settable(name, attr) {
			w.attribute(name, attr, val.GetAttr(name))
		}
	}
}

// settable tells whether a configuration should set an attribute. The older SDK
// declares an id for every object that could be set, and refuses it where it is.
func settable(name string, attr *providers.Attribute) bool {
	if attr.Deprecated || name == "id" && attr.Optional && attr.Computed {
		return false
	}
	return attr.Required || attr.Optional
}

func (w *writer) attribute(name string, attr *providers.Attribute, val cty.Value) {
	if !hclsyntax.ValidIdentifier(name) {
		name = string(hclwrite.TokensForValue(cty.StringVal(name)).Bytes())
	}
	switch {
	case attr.NestedType != nil:
		w.printf("%s = ", name)
		w.nestedType(attr, val)
	case attr.Sensitive:
		w.printf("%s = null # sensitive\n", name)
	case attr.WriteOnly:
		w.printf("%s = null # write-only\n", name)
	default:
		if attr.Optional && val.Type() == cty.String && !val.IsNull() && val.AsString() == "" {
			val = cty.NullVal(cty.String) // old providers record what is not set as empty
		}
		w.printf("%s = %s\n", name, literal(val))
	}
}

// literal writes a value. Text that is a JSON document is written as one.
func literal(val cty.Value) string {
	if val.Type() != cty.String || val.IsNull() {
		return string(hclwrite.TokensForValue(val).Bytes())
	}
	text := strings.TrimSpace(val.AsString())
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if ty, err := ctyjson.ImpliedType([]byte(text)); err == nil {
			if parsed, err := ctyjson.Unmarshal([]byte(text), ty); err == nil {
				return "jsonencode(" + string(hclwrite.TokensForValue(parsed).Bytes()) + ")"
			}
		}
	}
	return string(hclwrite.TokensForValue(val).Bytes())
}

// nestedType writes the value of an attribute with attributes of its own.
func (w *writer) nestedType(attr *providers.Attribute, val cty.Value) {
	attrs, nesting := attr.NestedType.Attributes, attr.NestedType.Nesting
	isList := nesting == providers.NestingList || nesting == providers.NestingSet
	switch {
	case attr.Sensitive && isList:
		w.printf("[] # sensitive\n")
	case attr.Sensitive:
		w.printf("{} # sensitive\n")
	case val.IsNull():
		w.printf("null\n")
	case isList:
		w.printf("[\n")
		for _, elem := range val.AsValueSlice() {
			w.printf("{\n")
			w.attributes(attrs, elem)
			w.printf("},\n")
		}
		w.printf("]\n")
	case nesting == providers.NestingMap:
		w.printf("{\n")
		elems := val.AsValueMap()
		for _, key := range slices.Sorted(maps.Keys(elems)) {
			w.printf("%s = {\n", mapKey(key))
			w.attributes(attrs, elems[key])
			w.printf("}\n")
		}
		w.printf("}\n")
	default:
		w.printf("{\n")
		w.attributes(attrs, val)
		w.printf("}\n")
	}
}

// mapKey writes a key as it stands in an object.
func mapKey(key string) string {
	if hclsyntax.ValidIdentifier(key) {
		return key
	}
	return string(hclwrite.TokensForValue(cty.StringVal(key)).Bytes())
}

// nested writes the nested blocks of one type.
func (w *writer) nested(name string, nested *providers.NestedBlock, val cty.Value) {
	if val.IsNull() {
		return
	}
	one := func(header string, elem cty.Value) {
		w.printf("%s {\n", header)
		w.block(&nested.Block, elem)
		w.printf("}\n")
	}
	switch nested.Nesting {
	case providers.NestingSingle, providers.NestingGroup:
		one(name, val)
	case providers.NestingMap:
		elems := val.AsValueMap()
		for _, key := range slices.Sorted(maps.Keys(elems)) {
			one(fmt.Sprintf("%s %q", name, key), elems[key])
		}
	default:
		for _, elem := range val.AsValueSlice() {
			one(name, elem)
		}
	}
}
