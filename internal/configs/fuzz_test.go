package configs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzLoad loads whatever stands in a configuration file, in both syntaxes and as an
// override: it is loaded or refused, each problem with a summary and a place.
func FuzzLoad(f *testing.F) {
	for _, text := range exampleConfigurations(f) {
		f.Add(text, false, false)
		f.Add(text, false, true)
	}
	f.Add([]byte(`{"resource":{"a_b":{"c":{"count":1,"lifecycle":{"ignore_changes":["d"]}}}},"output":{"o":{"value":"${a_b.c[0].d}"}}}`), true, false)
	f.Add([]byte(`{"module":[{"m":{"source":"./m","providers":{"a":"a.b"}}}],"terraform":{"required_providers":{"a":{"source":"b/c"}}}}`), true, true)
	f.Fuzz(func(t *testing.T, text []byte, asJSON, override bool) {
		dir := t.TempDir()
		name := "main.tf"
		if override {
			write(t, filepath.Join(dir, name), []byte("resource \"a_b\" \"c\" {\n  d = 1\n}\nvariable \"v\" {}\n"))
			name = "main_override.tf"
		}
		if asJSON {
			name += ".json"
		}
		write(t, filepath.Join(dir, name), text)
		config, diags := Load(dir)
		if config == nil || config.Module == nil {
			t.Fatal("no module was returned")
		}
		for _, d := range diags {
			if d.Summary == "" {
				t.Errorf("a problem without a summary: %+v", d)
			}
		}
		if !diags.HasErrors() {
			config.ProviderRequirements()
		}
	})
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// exampleConfigurations are files of the cases that are compared with terraform.
func exampleConfigurations(f *testing.F) [][]byte {
	f.Helper()
	var out [][]byte
	err := filepath.WalkDir(filepath.Join("..", "parity", "testdata"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".tf") {
			return err
		}
		text, err := os.ReadFile(path)
		out = append(out, text)
		return err
	})
	if err != nil || len(out) == 0 {
		f.Fatalf("found %d configurations: %v", len(out), err)
	}
	return out
}
