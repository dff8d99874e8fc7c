package repository

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

const (
	// grantFolder is the folder of an agent's data folder that holds files about grants.
	grantFolder = "grants"
	// maxFolderFiles bounds the files of such a folder: it holds what is in force, and
	// what the store does not have yet.
	maxFolderFiles = 200
)

// ErrFolderFull: an agent's machine holds as many files about grants as it may.
var ErrFolderFull = errors.New("the folder holds as many files as it may")

// GrantFolder holds files about grants on an agent's machine, for when the store cannot
// be reached. It is believed no more than the store: who can write there can neither
// open nor close a grant. All methods may be called by several processes at once.
type GrantFolder struct{ dataDir, environment string }

// OpenGrantFolder names the folder of an agent's data folder. It is made by the first
// file that is added.
func OpenGrantFolder(dataDir, environment string) GrantFolder {
	return GrantFolder{dataDir, environment}
}

// Path is where the folder is.
func (f GrantFolder) Path() string { return filepath.Join(f.dataDir, grantFolder) }

// Read returns the files that are signed and in their place. refused says of each other
// why it counts for nothing.
func (f GrantFolder) Read() (files GrantFiles, refused []error, err error) {
	files = GrantFiles{}
	root, err := os.OpenRoot(f.dataDir)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", f.Path(), err)
	}
	defer root.Close()
	names, more, err := f.names(root)
	if err != nil {
		return nil, nil, err
	}
	if more {
		refused = append(refused, fmt.Errorf("%s: there are more than %d files, and only the first are read; remove what does not belong there", f.Path(), maxFolderFiles))
	}
	for _, name := range names {
		id, file, err := f.read(root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		case err != nil:
			refused = append(refused, fmt.Errorf("%s: %w", filepath.Join(f.Path(), name), err))
		default:
			files[id] = append(files[id], file)
		}
	}
	return files, refused, nil
}

// GrantListing is what a folder looks like from outside. It tells whether what was read
// of the folder is still what is there.
type GrantListing struct {
	at    time.Time
	names []string
	files []fs.FileInfo
}

// settledAge is how long ago a file must have been changed for its time to tell of every
// change: clocks of file systems tick slowly.
const settledAge = 2 * time.Second

// List looks at the folder without reading files. What is read of it afterwards is not
// older than the listing.
func (f GrantFolder) List() (GrantListing, error) {
	listing := GrantListing{at: time.Now()}
	root, err := os.OpenRoot(f.dataDir)
	if err != nil {
		return listing, fmt.Errorf("list %s: %w", f.Path(), err)
	}
	defer root.Close()
	if listing.names, _, err = f.names(root); err != nil {
		return listing, err
	}
	for _, name := range listing.names {
		info, err := root.Lstat(filepath.Join(grantFolder, name))
		if err != nil {
			return listing, fmt.Errorf("list %s: %w", f.Path(), err)
		}
		listing.files = append(listing.files, info)
	}
	return listing, nil
}

// Same tells that nothing has changed from one listing to a later one: there are the same
// files, and none was changed so shortly before the first that a change after it may not show.
func (l GrantListing) Same(later GrantListing) bool {
	return slices.Equal(l.names, later.names) && slices.EqualFunc(l.files, later.files, func(a, b fs.FileInfo) bool {
		return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime()) &&
			a.ModTime().Before(l.at.Add(-settledAge))
	})
}

// names lists the folder, without what is in the making; more tells that there are too many.
func (f GrantFolder) names(root *os.Root) (names []string, more bool, err error) {
	info, err := root.Lstat(grantFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err == nil && !info.IsDir() {
		err = errors.New("it is no folder")
	}
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", f.Path(), err)
	}
	dir, err := root.Open(grantFolder)
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", f.Path(), err)
	}
	defer dir.Close()
	all, err := dir.Readdirnames(2 * maxFolderFiles)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("read %s: %w", f.Path(), err)
	}
	names = slices.DeleteFunc(all, func(name string) bool { return strings.HasPrefix(name, ".") })
	slices.Sort(names)
	more = len(names) > maxFolderFiles
	return names[:min(len(names), maxFolderFiles)], more, nil
}

// read reads one file, which must be what its name says.
func (f GrantFolder) read(root *os.Root, name string) (id string, file SignedFile, err error) {
	key, id, ok := f.keyOf(name)
	if !ok {
		return "", file, errors.New("no file about a grant has such a name")
	}
	path := filepath.Join(grantFolder, name)
	info, err := root.Lstat(path)
	if err != nil {
		return "", file, err
	}
	if !info.Mode().IsRegular() {
		return "", file, errors.New("it is no regular file")
	}
	opened, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", file, err
	}
	defer opened.Close()
	data, err := io.ReadAll(io.LimitReader(opened, control.MaxDocument+1))
	if err != nil {
		return "", file, err
	}
	if len(data) > control.MaxDocument {
		return "", file, fmt.Errorf("%w (limit %d bytes)", objstore.ErrTooLarge, control.MaxDocument)
	}
	return id, SignedFile{Key: key, Data: data}, control.CheckGrantFile(f.environment, key, data)
}

// nameOf is a key's part below the environment's grants as one name: no part of it has a dot.
func (f GrantFolder) nameOf(key string) string {
	return strings.ReplaceAll(strings.TrimPrefix(key, control.GrantsPrefix(f.environment)), "/", ".")
}

// keyOf is the reverse of nameOf; ok is false for any other name.
func (f GrantFolder) keyOf(name string) (key, id string, ok bool) {
	last := strings.LastIndex(name, ".")
	if last < 0 {
		return "", "", false
	}
	key = control.GrantsPrefix(f.environment) + strings.ReplaceAll(name[:last], ".", "/") + name[last:]
	id, _, ok = control.ParseGrantKey(f.environment, key)
	return key, id, ok
}

// Add writes a file once. What it is there with is no error if it is the same;
// [objstore.ErrExist] if it is something else, [ErrFolderFull] if there are too many.
func (f GrantFolder) Add(file SignedFile) error {
	if err := f.add(file); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(f.Path(), f.nameOf(file.Key)), err)
	}
	return nil
}

func (f GrantFolder) add(file SignedFile) error {
	root, owner, err := f.open()
	if err != nil {
		return err
	}
	defer root.Close()
	names, _, err := f.names(root)
	if err != nil {
		return err
	}
	removeLeftovers(root)
	name := f.nameOf(file.Key)
	if len(names) >= maxFolderFiles && !slices.Contains(names, name) {
		return ErrFolderFull
	}
	temp := filepath.Join(grantFolder, "."+rand.Text())
	defer root.Remove(temp)
	if err := writeOwned(root, temp, file.Data, owner); err != nil {
		return err
	}
	err = root.Link(temp, filepath.Join(grantFolder, name))
	if errors.Is(err, fs.ErrExist) {
		if _, there, err := f.read(root, name); err == nil && bytes.Equal(there.Data, file.Data) {
			return nil
		}
		return objstore.ErrExist
	}
	if err != nil {
		return err
	}
	return syncFolder(root)
}

// open makes the folder, for the user whose the data folder is.
func (f GrantFolder) open() (*os.Root, *syscall.Stat_t, error) {
	root, err := os.OpenRoot(f.dataDir)
	if err != nil {
		return nil, nil, err
	}
	var owner *syscall.Stat_t
	info, err := root.Stat(".")
	if err == nil {
		owner, _ = info.Sys().(*syscall.Stat_t)
		err = root.Mkdir(grantFolder, 0o700)
	}
	switch {
	case err == nil && mustGive(owner):
		err = root.Lchown(grantFolder, int(owner.Uid), int(owner.Gid))
	case errors.Is(err, fs.ErrExist):
		err = nil
	}
	if err != nil {
		return nil, nil, errors.Join(err, root.Close())
	}
	return root, owner, nil
}

// mustGive tells whether root writes for another user: the agent must be able to read it.
func mustGive(owner *syscall.Stat_t) bool { return owner != nil && os.Geteuid() == 0 && owner.Uid != 0 }

// writeOwned writes a file durably, for the folder's owner to read.
func writeOwned(root *os.Root, path string, data []byte, owner *syscall.Stat_t) error {
	file, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = file.Write(data); err == nil && mustGive(owner) {
		err = file.Chown(int(owner.Uid), int(owner.Gid))
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// leftoverAge is how old a file in the making must be to have been left by a writer that died.
const leftoverAge = time.Hour

func removeLeftovers(root *os.Root) {
	entries, err := fs.ReadDir(root.FS(), grantFolder)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && strings.HasPrefix(entry.Name(), ".") && time.Since(info.ModTime()) > leftoverAge {
			root.Remove(filepath.Join(grantFolder, entry.Name()))
		}
	}
}

func syncFolder(root *os.Root) error {
	dir, err := root.Open(grantFolder)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Remove removes a file that is not needed any more.
func (f GrantFolder) Remove(key string) error {
	root, err := os.OpenRoot(f.dataDir)
	if err == nil {
		defer root.Close()
		err = root.Remove(filepath.Join(grantFolder, f.nameOf(key)))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", filepath.Join(f.Path(), f.nameOf(key)), err)
	}
	return nil
}
