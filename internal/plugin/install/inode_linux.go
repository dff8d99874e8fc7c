package install

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// inode returns which file this is and when anything about it changed last, by a
// clock that programs cannot set for a file.
func inode(info fs.FileInfo) (identity string, changed time.Time, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", time.Time{}, false
	}
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino), time.Unix(stat.Ctim.Unix()), true
}
