package agent_test

import (
	"context"
	"crypto/ed25519"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// newClaimant claims the enrolment with another key, as a thief of the token would.
func newClaimant(w *world) error {
	signed := w.strangersClaim(control.Claim{Agent: "a1", Generation: 1})
	_, err := w.store.PutIfAbsent(w.t.Context(), control.ClaimKey("prod", "a1", 1), signed)
	return err
}

// roundLogged does a round of an agent that logs into out.
func (w *world) roundLogged(out io.Writer) control.Outcome {
	w.t.Helper()
	w.stop()
	a, err := agent.New(w.config(filepath.Join(w.dir, "data")),
		agent.Options{Store: w.store, Now: w.clock, Logger: slog.New(slog.NewTextHandler(out, nil)),
			Providers: w.providers})
	if err != nil {
		w.t.Fatal(err)
	}
	w.agent = a
	return a.Round(w.t.Context())
}

// TestAttackClaimReplayed puts claims that were good elsewhere, or earlier, in the
// place of a new enrolment's. The new machine says so and touches nothing; once the
// foreign claim is gone it enrols, and all objects are still its own.
func TestAttackClaimReplayed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		claim func(w *world, before []byte) []byte
		want  string
	}{
		"claim of the enrolment before": {func(_ *world, before []byte) []byte { return before }, "the claim in the store does not hold"},
		"claim of another agent": {func(w *world, _ []byte) []byte {
			return w.strangersClaim(control.Claim{Agent: "a2", Generation: 2})
		}, "the claim in the store does not hold"},
		"claim with the token, by a thief": {func(w *world, _ []byte) []byte {
			return w.strangersClaim(control.Claim{Agent: "a1", Generation: 2})
		}, "claimed by another key"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := atRest(t)
			before, err := w.store.Get(t.Context(), control.ClaimKey("prod", "a1", 1), control.MaxDocument)
			if err != nil {
				t.Fatal(err)
			}
			w.reenrol(true)
			w.advance(time.Minute)
			key := control.ClaimKey("prod", "a1", 2)
			w.put(key, string(test.claim(w, before.Data)))
			log := &strings.Builder{}
			if got := w.roundLogged(log); got != control.OutcomeFailed || !strings.Contains(log.String(), test.want) {
				t.Errorf("outcome %s, log %s", got, log)
			}
			if err := w.store.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			w.advance(time.Minute)
			w.remove("a")
			if got := w.roundLogged(log); got != control.OutcomeApplied || w.creations() != 3 {
				t.Errorf("afterwards: outcome %s, %d creations, want 3; log %s", got, w.creations(), log)
			}
		})
	}
}

// strangersClaim is signed with the world's token and a key of a stranger.
func (w *world) strangersClaim(claim control.Claim) []byte {
	w.t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	claim.Version, claim.Environment, claim.AgentKey, claim.Time = control.FormatVersion, "prod", control.EncodeKey(public), w.clock()
	signed, err := control.SignClaim(claim, w.token, private)
	if err != nil {
		w.t.Fatal(err)
	}
	return signed
}

// withoutClaims is a store in which claims cannot be read.
type withoutClaims struct{ objstore.Store }

func (s withoutClaims) Get(ctx context.Context, key string, limit int64) (objstore.Object, error) {
	if strings.Contains(key, "/claim") {
		return objstore.Object{}, objstore.ErrUnavailable
	}
	return s.Store.Get(ctx, key, limit)
}

// TestOldMachineTakesNothingBack: a machine that was replaced runs again, and cannot
// read that its claim is void. It must not take the lease from its successor.
func TestOldMachineTakesNothingBack(t *testing.T) {
	t.Parallel()
	w := atRest(t)
	old := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(old, os.DirFS(filepath.Join(w.dir, "data"))); err != nil {
		t.Fatal(err)
	}
	w.reenrol(true)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Minute)
	if got := w.agent.Round(t.Context()); got != control.OutcomeConverged {
		t.Fatalf("the new machine's round: %s", got)
	}
	flaky := w.store.Store
	w.store.Store = withoutClaims{flaky}
	a, err := w.openAgent(old)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	w.advance(time.Minute)
	if got := a.Round(t.Context()); got != control.OutcomeFailed {
		t.Errorf("the old machine's round: %s, want %s", got, control.OutcomeFailed)
	}
	current, _, err := lease.Current(t.Context(), flaky, inProd)
	if err != nil || current.Epoch != 2 {
		t.Errorf("epoch %d, %v; want the new machine's, 2", current.Epoch, err)
	}
}
