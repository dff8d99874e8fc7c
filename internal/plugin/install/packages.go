package install

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/flate"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin/lockfile"
	"github.com/towline/terraform-provider-towline/internal/plugin/version"
	"github.com/towline/terraform-provider-towline/internal/registry"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Package is the package of a locked provider for one platform, as an archive.
type Package struct {
	Addr     addrs.Provider
	Version  version.Version
	Platform registry.Platform
	// Path is the archive. It is there only while it is being handed on.
	Path string
	// Hashes are the zh and h1 hashes of the package, and those of the same version's
	// other packages for which somebody vouched with a signature.
	Hashes []string
}

// Name is the archive's name in a mirror.
func (p Package) Name() string {
	return fmt.Sprintf("terraform-provider-%s_%s_%s.zip", p.Addr.Type, p.Version, p.Platform)
}

// Packages finds the packages of providers in the locked versions for some platforms
// and hands them on, one after the other. A package that is not one of those locked is
// refused, unless new ones are asked for, as where another platform is locked.
func (i *Installation) Packages(ctx context.Context, wanted []addrs.Provider, platforms []registry.Platform, fresh bool, use func(Package) error) tfdiags.Diagnostics {
	locks, diags := lockfile.Read(i.LockFile())
	if diags.HasErrors() {
		return diags
	}
	for _, addr := range wanted {
		if addr.IsBuiltIn() {
			continue
		}
		lock, ok := locks[addr]
		if !ok {
			diags = append(diags, notLocked(addr)...)
			continue
		}
		for _, on := range platforms {
			if err := i.handOn(ctx, addr, lock, on, fresh, use); err != nil {
				diags = append(diags, installFailed(addr, lock.Version, fmt.Errorf("for %s: %w", on, err))...)
			}
		}
	}
	return diags
}

func (i *Installation) handOn(ctx context.Context, addr addrs.Provider, lock lockfile.Lock, on registry.Platform, fresh bool, use func(Package) error) error {
	found, err := i.find(ctx, addr, lock.Version, on)
	if err != nil {
		return err
	}
	defer found.discard()
	if !found.packed {
		if found, err = pack(found.path); err != nil {
			return err
		}
		defer found.discard()
	}
	packed, err := hashZip(found.path)
	if err != nil {
		return err
	}
	hash, err := hashPacked(found.path)
	if err != nil {
		return err
	}
	if !fresh && !matches(lock.Hashes, packed, hash) {
		return errMismatch
	}
	return use(Package{Addr: addr, Version: lock.Version, Platform: on, Path: found.path, Hashes: append(found.hashes, packed, hash)})
}

// find fetches a package from the first place that has it.
func (i *Installation) find(ctx context.Context, addr addrs.Provider, v version.Version, on registry.Platform) (location, error) {
	var failed error
	for _, place := range i.places {
		if !place.handles(addr) {
			continue
		}
		found, err := place.fetch(ctx, addr, v, on)
		if err == nil {
			return found, nil
		}
		failed = errors.Join(failed, err)
	}
	if failed == nil {
		failed = errors.New("the CLI configuration has no place for it")
	}
	return location{}, failed
}

// pack makes an archive of an unpacked package, always the same one for the same files.
func pack(dir string) (location, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return location{}, fmt.Errorf("cannot read the provider package: %w", err)
	}
	file, err := os.CreateTemp("", "towline-provider-*.zip")
	if err != nil {
		return location{}, fmt.Errorf("cannot pack the provider package: %w", err)
	}
	found := location{path: file.Name(), packed: true, temporary: true}
	archive := zip.NewWriter(file)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return packFile(archive, dir, path)
	})
	if err = errors.Join(err, archive.Close(), file.Close()); err != nil {
		found.discard()
		return location{}, fmt.Errorf("cannot pack the provider package: %w", err)
	}
	return found, nil
}

func packFile(archive *zip.Writer, dir, path string) error {
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return err
	}
	header := &zip.FileHeader{Name: filepath.ToSlash(name), Method: zip.Deflate}
	header.SetMode(0o755)
	to, err := archive.CreateHeader(header)
	if err != nil {
		return err
	}
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	_, err = io.Copy(to, io.LimitReader(from, maxUnpacked))
	return err
}

// Locked lists the providers that the working directory's lock file has.
func (i *Installation) Locked() ([]addrs.Provider, tfdiags.Diagnostics) {
	locks, diags := lockfile.Read(i.LockFile())
	return sortedAddrs(locks), diags
}

// AddHashes adds hashes to a provider's entry in the lock file.
func (i *Installation) AddHashes(addr addrs.Provider, hashes []string) error {
	locks, diags := lockfile.Read(i.LockFile())
	if diags.HasErrors() {
		return diags.Err()
	}
	lock := locks[addr]
	lock.Hashes = append(lock.Hashes, hashes...)
	locks[addr] = lock
	return locks.Write(i.LockFile())
}
