package agent_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

const (
	oneFree  = "resource \"cloud_thing\" \"free\" {\n  name = \"free\"\n  size = 1\n}\n"
	twoFree  = "resource \"cloud_thing\" \"free\" {\n  name = \"free\"\n  size = 2\n}\nresource \"cloud_thing\" \"free2\" {\n  name = \"free2\"\n}\n"
	aStrict  = "resource \"cloud_thing\" \"strict\" {\n  name = \"strict\"\n}\n"
	unusable = "resource {{{\n"
)

// failToMake has the cloud refuse to make an object until the returned function is called.
func (w *world) failToMake(name string) (stop func()) {
	w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		if !req.PlannedState.IsNull() && req.PlannedState.GetAttr("name").AsString() == name {
			return providers.ApplyResourceChangeResponse{Diagnostics: tfdiags.New(tfdiags.Error, "Quota", "No more.")}
		}
		return w.cloud.ApplyDefault(req)
	}
	return func() { w.cloud.ApplyHook = nil }
}

// strictly declares a scope whose changes need approval beside one whose changes do not.
func (w *world) strictly(agents ...control.Agent) ssh.Signer {
	w.t.Helper()
	ana, key := approver(w.t)
	free, strict := w.scope(control.DriftEnforce, 0), w.scope(control.DriftEnforce, 0)
	free.Include = []control.Match{{Address: "cloud_thing.free*"}}
	strict.Name, strict.Include = "strict", []control.Match{{Address: "cloud_thing.strict*"}}
	strict.Approval = &control.Approval{Approvers: []string{key}, Approvals: 1, Changes: true}
	docs := []control.Declared{free, strict}
	for _, doc := range agents {
		doc.Scopes = []string{"all", "strict"}
		docs = append(docs, doc)
	}
	w.declare(docs...)
	return ana
}

// has fails the test unless the cloud holds exactly the objects named.
func (w *world) has(names ...string) {
	w.t.Helper()
	got := w.names()
	slices.Sort(got)
	if !slices.Equal(got, names) {
		w.t.Errorf("the cloud has %v, want %v", got, names)
	}
}

// TestRestartAfterARevisionInPart restarts an agent that has applied a revision in part when
// the newest is no good: it goes on with what it began, and not with the one before.
func TestRestartAfterARevisionInPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(oneFree)
	w.round(control.OutcomeApplied)
	w.publish(twoFree + aStrict)
	stop := w.failToMake("strict")
	begun := w.round(control.OutcomeFailed).Revision
	w.has("free", "free2")
	w.publish(twoFree + unusable)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	if receipt := w.round(control.OutcomeFailed); receipt.Revision != begun || !strings.Contains(problems(receipt), "New revision not usable") {
		t.Errorf("revision %s is in force, want %s: %s", receipt.Revision, begun, problems(receipt))
	}
	w.has("free", "free2")
	stop()
	w.round(control.OutcomeApplied)
	w.has("free", "free2", "strict")
}

// TestReportsNameTheRevisionInForce has an agent apply a revision in part: reports and metrics
// name that, and not the one before, also of a round that comes to no revision.
func TestReportsNameTheRevisionInForce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.metrics = filepath.Join(w.dir, "towline.prom")
	w.publish(oneFree)
	w.round(control.OutcomeApplied)
	w.publish(twoFree + aStrict)
	w.failToMake("strict")
	begun := w.round(control.OutcomeFailed).Revision
	if _, err := w.repo.RemoveDocuments(t.Context(), w.signing(), w.agentDoc().Ref()); err != nil {
		t.Fatal(err)
	}
	receipt := w.round(control.OutcomeFailed)
	beat, err := w.reports().Heartbeat(t.Context())
	if err != nil || receipt.Revision != begun || beat.Revision != begun {
		t.Errorf("receipt of %s, heartbeat of %s, %v; want %s", receipt.Revision, beat.Revision, err, begun)
	}
	named := false
	for name := range w.measured() {
		named = named || strings.HasPrefix(name, "towline_agent_info[") && strings.Contains(name, "revision="+begun[:12])
	}
	if !named {
		t.Errorf("no metric names %s: %v", begun[:12], w.measured())
	}
}

// takenBack has the first of a pair apply a revision and the second the next one, and
// ends the second after the newest is published.
func takenBack(t *testing.T, newest string, outcome control.Outcome, strict bool) (w *world, first *partner) {
	t.Helper()
	w, first, second := newPair(t)
	if strict {
		w.strictly(first.doc(), second.doc())
	}
	w.publish(oneFree)
	first.round(control.OutcomeApplied)
	second.takeOver(control.OutcomeConverged)
	first.round(control.OutcomeStandby)
	w.publish(twoFree)
	second.round(control.OutcomeApplied)
	second.round(control.OutcomeConverged)
	first.round(control.OutcomeStandby)
	w.publish(newest)
	second.round(outcome)
	second.stop()
	return w, first
}

// untouched fails the test unless what the second of a pair applied is as it was.
func (w *world) untouched() {
	w.t.Helper()
	w.has("free", "free2")
	if size := w.attribute("free", "size"); !size.RawEquals(cty.NumberIntVal(2)) {
		w.t.Errorf("the size is %#v, want that of the revision that was applied last", size)
	}
}

const (
	unknownBegun = "another agent has worked since this one applied revision "
	nothingDone  = "which revision it began is not known here, so that nothing is changed before a newer revision can be used"
)

// TestFollowerDoesNotStayWithAnOldRevision has an agent take over again while the newest
// revision is no good: what another applied meanwhile is not taken back.
func TestFollowerDoesNotStayWithAnOldRevision(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]bool{"running": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, first := takenBack(t, twoFree+unusable, control.OutcomeConverged, false)
			if restart {
				first.stop()
			}
			first.takeOver(control.OutcomeFailed)
			w.untouched()
			if said := first.beat().Message; !strings.Contains(said, unknownBegun) || !strings.Contains(said, nothingDone) || !strings.Contains(said, "cannot be used") {
				t.Errorf("it says %q", said)
			}
			w.publish(twoFree + "# mended\n")
			first.round(control.OutcomeConverged)
			w.untouched()
		})
	}
}

// TestFollowerDoesNotKeepAnOldRevision is the same with a revision that waits for approval.
func TestFollowerDoesNotKeepAnOldRevision(t *testing.T) {
	t.Parallel()
	w, first := takenBack(t, twoFree+aStrict, control.OutcomePending, true)
	first.takeOver(control.OutcomePending)
	w.untouched()
	first.round(control.OutcomePending)
	w.untouched()
	if said := first.beat().Message; !strings.Contains(said, "drift is not corrected meanwhile: "+unknownBegun) || !strings.Contains(said, nothingDone) {
		t.Errorf("it says %q", said)
	}
}

// begunAfter is what a round says that goes back to no older revision.
const begunAfter = "so that nothing is changed before the newest revision can be used"

// TestApprovedRevisionInPart has an approved revision fail in part, so that it waits again:
// what it made stays.
func TestApprovedRevisionInPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana := w.strictly(w.agentDoc())
	w.publish(oneFree)
	w.round(control.OutcomeApplied)
	w.publish(twoFree + aStrict)
	stop := w.failToMake("strict")
	w.decide(ana, proposal(t, w.round(control.OutcomePending), control.ProposalPending), control.VerdictApprove)
	w.round(control.OutcomeFailed)
	var receipt control.Receipt
	for range 3 {
		receipt = w.round(control.OutcomePending)
		w.untouched()
	}
	if !strings.Contains(receipt.Message, begunAfter) {
		t.Errorf("it says %q", receipt.Message)
	}
	stop()
	w.decide(ana, w.pendingProposal(), control.VerdictApprove)
	w.round(control.OutcomeApplied)
	w.has("free", "free2", "strict")
}

// pendingProposal is the digest of the plan that was told last to wait.
func (w *world) pendingProposal() string {
	w.t.Helper()
	var digest string
	for _, receipt := range w.receipts() {
		for _, use := range receipt.Proposals {
			if use.Phase == control.ProposalPending {
				digest = use.Digest
			}
		}
	}
	return digest
}

// TestRevisionInPartThenAnotherWaits publishes a revision that needs approval after one that
// was applied in part: what that one made stays.
func TestRevisionInPartThenAnotherWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.strictly(w.agentDoc())
	w.publish(oneFree)
	w.round(control.OutcomeApplied)
	const three = twoFree + "resource \"cloud_thing\" \"free3\" {\n  name = \"free3\"\n}\n"
	w.publish(three)
	w.failToMake("free3")
	w.round(control.OutcomeFailed)
	w.publish(three + aStrict)
	for range 3 {
		if receipt := w.round(control.OutcomePending); !strings.Contains(receipt.Message, begunAfter) || !strings.Contains(problems(receipt), "Last revision not usable") {
			t.Errorf("it says %q, and %s", receipt.Message, problems(receipt))
		}
		w.untouched()
	}
}
