package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/towline/terraform-provider-towline/internal/plugin/lockfile"
)

// Prune removes the installed versions of each provider but those that the lock file
// names and the newest others, so that keep stay. It is for folders that one working directory
// after the other uses for long, and must not run while a version that it removes starts.
func (i *Installation) Prune(keep int) error {
	locks, diags := lockfile.Read(i.LockFile())
	if err := diags.Err(); err != nil {
		return err
	}
	locked := map[string]bool{}
	for addr, lock := range locks {
		locked[filepath.Dir(packageDir(i.providersDir(), addr, lock.Version))] = true
	}
	providers, err := filepath.Glob(filepath.Join(i.providersDir(), "*", "*", "*"))
	if err != nil {
		return fmt.Errorf("list installed providers: %w", err)
	}
	var errs []error
	for _, provider := range providers {
		errs = append(errs, pruneVersions(provider, locked, keep))
	}
	return errors.Join(errs...)
}

// pruneVersions removes versions of one provider.
func pruneVersions(provider string, locked map[string]bool, keep int) error {
	entries, err := os.ReadDir(provider)
	if err != nil {
		return fmt.Errorf("list installed versions: %w", err)
	}
	var others []fs.FileInfo
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return fmt.Errorf("list installed versions: %w", err)
		}
		if locked[filepath.Join(provider, entry.Name())] {
			keep--
		} else {
			others = append(others, info)
		}
	}
	slices.SortFunc(others, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, info := range others[min(max(keep, 0), len(others)):] {
		if err := os.RemoveAll(filepath.Join(provider, info.Name())); err != nil {
			return fmt.Errorf("remove an old version: %w", err)
		}
	}
	return nil
}
