package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// packageCache keeps providers' packages in an agent's data folder, by their content:
// a file that is there under its digest never changes.
type packageCache struct {
	sources repository.Sources
	dir     string
}

// mirror fetches the packages that a revision names for this machine, as far as they
// are not there, and returns a folder that has them as a mirror; none if there are none.
func (c packageCache) mirror(ctx context.Context, revision string) ([]string, error) {
	packages, err := repository.ReadPackages(revision)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	view := filepath.Join(c.dir, "mirror")
	if err := os.RemoveAll(view); err != nil {
		return nil, fmt.Errorf("make mirror of packages: %w", err)
	}
	for _, p := range packages {
		if p.Platform != runtime.GOOS+"_"+runtime.GOARCH {
			continue
		}
		if err := c.ensure(ctx, p); err != nil {
			return nil, err
		}
		if err := c.link(view, p); err != nil {
			return nil, err
		}
		used[p.SHA256] = true
	}
	if len(used) == 0 {
		return nil, nil
	}
	return []string{view}, c.removeOthers(used)
}

func (c packageCache) path(digest string) string { return filepath.Join(c.dir, digest+".zip") }

// ensure makes sure that a package is there, whole and unchanged.
func (c packageCache) ensure(ctx context.Context, p repository.Package) error {
	if digest, err := fileDigest(c.path(p.SHA256)); err == nil && digest == p.SHA256 {
		return nil
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return fmt.Errorf("make folder for packages: %w", err)
	}
	file, err := os.CreateTemp(c.dir, ".fetch-*")
	if err != nil {
		return fmt.Errorf("make room for a package: %w", err)
	}
	err = repository.FetchPackage(ctx, c.sources, p, file)
	err = errors.Join(err, file.Chmod(0o400), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), c.path(p.SHA256))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

func fileDigest(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// link enters a package into a mirror under the name by which it is looked for.
func (c packageCache) link(view string, p repository.Package) error {
	addr, err := addrs.ParseProviderSource(p.Provider)
	if err != nil || addr.String() != p.Provider || filepath.Base(p.Version) != p.Version {
		return fmt.Errorf("the revision's list of packages: %w: %q is no provider", trust.ErrMalformed, p.Provider)
	}
	dir := filepath.Join(view, addr.Hostname.ForDisplay(), addr.Namespace, addr.Type)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make mirror of packages: %w", err)
	}
	target, err := filepath.Abs(c.path(p.SHA256))
	if err == nil {
		err = os.Symlink(target, filepath.Join(dir, fmt.Sprintf("terraform-provider-%s_%s_%s.zip", addr.Type, p.Version, p.Platform)))
	}
	if err != nil {
		return fmt.Errorf("make mirror of packages: %w", err)
	}
	return nil
}

// removeOthers removes packages that the revision does not use. What is installed of
// them stays.
func (c packageCache) removeOthers(used map[string]bool) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("list packages: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		digest := entry.Name()[:len(entry.Name())-len(filepath.Ext(entry.Name()))]
		if !used[digest] {
			if err := os.Remove(filepath.Join(c.dir, entry.Name())); err != nil {
				return fmt.Errorf("remove package: %w", err)
			}
		}
	}
	return nil
}
