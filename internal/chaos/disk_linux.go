package chaos

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// diskSize is the room of an agent's data folder: what it needs, many times over.
const diskSize = "size=16m"

// hasDisk tells whether agents get a disk of their own, which takes the right to mount one.
var hasDisk = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "towline-chaos-disk-")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if syscall.Mount("towline-chaos", dir, "tmpfs", 0, diskSize) != nil {
		return false
	}
	return syscall.Unmount(dir, syscall.MNT_DETACH) == nil
})

// mount gives the data folder a disk of its own.
func (m *member) mount() error {
	if !hasDisk() {
		return nil
	}
	if err := syscall.Mount("towline-chaos", m.dataDir(), "tmpfs", 0, diskSize); err != nil {
		return fmt.Errorf("give %s a disk of its own: %w", m.dataDir(), err)
	}
	return nil
}

// unmount takes the disk away; keep copies what is on it beside it before.
func (m *member) unmount(keep bool) error {
	if !hasDisk() {
		return nil
	}
	var err error
	if keep {
		err = os.CopyFS(m.dataDir()+"-kept", os.DirFS(m.dataDir()))
	}
	return errors.Join(err, syscall.Unmount(m.dataDir(), syscall.MNT_DETACH))
}

func (m *member) filler() string { return filepath.Join(m.dataDir(), "filler") }

// fill leaves no room on the disk.
func (m *member) fill() {
	file, err := os.Create(m.filler())
	if err != nil {
		return // it is full already
	}
	defer file.Close()
	block := make([]byte, 64<<10)
	for len(block) > 0 {
		if _, err := file.Write(block); err != nil {
			block = block[:len(block)/2] // the last bytes too
		}
	}
}

// free makes room again.
func (m *member) free() error {
	if err := os.Remove(m.filler()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make room again: %w", err)
	}
	return nil
}
