package repository

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// PackagesFile is the file of a revision that names the providers' packages that lie
// beside it. It is part of the revision, and signed with it.
const PackagesFile = ".towline-packages.json"

// Bounds of packages. Parts keep the memory that one takes small.
const (
	packagePart  = 8 << 20
	maxPackage   = 2 << 30
	maxPackages  = 1000
	maxIndexSize = 4 << 20
)

// Package is a provider's package in the store.
type Package struct {
	// Provider is the full source address, Platform as in file names.
	Provider string `json:"provider"`
	Version  string `json:"version"`
	Platform string `json:"platform"`
	// SHA256 is that of the archive, Parts are those of its parts, in order.
	SHA256 string   `json:"sha256"`
	Size   int64    `json:"size"`
	Parts  []string `json:"parts"`
}

type packageIndex struct {
	Version  int       `json:"version"`
	Packages []Package `json:"packages"`
}

// EncodePackages is the content of [PackagesFile].
func EncodePackages(packages []Package) ([]byte, error) {
	data, err := json.MarshalIndent(packageIndex{1, packages}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode packages: %w", err)
	}
	return append(data, '\n'), nil
}

// ReadPackages reads the packages that a revision in a folder names; none if it has no
// such file.
func ReadPackages(dir string) ([]Package, error) {
	data, err := bounds.ReadFile(filepath.Join(dir, PackagesFile), maxIndexSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var index packageIndex
	if err == nil {
		err = json.Unmarshal(data, &index)
	}
	if err != nil {
		return nil, fmt.Errorf("read the revision's packages: %w", err)
	}
	if index.Version != 1 || len(index.Packages) > maxPackages {
		return nil, fmt.Errorf("read the revision's packages: %w: version %d with %d packages", trust.ErrMalformed, index.Version, len(index.Packages))
	}
	for _, p := range index.Packages {
		if p.Size < 0 || p.Size > maxPackage || int64(len(p.Parts)) != (p.Size+packagePart-1)/packagePart || !isDigest(p.SHA256) {
			return nil, fmt.Errorf("read the revision's packages: %w: the package of %s", trust.ErrMalformed, p.Provider)
		}
	}
	return index.Packages, nil
}

func isDigest(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == sha256.Size
}

// PutPackage stores a package, each part once. uploaded is how many bytes were not
// there yet.
func (r *Repository) PutPackage(ctx context.Context, from io.Reader, p Package) (out Package, uploaded int64, err error) {
	whole := sha256.New()
	buffer := make([]byte, packagePart)
	for {
		n, err := io.ReadFull(io.TeeReader(from, whole), buffer)
		if n > 0 {
			digest := trust.Digest(buffer[:n])
			written, err := putPart(ctx, r.store, digest, buffer[:n])
			if err != nil {
				return p, uploaded, fmt.Errorf("store the package of %s: %w", p.Provider, err)
			}
			uploaded += written
			p.Parts, p.Size = append(p.Parts, digest), p.Size+int64(n)
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			p.SHA256 = hex.EncodeToString(whole.Sum(nil))
			return p, uploaded, nil
		case err != nil:
			return p, uploaded, fmt.Errorf("read the package of %s: %w", p.Provider, err)
		case p.Size > maxPackage:
			return p, uploaded, fmt.Errorf("store the package of %s: it has more than %d bytes", p.Provider, int64(maxPackage))
		}
	}
}

// putPart stores a part unless it is there. One of another size was damaged, and is replaced.
func putPart(ctx context.Context, store objstore.Store, digest string, data []byte) (int64, error) {
	key := control.PackagePartKey(digest)
	info, err := store.Stat(ctx, key)
	if err == nil && info.Size == int64(len(data)) {
		return 0, nil
	}
	if err != nil && !errors.Is(err, objstore.ErrNotExist) {
		return 0, err
	}
	_, err = store.Put(ctx, key, data)
	return int64(len(data)), err
}

// FetchPackage writes a package to w. Every part and the whole are verified: an error
// means that what was written must not be used.
func FetchPackage(ctx context.Context, sources Sources, p Package, w io.Writer) error {
	whole := sha256.New()
	for _, digest := range p.Parts {
		if err := fetchPart(ctx, sources, digest, io.MultiWriter(w, whole)); err != nil {
			return fmt.Errorf("fetch the package of %s %s for %s: %w", p.Provider, p.Version, p.Platform, err)
		}
	}
	return checkWhole(p, whole)
}

func checkWhole(p Package, whole hash.Hash) error {
	if got := hex.EncodeToString(whole.Sum(nil)); got != p.SHA256 {
		return fmt.Errorf("fetch the package of %s %s for %s: %w: it has the digest %s", p.Provider, p.Version, p.Platform, trust.ErrTampered, got)
	}
	return nil
}

func fetchPart(ctx context.Context, sources Sources, digest string, w io.Writer) error {
	if !isDigest(digest) {
		return fmt.Errorf("%w: a part has no digest", trust.ErrMalformed)
	}
	var part []byte
	err := sources.try(ctx, func(ctx context.Context, store objstore.Store) (err error) {
		part, err = partFrom(ctx, store, digest)
		return err
	})
	if err == nil {
		_, err = w.Write(part)
	}
	return err
}

func partFrom(ctx context.Context, store objstore.Store, digest string) ([]byte, error) {
	object, err := store.Get(ctx, control.PackagePartKey(digest), packagePart)
	switch {
	case errors.Is(err, objstore.ErrNotExist):
		return nil, fmt.Errorf("%w: %w", ErrIncomplete, err)
	case err != nil:
		return nil, err
	case trust.Digest(object.Data) != digest:
		return nil, fmt.Errorf("%w: a part of it was changed", trust.ErrTampered)
	}
	return object.Data, nil
}
