package install_test

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/plugin/lockfile"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

var platform = runtime.GOOS + "_" + runtime.GOARCH

func mustAddr(t *testing.T, source string) addrs.Provider {
	t.Helper()
	addr, err := addrs.ParseProviderSource(source)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// addUnpacked puts a package into a mirror; its program is a text.
func addUnpacked(t *testing.T, mirror, source, version string) string {
	t.Helper()
	addr := mustAddr(t, source)
	dir := filepath.Join(mirror, addr.Hostname.ForDisplay(), addr.Namespace, addr.Type, version, platform)
	write(t, filepath.Join(dir, "terraform-provider-"+addr.Type+"_v"+version), "program of "+source+" "+version)
	write(t, filepath.Join(dir, "LICENSE"), "free")
	return dir
}

// addPacked puts an archive into a mirror. Files are name and content in turn.
func addPacked(t *testing.T, mirror, source, version string, files ...string) string {
	t.Helper()
	addr := mustAddr(t, source)
	path := filepath.Join(mirror, addr.Hostname.ForDisplay(), addr.Namespace, addr.Type,
		fmt.Sprintf("terraform-provider-%s_%s_%s.zip", addr.Type, version, platform))
	if len(files) == 0 {
		files = []string{"terraform-provider-" + addr.Type + "_v" + version, "program of " + source + " " + version, "LICENSE", "free"}
	}
	write(t, path, "")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(out)
	for n := 0; n < len(files); n += 2 {
		header := &zip.FileHeader{Name: files[n], Method: zip.Deflate}
		header.SetMode(0o755)
		entry, err := w.CreateHeader(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write([]byte(files[n+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// workspace is a working directory with a CLI configuration.
type workspace struct {
	dir, config string
	vars        map[string]string
}

// newWorkspace returns a working directory whose providers come from a mirror.
func newWorkspace(t *testing.T, mirror string) *workspace {
	t.Helper()
	w := &workspace{dir: t.TempDir(), vars: make(map[string]string)}
	w.config = filepath.Join(t.TempDir(), "rc")
	w.vars["TF_CLI_CONFIG_FILE"] = w.config
	write(t, w.config, fmt.Sprintf("provider_installation {\n filesystem_mirror {\n path = %q\n }\n}\n", mirror))
	return w
}

func (w *workspace) open(t *testing.T) *install.Installation {
	t.Helper()
	i, diags := install.Settings{Offline: true}.Open(w.dir, cliconfig.Environment{Home: w.dir, Getenv: func(name string) string { return w.vars[name] }})
	mustPass(t, diags)
	return i
}

func (w *workspace) lock(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, lockfile.Name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func mustPass(t *testing.T, diags tfdiags.Diagnostics) {
	t.Helper()
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
}

func mustFail(t *testing.T, diags tfdiags.Diagnostics, summary, detail string) {
	t.Helper()
	if len(diags) != 1 || diags[0].Summary != summary || !strings.Contains(diags[0].Detail, detail) {
		t.Errorf("got %+v\nwant one problem %q with %q", diags, summary, detail)
	}
}

// fullMirror has two providers, one in either layout, in several versions.
func fullMirror(t *testing.T) string {
	t.Helper()
	mirror := t.TempDir()
	for _, version := range []string{"1.0.0", "1.2.0", "1.10.1", "2.0.0", "2.1.0-beta1"} {
		addUnpacked(t, mirror, "towline/a", version)
		addPacked(t, mirror, "example.com/towline/b", version)
	}
	return mirror
}

func requirements(t *testing.T, a, b string) install.Requirements {
	t.Helper()
	return install.Requirements{mustAddr(t, "towline/a"): {a}, mustAddr(t, "example.com/towline/b"): {b}}
}

func sortedStrings(in []string) []string {
	slices.Sort(in)
	return in
}
