package demo

import (
	"bufio"
	"context"
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

const (
	// stopGrace is how long a program may take to end when asked to. An agent
	// finishes the calls in flight first.
	stopGrace = 20 * time.Second
	// lastLines is how much of a program's log an error quotes.
	lastLines = 25
	// maxLogTail bounds what is read of a log for that, in bytes.
	maxLogTail = 64 << 10
)

// process is a program that a world has started. Its output goes to a file.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	// ended is closed when the program has ended; err is set before.
	ended chan struct{}
	err   error
}

// launch starts a program in the background. If banner is true, the first line
// that it writes to standard output is returned.
func launch(ctx context.Context, name string, cmd *exec.Cmd, logFile string, banner bool) (*process, string, error) {
	file, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, "", fmt.Errorf("start %s: %w", name, err)
	}
	defer file.Close() // the program has its own handle
	p := &process{name: name, cmd: cmd, log: logFile, ended: make(chan struct{})}
	cmd.SysProcAttr = OwnGroup()
	cmd.Stderr = file
	var stdout io.ReadCloser
	if banner {
		if stdout, err = cmd.StdoutPipe(); err != nil {
			return nil, "", fmt.Errorf("start %s: %w", name, err)
		}
	} else {
		cmd.Stdout = file
	}
	if err := cmd.Start(); err != nil {
		return nil, "", fmt.Errorf("start %s: %w", name, err)
	}
	line := make(chan string, 1)
	go func() {
		if banner {
			reader := bufio.NewReader(stdout)
			text, _ := reader.ReadString('\n') // a program that ends says why on standard error
			line <- strings.TrimSpace(text)
			_, _ = io.Copy(io.Discard, reader)
		}
		p.err = cmd.Wait()
		close(p.ended)
	}()
	if !banner {
		return p, "", nil
	}
	select {
	case text := <-line:
		if text == "" {
			p.stop()
			return nil, "", fmt.Errorf("start %s: it ended at once:\n%s", name, p.tail())
		}
		return p, text, nil
	case <-ctx.Done():
		p.stop()
		return nil, "", fmt.Errorf("start %s: %w", name, ctx.Err())
	}
}

// stop asks the program to end, waits, and ends it and what it has started.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may be gone
	select {
	case <-p.ended:
	case <-time.After(stopGrace):
	}
	p.kill()
}

// kill ends the program, and what it has started, at once.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // the group may be gone
	<-p.ended
}

// running tells whether the program has not ended.
func (p *process) running() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s has ended (%v):\n%s", p.name, p.err, p.tail())
	default:
		return nil
	}
}

// tail returns the last lines of the program's log.
func (p *process) tail() string {
	file, err := os.Open(p.log)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > maxLogTail {
		if _, err := file.Seek(-maxLogTail, io.SeekEnd); err != nil {
			return err.Error()
		}
	}
	data, err := io.ReadAll(io.LimitReader(file, maxLogTail))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
}

// run runs a program to its end and returns what it wrote to standard output and
// to standard error. The exit status is returned as it is; only a program that
// could not run is an error.
func run(ctx context.Context, cmd *exec.Cmd) (stdout, stderr string, status int, err error) {
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.SysProcAttr = OwnGroup()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = stopGrace
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && ctx.Err() == nil {
		return out.String(), errOut.String(), exit.ExitCode(), nil
	}
	if err != nil {
		return out.String(), errOut.String(), -1, fmt.Errorf("run %s: %w", filepath.Base(cmd.Path), errors.Join(err, ctx.Err()))
	}
	return out.String(), errOut.String(), 0, nil
}

// until asks again and again until the answer is yes, an error, or late.
func until(ctx context.Context, limit time.Duration, what string, ask func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		done, err := ask()
		if err != nil {
			return fmt.Errorf("waiting until %s: %w", what, err)
		}
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, ctx.Err())
		case <-tick.C:
		}
	}
}
