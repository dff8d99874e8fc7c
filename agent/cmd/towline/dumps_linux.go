package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// noDumps is a limit on core dumps that lets none be written, neither to a file, which
// would have to be larger, nor to a program, for which the kernel takes exactly this value
// as a prohibition.
const noDumps = 1

// forbidDumps keeps what is in this process's memory, and in that of every process it
// starts, out of core dumps, and this process's memory out of other processes' reach.
func forbidDumps() error {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &now); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	limit := min(noDumps, now.Max) // whoever started us may have forbidden more
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil && now.Cur > noDumps {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	return nil
}
