package install

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// unpack extracts a packed package into a folder that exists and is empty. An
// archive that is too large or leads out of the folder is refused.
func unpack(archive, dir string) error {
	reader, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("cannot read the provider package: %w", err)
	}
	defer reader.Close() //nolint:errcheck // it was only read
	if len(reader.File) > maxFiles {
		return fmt.Errorf("cannot unpack the provider package: it has more than %d files", maxFiles)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("cannot unpack the provider package: %w", err)
	}
	defer root.Close() //nolint:errcheck // files are closed one by one
	left := int64(maxUnpacked)
	for _, file := range reader.File {
		n, err := unpackFile(root, file, left)
		if err != nil {
			return fmt.Errorf("cannot unpack %q of the provider package: %w", file.Name, err)
		}
		left -= n
	}
	return nil
}

func unpackFile(root *os.Root, file *zip.File, limit int64) (int64, error) {
	name := filepath.FromSlash(file.Name)
	switch {
	case !filepath.IsLocal(name):
		return 0, errors.New("its name leads out of the package")
	case file.FileInfo().IsDir():
		return 0, root.MkdirAll(name, 0o755)
	case !file.Mode().IsRegular():
		return 0, errors.New("it is not a regular file")
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return 0, err
	}
	in, err := file.Open()
	if err != nil {
		return 0, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	out, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, file.Mode().Perm()&0o755|0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, io.LimitReader(in, limit+1))
	if err == nil && n > limit {
		err = errors.New("the package is too large")
	}
	return n, errors.Join(err, out.Close())
}
