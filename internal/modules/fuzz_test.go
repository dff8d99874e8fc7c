package modules

import (
	"os"
	"path/filepath"
	"testing"
)

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
