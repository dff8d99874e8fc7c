package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/demo"
)

// clockVariable names the file that says by how many seconds a program's clock is off.
const clockVariable = "TOWLINE_CHAOS_CLOCK"

// What becomes of package time: its clock, and not the one that only measures what has
// passed, is off by what the file says at that moment. To a program that is a machine
// whose clock was turned.
const (
	reading = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	turned  = reading + "\tsec += turnedBy()\n"
)

const turnedSource = `package time

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

var turnedSeconds = openTurned()

func turnedBy() int64 {
	if turnedSeconds == nil {
		return 0
	}
	return atomic.LoadInt64(turnedSeconds)
}

func openTurned() *int64 {
	name, given := syscall.Getenv("` + clockVariable + `")
	if !given {
		return nil
	}
	file, err := syscall.Open(name, syscall.O_RDONLY, 0)
	if err != nil {
		panic("open " + name + ": " + err.Error())
	}
	page, err := syscall.Mmap(file, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic("map " + name + ": " + err.Error())
	}
	return (*int64)(unsafe.Pointer(&page[0]))
}
`

// Build compiles the commands into a folder. Agents and providers are the shipped programs,
// word for word, on a Go whose clock can be turned from outside: a machine has one clock.
func Build(ctx context.Context, dir string) (demo.Programs, error) {
	overlay, err := turnable(ctx, dir)
	if err != nil {
		return demo.Programs{}, fmt.Errorf("make a clock that can be turned: %w", err)
	}
	return demo.Build(ctx, dir, overlay)
}

// turnable writes what package time becomes into a folder and returns the flag that
// has go build use it.
func turnable(ctx context.Context, dir string) (flag string, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find Go's own source: %w", err)
	}
	of := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	original, err := os.ReadFile(filepath.Join(of, "time.go"))
	if err != nil {
		return "", err
	}
	changed, err := replaceReading(string(original))
	if err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(of, "time.go"), err)
	}
	to := filepath.Join(dir, "time")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(of, "time.go"):   filepath.Join(to, "time.go"),
		filepath.Join(of, "turned.go"): filepath.Join(to, "turned.go"),
	}})
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return "", err
	}
	for name, content := range map[string]string{"time.go": changed, "turned.go": turnedSource, "overlay.json": string(overlay)} {
		if err := os.WriteFile(filepath.Join(to, name), []byte(content), 0o600); err != nil {
			return "", err
		}
	}
	return "-overlay=" + filepath.Join(to, "overlay.json"), nil
}

// replaceReading has the source of package time look at the file whenever it reads its clock.
func replaceReading(source string) (string, error) {
	if n := strings.Count(source, reading); n != 1 {
		return "", fmt.Errorf("the clock is read %d times as this expects it, and not once; adapt it to this version of Go:\n%s", n, reading)
	}
	return strings.Replace(source, reading, turned, 1), nil
}
