package bench

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// Machine says in one line on what and when something was measured.
func Machine(ctx context.Context, now time.Time) string {
	parts := []string{now.Format(time.DateOnly), runtime.GOOS + "/" + runtime.GOARCH, fmt.Sprintf("%d cores", runtime.NumCPU())}
	if fs, err := procfs.NewDefaultFS(); err == nil { // other systems say less of themselves
		if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
			parts = append(parts, cpus[0].ModelName)
		}
		if memory, err := fs.Meminfo(); err == nil && memory.MemTotal != nil {
			parts = append(parts, fmt.Sprintf("%d GB", *memory.MemTotal>>20))
		}
		if load, err := fs.LoadAvg(); err == nil {
			parts = append(parts, fmt.Sprintf("load %.1f at the start", load.Load1))
		}
	}
	parts = append(parts, runtime.Version())
	if out, err := exec.CommandContext(ctx, "terraform", "version").Output(); err == nil {
		line, _, _ := strings.Cut(string(out), "\n")
		parts = append(parts, strings.TrimSpace(line))
	}
	return strings.Join(parts, ", ")
}
