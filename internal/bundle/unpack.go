package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/towline/terraform-provider-towline/internal/trust"
)

// tempPattern names folders in the making. One that is old was left by a crash.
const (
	tempPrefix  = ".unpack-"
	tempPattern = tempPrefix + "*"
	leftoverAge = time.Hour
)

// headerRoom is how many bytes of tar headers each file may need beside its content.
const headerRoom = 8 << 10

// Unpack puts the files of a verified revision into dest, whose parent must exist
// and which must not ([fs.ErrExist]). dest appears whole or not at all, also after
// a crash.
func Unpack(revision trust.Verified, dest string, limits Limits) error {
	if err := unpack(revision, dest, limits); err != nil {
		return fmt.Errorf("unpack revision: %w", err)
	}
	return nil
}

func unpack(revision trust.Verified, dest string, limits Limits) error {
	if _, isChannel := trust.ChannelOf(revision.Role()); !revision.Valid() || !isChannel {
		return ErrUnverified
	}
	if size := int64(len(revision.Content())); size > limits.PackedSize {
		return fmt.Errorf("%w: the archive has %d bytes, and it may have %d", ErrLimit, size, limits.PackedSize)
	}
	if _, err := os.Lstat(dest); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s: %w", dest, fs.ErrExist), err)
	}
	parent := filepath.Dir(dest)
	removeLeftovers(parent)
	temp, err := os.MkdirTemp(parent, tempPattern)
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) // nothing is there any more after the rename
	if err := extract(revision.Content(), temp, limits); err != nil {
		return err
	}
	if err := os.Rename(temp, dest); err != nil {
		return err
	}
	return syncFolder(parent)
}

// extract writes an archive's files below dir.
func extract(archive []byte, dir string, limits Limits) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	decompressor, err := zstd.NewReader(bytes.NewReader(archive), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	defer decompressor.Close()
	stream := &bounded{reader: decompressor, left: limits.TotalSize + int64(limits.Files+1)*headerRoom}
	entries := tar.NewReader(stream)
	counted := tally{limits: limits}
	folders := map[string]bool{".": true}
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = extractFile(root, header, entries, &counted, folders)
		}
		if err != nil {
			return named(err)
		}
	}
	if counted.files == 0 {
		return fmt.Errorf("%w: it holds no files", ErrMalformed)
	}
	return syncFolders(root, folders)
}

// named gives errors of the archive's form their name.
func named(err error) error {
	var onDisk *fs.PathError
	if errors.Is(err, ErrLimit) || errors.Is(err, ErrUnsafe) || errors.As(err, &onDisk) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrMalformed, err)
}

func extractFile(root *os.Root, header *tar.Header, content io.Reader, counted *tally, folders map[string]bool) error {
	if header.Typeflag != tar.TypeReg {
		return fmt.Errorf("%w: %q is a link, folder or device; a revision holds only files", ErrUnsafe, header.Name)
	}
	if err := counted.add(header.Name, header.Size); err != nil {
		return err
	}
	folder := path.Dir(header.Name)
	if err := root.MkdirAll(filepath.FromSlash(folder), 0o755); err != nil {
		return err
	}
	for at := folder; !folders[at]; at = path.Dir(at) {
		folders[at] = true
	}
	mode := fs.FileMode(modeOf(fs.FileMode(header.Mode & 0o777))) //nolint:gosec // it has nine bits
	file, err := root.OpenFile(filepath.FromSlash(header.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.CopyN(file, content, header.Size)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func syncFolders(root *os.Root, folders map[string]bool) error {
	for folder := range folders {
		file, err := root.Open(filepath.FromSlash(folder))
		if err != nil {
			return err
		}
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

func syncFolder(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return syncFolders(root, map[string]bool{".": true})
}

// bounded ends with [ErrLimit] instead of giving more than its bytes.
type bounded struct {
	reader io.Reader
	left   int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("%w: it does not end", ErrLimit)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.reader.Read(p)
	b.left -= int64(n)
	return n, err
}

// removeLeftovers removes folders that a crash left. Failing to is harmless.
func removeLeftovers(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && strings.HasPrefix(entry.Name(), tempPrefix) && time.Since(info.ModTime()) > leftoverAge {
			_ = os.RemoveAll(filepath.Join(parent, entry.Name()))
		}
	}
}
