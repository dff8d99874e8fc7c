package modules

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/registry/registrytest"
)

// What terraform does alike is compared with it in the scripts of the command line.

// serve starts a server with an archive of the given files and returns a root module
// that calls it. Not parallel: the environment tells whom to trust.
func serve(t *testing.T, files map[string]string) *Installer {
	t.Helper()
	server, err := registrytest.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	archive, err := registrytest.TarGz(files)
	if err != nil {
		t.Fatal(err)
	}
	server.Put("/a.tar.gz", archive, nil)
	dir := t.TempDir()
	text := fmt.Sprintf("module \"a\" {\n  source = \"%s/a.tar.gz\"\n}\n", server.URL)
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &Installer{Dir: dir, DataDir: filepath.Join(dir, ".terraform")}
}

// TestTreesThatAreRefused: what is fetched must not lead out of its folder.
func TestTreesThatAreRefused(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for name, test := range map[string]struct {
		links map[string]string
		bad   bool
	}{
		"no links":           {},
		"link inside":        {map[string]string{"a/b": "../main.tf"}, false},
		"link to the root":   {map[string]string{"a/b": ".."}, false},
		"link to nowhere":    {map[string]string{"b": "nowhere"}, false},
		"absolute link out":  {map[string]string{"b": outside}, true},
		"relative link out":  {map[string]string{"a/b": "../../.."}, true},
		"link through links": {map[string]string{"b": "a/c", "a/c": outside}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "tree")
			err := errors.Join(os.MkdirAll(filepath.Join(dir, "a"), 0o700), os.WriteFile(filepath.Join(dir, "main.tf"), nil, 0o600))
			for link, target := range test.links {
				err = errors.Join(err, os.Symlink(target, filepath.Join(dir, link)))
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := checkTree(dir); errors.Is(err, errLeadsOut) != test.bad || (err != nil) != test.bad {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestUntrustedServer: the certificate of a server is verified.
func TestUntrustedServer(t *testing.T) {
	t.Parallel()
	_, diags := serve(t, map[string]string{"main.tf": ""}).Install(t.Context(), false)
	if !diags.HasErrors() || diags[0].Summary != "Failed to download module" || !strings.Contains(diags[0].Detail, "certificate") {
		t.Errorf("got %v", diags)
	}
}

// TestManifestOfOthers: a damaged list of installed modules is made anew.
func TestManifestOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	i := &Installer{Dir: dir, DataDir: filepath.Join(dir, ".terraform")}
	err := errors.Join(
		os.MkdirAll(filepath.Join(dir, ".terraform", "modules"), 0o700), os.MkdirAll(filepath.Join(dir, "sub"), 0o700),
		os.WriteFile(filepath.Join(dir, ".terraform", "modules", "modules.json"), []byte("{"), 0o600),
		os.WriteFile(filepath.Join(dir, "main.tf"), []byte("module \"a\" {\n source = \"./sub\"\n}\n"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadManifest(i.DataDir); err == nil {
		t.Error("a damaged list is read")
	}
	if _, diags := i.Install(t.Context(), false); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	records, err := ReadManifest(i.DataDir)
	if want := (Record{Key: "a", Source: "./sub", Dir: "sub"}); err != nil || records["a"] != want {
		t.Errorf("got %v, %v", records, err)
	}
}

// TestModuleThatCallsItself ends, and says so.
func TestModuleThatCallsItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte("module \"a\" {\n source = \"./.\"\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, diags := (&Installer{Dir: dir, DataDir: filepath.Join(dir, ".terraform")}).Install(t.Context(), false)
	if !diags.HasErrors() || diags[0].Summary != "Module loop" {
		t.Errorf("got %v", diags)
	}
}
