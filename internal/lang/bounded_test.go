package lang

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestResultsBeyondAllMeasure: each of these took all memory or the whole stack,
// which ends the process.
func TestResultsBeyondAllMeasure(t *testing.T) {
	t.Parallel()
	fns := Functions(FunctionOptions{BaseDir: t.TempDir()})
	wide := make([]cty.Value, 1000)
	for i := range wide {
		wide[i] = cty.NumberIntVal(int64(i))
	}
	list := cty.ListVal(wide)
	for name, test := range map[string]struct {
		function string
		args     []cty.Value
		ok       bool
	}{
		"product":           {"setproduct", []cty.Value{list, list, list}, false},
		"product of two":    {"setproduct", []cty.Value{cty.ListVal(wide[:10]), cty.ListVal(wide[:10])}, true},
		"empty product":     {"setproduct", []cty.Value{list, cty.ListValEmpty(cty.String)}, true},
		"unknown product":   {"setproduct", []cty.Value{list, cty.UnknownVal(cty.List(cty.String))}, true},
		"marked product":    {"setproduct", []cty.Value{cty.ListVal(wide[:2]).Mark("m"), list, list, list}, false},
		"indent":            {"indent", []cty.Value{cty.NumberIntVal(1_000_000_000), cty.StringVal("a\nb")}, false},
		"indent by two":     {"indent", []cty.Value{cty.NumberIntVal(2), cty.StringVal("a\nb")}, true},
		"deep JSON":         {"jsondecode", []cty.Value{cty.StringVal(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000))}, false},
		"JSON":              {"jsondecode", []cty.Value{cty.StringVal(`{"a":[1]}`)}, true},
		"unknown JSON":      {"jsondecode", []cty.Value{cty.UnknownVal(cty.String)}, true},
		"deep YAML":         {"yamldecode", []cty.Value{cty.StringVal(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))}, false},
		"YAML":              {"yamldecode", []cty.Value{cty.StringVal("a: [1]")}, true},
		"deep template":     {"templatestring", []cty.Value{cty.StringVal("${" + strings.Repeat("(", 50_000) + "1" + strings.Repeat(")", 50_000) + "}"), cty.EmptyObjectVal}, false},
		"file without end":  {"file", []cty.Value{cty.StringVal("/dev/zero")}, false},
		"hash without end":  {"filesha256", []cty.Value{cty.StringVal("/dev/zero")}, false},
		"file that is none": {"file", []cty.Value{cty.StringVal("/")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := fns[test.function].Call(test.args)
			if (err == nil) != test.ok {
				t.Errorf("got %#v, %v", got, err)
			}
		})
	}
}
