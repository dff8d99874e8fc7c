package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// TestNothingIsBuiltOnWhatAGrantKeepsUnmade opens a grant for an object that is not there
// yet: what is made from it waits with it, and the receipt says for what.
func TestNothingIsBuiltOnWhatAGrantKeepsUnmade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	signer, key := approver(t)
	w.declare(w.policy(key, control.AfterRevert))
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.open(signer, "cloud_thing.c")
	w.round(control.OutcomeConverged)
	w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		if !req.Config.IsWhollyKnown() {
			t.Errorf("a configuration with unknown values is applied: %#v", req.Config)
		}
		return w.cloud.ApplyDefault(req)
	}
	w.publish(chain)
	for range 2 {
		w.advance(time.Minute)
		receipt := w.round(control.OutcomeConverged)
		const want = "Nothing is changed about cloud_thing.d, because that waits for cloud_thing.c: it does not exist"
		if text := problems(receipt); strings.Count(text, want) != 1 || len(receipt.Changes) > 0 {
			t.Errorf("changes %+v, problems %q", receipt.Changes, text)
		}
	}
	w.advance(10 * time.Minute)
	w.round(control.OutcomeApplied)
	if got := w.names(); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("there are %q at the end", got)
	}
	w.round(control.OutcomeConverged)
}

// TestPlanSaysWhichUnmadeObjectItNeeds: how many instances there are cannot be said from an
// object that is not there. The round fails, and the receipt tells of the grant.
func TestPlanSaysWhichUnmadeObjectItNeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	signer, key := approver(t)
	w.declare(w.policy(key, control.AfterRevert))
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.open(signer, "cloud_thing.c")
	w.publish(twoThings + `
resource "cloud_thing" "c" {
  name = "c"
  size = 1
}
resource "cloud_thing" "d" {
  count = cloud_thing.c.size
  name  = "d"
}
`)
	receipt := w.round(control.OutcomeFailed)
	const want = "Values of cloud_thing.c are not known: it does not exist, and it is not made while a break-glass grant covers it"
	if text := problems(receipt); strings.Count(text, want) != 1 || !strings.Contains(text, "Invalid count argument") || len(receipt.Changes) > 0 {
		t.Errorf("changes %+v, problems %q", receipt.Changes, text)
	}
	w.advance(10 * time.Minute)
	w.round(control.OutcomeApplied)
	if got := w.names(); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("there are %q at the end", got)
	}
}
