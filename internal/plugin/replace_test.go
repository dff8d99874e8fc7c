package plugin_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/plugin"
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

func startLarge(t *testing.T) providers.Interface {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells how large a process is")
	}
	return startFault(t, plugin.Options{MaxMemory: 1})
}

// A process that is too large is replaced under load: no call fails, the new one
// is configured, and the old one ends after its last call.
func TestLargeProcessIsReplaced(t *testing.T) {
	t.Parallel()
	p := startLarge(t)
	before := pid(t, p)
	var wait sync.WaitGroup
	wait.Go(func() { mustPass(t, read(t.Context(), t, p, "ignore-cancel@read").Diagnostics) })
	readMany(t, p, 3*served)
	wait.Wait()
	if after := pid(t, p); after == before {
		t.Error("the process was not replaced")
	}
	applied := apply(t.Context(), t, p, "")
	mustPass(t, applied.Diagnostics)
	if got := applied.NewState.GetAttr("config"); got.IsNull() || got.AsString()[:5] != "north" {
		t.Errorf("the new process is configured as %#v", got)
	}
	eventuallyGone(t, before)
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
	p := startLarge(t)
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
	if pid(t, p) == before {
		t.Error("the process was not replaced after the last was closed")
	}
}
