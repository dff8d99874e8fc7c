package cloudapi

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Normalise checks the attributes that a client wrote for an object of the kind
// and returns them in canonical form: defaults filled in, sets sorted, block
// lists present, null treated as absent. Numbers are [json.Number], so
// attributes must have been decoded with [json.Decoder.UseNumber].
func (k *Kind) Normalise(attributes map[string]any) (map[string]any, []FieldError) {
	v := &validator{}
	out := v.object("", k.Attributes, attributes)
	return out, v.problems
}

// validator collects what is wrong; paths are dotted, as in container.0.port.1.number.
type validator struct{ problems []FieldError }

func (v *validator) fail(path, format string, args ...any) {
	v.problems = append(v.problems, FieldError{Field: path, Message: fmt.Sprintf(format, args...)})
}

func (v *validator) object(path string, attributes []Attribute, values map[string]any) map[string]any {
	known := make(map[string]bool, len(attributes))
	out := make(map[string]any, len(attributes))
	for i := range attributes {
		attribute := &attributes[i]
		known[attribute.Name] = true
		if value, ok := v.field(join(path, attribute.Name), attribute, values[attribute.Name]); ok {
			out[attribute.Name] = value
		}
	}
	for _, name := range sortedKeys(values) {
		if !known[name] {
			v.fail(join(path, name), "is not an attribute")
		}
	}
	return out
}

// field returns the canonical value, and false if the attribute is absent.
func (v *validator) field(path string, attribute *Attribute, value any) (any, bool) {
	switch {
	case value != nil && attribute.Presence == Computed:
		v.fail(path, "is set by the cloud and cannot be written")
		return nil, false
	case value != nil:
		return v.value(path, attribute, value), true
	case attribute.Presence == Required:
		v.fail(path, "is required")
		return nil, false
	case attribute.Presence == Defaulted:
		return canonicalDefault(attribute.Default), true
	case attribute.Block && attribute.Shape != NestedOne:
		return []any{}, true
	}
	return nil, false
}

func (v *validator) value(path string, attribute *Attribute, value any) any {
	switch attribute.Shape {
	case String:
		return v.text(path, attribute, value)
	case Bool:
		return typed[bool](v, path, value, "true or false")
	case Int, Float:
		return v.number(path, attribute, value)
	case StringMap:
		return v.stringMap(path, value)
	case NestedOne:
		return v.object(path, attribute.Fields, typed[map[string]any](v, path, value, "an object"))
	default:
		return v.sequence(path, attribute, value)
	}
}

func (v *validator) text(path string, attribute *Attribute, value any) string {
	text := typed[string](v, path, value, "text")
	if len(attribute.OneOf) > 0 && !slices.Contains(attribute.OneOf, text) {
		v.fail(path, "must be one of %s", strings.Join(attribute.OneOf, ", "))
	}
	if attribute.Check != nil {
		if rule := attribute.Check(text); rule != "" {
			v.fail(path, "%s", rule)
		}
	}
	return text
}

func (v *validator) number(path string, attribute *Attribute, value any) json.Number {
	number := typed[json.Number](v, path, value, "a number")
	float, err := number.Float64()
	if err != nil {
		v.fail(path, "must be a number")
		return "0"
	}
	if attribute.Shape != Float {
		whole, err := strconv.ParseInt(string(number), 10, 64)
		if err != nil {
			v.fail(path, "must be a whole number")
			return "0"
		}
		number = json.Number(strconv.FormatInt(whole, 10))
	}
	if float < float64(attribute.Min) || attribute.Max > 0 && float > float64(attribute.Max) || math.IsInf(float, 0) {
		v.fail(path, "must be between %d and %d", attribute.Min, attribute.Max)
	}
	return number
}

func (v *validator) stringMap(path string, value any) map[string]any {
	values := typed[map[string]any](v, path, value, "a map of texts")
	out := make(map[string]any, len(values))
	for _, key := range sortedKeys(values) {
		out[key] = typed[string](v, join(path, key), values[key], "text")
	}
	return out
}

// sequence handles lists and sets; Max bounds the length of nested ones.
func (v *validator) sequence(path string, attribute *Attribute, value any) []any {
	values := typed[[]any](v, path, value, "a list")
	if attribute.Nested() && attribute.Max > 0 && int64(len(values)) > attribute.Max {
		v.fail(path, "must have at most %d elements", attribute.Max)
		return []any{}
	}
	if attribute.Nested() && attribute.Presence == Required && len(values) == 0 {
		v.fail(path, "must have at least one element")
	}
	element := *attribute
	element.Shape = elementShape[attribute.Shape]
	out := make([]any, len(values))
	for i, item := range values {
		out[i] = v.value(join(path, strconv.Itoa(i)), &element, item)
	}
	if attribute.Shape == StringSet || attribute.Shape == IntSet || attribute.Shape == NestedSet {
		return canonicalSet(out)
	}
	return out
}

var elementShape = map[Shape]Shape{
	StringList: String, StringSet: String, IntSet: Int, NestedList: NestedOne, NestedSet: NestedOne,
}

// canonicalSet sorts by encoding and drops what is there twice.
func canonicalSet(values []any) []any {
	encoded := make(map[string]any, len(values))
	for _, value := range values {
		data, err := json.Marshal(value)
		if err != nil {
			continue // only values of this package's making reach here, all of which encode
		}
		encoded[string(data)] = value
	}
	out := make([]any, 0, len(encoded))
	for _, key := range sortedKeys(encoded) {
		out = append(out, encoded[key])
	}
	return out
}

func canonicalDefault(value any) any {
	switch value := value.(type) {
	case int64:
		return json.Number(strconv.FormatInt(value, 10))
	case float64:
		return json.Number(strconv.FormatFloat(value, 'g', -1, 64))
	default:
		return value
	}
}

// typed asserts a value's type; on a mismatch it reports and returns the zero value.
func typed[T any](v *validator, path string, value any, want string) T {
	out, ok := value.(T)
	if !ok {
		v.fail(path, "must be %s", want)
	}
	return out
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func sortedKeys(values map[string]any) []string {
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
