package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/seal"
)

// approvable is a scope whose drift is proposed to some approvers.
func (w *world) approvable(changes bool, approvals int, keys ...string) control.Scope {
	scope := w.scope(control.DriftPropose, 0)
	scope.Approval = &control.Approval{Approvers: keys, Approvals: approvals, Changes: changes}
	return scope
}

// proposable makes a world whose size of a was changed by hand, in a scope that proposes
// to correct it; the revision itself needed no approval.
func (w *world) proposable(approvals int, keys ...string) {
	w.t.Helper()
	w.made(w.approvable(false, approvals, keys...))
	w.resize("a", 9)
}

// decide writes an approver's word about a proposal.
func (w *world) decide(signer ssh.Signer, digest string, verdict control.Verdict) {
	w.t.Helper()
	signed, err := control.SignPlanDecision(control.PlanDecision{
		Version: control.FormatVersion, Environment: "prod", Agent: "a1", Digest: digest, Verdict: verdict, Reason: "seen", Time: w.clock().UTC(),
	}, signer)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.store.PutIfAbsent(w.t.Context(), control.DecisionKey("prod", digest, control.ApproverID(signer.PublicKey())), signed); err != nil {
		w.t.Fatal(err)
	}
}

// proposal is the one that a receipt tells of as it is now, the last of its list.
func proposal(t *testing.T, r control.Receipt, phase control.ProposalPhase) string {
	t.Helper()
	if len(r.Proposals) == 0 || r.Proposals[len(r.Proposals)-1].Phase != phase {
		t.Fatalf("proposals %+v, want one that is %s", r.Proposals, phase)
	}
	return r.Proposals[len(r.Proposals)-1].Digest
}

func (w *world) reports() *repository.Reports {
	w.t.Helper()
	reports, err := repository.OpenReports(w.t.Context(), w.store, w.agentDoc())
	if err != nil {
		w.t.Fatal(err)
	}
	return reports
}

func TestProposedDriftIsCorrectedOnceApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana, anaKey := approver(t)
	ben, benKey := approver(t)
	eve, _ := approver(t)
	w.proposable(2, anaKey, benKey)

	digest := proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending)
	if posts := w.slack.take(); len(posts) != 1 || !strings.Contains(posts[0], "towline plans show "+digest[:12]) {
		t.Errorf("people were told %q", posts)
	}
	if again := proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending); again != digest {
		t.Errorf("nothing has changed, and the digest is %s after %s", again, digest)
	}
	w.decide(eve, digest, control.VerdictApprove)
	w.decide(ana, digest, control.VerdictApprove)
	proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending)
	if got := w.attribute("a", "size"); !got.RawEquals(cty.NumberIntVal(9)) {
		t.Fatalf("one approval of two, and the size is %#v", got)
	}
	w.decide(ben, digest, control.VerdictApprove)
	receipt := w.round(control.OutcomeApplied)
	proposal(t, receipt, control.ProposalApproved)
	if got := w.attribute("a", "size"); got.RawEquals(cty.NumberIntVal(9)) {
		t.Error("the approved correction was not made")
	}
	if len(receipt.Changes) != 1 || receipt.Changes[0].Address != "cloud_thing.a" || receipt.Changes[0].Cause != "drift" {
		t.Errorf("changes %+v", receipt.Changes)
	}
	if receipt := w.round(control.OutcomeConverged); len(receipt.Proposals) != 0 {
		t.Errorf("afterwards: %+v", receipt.Proposals)
	}
}

// What was approved was approved of these values: others need approval anew.
func TestNewInputsSupersedeAProposal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana, anaKey := approver(t)
	w.proposable(1, anaKey)
	first := proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending)
	w.decide(ana, first, control.VerdictApprove)
	w.resize("a", 10) // before the agent comes to it

	receipt := w.round(control.OutcomeDrifted)
	second := proposal(t, receipt, control.ProposalPending)
	if old := receipt.Proposals[0]; second == first || old.Digest != first || old.Phase != control.ProposalSuperseded || old.By != second {
		t.Errorf("proposals %+v, the first was %s", receipt.Proposals, first)
	}
	w.resize("a", 11)
	receipt = w.round(control.OutcomeDrifted)
	third := proposal(t, receipt, control.ProposalPending)
	w.publish(twoThings + "# once more\n")
	w.advance(time.Minute)
	w.agent.Round(t.Context())
	receipt = w.lastReceipt()
	if got := receipt.Proposals[0]; got.Digest != third || got.Phase != control.ProposalSuperseded {
		t.Errorf("after a new revision: %+v", receipt.Proposals)
	}
}

// Whoever can write to the store hides nobody's word by putting others beside it.
func TestAttackDecisionsFlooded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana, anaKey := approver(t)
	ben, benKey := approver(t)
	w.proposable(1, anaKey, benKey)
	digest := proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending)
	w.decide(ana, digest, control.VerdictApprove)
	approval, err := w.store.Get(t.Context(), control.DecisionKey("prod", digest, control.ApproverID(ana.PublicKey())), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	w.decide(ben, digest, control.VerdictReject)
	for i := range 250 {
		w.put(control.DecisionKey("prod", digest, fmt.Sprintf("%032d", i)), string(approval.Data))
	}
	proposal(t, w.round(control.OutcomeDrifted), control.ProposalRejected)
}

// An approval is good for one time: the same change by hand once more is another question,
// also to an agent that has lost its memory since.
func TestAttackApprovalUsedTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana, anaKey := approver(t)
	w.made(w.approvable(false, 1, anaKey))
	seen := map[string]bool{}
	for i := range 3 {
		w.resize("a", 9)
		digest := proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending)
		if seen[digest] {
			t.Fatalf("time %d has the digest of an earlier one", i)
		}
		seen[digest] = true
		w.decide(ana, digest, control.VerdictApprove)
		proposal(t, w.round(control.OutcomeApplied), control.ProposalApproved)
	}
	w.resize("a", 9)
	w.stop()
	w.erase("memory.json")
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	if digest := proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending); seen[digest] {
		t.Error("without its memory the agent proposes what was approved and done before")
	}
}

func TestRejectedProposal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana, anaKey := approver(t)
	ben, benKey := approver(t)
	w.proposable(1, anaKey, benKey)
	digest := proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending)
	w.decide(ana, digest, control.VerdictReject)
	w.decide(ben, digest, control.VerdictApprove)
	proposal(t, w.round(control.OutcomeDrifted), control.ProposalRejected)
	if got := w.attribute("a", "size"); !got.RawEquals(cty.NumberIntVal(9)) {
		t.Error("a rejected correction was made")
	}
}

// Where the scope asks for it, a revision waits as a whole.
func TestRevisionsWaitForApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana, anaKey := approver(t)
	w.declare(w.approvable(true, 1, anaKey))
	w.publish(twoThings)
	receipt := w.round(control.OutcomePending)
	digest := proposal(t, receipt, control.ProposalPending)
	if len(w.names()) != 0 || !strings.Contains(receipt.Message, "towline plans show") {
		t.Errorf("the cloud has %v; message %q", w.names(), receipt.Message)
	}
	w.decide(ana, digest, control.VerdictApprove)
	w.round(control.OutcomeApplied)
	if len(w.names()) != 2 {
		t.Errorf("the cloud has %v", w.names())
	}
}

// A proposal shows names and no values; the sealed plan has them, for those who may see them.
func TestProposalsHideValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	doc := w.agentDoc()
	doc.Recipients = []string{identity.Recipient().String()}
	_, anaKey := approver(t)
	w.declare(w.approvable(true, 1, anaKey), doc)
	const planted = "hunter2-planted"
	w.publish("resource \"cloud_thing\" \"a\" {\n name = \"name-of-a\"\n secret = \"" + planted + "\"\n}")
	digest := proposal(t, w.round(control.OutcomePending), control.ProposalPending)
	got, err := w.reports().Proposal(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got)
	if err != nil || strings.Contains(string(text), planted) || strings.Contains(string(text), "name-of-a") || !strings.Contains(string(text), "cloud_thing.a") {
		t.Errorf("the proposal says %s, %v", text, err)
	}
	sealed, err := w.reports().Plan(t.Context(), got, 1<<20)
	if err != nil || strings.Contains(string(sealed), planted) {
		t.Fatalf("sealed plan of %d bytes, %v", len(sealed), err)
	}
	data, err := seal.Open(t.Context(), seal.Subject{Environment: "prod", Kind: seal.KindPlan}, []age.Identity{identity}, sealed, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var body control.PlanBody
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(body.Text, "name-of-a") || strings.Contains(body.Text, planted) || !strings.Contains(string(body.Plan), planted) {
		t.Errorf("the plan reads %s", body.Text)
	}
}

// An approval of a plan that nobody can look at any more counts for nothing, and the
// agent says so.
func TestApprovedPlanThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana, anaKey := approver(t)
	w.declare(w.approvable(true, 1, anaKey))
	w.publish(twoThings)
	digest := proposal(t, w.round(control.OutcomePending), control.ProposalPending)
	got, err := w.reports().Proposal(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.Delete(t.Context(), control.PlanKey("prod", "a1", got.Plan)); err != nil {
		t.Fatal(err)
	}
	w.decide(ana, digest, control.VerdictApprove)
	receipt := w.round(control.OutcomeFailed)
	if !strings.Contains(receipt.Message, "gone") || len(w.names()) != 0 {
		t.Errorf("message %q, the cloud has %v", receipt.Message, w.names())
	}
}

// Without the store nobody can be asked: what is proposed waits, what is enforced goes on.
func TestProposalsWithoutTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, anaKey := approver(t)
	w.proposable(1, anaKey)
	w.store.set(true)
	w.advance(time.Minute)
	w.agent.Round(t.Context())
	if got := w.attribute("a", "size"); !got.RawEquals(cty.NumberIntVal(9)) {
		t.Error("proposed drift was corrected without approval")
	}
}

// What others own and the plan leaves alone may change while people think; anything that
// the plan would do otherwise is another question.
func TestUnownedChangesKeepAProposal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana, anaKey := approver(t)
	scope := w.approvable(false, 1, anaKey)
	scope.Include[0].Except = []string{"note", `labels["team"]`}
	w.made(scope)
	w.resize("a", 9)
	digest := func() string { return proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending) }
	w.edit("a", "note", cty.StringVal("one"))
	w.edit("a", "labels", label("team", "x"))
	first := digest()
	w.edit("a", "note", cty.StringVal("two"))
	w.edit("a", "labels", label("team", "y"))
	if again := digest(); again != first {
		t.Errorf("others changed what is theirs, and the digest is %s after %s", again, first)
	}
	seen := map[string]bool{first: true}
	another := func(what string) {
		t.Helper()
		if d := digest(); seen[d] {
			t.Errorf("%s, and the digest is one of before", what)
		} else {
			seen[d] = true
		}
	}
	w.resize("a", 10)
	another("another value is corrected")
	w.remove("b")
	another("another object is gone")
	scope.Include[0].Except = []string{`labels["team"]`}
	w.declare(scope)
	another("what was another's is owned")
	last := digest()
	w.decide(ana, last, control.VerdictApprove)
	w.edit("a", "labels", label("team", "z"))
	proposal(t, w.round(control.OutcomeApplied), control.ProposalApproved)
}
