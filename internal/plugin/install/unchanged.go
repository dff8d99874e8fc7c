package install

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// hashMemory remembers the hashes of packages between runs: computing that of a
// large provider takes longer than a plan of a small configuration. A hash is believed
// while no file of the package has changed in name, place, size or in the times
// that the operating system notes, of which nobody but it can set the last one.
// The zero value remembers nothing, and is for whoever must not rely on these times.
type hashMemory struct {
	dir string
	now func() time.Time
}

const (
	// settled is how long ago a package must have changed last, for what the
	// operating system notes to tell the next change from it.
	settled = 3 * time.Second
	// maxHashAge is how long a memory lies unused before it is removed.
	maxHashAge = 90 * 24 * time.Hour
	// maxHashEntry bounds a memory, in bytes.
	maxHashEntry = 1 << 10
)

// of returns the h1 hash of an unpacked package.
func (m hashMemory) of(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("cannot find the provider package: %w", err)
	}
	if m.dir == "" {
		return hashDir(dir)
	}
	path := m.path(dir)
	before, ok := m.stamp(dir)
	if hash := m.recall(path, before); ok && hash != "" {
		return hash, nil
	}
	hash, err := hashDir(dir)
	if err != nil {
		return "", err
	}
	if after, ok := m.stamp(dir); ok && after == before {
		_ = m.remember(path, before, hash) // failing that it is computed again
	}
	return hash, nil
}

// anew computes the hash of an unpacked package whatever is remembered of it.
func (m hashMemory) anew(dir string) (string, error) {
	if m.dir != "" {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			_ = os.Remove(m.path(resolved)) // failing that the stamp still has to hold
		}
	}
	return m.of(dir)
}

func (m hashMemory) path(dir string) string { return filepath.Join(m.dir, digest(dir)+".hash") }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// stamp describes the files of a package as the operating system knows them. ok
// tells that any change would make another stamp.
func (m hashMemory) stamp(dir string) (text string, ok bool) {
	files, err := packageFiles(dir)
	if err != nil {
		return "", false
	}
	var all strings.Builder
	for _, name := range files {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return "", false
		}
		identity, changed, known := inode(info)
		if !known || m.now().Sub(changed) < settled {
			return "", false
		}
		fmt.Fprintf(&all, "%q %s %d %d %d\n", name, identity, info.Size(), info.ModTime().UnixNano(), changed.UnixNano())
	}
	return digest(all.String()), true
}

// recall returns the hash that is remembered for a stamp, or "".
func (m hashMemory) recall(path, stamp string) string {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxHashEntry {
		return ""
	}
	data, err := os.ReadFile(path) //nolint:gosec // a name of our own below the cache
	if err != nil {
		return ""
	}
	known, hash, ok := strings.Cut(strings.TrimSpace(string(data)), "\n")
	if !ok || known != stamp {
		return ""
	}
	now := m.now()
	_ = os.Chtimes(path, now, now) // a memory that is used stays
	return hash
}

// remember replaces what is remembered of one package, and forgets what nobody uses.
func (m hashMemory) remember(path, stamp, hash string) error {
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(m.dir, ".hash-*")
	if err != nil {
		return err
	}
	_, err = temp.WriteString(stamp + "\n" + hash + "\n")
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return m.forgetOld()
}

func (m hashMemory) forgetOld() error {
	return filepath.WalkDir(m.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil || m.now().Sub(info.ModTime()) < maxHashAge {
			return err
		}
		return os.Remove(path) //nolint:gosec // the folder is the user's own
	})
}
