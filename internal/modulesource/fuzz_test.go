package modulesource

import (
	"path/filepath"
	"testing"
)

// FuzzParse: whatever a configuration or a registry says, a source that is
// understood has one kind, and its normal form is understood in the same way.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"./a", "../a//b", "hashicorp/consul/aws//x", "github.com/a/b?ref=v1", "git::ssh://a@b/c//d?e=f", "/abs", "s3::https://x/y", "git::git::a", "%zz", "a//../b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src, err := Parse(text, false)
		if err != nil {
			return
		}
		kinds := 0
		for _, is := range []bool{src.Local != "", src.Registry != nil, src.Remote != ""} {
			if is {
				kinds++
			}
		}
		if kinds != 1 {
			t.Errorf("%q has %d kinds", text, kinds)
		}
		if src.Subdir != "" && !filepath.IsLocal(src.Subdir) {
			t.Errorf("%q leads out of its package to %q", text, src.Subdir)
		}
	})
}
