package hclfmt

import (
	"bytes"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// What terraform does alike is compared with it in a script of the command line.

func TestFormat(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ src, want string }{
		"layout":               {"a   {\nb=1\nccc   = 2\n}\n", "a {\n  b   = 1\n  ccc = 2\n}\n"},
		"interpolation":        {"a = \"${b}\"\n", "a = b\n"},
		"two parts":            {"a = \"${b}${c}\"\n", "a = \"${b}${c}\"\n"},
		"text before":          {"a = \"x${b}\"\n", "a = \"x${b}\"\n"},
		"many lines":           {"a = \"${b ?\n1 : 2}\"\n", "a = (b ?\n1 : 2)\n"},
		"quoted type":          {"variable \"a\" {\n  type = \"list\"\n}\n", "variable \"a\" {\n  type = list(string)\n}\n"},
		"type of no variable":  {"output \"a\" {\n  type = \"list\"\n}\n", "output \"a\" {\n  type = \"list\"\n}\n"},
		"label":                {"a b {}\n", "a \"b\" {}\n"},
		"what is wrong stays":  {"a = {\n", "a = {\n"},
		"empty interpolation?": {"a = \"${}\"\n", "a = \"${}\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := string(Format([]byte(test.src), "a.tf")); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzFormat: what is configuration stays configuration, and is in its form then.
func FuzzFormat(f *testing.F) {
	for _, src := range []string{"a = \"${b}\"\n", "variable a {\ntype=map\n}", "a b \"c\" {\n d \"e\" {}\n}", "a = <<E\nx${ y }\nE\n", "a=[\n1,\n2]", "a = \"${\"x\"}\""} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if _, diags := hclsyntax.ParseConfig(src, "a.tf", hcl.InitialPos); diags.HasErrors() {
			return
		}
		once := Format(src, "a.tf")
		if _, diags := hclsyntax.ParseConfig(once, "a.tf", hcl.InitialPos); diags.HasErrors() {
			t.Fatalf("%q became %q: %v", src, once, diags)
		}
		if twice := Format(once, "a.tf"); bytes.Count(twice, []byte("\n")) != bytes.Count(once, []byte("\n")) {
			t.Errorf("%q became %q and then %q", src, once, twice)
		}
	})
}
