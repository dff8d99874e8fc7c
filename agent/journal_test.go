package agent_test

import (
	"context"
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// chain are things each of which refers to the one before.
const chain = twoThings + `
resource "cloud_thing" "c" {
  name   = "c"
  labels = { of = cloud_thing.b.id }
}
resource "cloud_thing" "d" {
  name   = "d"
  labels = { of = cloud_thing.c.id }
}
`

// diedInTheMiddle is a pair whose first agent was ended right after it made c: the store
// has a batch for each of its intents. d was never begun.
func diedInTheMiddle(t *testing.T) (w *world, second *partner) {
	t.Helper()
	w, first, second := newPair(t)
	w.publish(chain)
	w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		resp := w.cloud.ApplyDefault(req)
		if req.PlannedState.GetAttr("name").AsString() == "c" {
			first.store.set(true) // what it goes on to say is not heard
		}
		return resp
	}
	first.round(control.OutcomeFailed)
	first.stop()
	w.cloud.ApplyHook = nil
	if got := len(w.keys(inProd.JournalPrefix())); got < 3 || w.creations() != 3 {
		t.Fatalf("%d batches after %d creations; want at least 3 after 3", got, w.creations())
	}
	return w, second
}

func TestFollowerGoesOnInTheMiddle(t *testing.T) {
	t.Parallel()
	w, second := diedInTheMiddle(t)
	second.takeOver(control.OutcomeApplied)
	if w.creations() != 4 {
		t.Errorf("%d creations, want 4", w.creations())
	}
	if got := w.keys(inProd.JournalPrefix()); len(got) != 0 {
		t.Errorf("the store still has %q", got)
	}
}

// TestAttackJournalForged puts batches into the journal that no agent has signed, or that were
// signed for another place.
func TestAttackJournalForged(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(t *testing.T, w *world, batch objstore.Object) []byte{
		"garbage": func(*testing.T, *world, objstore.Object) []byte { return []byte("\x00\n\xff") },
		"copied":  func(_ *testing.T, _ *world, batch objstore.Object) []byte { return batch.Data },
		"signed by a stranger": func(t *testing.T, _ *world, _ objstore.Object) []byte {
			_, stranger, err := ed25519.GenerateKey(nil)
			if err != nil {
				t.Fatal(err)
			}
			object, err := control.SignJournal(control.JournalRecord{Version: control.FormatVersion, Environment: "prod", Agent: "a1", Epoch: 1, Sequence: 900, After: 1}, []byte("{}\n"), stranger)
			if err != nil {
				t.Fatal(err)
			}
			return object
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, second := diedInTheMiddle(t)
			batch, err := w.store.Get(t.Context(), w.keys(inProd.JournalPrefix())[0], 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			w.put(inProd.JournalKey(1, 900), string(forge(t, w, batch)))
			second.takeOver(control.OutcomeApplied)
			if w.creations() != 4 {
				t.Errorf("%d creations, want 4", w.creations())
			}
		})
	}
}

// TestAttackJournalReplayed puts copies of a holder's own batch into the places of its next ones,
// which it goes past: they are none of what its follower looks for.
func TestAttackJournalReplayed(t *testing.T) {
	t.Parallel()
	w, first, second := newPair(t)
	w.publish(chain)
	w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		resp := w.cloud.ApplyDefault(req)
		switch req.PlannedState.GetAttr("name").AsString() {
		case "b":
			keys := w.keys(inProd.JournalPrefix())
			batch, err := w.store.Store.Get(t.Context(), keys[0], 1<<20)
			_, last, ok := control.ParseJournalKey(keys[len(keys)-1])
			if err != nil || !ok {
				t.Errorf("%q: %v", keys, err)
			}
			w.put(inProd.JournalKey(1, last+1), string(batch.Data))
			w.put(inProd.JournalKey(1, last+2), string(batch.Data))
		case "c":
			first.store.set(true)
		}
		return resp
	}
	first.round(control.OutcomeFailed)
	first.stop()
	w.cloud.ApplyHook = nil
	second.takeOver(control.OutcomeApplied)
	if w.creations() != 4 {
		t.Errorf("%d creations, want 4; the follower says %q", w.creations(), second.beat().Message)
	}
}

// TestAttackJournalWithheld takes a batch out of the journal: the follower would make a
// call again, and does nothing instead.
func TestAttackJournalWithheld(t *testing.T) {
	t.Parallel()
	w, second := diedInTheMiddle(t)
	keys := w.keys(inProd.JournalPrefix())
	if len(keys) < 3 {
		t.Fatalf("%q: there is no batch in between", keys)
	}
	if err := w.store.Delete(t.Context(), keys[1]); err != nil {
		t.Fatal(err)
	}
	second.takeOver(control.OutcomeFailed)
	if got := second.beat().Message; w.creations() != 3 || !strings.Contains(got, "no batch 2") {
		t.Errorf("%d creations, want 3; the agent says %q", w.creations(), got)
	}
}

// meanwhile is a store in which something happens right after the nth state was read.
type meanwhile struct {
	objstore.Store
	nth int
	do  func()
}

func (s *meanwhile) Get(ctx context.Context, key string, limit int64) (objstore.Object, error) {
	object, err := s.Store.Get(ctx, key, limit)
	if strings.HasPrefix(key, inProd.StatePrefix()) {
		if s.nth--; s.nth == 0 {
			s.do()
		}
	}
	return object, err
}

// TestHolderEndsItsRoundMeanwhile has a paused holder go on while its follower reads what
// there is: it uploads its state, and would remove the journal that the state contains.
func TestHolderEndsItsRoundMeanwhile(t *testing.T) {
	t.Parallel()
	w, first, second := newPair(t)
	w.publish(chain)
	paused, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		resp := w.cloud.ApplyDefault(req)
		if req.PlannedState.GetAttr("name").AsString() == "d" {
			close(paused)
			<-goOn
		}
		return resp
	}
	go func() {
		defer close(ended)
		first.round(control.OutcomeApplied)
	}()
	<-paused
	const rehearsalAndSuccession = 2
	second.store.Store = &meanwhile{second.store.Store, rehearsalAndSuccession, func() {
		close(goOn)
		<-ended
	}}
	second.takeOver(control.OutcomeConverged)
	if w.creations() != 4 {
		t.Errorf("%d creations, want 4", w.creations())
	}
}
