package engine_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// manyInstances would plan for long, which says nothing new.
var manyInstances = regexp.MustCompile(`[0-9]{4}|[0-9][eE]`)

// FuzzPlan validates and plans any configuration of the built-in provider: there is
// a plan, marked as incomplete if there are errors.
func FuzzPlan(f *testing.F) {
	err := filepath.WalkDir(filepath.Join("..", "parity", "testdata"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Base(path) != "main.tf" {
			return err
		}
		text, err := os.ReadFile(path)
		if !strings.Contains(string(text), "required_providers") {
			f.Add(string(text))
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if manyInstances.MatchString(text) || strings.Contains(text, "fileset") {
			return
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		config, diags := configs.Load(dir)
		if diags.HasErrors() {
			return
		}
		eng := engine.New(engine.Options{Providers: source{}})
		defer func() { _ = eng.Close() }()
		invalid := eng.Validate(t.Context(), config)
		plan, diags := eng.Plan(t.Context(), config, states.New(), engine.PlanOptions{BaseDir: dir})
		if plan == nil || plan.Errored != diags.HasErrors() {
			t.Errorf("the plan is %+v with the problems %v", plan, diags)
		}
		if invalid.HasErrors() && !diags.HasErrors() {
			t.Errorf("it is planned although %v", invalid.Err())
		}
	})
}
