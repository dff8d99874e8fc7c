package demo

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestInterruptedDemoLeavesNothing interrupts the demonstration while its agent is
// at work: no process and no folder of it is left.
func TestInterruptedDemoLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := dir + "/demo"
	build := exec.Command("go", "build", "-o", program, "./cmd/demo")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience) // it is built and brought up first
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && !strings.Contains(lines.Text(), "[4/") {
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatalf("the demonstration had ended: %v", err)
	}
	for lines.Scan() {
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 1 {
		t.Errorf("an interrupted demonstration ended with %v, want status 1", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
	if left := commandsWith(t, dir); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

// commandsWith lists the processes whose command line holds a text.
func commandsWith(t *testing.T, text string) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, entry := range entries {
		line, err := os.ReadFile("/proc/" + entry.Name() + "/cmdline")
		if err == nil && strings.Contains(string(line), text) {
			out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}
