package plugin_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// hardLimit is far above what the provider needs and far below what it takes when told to.
const hardLimit = 300 << 20

// startLimited starts a provider that may not hold more than the limit.
func startLimited(t *testing.T) providers.Interface {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells how large a process is")
	}
	return startFault(t, plugin.Options{HardMemory: hardLimit})
}

// TestOvergrownProcessIsEnded has a provider take more memory than it may, in calls that
// can be made again and in one that cannot. It is named, and the next call is answered.
func TestOvergrownProcessIsEnded(t *testing.T) {
	t.Parallel()
	t.Run("every time", func(t *testing.T) {
		t.Parallel()
		p := startLimited(t)
		before := pid(t, p)
		only(t, read(t.Context(), t, p, "eat@read").Diagnostics, "Plugin did not respond", "MiB of memory, more than it may")
		if pid(t, p) == before {
			t.Error("the process goes on")
		}
	})
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		p := startLimited(t)
		state := object(t, p, "fault_object", vals{"id": cty.StringVal("1"), "size": cty.NumberIntVal(1), "fault": cty.StringVal("eat-once@read"), "name": cty.StringVal(filepath.Join(t.TempDir(), "eaten"))})
		resp := p.ReadResource(t.Context(), providers.ReadResourceRequest{TypeName: "fault_object", PriorState: state})
		mustPass(t, resp.Diagnostics)
	})
	t.Run("in a change", func(t *testing.T) {
		t.Parallel()
		p := startLimited(t)
		resp := apply(t.Context(), t, p, "eat@apply")
		only(t, resp.Diagnostics, "Plugin did not respond", "more than it may")
		if !resp.Unanswered {
			t.Error("the change counts as answered")
		}
		mustPass(t, read(t.Context(), t, p, "").Diagnostics)
	})
}

// TestHungCallEnds has calls hang beyond their deadline while others go on. They name
// themselves, and a process in which nothing hangs takes the place of theirs.
func TestHungCallEnds(t *testing.T) {
	t.Parallel()
	p := startFault(t, plugin.Options{CallTimeout: 500 * time.Millisecond, ChangeTimeout: 700 * time.Millisecond})
	before := pid(t, p)
	hung := make(chan providers.ReadResourceResponse, 1)
	go func() { hung <- read(t.Context(), t, p, "stuck@read") }()
	mustPass(t, apply(t.Context(), t, p, "").Diagnostics)
	resp := <-hung
	only(t, resp.Diagnostics, "Plugin did not respond", "did not answer the ReadResource call within 500ms")
	if text := resp.Diagnostics.Err().Error(); !strings.Contains(text, "Provider towline/test") {
		t.Errorf("the problem names no provider: %s", text)
	}
	eventuallyReplaced(t, p, before)
	change := apply(t.Context(), t, p, "stuck@apply")
	only(t, change.Diagnostics, "Plugin did not respond", "did not answer the ApplyResourceChange call within 700ms")
	if !change.Unanswered {
		t.Error("the change counts as answered")
	}
}
