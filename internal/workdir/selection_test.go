package workdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/towline/terraform-provider-towline/internal/backend"
	"github.com/towline/terraform-provider-towline/internal/configs"
)

func block(t *testing.T, kind, src string) *configs.Backend {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte(src), "main.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return &configs.Backend{Type: kind, Config: file.Body}
}

func noEnvironment(string) string { return "" }

// TestSettings: state is kept only where init chose, and where the configuration says so still.
func TestSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		initialised, override string // of the block that init saw; "-" for none
		now                   string // "-" for no block
		path, problem         string
	}{
		"no block, no choice":            {"-", "", "-", "", ""},
		"as initialised":                 {`path = "a"`, "", `path = "a"`, "a", ""},
		"argument given to init":         {``, `path = "b"`, ``, "b", ""},
		"written down what was given":    {``, `path = "b"`, `path = "b"`, "b", ""},
		"not initialised":                {"-", "", `path = "a"`, "", "Backend initialization required"},
		"changed":                        {`path = "a"`, "", `path = "b"`, "", "Backend initialization required"},
		"block gone":                     {`path = "a"`, "", "-", "", "Backend initialization required"},
		"cannot be decoded, not chosen":  {"-", "", `nope = 1`, "", "Unsupported argument"},
		"cannot be decoded, once chosen": {`path = "a"`, "", `nope = 1`, "", "Backend initialization required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := At(t.TempDir(), noEnvironment)
			if test.initialised != "-" {
				settings, diags := backend.Decode("local", block(t, "local", test.initialised).Config, block(t, "local", test.override).Config)
				if diags.HasErrors() {
					t.Fatal(diags.Err())
				}
				if err := dir.Select(&settings); err != nil {
					t.Fatal(err)
				}
			}
			var now *configs.Backend
			if test.now != "-" {
				now = block(t, "local", test.now)
			}
			settings, diags := dir.Settings(now)
			if diags.HasErrors() != (test.problem != "") || (diags.HasErrors() && !strings.HasPrefix(diags[0].Summary, test.problem)) {
				t.Fatalf("got %v, want %q", diags, test.problem)
			}
			if test.problem != "" {
				return
			}
			path := ""
			if v := settings.Value.GetAttr("path"); !v.IsNull() {
				path = v.AsString()
			}
			if settings.Type != "local" || path != test.path {
				t.Errorf("got path %q, want %q", path, test.path)
			}
		})
	}
}

func TestDamagedSelection(t *testing.T) {
	t.Parallel()
	dir := At(t.TempDir(), noEnvironment)
	if err := os.MkdirAll(dir.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"cut short": `{"backend": {"type": "loc`, "other types": `{"backend": {"type": "local", "config": {"path": []}}}`, "unknown": `{"backend": {"type": "gcs", "config": {}}}`} {
		if err := os.WriteFile(filepath.Join(dir.Data, "terraform.tfstate"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		settings, diags := dir.Selected()
		if !diags.HasErrors() {
			t.Errorf("%s: got %v", name, settings)
		}
	}
}

func TestWorkspace(t *testing.T) {
	t.Parallel()
	dir := At(t.TempDir(), noEnvironment)
	expect := func(getenv func(string) string, want string, overridden bool) {
		t.Helper()
		if name, by, err := dir.Workspace(getenv); err != nil || name != want || by != overridden {
			t.Errorf("got %q, %t, %v, want %q", name, by, err, want)
		}
	}
	expect(noEnvironment, backend.DefaultWorkspace, false)
	if err := dir.SelectWorkspace("blue"); err != nil {
		t.Fatal(err)
	}
	expect(noEnvironment, "blue", false)
	expect(func(name string) string { return map[string]string{"TF_WORKSPACE": "red"}[name] }, "red", true)
}
