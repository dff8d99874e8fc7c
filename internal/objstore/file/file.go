package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// Store is an [objstore.Store] in a directory. See [Open].
type Store struct {
	dir  string
	root *os.Root
}

var _ objstore.Store = (*Store)(nil)

// Objects may hold states, so only the owner reads them.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// Open opens the store in an absolute directory, which is created if it is missing.
func Open(dir string) (*Store, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("open file store: path %q is not absolute", dir)
	}
	for _, folder := range []string{dir, filepath.Join(dir, tempDir), filepath.Join(dir, lockDir)} {
		if err := os.MkdirAll(folder, dirMode); err != nil {
			return nil, fmt.Errorf("open file store: %w: %w", kindOf(err), err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open file store: %w: %w", kindOf(err), err)
	}
	s := &Store{dir: filepath.Clean(dir), root: root}
	s.removeLeftovers()
	return s, nil
}

// URL returns file:///PATH.
func (s *Store) URL() string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(s.dir)}).String()
}

// Get implements [objstore.Store].
func (s *Store) Get(ctx context.Context, key string, limit int64) (objstore.Object, error) {
	if err := check(ctx, key); err != nil {
		return objstore.Object{}, err
	}
	file, info, err := s.open(key)
	if err != nil {
		return objstore.Object{}, wrap("read", key, err)
	}
	defer file.Close()
	if info.Size() > limit {
		return objstore.Object{}, fmt.Errorf("read %q: %w (limit %d bytes)", key, objstore.ErrTooLarge, limit)
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return objstore.Object{}, wrap("read", key, err)
	}
	return objstore.Object{Data: data, Version: versionOf(data), Modified: info.ModTime().UTC()}, nil
}

// Stat implements [objstore.Store]. It reads the object, since its version is its digest.
func (s *Store) Stat(ctx context.Context, key string) (objstore.Info, error) {
	if err := check(ctx, key); err != nil {
		return objstore.Info{}, err
	}
	file, info, err := s.open(key)
	if err != nil {
		return objstore.Info{}, wrap("look up", key, err)
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return objstore.Info{}, wrap("look up", key, err)
	}
	version := objstore.Version(hex.EncodeToString(hash.Sum(nil)))
	return objstore.Info{Key: key, Size: info.Size(), Version: version, Modified: info.ModTime().UTC()}, nil
}

// open opens an object for reading; only a regular file is one. Opening must not
// wait, as it would for somebody to write into a named pipe.
func (s *Store) open(key string) (*os.File, fs.FileInfo, error) {
	file, err := s.root.OpenFile(filepath.FromSlash(key), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// Delete implements [objstore.Store]. Folders that become empty go as well.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := check(ctx, key); err != nil {
		return err
	}
	unlock, err := s.lock(ctx, key)
	if err != nil {
		return wrap("delete", key, err)
	}
	defer unlock()
	if info, err := s.root.Lstat(filepath.FromSlash(key)); missing(err) || err == nil && info.IsDir() {
		return nil
	}
	if err := s.root.Remove(filepath.FromSlash(key)); err != nil && !missing(err) {
		return wrap("delete", key, err)
	}
	if err := s.syncFolder(path.Dir(key)); err != nil && !missing(err) {
		return wrap("delete", key, err)
	}
	for folder := path.Dir(key); folder != "."; folder = path.Dir(folder) {
		if s.root.Remove(filepath.FromSlash(folder)) != nil {
			break
		}
	}
	return nil
}

func versionOf(data []byte) objstore.Version {
	sum := sha256.Sum256(data)
	return objstore.Version(hex.EncodeToString(sum[:]))
}

func check(ctx context.Context, key string) error {
	if err := objstore.ValidateKey(key); err != nil {
		return err
	}
	return ctx.Err()
}

// missing tells whether err says that a path, or a folder on the way to it, is not there.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// kindOf gives a file system error the meaning that callers act on.
func kindOf(err error) error {
	switch {
	case missing(err):
		return objstore.ErrNotExist
	case errors.Is(err, fs.ErrPermission):
		return objstore.ErrDenied
	}
	return objstore.ErrUnavailable
}

func wrap(verb, key string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s %q: %w", verb, key, err)
	}
	return fmt.Errorf("%s %q: %w: %w", verb, key, kindOf(err), err)
}
