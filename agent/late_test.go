package agent_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// diedOn answers a call as a provider does that ends before it has told what became of it.
func diedOn() providers.ApplyResourceChangeResponse {
	return providers.ApplyResourceChangeResponse{Unanswered: true, Diagnostics: tfdiags.New(tfdiags.Error, "Plugin did not respond", "It died.")}
}

// TestOpenCallsAreHandedOverOnce has a follower look, round after round, for an object that
// is not there: the store gets no batch for each.
func TestOpenCallsAreHandedOverOnce(t *testing.T) {
	t.Parallel()
	w, first, second := newPair(t)
	w.publish(chain)
	w.makeLate("c", func() {
		w.publish(twoThings)
		second.takeOver(control.OutcomeConverged)
	})
	first.round(control.OutcomeFailed)
	first.stop()
	second.round(control.OutcomeConverged)
	before := len(w.keys(inProd.JournalPrefix()))
	for range 5 {
		w.advance(time.Minute)
		second.round(control.OutcomeConverged)
	}
	if after := len(w.keys(inProd.JournalPrefix())); after != before {
		t.Errorf("%d batches are in the store after rounds in which nothing happened, %d before", after, before)
	}
}

// TestAbsentCreateHasAnEnd: an object that is not there is looked for no longer than a day,
// also if its provider is configured no more.
func TestAbsentCreateHasAnEnd(t *testing.T) {
	t.Parallel()
	w, first, second := newPair(t)
	w.publish(twoThings + "provider \"cloud\" {\n  alias = \"other\"\n}\nresource \"cloud_thing\" \"c\" {\n  provider = cloud.other\n  name     = \"c\"\n}\n")
	w.makeLate("c", func() { second.takeOver(control.OutcomeFailed) })
	w.cloud.ApplyHook = refuseAfter(w, "c", w.cloud.ApplyHook)
	first.round(control.OutcomeFailed)
	first.stop()
	w.publish(twoThings)
	second.round(control.OutcomeConverged)
	w.advance(25 * time.Hour)
	second.round(control.OutcomeConverged)
	if info, err := os.Stat(second.data("state.json.journal")); err != nil || info.Size() > 0 {
		t.Errorf("the journal still has %d bytes after a day: %v", info.Size(), err)
	}
}

// refuseAfter lets the first create of a thing through to a hook, and refuses the others.
func refuseAfter(w *world, name string, hook func(context.Context, providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse) func(context.Context, providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
	begun := false
	return func(ctx context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		switch {
		case req.PlannedState.IsNull() || req.PlannedState.GetAttr("name").AsString() != name:
			return w.cloud.ApplyDefault(req)
		case begun:
			return providers.ApplyResourceChangeResponse{Diagnostics: tfdiags.New(tfdiags.Error, "No", "No.")}
		}
		begun = true
		return hook(ctx, req)
	}
}

// TestLateCreateOfAnotherName: what is made late under a name that is not wanted any more is
// named, and the object that has its address stays.
func TestLateCreateOfAnotherName(t *testing.T) {
	t.Parallel()
	const c = "resource \"cloud_thing\" \"c\" {\n  name = \"c\"\n}\n"
	for name, open := range map[string]bool{"the other was seen to be made": false, "both come up at once": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.cloud.ReadHook = w.findByName
			w.publish(twoThings)
			w.round(control.OutcomeApplied)
			w.publish(twoThings + c)
			var late *providers.ApplyResourceChangeRequest
			w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
				switch name := req.PlannedState.GetAttr("name").AsString(); {
				case name == "c" && late == nil:
					late = &req
					return diedOn()
				case name == "c2":
					resp := w.cloud.ApplyDefault(req)
					if open {
						return diedOn()
					}
					return resp
				}
				return w.cloud.ApplyDefault(req)
			}
			w.round(control.OutcomeFailed)
			w.publish(twoThings + strings.ReplaceAll(c, `name = "c"`, `name = "c2"`))
			if open {
				w.round(control.OutcomeFailed)
			} else {
				w.round(control.OutcomeApplied)
			}
			w.cloud.ApplyDefault(*late)
			w.cloud.ApplyHook = nil
			said := ""
			for range 3 {
				w.advance(time.Minute)
				w.agent.Round(t.Context())
				said += problems(w.lastReceipt())
			}
			if strings.Count(said, "Object that was made late is in no state") != 1 {
				t.Errorf("the receipts say %q of the late object, want it named once", said)
			}
			if got := w.lastReceipt().Outcome; got != control.OutcomeConverged || len(w.names()) != 4 {
				t.Errorf("outcome %s with %v, want converged with four things", got, w.names())
			}
		})
	}
}

// TestFollowedFromNowOn: what an agent has made while nobody followed it, and the store was
// away, is in the store before it changes anything else.
func TestFollowedFromNowOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cloud.ReadHook = w.findByName
	w.publish(twoThings)
	first := w.partner("a1")
	first.identities = w.identities
	first.round(control.OutcomeApplied)
	first.round(control.OutcomeConverged)
	w.remove("a")
	w.advance(time.Minute)
	first.store.set(true)
	first.agent.Round(t.Context())
	first.store.set(false)
	second := w.partner("a2")
	second.identities = w.identities
	second.round(control.OutcomeStandby)
	w.publish(chain)
	w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		resp := w.cloud.ApplyDefault(req)
		if !req.PlannedState.IsNull() && req.PlannedState.GetAttr("name").AsString() == "c" {
			first.store.set(true) // it dies
		}
		return resp
	}
	w.advance(time.Minute)
	first.agent.Round(t.Context())
	first.stop()
	w.cloud.ApplyHook = nil
	for range 4 {
		second.agent.Round(t.Context())
		w.advance(time.Hour)
	}
	if got := w.cloud.IDs("cloud_thing"); len(got) != 4 {
		t.Errorf("the cloud has %v, want a, b, c and d once each", w.names())
	}
}
