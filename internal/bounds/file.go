package bounds

import (
	"bytes"
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
	data, err := Read(f, info.Size(), limit)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// Read reads at most limit bytes to the end, of which it is said that there are about size.
func Read(r io.Reader, size, limit int64) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(int(min(max(size, 0), limit)) + bytes.MinRead) // else it grows by copies
	if _, err := buf.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return nil, err
	}
	if int64(buf.Len()) > limit {
		return nil, fmt.Errorf("it is larger than %d bytes", limit)
	}
	return buf.Bytes(), nil
}
