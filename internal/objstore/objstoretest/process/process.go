package process

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"time"
)

// startAttempts covers a free port being taken by someone else in between.
const startAttempts = 3

// startTimeout is generous: a loaded machine may take seconds to start a process.
const startTimeout = 60 * time.Second

// Process is a running server.
type Process struct {
	// Endpoint is the server's URL on the loopback interface.
	Endpoint string

	command *exec.Cmd
	output  *lockedBuffer
	ended   chan struct{}
}

// Start starts the server that command makes for a free address, and waits until it
// answers anything at all under path. The output is kept for errors.
func Start(ctx context.Context, path string, command func(address string) *exec.Cmd) (*Process, error) {
	for attempt := 1; ; attempt++ {
		p, err := startOnce(ctx, path, command)
		if err == nil {
			return p, nil
		}
		if attempt == startAttempts || ctx.Err() != nil {
			return nil, err
		}
	}
}

func startOnce(ctx context.Context, path string, command func(address string) *exec.Cmd) (*Process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p := &Process{Endpoint: "http://" + address, command: command(address), output: &lockedBuffer{}, ended: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = p.output, p.output
	endWithParent(p.command)
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.command.Wait() // it is killed, so that its status says nothing
		close(p.ended)
	}()
	if err := p.waitReady(ctx, path); err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

func (p *Process) waitReady(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Endpoint+path, nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			return resp.Body.Close()
		}
		select {
		case <-p.ended:
			return fmt.Errorf("it ended at once: %s", p.output)
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w: %s", ctx.Err(), p.output)
		case <-tick.C:
		}
	}
}

// Stop ends the server and waits until it is gone. A second call does nothing.
func (p *Process) Stop() {
	_ = p.command.Process.Kill() // fails only if the server is gone already
	<-p.ended
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// lockedBuffer is written by the process and read by whoever reports on it.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
