package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// published puts a package of one part into a store and writes a revision that names it.
func published(t *testing.T, store *mem.Store, provider, content string) (revision string, p repository.Package) {
	t.Helper()
	digest := trust.Digest([]byte(content))
	p = repository.Package{
		Provider: provider, Version: "1.0.0", Platform: runtime.GOOS + "_" + runtime.GOARCH, SHA256: digest, Size: int64(len(content)), Parts: []string{digest},
	}
	other := p
	other.Platform, other.SHA256 = "plan9_mips", trust.Digest(nil)
	other.Size, other.Parts = 0, nil
	index, err := repository.EncodePackages([]repository.Package{p, other})
	revision = t.TempDir()
	if err == nil {
		err = os.WriteFile(filepath.Join(revision, repository.PackagesFile), index, 0o600)
	}
	if err == nil {
		_, err = store.Put(t.Context(), control.PackagePartKey(digest), []byte(content))
	}
	if err != nil {
		t.Fatal(err)
	}
	return revision, p
}

func TestPackageCache(t *testing.T) {
	t.Parallel()
	store := mem.New("packages")
	revision, p := published(t, store, "example.com/acme/rain", "one")
	cache := packageCache{repository.Sources{store}, filepath.Join(t.TempDir(), "packages")}
	read := func() []byte {
		mirror, err := cache.mirror(t.Context(), revision)
		if err != nil || len(mirror) != 1 {
			t.Fatal(mirror, err)
		}
		data, err := os.ReadFile(filepath.Join(mirror[0], "example.com", "acme", "rain", "terraform-provider-rain_1.0.0_"+p.Platform+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if got := read(); string(got) != "one" {
		t.Errorf("got %q", got)
	}
	// What is there is used without the store, and fetched again if somebody changed it.
	if err := store.Delete(t.Context(), control.PackagePartKey(p.Parts[0])); err != nil {
		t.Fatal(err)
	}
	if got := read(); string(got) != "one" {
		t.Errorf("without the store, got %q", got)
	}
	path := cache.path(p.SHA256)
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte("evil"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := cache.mirror(t.Context(), revision); err == nil {
		t.Error("a changed package is used")
	}
	if _, err := store.Put(t.Context(), control.PackagePartKey(p.Parts[0]), []byte("one")); err != nil {
		t.Fatal(err)
	}
	if got := read(); string(got) != "one" {
		t.Errorf("after the store is back, got %q", got)
	}
	// A revision that uses another package leaves nothing of this one.
	revision, p = published(t, store, "example.com/acme/rain", "two")
	if got := read(); string(got) != "two" {
		t.Errorf("got %q", got)
	}
	if left, err := filepath.Glob(filepath.Join(cache.dir, "*.zip")); err != nil || !bytes.Equal([]byte(filepath.Base(left[0])), []byte(p.SHA256+".zip")) || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestPackagesOfNoProvider: a revision's list must not lead out of the mirror.
func TestPackagesOfNoProvider(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"", "a/../../b/c", "example.com/a", "EXAMPLE.com/a/b", "../../x"} {
		store := mem.New("packages")
		revision, _ := published(t, store, provider, "x")
		cache := packageCache{repository.Sources{store}, filepath.Join(t.TempDir(), "packages")}
		if _, err := cache.mirror(t.Context(), revision); !errors.Is(err, trust.ErrMalformed) {
			t.Errorf("%q: %v", provider, err)
		}
	}
}
