package parity

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// Difference is one place where the programs differ.
type Difference struct {
	Path      string
	Want, Got any
}

// absent stands for what one side does not have.
type absent struct{}

// String tells a difference, lines of text by line.
func (d Difference) String() string {
	want, isText := d.Want.(string)
	got, bothText := d.Got.(string)
	if isText && bothText && strings.Contains(want+got, "\n") {
		return fmt.Sprintf("%s (-terraform +towline):\n%s", d.Path, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
	}
	return fmt.Sprintf("%s\n  terraform: %s\n  towline:   %s", d.Path, show(d.Want), show(d.Got))
}

func show(v any) string {
	if v == (absent{}) {
		return "(absent)"
	}
	return encoded(v)
}

// differences compares two documents and returns every place where they differ.
func differences(path string, want, got any) []Difference {
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			return objectDifferences(path, want, got)
		}
	case []any:
		if got, ok := got.([]any); ok && (strings.HasSuffix(path, ".messages") || strings.HasSuffix(path, ".applied") || strings.HasSuffix(path, ".problems")) {
			return unorderedDifferences(path, want, got)
		} else if ok {
			return listDifferences(path, want, got)
		}
	}
	if reflect.DeepEqual(want, got) {
		return nil
	}
	return []Difference{{path, want, got}}
}

func objectDifferences(path string, want, got map[string]any) []Difference {
	var out []Difference
	keys := slices.Collect(maps.Keys(want))
	for key := range got {
		if _, ok := want[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		out = append(out, differences(path+"."+key, orAbsent(want, key), orAbsent(got, key))...)
	}
	return out
}

func orAbsent(object map[string]any, key string) any {
	if value, ok := object[key]; ok {
		return value
	}
	return absent{}
}

func listDifferences(path string, want, got []any) []Difference {
	var out []Difference
	for i := range max(len(want), len(got)) {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case i >= len(want):
			out = append(out, Difference{at, absent{}, got[i]})
		case i >= len(got):
			out = append(out, Difference{at, want[i], absent{}})
		default:
			if addr := text(field(want[i], "address")); addr != "" {
				at = path + "[" + addr + "]"
			}
			out = append(out, differences(at, want[i], got[i])...)
		}
	}
	return out
}

// unorderedDifferences are what only one of two lists has.
func unorderedDifferences(path string, want, got []any) []Difference {
	count := map[string]int{}
	for _, element := range want {
		count[encoded(element)]++
	}
	var out []Difference
	for _, element := range got {
		if count[encoded(element)]--; count[encoded(element)] < 0 {
			out = append(out, Difference{path, absent{}, element})
		}
	}
	for _, element := range want {
		if count[encoded(element)] > 0 {
			count[encoded(element)]--
			out = append(out, Difference{path, element, absent{}})
		}
	}
	return out
}

// unexcused removes the differences that a step says are known. It returns the
// known ones that are gone as well.
func unexcused(found []Difference, known []Known) (rest []Difference, gone []Known) {
	seen := make([]bool, len(known))
	for _, d := range found {
		excused := false
		for i, k := range known {
			if k.At.MatchString(d.Path) {
				excused, seen[i] = true, true
			}
		}
		if !excused {
			rest = append(rest, d)
		}
	}
	for i, k := range known {
		if !seen[i] && !k.Sometimes {
			gone = append(gone, k)
		}
	}
	return rest, gone
}
