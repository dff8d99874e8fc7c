package agent_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// What was approved was approved for one agent: who takes over asks anew, and the same
// people can answer.
func TestAttackApprovalForAnotherAgent(t *testing.T) {
	t.Parallel()
	w, first, second := newPair(t)
	ana, anaKey := approver(t)
	w.declare(w.approvable(false, 1, anaKey))
	w.publish(twoThings)
	first.round(control.OutcomeApplied)
	w.edit("a", "size", cty.NumberIntVal(9))
	w.advance(time.Minute)
	first.round(control.OutcomeDrifted)
	digest := first.beat().Proposal
	w.decide(ana, digest, control.VerdictApprove)
	first.stop()
	second.takeOver(control.OutcomeDrifted)
	own := second.beat().Proposal
	if own == digest || own == "" {
		t.Fatalf("the follower proposes %q after the approved %q", own, digest)
	}
	signed, err := control.SignPlanDecision(control.PlanDecision{
		Version: control.FormatVersion, Environment: "prod", Agent: "a2", Digest: own, Verdict: control.VerdictApprove, Time: w.clock().UTC(),
	}, ana)
	if err != nil {
		t.Fatal(err)
	}
	w.put(control.DecisionKey("prod", own, control.ApproverID(ana.PublicKey())), string(signed))
	w.advance(time.Minute)
	second.round(control.OutcomeApplied)
}

// A holder that is not declared any more has left what nobody believes: who follows it
// and has an older state must not go on from that.
func TestHolderThatIsNoLongerDeclared(t *testing.T) {
	t.Parallel()
	w, first, second := newPair(t)
	w.publish(oneThing)
	first.round(control.OutcomeApplied)
	w.advance(time.Minute)
	first.round(control.OutcomeConverged)
	first.stop()
	second.takeOver(control.OutcomeConverged)
	second.stop()
	first.takeOver(control.OutcomeConverged)
	w.publish(twoThings)
	w.advance(time.Minute)
	first.round(control.OutcomeApplied)
	first.stop()
	made := w.creations()
	if _, err := w.repo.RemoveDocuments(t.Context(), w.signing(), first.doc().Ref()); err != nil {
		t.Fatal(err)
	}
	second.takeOver(control.OutcomeFailed)
	if w.creations() != made || !slices.Equal(w.names(), []string{"a", "b"}) {
		t.Errorf("%d creations after %d, the cloud has %v", w.creations(), made, w.names())
	}
	if said := second.beat().Message; !strings.Contains(said, "a1") {
		t.Errorf("the follower says %q", said)
	}
	w.declare(first.doc())
	w.advance(time.Minute)
	second.round(control.OutcomeConverged)
	if w.creations() != made {
		t.Errorf("%d creations after %d", w.creations(), made)
	}
}
