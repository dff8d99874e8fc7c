//go:build unix

package simcloud

import (
	"os"
	"syscall"
)

// lock takes the file for this process until it closes the file or ends.
func lock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
