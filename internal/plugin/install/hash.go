package install

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/sumdb/dirhash"
)

const (
	// maxFiles and maxUnpacked bound a package. The largest known have a dozen
	// files and 800 MiB.
	maxFiles    = 10_000
	maxUnpacked = 4 << 30
)

// hashDir returns the h1 hash of an unpacked package. A symbolic link to the
// package is followed, links inside it as well, since what they lead to is run.
func hashDir(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("cannot find the provider package: %w", err)
	}
	files, err := packageFiles(dir)
	if err != nil {
		return "", err
	}
	hash, err := dirhash.Hash1(files, func(name string) (io.ReadCloser, error) {
		return os.Open(filepath.Join(dir, filepath.FromSlash(name))) //nolint:gosec // a file of the package
	})
	if err != nil {
		return "", fmt.Errorf("cannot read the provider package: %w", err)
	}
	return hash, nil
}

// packageFiles are the files of an unpacked package, by slash-separated name.
func packageFiles(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if len(files) >= maxFiles {
			return fmt.Errorf("it has more than %d files", maxFiles)
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the provider package: %w", err)
	}
	return files, nil
}

// hashZip returns the zh hash of a packed package.
func hashZip(path string) (string, error) {
	file, err := os.Open(path) //nolint:gosec // a file of the user's mirror
	if err != nil {
		return "", fmt.Errorf("cannot read the provider package: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(file, maxUnpacked+1))
	if err == nil && n > maxUnpacked {
		err = errors.New("it is too large")
	}
	if err != nil {
		return "", fmt.Errorf("cannot read the provider package: %w", err)
	}
	return "zh:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// matches tells whether a package with the given hashes is one of those that
// are locked. Nothing locked allows any.
func matches(locked []string, hashes ...string) bool {
	if len(locked) == 0 {
		return true
	}
	return slices.ContainsFunc(hashes, func(hash string) bool { return slices.Contains(locked, hash) })
}

// hashPacked returns the h1 hash that a packed package has once it is unpacked.
func hashPacked(path string) (string, error) {
	hash, err := dirhash.HashZip(path, dirhash.Hash1)
	if err != nil {
		return "", fmt.Errorf("cannot read the provider package: %w", err)
	}
	return hash, nil
}
