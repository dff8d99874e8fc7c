package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// childrenOf lists the processes that a process and its children have started,
// from Linux's list of processes.
func childrenOf(parent int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return nil, fmt.Errorf("list processes: found %d (%w)", len(stats), err)
	}
	started := map[int][]int{}
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended in between
		}
		// The name in brackets may hold anything; state and parent follow it.
		text := string(data)
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		fields := strings.Fields(text[strings.LastIndex(text, ")")+1:])
		if err != nil || len(fields) < 2 {
			continue
		}
		if by, err := strconv.Atoi(fields[1]); err == nil {
			started[by] = append(started[by], pid)
		}
	}
	var out []int
	for next := started[parent]; len(next) > 0; {
		out = append(out, next...)
		var below []int
		for _, pid := range next {
			below = append(below, started[pid]...)
		}
		next = below
	}
	return out, nil
}
