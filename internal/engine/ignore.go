package engine

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
)

// ignoreChanges replaces what a resource's ignore_changes names by its prior
// value. It works on configuration, before planning, and on the plans of
// providers that cannot keep the rules.
func ignoreChanges(o *object, prior, config cty.Value) cty.Value {
	lifecycle := &o.resource.Lifecycle
	switch {
	case prior.IsNull() || config.IsNull():
		return config
	case lifecycle.IgnoreAll:
		return withoutComputed(o.schema.Block, prior)
	case len(lifecycle.IgnoreChanges) == 0:
		return config
	}
	for _, traversal := range lifecycle.IgnoreChanges {
		if path := ignorePath(traversal); len(path) > 0 {
			config = takePrior(config, prior, path)
		}
	}
	return config
}

// withoutComputed returns an object as a configuration could have set it.
func withoutComputed(schema *providers.Block, prior cty.Value) cty.Value {
	attrs := prior.AsValueMap()
	for name, attr := range schema.Attributes {
		if attr.Computed && !attr.Optional {
			attrs[name] = cty.NullVal(attr.ImpliedType())
		}
	}
	return cty.ObjectVal(attrs)
}

// ignorePath turns a traversal such as tags["x"] or block[0].attr into a path.
func ignorePath(traversal hcl.Traversal) cty.Path {
	var path cty.Path
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			path = append(path, cty.GetAttrStep{Name: step.Name})
		case hcl.TraverseAttr:
			path = append(path, cty.GetAttrStep{Name: step.Name})
		case hcl.TraverseIndex:
			path = append(path, cty.IndexStep{Key: step.Key})
		}
	}
	return path
}

// takePrior returns config with the value at path taken from prior. A map
// element that prior lacks is removed; a path that leads nowhere changes nothing.
func takePrior(config, prior cty.Value, path cty.Path) cty.Value {
	if len(path) == 0 {
		return prior
	}
	if config.IsNull() && prior.IsNull() || !config.IsKnown() {
		return config
	}
	switch step := path[0].(type) {
	case cty.GetAttrStep:
		if ty := config.Type(); ty.IsMapType() {
			return takePriorElement(config, prior, step.Name, path[1:])
		} else if !ty.IsObjectType() || !ty.HasAttribute(step.Name) || config.IsNull() || prior.IsNull() {
			return config
		}
		attrs := config.AsValueMap()
		attrs[step.Name] = takePrior(attrs[step.Name], prior.GetAttr(step.Name), path[1:])
		return cty.ObjectVal(attrs)
	case cty.IndexStep:
		if config.Type().IsMapType() && step.Key.Type() == cty.String {
			return takePriorElement(config, prior, step.Key.AsString(), path[1:])
		}
		if config.Type().IsObjectType() && step.Key.Type() == cty.String && len(path) == 1 {
			return prior // a key is of a map; terraform takes it for the whole where there is none
		}
		return takePriorIndex(config, prior, step.Key, path[1:])
	default:
		return config
	}
}

// takePriorElement is takePrior for an element of a map.
func takePriorElement(config, prior cty.Value, key string, rest cty.Path) cty.Value {
	elems := map[string]cty.Value{}
	if !config.IsNull() {
		for k, v := range config.AsValueMap() {
			elems[k] = v
		}
	}
	var priorElems map[string]cty.Value
	if !prior.IsNull() && prior.IsKnown() && prior.Type().IsMapType() {
		priorElems = prior.AsValueMap()
	}
	was, had := priorElems[key]
	is, has := elems[key]
	switch {
	case !had && !has:
		return config
	case !had:
		delete(elems, key)
	case !has || len(rest) == 0:
		elems[key] = was
	default:
		elems[key] = takePrior(is, was, rest)
	}
	if len(elems) == 0 {
		if prior.IsNull() {
			return prior
		}
		return cty.MapValEmpty(config.Type().ElementType())
	}
	if !cty.CanMapVal(elems) { // the attribute is of any type, and was of another one
		return cty.ObjectVal(elems)
	}
	return cty.MapVal(elems)
}

// takePriorIndex is takePrior for an element of a list or tuple.
func takePriorIndex(config, prior cty.Value, key cty.Value, rest cty.Path) cty.Value {
	ty := config.Type()
	if !(ty.IsListType() || ty.IsTupleType()) || config.IsNull() || prior.IsNull() || key.Type() != cty.Number ||
		!config.HasIndex(key).True() || !prior.HasIndex(key).True() {
		return config
	}
	n, _ := key.AsBigFloat().Int64()
	elems := config.AsValueSlice()
	elems[n] = takePrior(elems[n], prior.Index(key), rest)
	if ty.IsTupleType() || !cty.CanListVal(elems) {
		return cty.TupleVal(elems)
	}
	return cty.ListVal(elems)
}
