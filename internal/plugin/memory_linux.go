package plugin

import (
	"fmt"
	"os"
)

// residentMemory is how much memory a process holds, in bytes; 0 if that is not known.
func residentMemory(pid int) uint64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var virtual, resident uint64 // in pages
	if _, err := fmt.Sscan(string(data), &virtual, &resident); err != nil {
		return 0
	}
	return resident * uint64(os.Getpagesize()) //nolint:gosec // a page has a positive size
}
