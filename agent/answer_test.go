package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// TestQuestionsAreAnsweredByAPerson leaves a create without an answer that the
// provider cannot look up, and settles it both ways.
func TestQuestionsAreAnsweredByAPerson(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]bool{"it exists": true, "it does not exist": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publish(twoThings)
			w.round(control.OutcomeApplied)
			w.publish(twoThings + "resource \"cloud_thing\" \"c\" {\n name = \"c\"\n}\n")
			var id string
			w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
				if made {
					id = w.cloud.ApplyDefault(req).NewState.GetAttr("id").AsString()
				}
				return providers.ApplyResourceChangeResponse{Unanswered: true, Diagnostics: tfdiags.New(tfdiags.Error, "Plugin did not respond", "It was ended.")}
			}
			w.advance(1)
			w.agent.Round(t.Context())
			w.cloud.ApplyHook = nil
			receipt := w.nextReceipt()
			if !strings.Contains(problems(receipt), "Create with unknown outcome") {
				t.Fatalf("nobody is asked: %s", problems(receipt))
			}
			if err := w.start(); err != nil {
				t.Fatal(err)
			}
			addr, _ := addrs.ParseResourceInstance("cloud_thing.c")
			if err := w.agent.Answer(t.Context(), addr, id); err != nil {
				t.Fatal(err)
			}
			if err := w.start(); err != nil {
				t.Fatal(err)
			}
			w.advance(1)
			w.agent.Round(t.Context())
			w.round(control.OutcomeConverged)
			if got := w.names(); !slices.Equal(got, []string{"a", "b", "c"}) {
				t.Errorf("the cloud has %v", got)
			}
			if err := w.agent.Answer(t.Context(), addr, id); err == nil {
				t.Error("a question that nobody asks was answered")
			}
		})
	}
}

// nextReceipt does a round, whatever its outcome.
func (w *world) nextReceipt() control.Receipt {
	w.t.Helper()
	w.advance(1)
	w.agent.Round(w.t.Context())
	return w.lastReceipt()
}
