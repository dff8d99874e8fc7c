package bounds

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrNotFile: what is there is a folder, a device or a pipe.
var ErrNotFile = errors.New("it is no regular file")

// ReadFile reads a regular file of at most limit bytes. It does not wait, as
// opening a named pipe would.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // which file is the caller's to say
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: %w", path, ErrNotFile)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("read %s: it is larger than %d bytes", path, limit)
	}
	return data, err
}
