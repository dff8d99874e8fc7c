package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// TestMain makes the test binary the command itself when a test starts it so.
func TestMain(m *testing.M) {
	if os.Getenv("SIMCLOUD_AS_COMMAND") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// launch starts the command and returns the process and the URL it printed.
func launch(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), executable, append(args, "-listen", "127.0.0.1:0")...)
	cmd.Env = append(os.Environ(), "SIMCLOUD_AS_COMMAND=1")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the command printed no URL: %v", err)
	}
	return cmd, strings.TrimSpace(url)
}

// TestKilledServerKeepsWhatItAnswered kills the server among many writers: every
// write that was answered must be there afterwards, and nothing half.
func TestKilledServerKeepsWhatItAnswered(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	cmd, url := launch(t, "-data", data)
	c, err := client.New(client.Config{Endpoint: url})
	if err != nil {
		t.Fatal(err)
	}
	const writers, killAfter = 8, 300
	answered := make(chan cloudapi.Ref, 100_000)
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for i := 0; ; i++ {
				ref := cloudapi.Ref{Environment: "prod", Service: "shop", Kind: "config", Name: fmt.Sprintf("w%d-%d", writer, i)}
				if _, err := c.Create(t.Context(), ref, map[string]any{"data": map[string]any{"n": fmt.Sprint(i)}}); err != nil {
					return
				}
				answered <- ref
			}
		})
	}
	var acknowledged []cloudapi.Ref
	for range killAfter {
		acknowledged = append(acknowledged, <-answered)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	close(answered)
	for ref := range answered {
		acknowledged = append(acknowledged, ref)
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) {
		t.Fatalf("the killed server ended with %v", err)
	}
	checkSurvivors(t, data, acknowledged)
}

func checkSurvivors(t *testing.T, data string, acknowledged []cloudapi.Ref) {
	t.Helper()
	cmd, url := launch(t, "-data", data)
	c, err := client.New(client.Config{Endpoint: url})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := c.List(t.Context(), cloudapi.Ref{})
	if err != nil {
		t.Fatal(err)
	}
	there, ids := make(map[cloudapi.Ref]bool), make(map[string]bool)
	for _, object := range objects {
		there[object.Ref], ids[object.ID] = true, true
	}
	if len(ids) != len(objects) {
		t.Errorf("%d objects share %d ids", len(objects), len(ids))
	}
	for _, ref := range acknowledged {
		if !there[ref] {
			t.Errorf("%s was answered and is gone", ref)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("an interrupted server ended with %v, want success", err)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		want string
	}{
		"unknown flag":  {[]string{"-nope"}, "not defined"},
		"argument":      {[]string{"extra"}, "unexpected argument"},
		"bad token":     {[]string{"-token", "secret=nowhere"}, "ENVIRONMENT/SERVICE"},
		"bad latency":   {[]string{"-latency", "soon"}, "latency"},
		"negative rate": {[]string{"-rate", "-1"}, "rate must not be negative"},
		"no number":     {[]string{"-fail", "NaN"}, "between 0 and 1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			err := run(t.Context(), test.args, io.Discard, &stderr)
			if err == nil {
				t.Fatal("the command started")
			}
			if said := stderr.String() + err.Error(); !strings.Contains(said, test.want) {
				t.Errorf("said %q, want %q", said, test.want)
			}
		})
	}
}
