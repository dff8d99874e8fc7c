package modules

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzParseSource: whatever a configuration or a registry says, a source that is
// understood has one kind, and its normal form is understood in the same way.
func FuzzParseSource(f *testing.F) {
	for _, text := range []string{"./a", "../a//b", "hashicorp/consul/aws//x", "github.com/a/b?ref=v1", "git::ssh://a@b/c//d?e=f", "/abs", "s3::https://x/y", "git::git::a", "%zz", "a//../b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src, err := parseSource(text, false)
		if err != nil {
			return
		}
		kinds := 0
		for _, is := range []bool{src.local != "", src.registry != nil, src.remote != ""} {
			if is {
				kinds++
			}
		}
		if kinds != 1 {
			t.Errorf("%q has %d kinds", text, kinds)
		}
		if src.subdir != "" && !filepath.IsLocal(src.subdir) {
			t.Errorf("%q leads out of its package to %q", text, src.subdir)
		}
	})
}

// FuzzReadManifest: a list of modules that somebody else wrote harms nobody.
func FuzzReadManifest(f *testing.F) {
	f.Add([]byte(`{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"./a","Version":"1","Dir":"a"}]}`))
	f.Add([]byte(`{"Modules":null}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "modules"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(manifestPath(dir), data, 0o600); err != nil {
			t.Fatal(err)
		}
		records, err := ReadManifest(dir)
		if err != nil {
			return
		}
		if err := writeManifest(dir, records); err != nil {
			t.Fatal(err)
		}
		again, err := ReadManifest(dir)
		if err != nil || len(again) != len(records) {
			t.Errorf("%d records became %d, %v", len(records), len(again), err)
		}
	})
}
