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
	data, err := Read(f, info.Size(), limit)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// Read reads at most limit bytes to the end, of which it is said that there are about size.
func Read(r io.Reader, size, limit int64) ([]byte, error) {
	data := make([]byte, 0, min(max(size, 0), limit)+leastRead) // else it grows by copies
	for int64(len(data)) <= limit {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF) && int64(len(data)) <= limit:
			return data, nil
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
	return nil, fmt.Errorf("it is larger than %d bytes", limit)
}

// leastRead is room for the read that finds the end, in bytes.
const leastRead = 512
