package agent_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/lease"
)

// put writes an object as somebody does who can write to the store and has no key.
func (w *world) put(key, content string) {
	w.t.Helper()
	if _, err := w.store.Put(w.t.Context(), key, []byte(content)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) keys(prefix string) []string {
	w.t.Helper()
	var out []string
	for info, err := range w.store.List(w.t.Context(), prefix) {
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, info.Key)
	}
	return out
}

const emptyState = `{"version":4,"terraform_version":"1.11.4","serial":900,"lineage":"x","outputs":{},"resources":[],"check_results":null}`

// forgedState is an empty state under the name of this agent, signed by a stranger.
func (w *world) forgedState(epoch int64, serial uint64) string {
	w.t.Helper()
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	record := control.StateRecord{Version: control.FormatVersion, Environment: "prod", Agent: "a1", Epoch: epoch, Serial: serial}
	object, err := control.SignState(record, []byte(emptyState), stranger)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(object)
}

// forgedLease makes an agent believe that its own epoch is another.
func (w *world) forgedLease(epoch int64) {
	w.t.Helper()
	held, _, err := lease.Current(w.t.Context(), w.store, inProd)
	if err != nil {
		w.t.Fatal(err)
	}
	held.Epoch = epoch
	content, err := json.Marshal(held)
	if err != nil {
		w.t.Fatal(err)
	}
	w.put(inProd.LeaseKey(epoch), string(content))
}

// attacks are what somebody can do who can write to the store but signs nothing.
var attacks = map[string]func(w *world){
	"empty state":             func(w *world) { w.put(inProd.StateKey(1, 900), emptyState) },
	"empty state, signed":     func(w *world) { w.put(inProd.StateKey(1, 900), w.forgedState(1, 900)) },
	"garbage state":           func(w *world) { w.put(inProd.StateKey(7, 1), "\x00\n\xff") },
	"epoch and state":         func(w *world) { w.forgedLease(2); w.put(inProd.StateKey(2, 1), w.forgedState(2, 1)) },
	"state in the next place": func(w *world) { w.put(inProd.StateKey(1, 3), emptyState) },
	"own state as a newer one": func(w *world) {
		object, err := w.store.Get(w.t.Context(), inProd.StateKey(1, 1), 1<<20)
		if err != nil {
			w.t.Fatal(err)
		}
		w.put(inProd.StateKey(1, 901), string(object.Data))
	},
	"receipt of the future": func(w *world) { w.put(control.ReceiptKey("prod", "a1", 9, 999_999_999_999), "{}") },
	"states of all numbers": func(w *world) {
		for serial := range uint64(60) {
			w.put(inProd.StateKey(3, serial+1), emptyState)
		}
	},
	"garbage everywhere": func(w *world) {
		for _, prefix := range []string{inProd.StatePrefix(), inProd.LeasePrefix(), control.GrantsPrefix("prod"), control.AgentPrefix("prod", "a1"), "tuf/", "targets/channels/stable/"} {
			for i := range 60 {
				w.put(fmt.Sprintf("%szzz-%d", prefix, i), strings.Repeat("\xff", i))
			}
			w.put(prefix+"sub/000000000001-000000000901", emptyState)
			w.put(prefix+"000000000001-.json", "")
		}
	},
}

// TestAttackWritesToTheStore: whoever can write objects but has no key cannot
// make an agent forget its objects, whether it goes on, was restarted or lost its data.
func TestAttackWritesToTheStore(t *testing.T) {
	t.Parallel()
	for name, attack := range attacks {
		for how, next := range map[string]func(w *world){
			"goes on":   func(*world) {},
			"restarted": func(w *world) { w.stop() },
			"lost its data": func(w *world) {
				w.stop()
				w.erase("memory.json", "state.json", "repository")
			},
		} {
			t.Run(name+", agent "+how, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.publish(twoThings)
				w.round(control.OutcomeApplied)
				w.round(control.OutcomeConverged)
				attack(w)
				next(w)
				if w.agent == nil {
					if err := w.start(); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					w.advance(time.Minute)
					if got := w.agent.Round(t.Context()); got != control.OutcomeConverged {
						t.Errorf("outcome %s", got)
					}
				}
				if got := w.creations(); got != 2 {
					t.Errorf("%d things were created, want 2", got)
				}
				w.remove("a")
				if got := w.agent.Round(t.Context()); got != control.OutcomeApplied || w.creations() != 3 {
					t.Errorf("a lost thing is not made again: outcome %s, %d creations", got, w.creations())
				}
			})
		}
	}
}

// TestOldStatesAreRemovedAndNothingElse: what is foreign neither fills the places of
// the agent's own states nor is touched.
func TestOldStatesAreRemovedAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	scope := w.scope(control.DriftEnforce, 0)
	scope.IgnoreAttributes = []string{"**.note"}
	w.declare(scope)
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	for i := range 60 {
		w.put(fmt.Sprintf("%szzz-%d", inProd.StatePrefix(), i), "mine")
	}
	for i := range 60 {
		w.edit("a", "note", cty.StringVal(fmt.Sprint(i))) // recorded, and nothing else
		w.round(control.OutcomeConverged)
	}
	own, foreign := 0, 0
	for _, key := range w.keys(inProd.StatePrefix()) {
		if _, _, ok := control.ParseStateKey(key); ok {
			own++
		} else {
			foreign++
		}
	}
	if own != 50 || foreign != 60 {
		t.Errorf("there are %d states and %d other objects, want 50 and 60", own, foreign)
	}
	w.stop()
	w.erase("memory.json", "state.json")
	w.round(control.OutcomeConverged)
}

// reenrol replaces the machine: a new token, a new key, nothing on disk.
func (w *world) reenrol(earlier bool) control.Agent {
	w.t.Helper()
	before := w.agentDoc()
	_, token, err := ed25519.GenerateKey(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.stop()
	w.erase("")
	w.token = token
	w.writeFile("token", seedText(token))
	doc := w.agentDoc()
	doc.Join.Generation = 2
	if earlier {
		doc.Earlier = []control.Join{before.Join}
	}
	w.declare(doc)
	return doc
}

func TestNewMachineTakesUpStateAndReceipts(t *testing.T) {
	t.Parallel()
	for name, earlier := range map[string]bool{"enrolment before is known": true, "it is not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := atRest(t)
			w.reenrol(earlier)
			if err := w.start(); err != nil {
				t.Fatal(err)
			}
			w.advance(time.Minute)
			got := w.agent.Round(t.Context())
			if want := map[bool]control.Outcome{true: control.OutcomeConverged, false: control.OutcomeFailed}[earlier]; got != want {
				t.Errorf("outcome %s, want %s", got, want)
			}
			if w.creations() != 2 {
				t.Errorf("%d things were created, want 2", w.creations())
			}
			wantReceipts := []string{control.ReceiptKey("prod", "a1", 1, 1), control.ReceiptKey("prod", "a1", 1, 2), control.ReceiptKey("prod", "a1", 2, 3)}
			if got := w.keys(control.ReceiptPrefix("prod", "a1")); earlier && strings.Join(got, " ") != strings.Join(wantReceipts, " ") {
				t.Errorf("receipts %q", got)
			}
		})
	}
}

// TestAttackOlderCopyOfTheStore: somebody puts a copy from before the lease was taken in
// the store's place. What is verified stays in force.
func TestAttackOlderCopyOfTheStore(t *testing.T) {
	t.Parallel()
	w := atRest(t)
	w.reenrol(true)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.agent.Round(t.Context())
	for _, key := range append(w.keys(inProd.LeasePrefix()), w.keys(inProd.StatePrefix())...) {
		if err := w.store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	w.remove("a")
	for range 2 {
		w.advance(time.Minute)
		w.agent.Round(t.Context())
	}
	if got := w.creations(); got != 3 {
		t.Errorf("%d things were created, want 3", got)
	}
}
