package agent_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// unconditional is a store that ignores the condition of creations.
type unconditional struct{ objstore.Store }

func (s unconditional) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.Put(ctx, key, data)
}

// TestStoreThatIgnoresConditions: an agent finds out before it takes the lease, whether it
// enrols there or was at work before, and touches nothing.
func TestStoreThatIgnoresConditions(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(*world){
		"new agent":      func(*world) {},
		"agent at work":  func(w *world) { w.round(control.OutcomeApplied) },
		"agent enrolled": func(w *world) { w.round(control.OutcomeApplied); w.remove("one") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publish(`resource "cloud_thing" "one" { name = "one" }`)
			before(w)
			want := w.names()
			w.store.Store = unconditional{w.store.Store}
			var log bytes.Buffer
			if got := w.roundLogged(&log); got != control.OutcomeFailed {
				t.Errorf("outcome %q; want %q", got, control.OutcomeFailed)
			}
			if !strings.Contains(log.String(), "ignores conditions") {
				t.Errorf("the log does not tell why:\n%s", log.String())
			}
			if got := w.names(); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("the cloud holds %v; want %v, as before", got, want)
			}
		})
	}
}
