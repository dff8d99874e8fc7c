package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/towline/terraform-provider-towline/internal/bounds"
)

// FileStore is a state in a file. It locks the file itself, as terraform does, so
// the lock ends with the process.
type FileStore struct {
	path string

	mu   sync.Mutex
	held *os.File // holds the lock, nil without one
	id   string
}

// heldFiles are the state files that this process holds locked, by absolute path.
// They are read through the descriptor that holds the lock, because closing any other
// descriptor of the file would end it.
var heldFiles sync.Map

func (f *FileStore) key() string {
	if path, err := filepath.Abs(f.path); err == nil {
		return path
	}
	return f.path // without a working directory nothing else names it
}

// File returns the store of the state file at path.
func File(path string) *FileStore { return &FileStore{path: path} }

// String implements Store.
func (f *FileStore) String() string { return f.path }

// Path is where the state file is.
func (f *FileStore) Path() string { return f.path }

func (f *FileStore) infoPath() string {
	return filepath.Join(filepath.Dir(f.path), "."+filepath.Base(f.path)+".lock.info")
}

// pendingPath is where a new content waits until it has been written over the old.
func (f *FileStore) pendingPath() string {
	return filepath.Join(filepath.Dir(f.path), "."+filepath.Base(f.path)+".pending")
}

// Lock implements Store.
func (f *FileStore) Lock(_ context.Context, info LockInfo) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		return fmt.Errorf("make folder for state file: %w", err)
	}
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open state file: %w", err)
	}
	if err := unix.FcntlFlock(file.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}); err != nil {
		holder, _ := os.ReadFile(f.infoPath()) // unreadable means unknown
		return errors.Join(&LockError{Holder: parseLockInfo(holder), Reason: err}, file.Close())
	}
	f.held, f.id = file, info.ID
	heldFiles.Store(f.key(), file)
	info.Path = f.path
	data, err := json.Marshal(info)
	if err == nil {
		err = os.WriteFile(f.infoPath(), data, 0o600)
	}
	if err == nil {
		err = f.recover()
	}
	if err != nil {
		return errors.Join(err, f.release())
	}
	return nil
}

// recover finishes a write in the middle of which an earlier process ended.
func (f *FileStore) recover() error {
	data, err := bounds.ReadFile(f.pendingPath(), maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("recover state file: %w", err)
	}
	return f.overwrite(f.held, data)
}

// Unlock implements Store.
func (f *FileStore) Unlock(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil || f.id != id {
		return ErrNotShared
	}
	return f.release()
}

// release gives the lock back. A state file that was made only to be locked goes.
func (f *FileStore) release() error {
	var errs []error
	if err := os.Remove(f.infoPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, err)
	}
	if info, err := f.held.Stat(); err == nil && info.Size() == 0 {
		errs = append(errs, os.Remove(f.path))
	}
	heldFiles.Delete(f.key())
	errs = append(errs, f.held.Close())
	f.held = nil
	return errors.Join(errs...)
}

// Read implements Store.
func (f *FileStore) Read(context.Context) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if held, ok := heldFiles.Load(f.key()); ok {
		file, _ := held.(*os.File)
		var data []byte
		info, err := file.Stat()
		if err == nil {
			data, err = bounds.Read(io.NewSectionReader(file, 0, maxState+1), info.Size(), maxState)
		}
		if err != nil {
			return nil, fmt.Errorf("read state file: %w", err)
		}
		return data, nil
	}
	for _, path := range []string{f.pendingPath(), f.path} {
		data, err := bounds.ReadFile(path, maxState)
		if err == nil {
			return data, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read state file: %w", err)
		}
	}
	return nil, nil
}

// Write implements Store. The file stays the same one, because others wait for its
// lock; the content waits beside it until it has been written over wholly.
func (f *FileStore) Write(_ context.Context, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := f.opened()
	if errors.Is(err, fs.ErrNotExist) {
		return WriteFile(f.path, data) // there is nothing that anybody could have locked
	}
	if err != nil {
		return fmt.Errorf("open state file: %w", err)
	}
	if err = WriteFile(f.pendingPath(), data); err == nil {
		err = f.overwrite(file, data)
	}
	if !f.lockedHere() {
		err = errors.Join(err, file.Close())
	}
	return err
}

// opened is the state file, through the descriptor that holds its lock if this process does.
func (f *FileStore) opened() (*os.File, error) {
	if held, ok := heldFiles.Load(f.key()); ok {
		file, _ := held.(*os.File)
		return file, nil
	}
	return os.OpenFile(f.path, os.O_RDWR, 0o600)
}

// lockedHere tells whether this process holds the lock, in whatever store.
func (f *FileStore) lockedHere() bool {
	_, ok := heldFiles.Load(f.key())
	return ok
}

func (f *FileStore) overwrite(file *os.File, data []byte) error {
	_, err := file.WriteAt(data, 0)
	if err = errors.Join(err, file.Truncate(int64(len(data))), file.Sync()); err != nil {
		return fmt.Errorf("write state file: %w", err)
	}
	if err := os.Remove(f.pendingPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write state file: %w", err)
	}
	return nil
}

// WriteFile puts a file in place atomically, with its folder.
func WriteFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder for %s: %w", filepath.Base(path), err)
	}
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), errors.Join(err, os.Remove(tmp.Name())))
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
