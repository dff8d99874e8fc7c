package repository

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// stored puts a package of some size into a new store.
func stored(t *testing.T, content []byte) (objstore.Store, Package) {
	t.Helper()
	store := mem.New("packages")
	r := &Repository{store: store}
	p, uploaded, err := r.PutPackage(t.Context(), bytes.NewReader(content), Package{Provider: "example.com/a/b", Version: "1.0.0", Platform: "linux_amd64"})
	if err != nil || uploaded != int64(len(content)) || p.Size != int64(len(content)) {
		t.Fatalf("%d bytes of %d uploaded, %v", uploaded, p.Size, err)
	}
	if _, again, err := r.PutPackage(t.Context(), bytes.NewReader(content), Package{}); err != nil || again != 0 {
		t.Fatalf("%d bytes uploaded twice, %v", again, err)
	}
	return store, p
}

func TestPackagesSurvive(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"small": 10, "one part": packagePart, "a little more": packagePart + 1, "many parts": 3*packagePart - 7} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := make([]byte, size)
			for i := range content {
				content[i] = byte(i>>16 + i)
			}
			store, p := stored(t, content)
			data, err := EncodePackages([]Package{p})
			dir := t.TempDir()
			if err = errors.Join(err, os.WriteFile(filepath.Join(dir, PackagesFile), data, 0o600)); err != nil {
				t.Fatal(err)
			}
			read, err := ReadPackages(dir)
			if err != nil || len(read) != 1 {
				t.Fatal(read, err)
			}
			var got bytes.Buffer
			if err := FetchPackage(t.Context(), Sources{store}, read[0], &got); err != nil || !bytes.Equal(got.Bytes(), content) {
				t.Errorf("%d bytes of %d, %v", got.Len(), size, err)
			}
		})
	}
}

// TestAttackPackages: whoever can write to the store changes nothing that an agent runs.
func TestAttackPackages(t *testing.T) {
	t.Parallel()
	content := append(bytes.Repeat([]byte("package "), packagePart/8), "the end"...)
	for name, test := range map[string]struct {
		change func(ctx context.Context, store objstore.Store, p *Package) error
		want   error
	}{
		"changed part": {func(ctx context.Context, store objstore.Store, p *Package) error {
			_, err := store.Put(ctx, control.PackagePartKey(p.Parts[1]), make([]byte, 7))
			return err
		}, trust.ErrTampered},
		"larger part": {func(ctx context.Context, store objstore.Store, p *Package) error {
			_, err := store.Put(ctx, control.PackagePartKey(p.Parts[1]), make([]byte, packagePart+1))
			return err
		}, objstore.ErrTooLarge},
		"removed part": {func(ctx context.Context, store objstore.Store, p *Package) error {
			return store.Delete(ctx, control.PackagePartKey(p.Parts[0]))
		}, ErrIncomplete},
		"parts exchanged": {func(_ context.Context, _ objstore.Store, p *Package) error {
			p.Parts[0], p.Parts[1] = p.Parts[1], p.Parts[0]
			return nil
		}, trust.ErrTampered},
		"part that is a path": {func(_ context.Context, _ objstore.Store, p *Package) error {
			p.Parts[0] = "../tuf/1.root.json"
			return nil
		}, trust.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, p := stored(t, content)
			if err := test.change(t.Context(), store, &p); err != nil {
				t.Fatal(err)
			}
			if err := FetchPackage(t.Context(), Sources{store}, p, &bytes.Buffer{}); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestListsOfPackagesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON":            "{",
		"another version":    `{"version": 2}`,
		"negative size":      `{"version": 1, "packages": [{"size": -1}]}`,
		"too few parts":      `{"version": 1, "packages": [{"size": 9, "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}]}`,
		"digest that is not": `{"version": 1, "packages": [{"size": 0, "sha256": "../../x"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, PackagesFile), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if list, err := ReadPackages(dir); err == nil {
				t.Errorf("read %v", list)
			}
		})
	}
	if list, err := ReadPackages(t.TempDir()); err != nil || list != nil {
		t.Errorf("a revision without packages gives %v, %v", list, err)
	}
}
