package install_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/plugin/install"
)

// TestPrune has old versions pile up as upgrades leave them.
func TestPrune(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, fullMirror(t))
	i := w.open(t)
	_, diags := i.Install(t.Context(), requirements(t, "~> 1.0", ""), install.Options{})
	mustPass(t, diags)
	exe, diags := i.Locate(t.Context(), mustAddr(t, "towline/a"))
	mustPass(t, diags)
	provider := filepath.Dir(filepath.Dir(filepath.Dir(exe.Path)))
	for n, version := range []string{"0.7.0", "0.8.0", "0.9.0"} {
		if err := os.Mkdir(filepath.Join(provider, version), 0o700); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(n-10) * time.Hour)
		if err := os.Chtimes(filepath.Join(provider, version), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		keep int
		want []string
	}{{9, []string{"0.7.0", "0.8.0", "0.9.0", "1.10.1"}}, {2, []string{"0.9.0", "1.10.1"}}, {0, []string{"1.10.1"}}} {
		if err := i.Prune(test.keep); err != nil {
			t.Fatal(err)
		}
		if got := versions(t, provider); !slices.Equal(got, test.want) {
			t.Errorf("with %d to keep, versions %v stay, want %v", test.keep, got, test.want)
		}
	}
	if _, err := os.Stat(exe.Path); err != nil {
		t.Error(err)
	}
}

func versions(t *testing.T, provider string) []string {
	t.Helper()
	entries, err := os.ReadDir(provider)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
