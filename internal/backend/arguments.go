package backend

import (
	"cmp"
	"os"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// convertTo converts a value to the type of an argument.
func convertTo(value cty.Value, ty cty.Type) (cty.Value, error) { return convert.Convert(value, ty) }

// text returns a textual argument, "" if it is not set.
func (s Settings) text(name string) string { return textOf(s.Value, name) }

// textOr returns a textual argument, or the first environment variable that is set.
func (s Settings) textOr(name string, variables ...string) string {
	value := s.text(name)
	for _, variable := range variables {
		value = cmp.Or(value, os.Getenv(variable))
	}
	return value
}

// flag returns a boolean argument, false if it is not set.
func (s Settings) flag(name string) bool {
	v := s.Value.GetAttr(name)
	return !v.IsNull() && v.True()
}

// set tells whether an argument is set.
func (s Settings) set(name string) bool { return !s.Value.GetAttr(name).IsNull() }

// list returns the elements of a list or set of text.
func (s Settings) list(name string) []string { return listOf(s.Value, name) }

func textOf(object cty.Value, name string) string {
	if object.IsNull() {
		return ""
	}
	v := object.GetAttr(name)
	if v.IsNull() {
		return ""
	}
	return v.AsString()
}

func listOf(object cty.Value, name string) []string {
	v := object.GetAttr(name)
	if v.IsNull() {
		return nil
	}
	var out []string
	for it := v.ElementIterator(); it.Next(); {
		if _, element := it.Element(); !element.IsNull() {
			out = append(out, element.AsString())
		}
	}
	return out
}

func mapOf(object cty.Value, name string) map[string]string {
	v := object.GetAttr(name)
	if v.IsNull() {
		return nil
	}
	out := map[string]string{}
	for key, element := range v.AsValueMap() {
		if !element.IsNull() {
			out[key] = element.AsString()
		}
	}
	return out
}
