package file

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// Folders of the store's own. No key names them, since segments do not begin with a dot.
const (
	ownDir  = ".towline"
	tempDir = ownDir + "/tmp"
	lockDir = ownDir + "/locks"
)

// leftoverAge is how old a temporary file must be to have been left by a crash:
// far more than the longest write of an object held in memory.
const leftoverAge = time.Hour

// folderAttempts bounds how often a write makes its folder again after a
// concurrent Delete removed it as empty.
const folderAttempts = 100

// lockPoll is the time between attempts to take a lock that another process holds.
const lockPoll = 2 * time.Millisecond

// Put implements [objstore.Store].
func (s *Store) Put(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.replace(ctx, "write", key, data, func() error { return nil })
}

// PutIfMatch implements [objstore.Store]. Comparison and rename happen under a lock
// that every replacing writer of the key takes.
func (s *Store) PutIfMatch(ctx context.Context, key string, data []byte, version objstore.Version) (objstore.Version, error) {
	return s.replace(ctx, "replace", key, data, func() error {
		current, err := s.Stat(ctx, key)
		switch {
		case err != nil:
			return err
		case current.Version != version:
			return fmt.Errorf("replace %q: %w", key, objstore.ErrChanged)
		}
		return nil
	})
}

// PutIfAbsent implements [objstore.Store]. link(2) fails if the name exists, so
// it needs no lock.
func (s *Store) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	if err := check(ctx, key); err != nil {
		return "", err
	}
	temp, err := s.writeTemp(data)
	if err != nil {
		return "", wrap("create", key, err)
	}
	defer s.root.Remove(temp)
	err = s.publish(key, func(name string) error { return s.root.Link(temp, name) })
	switch {
	case errors.Is(err, fs.ErrExist):
		return "", fmt.Errorf("create %q: %w", key, objstore.ErrExist)
	case err != nil:
		return "", wrapWrite("create", key, err)
	}
	return versionOf(data), nil
}

func (s *Store) replace(ctx context.Context, verb, key string, data []byte, allow func() error) (objstore.Version, error) {
	if err := check(ctx, key); err != nil {
		return "", err
	}
	temp, err := s.writeTemp(data)
	if err != nil {
		return "", wrap(verb, key, err)
	}
	defer s.root.Remove(temp)
	unlock, err := s.lock(ctx, key)
	if err != nil {
		return "", wrap(verb, key, err)
	}
	defer unlock()
	if err := allow(); err != nil {
		return "", err
	}
	if err := s.publish(key, func(name string) error { return s.root.Rename(temp, name) }); err != nil {
		return "", wrapWrite(verb, key, err)
	}
	return versionOf(data), nil
}

// writeTemp writes data to a synced file of the store's own and returns its name.
func (s *Store) writeTemp(data []byte) (string, error) {
	name := filepath.FromSlash(tempDir + "/" + rand.Text())
	file, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		s.root.Remove(name)
		return "", err
	}
	return name, nil
}

// publish makes the key's folder and moves content into it, again if a concurrent
// Delete removes the folder in between, and syncs every folder on the way: one that
// another writer has just made may not be on disk yet.
func (s *Store) publish(key string, move func(name string) error) error {
	folder := path.Dir(key)
	for attempt := 1; ; attempt++ {
		err := s.root.MkdirAll(filepath.FromSlash(folder), dirMode)
		if err == nil {
			err = move(filepath.FromSlash(key))
		}
		if err == nil {
			return s.syncFolders(folder)
		}
		if !errors.Is(err, fs.ErrNotExist) || attempt == folderAttempts {
			return err
		}
	}
}

func (s *Store) syncFolders(folder string) error {
	for ; folder != "."; folder = path.Dir(folder) {
		if err := s.syncFolder(folder); err != nil {
			return err
		}
	}
	return s.syncFolder(".")
}

func (s *Store) syncFolder(folder string) error {
	if runtime.GOOS == "windows" { // which has no way to sync a folder
		return nil
	}
	file, err := s.root.Open(filepath.FromSlash(folder))
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}

// lock takes the lock of the key's group. Lock files are few and never removed:
// removing one could let two processes hold "the" lock.
func (s *Store) lock(ctx context.Context, key string) (unlock func(), err error) {
	sum := sha256.Sum256([]byte(key))
	lock := flock.New(filepath.Join(s.dir, filepath.FromSlash(lockDir), fmt.Sprintf("%02x", sum[0])), flock.SetPermissions(fileMode))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		lock.Close()
		return nil, err
	}
	return func() { lock.Close() }, nil
}

// removeLeftovers removes temporary files of writers that crashed. Failing to is harmless.
func (s *Store) removeLeftovers() {
	entries, err := fs.ReadDir(s.root.FS(), tempDir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && time.Since(info.ModTime()) > leftoverAge {
			s.root.Remove(filepath.FromSlash(tempDir + "/" + entry.Name()))
		}
	}
}

// wrapWrite is wrap for writes, where a missing or misplaced folder says nothing
// about whether the object exists.
func wrapWrite(verb, key string, err error) error {
	if missing(err) || errors.Is(err, syscall.EISDIR) {
		return fmt.Errorf("%s %q: %w: %w", verb, key, objstore.ErrUnavailable, err)
	}
	return wrap(verb, key, err)
}
