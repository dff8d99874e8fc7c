package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

func (w *world) data(name string) string { return filepath.Join(w.dir, "data", name) }

// change rewrites a file of the agent's data folder.
func (w *world) change(name string, f func([]byte) []byte) {
	w.t.Helper()
	content, err := os.ReadFile(w.data(name))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.data(name), f(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) erase(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(w.data(name)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// creations counts the creates that the cloud was asked for.
func (w *world) creations() int {
	n := 0
	for _, call := range w.cloud.Calls("ApplyResourceChange") {
		if req, ok := call.Request.(providers.ApplyResourceChangeRequest); ok && req.PriorState.IsNull() {
			n++
		}
	}
	return n
}

// atRest is a world with two things, kept since two rounds, and the agent stopped.
func atRest(t *testing.T) *world {
	w := newWorld(t)
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.round(control.OutcomeConverged)
	w.stop()
	return w
}

// damages are ways in which the files of an agent get lost.
var damages = map[string]func(w *world){
	"nothing":          func(*world) {},
	"state removed":    func(w *world) { w.erase("state.json") },
	"state empty":      func(w *world) { w.change("state.json", func([]byte) []byte { return nil }) },
	"state cut short":  func(w *world) { w.change("state.json", func(b []byte) []byte { return b[:len(b)/2] }) },
	"state garbage":    func(w *world) { w.change("state.json", func([]byte) []byte { return []byte("\x00\xffwhat") }) },
	"state of nothing": func(w *world) { w.change("state.json", emptied) },
	"state with a wrong bit": func(w *world) {
		w.change("state.json", func(b []byte) []byte { return bytes.Replace(b, []byte("cloud_thing-1"), []byte("cloud_thing-3"), 1) })
	},
	"memory removed":           func(w *world) { w.erase("memory.json") },
	"memory and state removed": func(w *world) { w.erase("memory.json", "state.json") },
	"memory removed, state garbage": func(w *world) {
		w.erase("memory.json")
		w.change("state.json", func([]byte) []byte { return []byte("{") })
	},
	"all but the key removed": func(w *world) {
		w.erase("memory.json", "state.json", "state.json.journal", "repository", "revisions", "outbox")
	},
}

// emptied is a well-formed state without objects.
func emptied(b []byte) []byte {
	at := bytes.Index(b, []byte(`"resources"`))
	return append(bytes.Clone(b[:at]), []byte(`"resources": [], "check_results": null}`)...)
}

func TestDamagedDataNeverCreatesTwice(t *testing.T) {
	t.Parallel()
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := atRest(t)
			damage(w)
			w.round(control.OutcomeConverged) // and the chain of receipts goes on, or reading it fails
			if got := w.creations(); got != 2 {
				t.Errorf("%d things were created, want 2", got)
			}
			w.edit("b", "size", cty.NumberIntVal(7))
			if receipt := w.round(control.OutcomeApplied); len(receipt.Drift) != 1 || w.creations() != 2 {
				t.Errorf("drift is not corrected as before: %+v", receipt.Drift)
			}
			if got := len(w.receipts()); got != 4 {
				t.Errorf("%d receipts, want 4", got)
			}
		})
	}
}

func TestDamagedDataWithoutStoreDoesNothing(t *testing.T) {
	t.Parallel()
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := atRest(t)
			damage(w)
			w.store.set(true)
			if err := w.start(); err != nil {
				t.Fatal(err)
			}
			w.agent.Round(t.Context())
			if got := w.creations(); got != 2 {
				t.Errorf("%d things were created, want 2", got)
			}
			w.store.set(false)
			w.round(control.OutcomeConverged)
			if got := w.creations(); got != 2 {
				t.Errorf("%d things were created after the store came back, want 2", got)
			}
		})
	}
}

// TestStateThatTheStoreNeverGot: changes were made while the store was away, and
// then the state is lost. Nobody knows the objects, so nothing may be created.
func TestStateThatTheStoreNeverGot(t *testing.T) {
	t.Parallel()
	w := atRest(t)
	w.round(control.OutcomeConverged)
	w.store.set(true)
	w.edit("a", "size", cty.NumberIntVal(9))
	w.remove("b")
	w.round(control.OutcomeApplied)
	w.stop()
	right, err := os.ReadFile(w.data("state.json"))
	if err != nil {
		t.Fatal(err)
	}
	w.erase("state.json")
	w.store.set(false)
	log := &strings.Builder{}
	w.advance(1)
	if got := w.roundLogged(log); got != control.OutcomeFailed || !strings.Contains(log.String(), "nothing is done") || w.creations() != 3 {
		t.Errorf("outcome %s with %d creations: %s", got, w.creations(), log)
	}
	w.stop()
	w.erase("memory.json") // the way out that the message names
	if err := os.WriteFile(w.data("state.json"), right, 0o600); err != nil {
		t.Fatal(err)
	}
	w.round(control.OutcomeConverged)
	if w.creations() != 3 {
		t.Errorf("%d things were created, want 3", w.creations())
	}
}

// TestAttackReceiptsBehindOthers: the memory is lost, and the newest receipts in the store
// are nobody's. The agent does not begin at 0, where spent approvals would hold again.
func TestAttackReceiptsBehindOthers(t *testing.T) {
	t.Parallel()
	w := atRest(t)
	w.round(control.OutcomeConverged)
	w.stop()
	w.erase("memory.json")
	for i := range int64(repository.MaxDoubtful) {
		w.put(control.ReceiptKey("prod", "a1", 9, i+1), "{}")
	}
	log := &strings.Builder{}
	w.advance(1)
	if got := w.roundLogged(log); got != control.OutcomeFailed || !strings.Contains(log.String(), "none of the newest is signed by an agent of the environment") {
		t.Errorf("outcome %s: %s", got, log)
	}
	w.stop()
	for i := range int64(repository.MaxDoubtful) { // the way out that the message names
		if err := w.store.Delete(t.Context(), control.ReceiptKey("prod", "a1", 9, i+1)); err != nil {
			t.Fatal(err)
		}
	}
	w.round(control.OutcomeConverged)
}

// TestOlderCopyOfTheDataFolder: a machine is restored from a backup.
func TestOlderCopyOfTheDataFolder(t *testing.T) {
	t.Parallel()
	w := atRest(t)
	backup := t.TempDir()
	if err := os.CopyFS(backup, os.DirFS(w.data(""))); err != nil {
		t.Fatal(err)
	}
	w.publish(twoThings + "resource \"cloud_thing\" \"c\" {\n  name = \"c\"\n}\n")
	w.round(control.OutcomeApplied)
	w.stop()
	w.erase("")
	if err := os.CopyFS(w.data(""), os.DirFS(backup)); err != nil {
		t.Fatal(err)
	}
	w.round(control.OutcomeConverged)
	if w.creations() != 3 || len(w.receipts()) != 4 {
		t.Errorf("%d things were created, want 3; %d receipts, want 4", w.creations(), len(w.receipts()))
	}
}

func TestDamagedMemoryAndJournalAreNamed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"memory.json": "remove it", "state.json.journal": "damaged"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := atRest(t)
			w.change(name, func([]byte) []byte { return []byte("{\"what\n") })
			if err := w.start(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want a message with %q", err, want)
			}
			w.agent = nil
			w.erase(name)
			w.round(control.OutcomeConverged)
			if w.creations() != 2 {
				t.Errorf("%d things were created, want 2", w.creations())
			}
		})
	}
}

func TestRemovedDataFolderStopsChanges(t *testing.T) {
	t.Parallel()
	for name, removed := range map[string]func(w *world) error{
		"removed":   func(w *world) error { return os.RemoveAll(w.data("")) },
		"exchanged": func(w *world) error { return os.Rename(w.data("lock"), w.data("moved")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publish(twoThings)
			w.round(control.OutcomeApplied)
			if err := removed(w); err != nil {
				t.Fatal(err)
			}
			w.remove("a")
			if got := w.agent.Round(t.Context()); got != control.OutcomeFailed || w.creations() != 2 {
				t.Errorf("outcome %s, and %d things were created", got, w.creations())
			}
		})
	}
}

// From thingsBefore to thingsAfter is a delete, an update, a create and a replacement.
const (
	thingsBefore = twoThings + `
resource "cloud_thing" "d" {
  name = "d1"
}
`
	thingsAfter = `
resource "cloud_thing" "b" {
  name   = "b"
  size   = 2
}
resource "cloud_thing" "c" {
  name = "c"
}
resource "cloud_thing" "d" {
  name = "d2"
  lifecycle { create_before_destroy = true }
}
`
)

// TestCrashAtEveryCall stops an agent right before and right after each change of
// the cloud, as a power cut does, and starts another on what it left on disk.
func TestCrashAtEveryCall(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for call := 1; ; call++ {
			w := newWorld(t)
			w.cloud.ForceNew = map[string][]string{thing: {"name"}}
			w.publish(thingsBefore)
			w.round(control.OutcomeApplied)
			w.publish(thingsAfter)
			if !w.crash(call, after) {
				if call < 6 {
					t.Fatalf("only %d calls were made, so that nothing was tried", call-1)
				}
				break
			}
			w.agent.Round(t.Context())
			w.round(control.OutcomeConverged)
			if got := w.names(); !slices.Equal(got, []string{"b", "c", "d2"}) {
				t.Errorf("call %d, after it %t: the cloud has %q", call, after, got)
			}
		}
	}
}

// crash does a round and takes a copy of data folder and cloud around the nth
// change; then it starts another agent on the copy. It is false if there is no such change.
func (w *world) crash(nth int, after bool) bool {
	w.t.Helper()
	seen, crashed := 0, false
	copied := w.t.TempDir()
	var things map[string]cty.Value
	shoot := func() {
		crashed = true
		w.store.set(true) // what the process goes on to say is not heard
		if err := os.CopyFS(copied, os.DirFS(w.data(""))); err != nil {
			w.t.Error(err)
		}
		things = map[string]cty.Value{}
		for _, id := range w.cloud.IDs(thing) {
			things[id] = w.cloud.Object(thing, id)
		}
	}
	w.cloud.ReadHook = w.findByName
	w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		w.calls.Lock()
		defer w.calls.Unlock()
		if seen++; seen == nth && !after {
			shoot()
		}
		resp := w.cloud.ApplyDefault(req)
		if seen == nth && after {
			shoot()
		}
		return resp
	}
	w.advance(time.Minute)
	w.agent.Round(w.t.Context())
	w.cloud.ApplyHook = nil
	if !crashed {
		return false
	}
	w.stop()
	w.erase("")
	if err := os.CopyFS(w.data(""), os.DirFS(copied)); err != nil {
		w.t.Fatal(err)
	}
	for _, id := range w.cloud.IDs(thing) {
		w.cloud.SetObject(thing, id, cty.NilVal)
	}
	for id, object := range things {
		w.cloud.SetObject(thing, id, object)
	}
	w.store.set(false)
	if err := w.start(); err != nil {
		w.t.Fatal(err)
	}
	return true
}

// findByName reads things by their name where their id is not known.
func (w *world) findByName(_ context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
	if !req.PriorState.GetAttr("id").IsNull() {
		return w.cloud.ReadDefault(req)
	}
	found := cty.NullVal(req.PriorState.Type())
	for _, id := range w.cloud.IDs(thing) {
		if object := w.cloud.Object(thing, id); object.GetAttr("name").RawEquals(req.PriorState.GetAttr("name")) {
			found = object
		}
	}
	return providers.ReadResourceResponse{NewState: found, Private: req.Private}
}

// TestProviderDiesDuringChange: the cloud does what it was asked to, or not, and
// nobody hears of it. Nothing is created twice and nothing is forgotten.
func TestProviderDiesDuringChange(t *testing.T) {
	t.Parallel()
	for _, done := range []bool{true, false} {
		for call := 1; call <= 5; call++ {
			t.Run(fmt.Sprintf("call %d, done %t", call, done), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.cloud.ForceNew = map[string][]string{thing: {"name"}}
				w.cloud.ReadHook = w.findByName
				w.publish(thingsBefore)
				w.round(control.OutcomeApplied)
				w.publish(thingsAfter)
				seen := 0
				w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
					w.calls.Lock()
					defer w.calls.Unlock()
					seen++
					if seen != call {
						return w.cloud.ApplyDefault(req)
					}
					if done {
						w.cloud.ApplyDefault(req)
					}
					return providers.ApplyResourceChangeResponse{Unanswered: true, Diagnostics: tfdiags.New(tfdiags.Error, "Plugin did not respond", "It died.")}
				}
				w.round(control.OutcomeFailed)
				w.cloud.ApplyHook = nil
				w.advance(time.Minute)
				w.agent.Round(t.Context())
				w.round(control.OutcomeConverged)
				if got := w.names(); !slices.Equal(got, []string{"b", "c", "d2"}) {
					t.Errorf("the cloud has %q", got)
				}
			})
		}
	}
}

// TestAttackClonedMachine: two processes with the same key hold the same lease.
func TestAttackClonedMachine(t *testing.T) {
	t.Parallel()
	w := atRest(t)
	clone := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(clone, os.DirFS(w.data(""))); err != nil {
		t.Fatal(err)
	}
	w.round(control.OutcomeConverged)
	other, err := w.openAgent(clone)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	if got := other.Round(t.Context()); got != control.OutcomeConverged {
		t.Errorf("the clone's first round: %s", got)
	}
	w.advance(time.Minute)
	w.agent.Round(t.Context()) // writes a receipt that is there already
	w.remove("a")
	w.advance(time.Minute)
	if got := w.agent.Round(t.Context()); got != control.OutcomeFailed || w.creations() != 2 {
		t.Errorf("outcome %s with %d creations, although another process does the same", got, w.creations())
	}
	if got := other.Round(t.Context()); got != control.OutcomeApplied || w.creations() != 3 {
		t.Errorf("nobody goes on: outcome %s with %d creations", got, w.creations())
	}
	w.lastReceipt() // the chain is whole
}

// TestHangingProviderEndsTheRound: a read that never ends must not be the last thing
// that the agent does.
func TestHangingProviderEndsTheRound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.timeouts.Plan = 2 * time.Second
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.cloud.ReadHook = func(ctx context.Context, _ providers.ReadResourceRequest) providers.ReadResourceResponse {
		<-ctx.Done()
		return providers.ReadResourceResponse{Diagnostics: tfdiags.New(tfdiags.Error, "Plugin did not respond", "It hangs.")}
	}
	receipt := w.round(control.OutcomeFailed)
	if !strings.Contains(receipt.Message, "did not end within 2s") {
		t.Errorf("message %q", receipt.Message)
	}
	w.cloud.ReadHook = nil
	w.round(control.OutcomeConverged)
	if w.creations() != 2 {
		t.Errorf("%d things were created, want 2", w.creations())
	}
}
