package plugin_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// parentVariable makes the test's program a parent that starts a provider and waits.
const parentVariable = "TOWLINE_TEST_PROVIDER_PARENT"

func TestProviderDiesWithItsParent(t *testing.T) {
	t.Parallel()
	if os.Getenv(parentVariable) != "" {
		beParent(t)
		return
	}
	parent := exec.Command(os.Args[0], "-test.run=^TestProviderDiesWithItsParent$")
	parent.Env = append(os.Environ(), parentVariable+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var provider int
	for provider == 0 && lines.Scan() {
		_, _ = fmt.Sscanf(lines.Text(), "provider %d", &provider)
	}
	if provider == 0 {
		t.Fatal("the parent started no provider")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	for deadline := time.Now().Add(10 * time.Second); alive(provider); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(provider, syscall.SIGKILL)
			t.Fatal("the provider goes on without its parent")
		}
	}
}

// beParent starts a provider, says which process it is, and waits to be killed.
func beParent(t *testing.T) {
	p := startFault(t, noOptions)
	mustPass(t, read(t.Context(), t, p, "").Diagnostics)
	pids, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range pids {
		children, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		for _, pid := range strings.Fields(string(children)) {
			fmt.Println("provider", pid)
		}
	}
	read(t.Context(), t, p, "stuck@read")
}

// alive tells whether a process runs; one that nobody has waited for does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
