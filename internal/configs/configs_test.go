package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEphemeralRootOutput: what the root module gives out is kept, so nothing ephemeral may be.
func TestEphemeralRootOutput(t *testing.T) {
	t.Parallel()
	output := "output \"a\" {\n  value     = 1\n  ephemeral = true\n}\n"
	for name, test := range map[string]struct{ main, want string }{
		"root":   {output, "Ephemeral output not allowed"},
		"called": {"module \"m\" {\n  source = \"./m\"\n}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "m"), 0o700); err != nil {
				t.Fatal(err)
			}
			for file, content := range map[string]string{"main.tf": test.main, "m/m.tf": output} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, diags := Load(dir)
			got := ""
			if len(diags) > 0 {
				got = diags[0].Summary
			}
			if got != test.want {
				t.Errorf("got %v, want %q", diags, test.want)
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
