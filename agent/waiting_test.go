package agent_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// waitingWorld is one in which twoThings is applied, and another revision waits.
func waitingWorld(t *testing.T, scope func(w *world, key string) control.Scope, next map[string]string) (*world, ssh.Signer, string) {
	t.Helper()
	w := newWorld(t)
	ana, key := approver(t)
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.declare(scope(w, key))
	w.publishFiles(next)
	return w, ana, proposal(t, w.round(control.OutcomePending), control.ProposalPending)
}

// enforcing is a scope whose drift is corrected after a grace time, and whose revisions
// need approval.
func enforcing(grace time.Duration) func(w *world, key string) control.Scope {
	return func(w *world, key string) control.Scope {
		scope := w.scope(control.DriftEnforce, grace)
		scope.Approval = &control.Approval{Approvers: []string{key}, Approvals: 1, Changes: true}
		return scope
	}
}

var (
	largerA = map[string]string{"main.tf": strings.Replace(twoThings, "size = 1", "size = 5", 1)}
	movedA  = map[string]string{"main.tf": "moved {\n from = cloud_thing.a\n to = cloud_thing.c\n}\n" + strings.ReplaceAll(strings.Replace(strings.Replace(twoThings, "size = 1", "size = 5", 1), `"cloud_thing" "a"`, `"cloud_thing" "c"`, 1), "cloud_thing.a", "cloud_thing.c")}
)

// While a revision waits for approval, the one before stays in force: what drifts from it
// is corrected to it, whatever the newer one says of it.
func TestDriftIsCorrectedWhileARevisionWaits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		next    map[string]string
		address string // of the first thing once the next revision is applied
		during  func(w *world)
	}{
		"as it is":          {next: largerA, address: "cloud_thing.a", during: func(*world) {}},
		"moved in the next": {next: movedA, address: "cloud_thing.c", during: func(*world) {}},
		"after a restart":   {next: largerA, address: "cloud_thing.a", during: func(w *world) { w.stop() }},
		"with other providers": {
			next: map[string]string{"main.tf": largerA["main.tf"], ".terraform.lock.hcl": "# other versions\n"}, address: "cloud_thing.a", during: func(*world) {},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ana, digest := waitingWorld(t, enforcing(0), test.next)
			one := w.attribute("a", "size")
			w.edit("a", "size", cty.NumberIntVal(9))
			test.during(w)
			receipt := w.round(control.OutcomePending)
			if got := w.attribute("a", "size"); !got.RawEquals(one) {
				t.Fatalf("the size is %#v, the revision in force says %#v: %+v", got, one, receipt)
			}
			corrected := slices.IndexFunc(receipt.Changes, func(c control.Change) bool {
				return c.Address == "cloud_thing.a" && c.Result == "applied" && c.Cause == "drift"
			})
			proposed := slices.IndexFunc(receipt.Changes, func(c control.Change) bool {
				return c.Address == test.address && c.Result == "proposed" && c.Cause == "revision"
			})
			if corrected < 0 || proposed < 0 || !strings.Contains(receipt.Message, "the changes wait for approval") {
				t.Errorf("changes %+v, message %q", receipt.Changes, receipt.Message)
			}
			receipt = w.round(control.OutcomePending)
			if again := proposal(t, receipt, control.ProposalPending); again != digest {
				t.Errorf("what waits is %s, after %s", again, digest)
			}
			w.decide(ana, digest, control.VerdictApprove)
			w.round(control.OutcomeApplied)
			if !w.attribute("a", "size").RawEquals(cty.NumberIntVal(5)) || len(w.names()) != 2 {
				t.Errorf("the approved revision is not in force: %#v, %v", w.attribute("a", "size"), w.names())
			}
			w.round(control.OutcomeConverged)
		})
	}
}

// The grace time goes on from when drift was first seen, though the revision that waits
// decides about the same attribute.
func TestGraceTimeWhileARevisionWaits(t *testing.T) {
	t.Parallel()
	w, _, _ := waitingWorld(t, enforcing(3*time.Minute), largerA)
	w.edit("a", "size", cty.NumberIntVal(9))
	for range 3 {
		if w.round(control.OutcomePending); !w.byHand() {
			t.Fatal("it was corrected in the grace time")
		}
	}
	if w.round(control.OutcomePending); w.byHand() {
		t.Error("it is not corrected after the grace time")
	}
}

// Where drift needs approval too it waits, and without the store as well.
func TestProposedDriftWaitsWithARevision(t *testing.T) {
	t.Parallel()
	w, _, _ := waitingWorld(t, func(w *world, key string) control.Scope { return w.approvable(true, 1, key) }, largerA)
	w.edit("a", "size", cty.NumberIntVal(9))
	w.round(control.OutcomePending)
	w.store.set(true)
	w.advance(time.Minute)
	if got := w.agent.Round(t.Context()); got != control.OutcomePending || !w.byHand() {
		t.Errorf("outcome %q, by hand %v", got, w.byHand())
	}
}

// A first revision that waits has none before it.
func TestDriftWithoutARevisionBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, key := approver(t)
	w.declare(enforcing(0)(w, key))
	w.publish(twoThings)
	for range 2 {
		if w.round(control.OutcomePending); len(w.names()) != 0 {
			t.Fatalf("the cloud has %v", w.names())
		}
	}
}

// If the revision before cannot be read any more that is said, and nothing is applied.
func TestLastRevisionIsGone(t *testing.T) {
	t.Parallel()
	w, _, _ := waitingWorld(t, enforcing(0), largerA)
	applied := w.receipts()[0].Revision
	w.stop()
	w.erase("revisions/" + applied)
	w.edit("a", "size", cty.NumberIntVal(9))
	receipt := w.round(control.OutcomePending)
	if got := problems(receipt); !w.byHand() || !strings.Contains(got, "Last revision not usable") || !strings.Contains(got, "Drift is not corrected") {
		t.Errorf("by hand %v, problems %q", w.byHand(), got)
	}
}
