package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// MeterVerb is the first argument with which this program measures another one
// and exits, see [Meter].
const MeterVerb = "meter"

// reportFD is where the meter writes its report: standard streams belong to the
// program that it measures.
const reportFD = 3

// maxOutput bounds what is kept of a program's output for an error.
const maxOutput = 8 << 10

// usage is what a program took.
type usage struct {
	Wall time.Duration `json:"wall"`
	CPU  time.Duration `json:"cpu"`
	// Peak is the resident memory, in bytes, of the largest of the program's
	// processes: itself and all that it has waited for.
	Peak   float64 `json:"peak"`
	Status int     `json:"status"`
}

// Meter runs a program and writes what it took to file descriptor 3. It is a
// process of its own because the kernel counts the memory of whoever forks
// towards the child: measured from a process that has just planned 50,000
// resources, every program would seem large.
func Meter(args []string) error {
	if len(args) == 0 {
		return errors.New("measure a program: none is named")
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	begin := time.Now()
	err := cmd.Run()
	took := time.Since(begin)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("measure %s: %w", args[0], err)
	}
	u := usage{Wall: took, CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), Status: cmd.ProcessState.ExitCode()}
	rusage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return fmt.Errorf("measure %s: the system keeps no account of memory", args[0])
	}
	u.Peak = float64(rusage.Maxrss) * maxrssUnit
	report := os.NewFile(reportFD, "report")
	if err := errors.Join(json.NewEncoder(report).Encode(u), report.Close()); err != nil {
		return fmt.Errorf("measure %s: %w", args[0], err)
	}
	return nil
}

// command is a program to be measured.
type command struct {
	dir  string
	env  []string
	args []string
	// want is the exit status that says that the right work was done.
	want int
}

// measure runs a program through the meter. Its output is thrown away unless it fails.
func measure(ctx context.Context, c command) (usage, error) {
	self, err := os.Executable()
	if err != nil {
		return usage{}, fmt.Errorf("find the meter: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return usage{}, fmt.Errorf("open the meter: %w", err)
	}
	defer read.Close()
	output := &tailBuffer{}
	cmd := exec.CommandContext(ctx, self, append([]string{MeterVerb}, c.args...)...)
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.Stdout, cmd.Stderr = output, output
	cmd.ExtraFiles = []*os.File{write}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	err = cmd.Run()
	write.Close()
	name := filepath.Base(c.args[0]) + " " + strings.Join(c.args[1:], " ")
	if err != nil {
		return usage{}, fmt.Errorf("measure %s: %w\n%s", name, errors.Join(err, ctx.Err()), output)
	}
	var u usage
	if err := json.NewDecoder(io.LimitReader(read, 4096)).Decode(&u); err != nil {
		return usage{}, fmt.Errorf("measure %s: read the meter: %w", name, err)
	}
	if u.Status != c.want {
		return u, fmt.Errorf("measure %s: exit status %d, not %d:\n%s", name, u.Status, c.want, output)
	}
	return u, nil
}

// tailBuffer keeps the end of what is written to it.
type tailBuffer struct{ buf bytes.Buffer }

// Write implements [io.Writer].
func (t *tailBuffer) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if extra := t.buf.Len() - maxOutput; extra > 0 {
		t.buf.Next(extra)
	}
	return len(p), nil
}

func (t *tailBuffer) String() string { return t.buf.String() }
