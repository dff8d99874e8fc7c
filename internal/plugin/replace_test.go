package plugin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// served is how many calls make a process that is too large be replaced.
const served = 2000

func readMany(t *testing.T, p providers.Interface, n int) {
	t.Helper()
	state := faulty(t, p, "")
	queue := make(chan struct{}, n)
	for range n {
		queue <- struct{}{}
	}
	close(queue)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range queue {
				if err := p.ReadResource(t.Context(), providers.ReadResourceRequest{TypeName: "fault_object", PriorState: state}).Diagnostics.Err(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
}

// pid asks a provider for the number of its process.
func pid(t *testing.T, p providers.Interface) int {
	t.Helper()
	resp := read(t.Context(), t, p, "pid@read")
	mustPass(t, resp.Diagnostics)
	n, err := strconv.Atoi(resp.NewState.GetAttr("name").AsString())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// startLarge starts a provider whose process counts as too large.
func startLarge(t *testing.T, region string) providers.Interface {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells how large a process is")
	}
	p := startIn(t, newPool(t, plugintest.Build(t, plugintest.Fault), plugin.Options{MaxMemory: 1}))
	configure(t, p, vals{"region": cty.StringVal(region)})
	return p
}

// A process that is too large is replaced under load: no call fails, the new one
// is configured, and the old one ends after its last call.
func TestLargeProcessIsReplaced(t *testing.T) {
	t.Parallel()
	p := startLarge(t, "north")
	before := pid(t, p)
	var wait sync.WaitGroup
	wait.Go(func() { mustPass(t, read(t.Context(), t, p, "ignore-cancel@read").Diagnostics) })
	readMany(t, p, 3*served)
	wait.Wait()
	eventuallyReplaced(t, p, before)
	applied := apply(t.Context(), t, p, "")
	mustPass(t, applied.Diagnostics)
	if got := applied.NewState.GetAttr("config"); got.IsNull() || got.AsString()[:5] != "north" {
		t.Errorf("the new process is configured as %#v", got)
	}
	eventuallyGone(t, before)
}

// eventuallyReplaced waits until another process than before answers.
func eventuallyReplaced(t *testing.T, p providers.Interface, before int) {
	t.Helper()
	for range 1000 {
		if pid(t, p) != before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is not replaced", before)
}

// eventuallyGone waits for a process to end.
func eventuallyGone(t *testing.T, pid int) {
	t.Helper()
	for range 1000 {
		if syscall.Kill(pid, 0) != nil {
			return
		}
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && len(stat) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d goes on", pid)
}

// What a process holds open would be lost with it.
func TestProcessWithSomethingOpenStays(t *testing.T) {
	t.Parallel()
	p := startLarge(t, "north")
	before := pid(t, p)
	config := cty.ObjectVal(vals{"name": cty.StringVal("n"), "token": cty.NullVal(cty.String), "pin": cty.NullVal(cty.String)})
	opened := p.OpenEphemeral(t.Context(), providers.OpenEphemeralRequest{TypeName: "fault_token", Config: config})
	mustPass(t, opened.Diagnostics)
	readMany(t, p, served+200)
	if pid(t, p) != before {
		t.Error("the process was replaced with something open")
	}
	mustPass(t, p.CloseEphemeral(t.Context(), providers.CloseEphemeralRequest{TypeName: "fault_token", Private: opened.Private}))
	readMany(t, p, 200)
	eventuallyReplaced(t, p, before)
}

// A replacement that cannot be configured, or never is, takes nothing from the process
// that serves, and leaves no process behind.
func TestFailedReplacement(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"hang", "refuse"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "second")
			p := startLarge(t, fault+" "+path)
			before := pid(t, p)
			readMany(t, p, served)
			second := writtenPid(t, path)
			readMany(t, p, 200)
			mustPass(t, apply(t.Context(), t, p, "").Diagnostics)
			if got := pid(t, p); got != before {
				t.Errorf("process %d answers instead of %d", got, before)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			eventuallyGone(t, before)
			eventuallyGone(t, second)
		})
	}
}

// writtenPid waits for the number that a process leaves in a file.
func writtenPid(t *testing.T, path string) int {
	t.Helper()
	for range 1000 {
		if data, err := os.ReadFile(path); err == nil && len(data) > 0 {
			n, err := strconv.Atoi(string(data))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("no second process was started")
	return 0
}

// Who is configured anew while the process is replaced keeps what it was told last:
// the replacement under way, which was told something else, is given up.
func TestConfigureDuringReplacement(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "second")
	p := startLarge(t, "hang "+path)
	before := pid(t, p)
	readMany(t, p, served)
	second := writtenPid(t, path)
	configure(t, p, vals{"region": cty.StringVal("south")})
	eventuallyGone(t, second)
	readMany(t, p, served+200)
	eventuallyReplaced(t, p, before)
	applied := apply(t.Context(), t, p, "")
	mustPass(t, applied.Diagnostics)
	if got := applied.NewState.GetAttr("config").AsString(); !strings.HasPrefix(got, "south") {
		t.Errorf("the new process is configured as %s", got)
	}
}
