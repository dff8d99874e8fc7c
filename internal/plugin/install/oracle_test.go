package install_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/plugin/lockfile"
)

// terraformInit runs the real `terraform init` in a copy of a workspace that
// requires the same, and returns that workspace.
func terraformInit(t *testing.T, w *workspace, a, b string) *workspace {
	t.Helper()
	if testing.Short() {
		t.Skip("terraform is not run with -short")
	}
	program, err := exec.LookPath("terraform")
	if err != nil {
		t.Fatal("terraform is not installed; these tests compare with it (or use -short): ", err)
	}
	other := &workspace{dir: t.TempDir(), config: w.config}
	require := func(name, source, constraint string) string {
		version := ""
		if constraint != "" {
			version = fmt.Sprintf("\n      version = %q", constraint)
		}
		return fmt.Sprintf("    %s = {\n      source = %q%s\n    }\n", name, source, version)
	}
	write(t, filepath.Join(other.dir, "main.tf"), "terraform {\n  required_providers {\n"+
		require("a", "towline/a", a)+require("b", "example.com/towline/b", b)+"  }\n}\n")
	if old, err := os.ReadFile(filepath.Join(w.dir, lockfile.Name)); err == nil {
		write(t, filepath.Join(other.dir, lockfile.Name), string(old))
	}
	cmd := exec.Command(program, "init", "-input=false", "-no-color", "-backend=false")
	cmd.Dir = other.dir
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+w.config, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("terraform init: %v\n%s", err, out)
	}
	return other
}

// The lock file and what it chooses must be the same, byte for byte, as those
// that terraform writes.
func TestSameLockFileAsTerraform(t *testing.T) {
	t.Parallel()
	mirror := fullMirror(t)
	for name, test := range map[string]struct{ a, b string }{
		"no constraints":  {"", ""},
		"pessimistic":     {"~> 1.0", "~> 1.2.0"},
		"many":            {">= 1.0, < 2.0, != 1.10.1", "!= 1.0.0,>=1.0.0 , <= 2"},
		"exact":           {"1.0.0", "= 1.2"},
		"prerelease":      {"2.1.0-beta1", ">= 1.0.0-alpha1, < 2.0.0"},
		"major only":      {"~> 1", "> 1"},
		"same twice":      {">= 1.0, >= 1.0.0", ">= 1, < 3, < 3.0"},
		"wide and narrow": {">= 1.0, ~> 1.0, <= 1.10.1", ">= 0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours := newWorkspace(t, mirror)
			theirs := terraformInit(t, ours, test.a, test.b)
			_, diags := ours.open(t).Install(t.Context(), requirements(t, test.a, test.b), install.Options{})
			mustPass(t, diags)
			if got, want := ours.lock(t), theirs.lock(t); got != want {
				t.Errorf("ours:\n%s\nterraform's:\n%s", got, want)
			}
			// Each can use what the other one installed.
			theirs.vars = ours.vars
			again, diags := theirs.open(t).Install(t.Context(), requirements(t, test.a, test.b), install.Options{ReadonlyLock: true})
			mustPass(t, diags)
			for _, p := range again.Providers {
				if !p.Present {
					t.Errorf("terraform installed %s, and we do not find it", p.Addr)
				}
			}
			checkSameTree(t, ours.dir, theirs.dir)
		})
	}
}

// checkSameTree compares which files lie where below .terraform/providers.
func checkSameTree(t *testing.T, ours, theirs string) {
	t.Helper()
	list := func(dir string) string {
		out, err := exec.Command("find", "-L", filepath.Join(dir, ".terraform/providers"), "-printf", "%P %y %m\n").Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(bytes.TrimSpace(out))), "\n")
		return strings.Join(sortedStrings(lines), "\n")
	}
	if got, want := list(ours), list(theirs); got != want {
		t.Errorf("ours:\n%s\nterraform's:\n%s", got, want)
	}
}

// A lock that holds hashes of other platforms keeps them in both.
func TestSameLockFileAfterALockFromElsewhere(t *testing.T) {
	t.Parallel()
	ours := newWorkspace(t, fullMirror(t))
	_, diags := ours.open(t).Install(t.Context(), requirements(t, "1.0.0", "1.0.0"), install.Options{})
	mustPass(t, diags)
	text := strings.ReplaceAll(ours.lock(t), "hashes = [", "hashes = [\n \"zh:aaaa\",\n \"h1:zzzz\",")
	write(t, filepath.Join(ours.dir, lockfile.Name), text)
	theirs := terraformInit(t, ours, ">= 1.0", ">= 1.0")
	if err := os.RemoveAll(filepath.Join(ours.dir, ".terraform")); err != nil { // theirs has none either
		t.Fatal(err)
	}
	_, diags = ours.open(t).Install(t.Context(), requirements(t, ">= 1.0", ">= 1.0"), install.Options{})
	mustPass(t, diags)
	if got, want := ours.lock(t), theirs.lock(t); got != want || !strings.Contains(got, "zh:aaaa") {
		t.Errorf("ours:\n%s\nterraform's:\n%s", got, want)
	}
}
