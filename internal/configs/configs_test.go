package configs

import (
	"fmt"
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

func TestRequiredVersion(t *testing.T) {
	t.Parallel()
	for constraint, want := range map[string]string{
		">= 1.5": "", "~> 1.9": "", "1.11.4": "", ">= 1.0, < 2.0": "",
		">= 99": "Unsupported Terraform Core version", "< 1.11": "Unsupported Terraform Core version", "~> 1.10.0": "Unsupported Terraform Core version",
		"garbage": "Invalid version constraint", "": "Invalid version constraint",
	} {
		t.Run(constraint, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			content := fmt.Sprintf("terraform {\n  required_version = %q\n}\n", constraint)
			if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, diags := Load(dir)
			if got := fmt.Sprint(diags.Err()); (want == "") != (diags.Err() == nil) || !strings.Contains(got, want) {
				t.Errorf("got %v, want %q", got, want)
			}
		})
	}
}
