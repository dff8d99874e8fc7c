package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsNotRunIsRefused: language that this version does not run must not be
// ignored. An ephemeral value that is taken for an ordinary one ends in the state.
func TestWhatIsNotRunIsRefused(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"ephemeral variable": "variable \"a\" {\n  ephemeral = true\n}\n",
		"ephemeral output":   "output \"a\" {\n  value     = 1\n  ephemeral = true\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, diags := Load(dir)
			if err := diags.Err(); err == nil || !strings.Contains(err.Error(), "Unsupported language feature") {
				t.Errorf("got %v", err)
			}
			if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(strings.Replace(content, "true", "false", 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, diags := Load(dir); diags.HasErrors() {
				t.Errorf("without being ephemeral it is refused too: %v", diags.Err())
			}
		})
	}
}
