package agent_test

import (
	"context"
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// approver makes a signing key of an engineer.
func approver(t *testing.T) (ssh.Signer, string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
}

func (w *world) policy(key string, after control.After) control.BreakGlassPolicy {
	return control.BreakGlassPolicy{Version: control.FormatVersion, Environment: "prod", Name: "fix", Scopes: []string{"all"}, Approvers: []string{key},
		Approvals: 1, MaxDuration: control.Duration(time.Hour), RequireReason: true, After: after}
}

// request signs a request for ten minutes.
func (w *world) request(signer ssh.Signer, target string) repository.SignedFile {
	w.t.Helper()
	now := w.clock().UTC()
	signed, err := control.SignGrantRequest(control.GrantRequest{Version: control.FormatVersion, ID: "g1", Environment: "prod", Policy: "fix",
		Targets: []string{target}, Reason: "incident 7", Opened: now, Until: now.Add(10 * time.Minute)}, signer)
	if err != nil {
		w.t.Fatal(err)
	}
	return repository.SignedFile{Key: control.GrantRequestKey("prod", "g1"), Data: signed}
}

// extension signs a later end of the grant, as if at a time.
func (w *world) extension(signer ssh.Signer, at, until time.Time) repository.SignedFile {
	w.t.Helper()
	signed, err := control.SignGrantExtension(control.GrantExtension{Version: control.FormatVersion, ID: "g1", Until: until.UTC(), Time: at.UTC()}, signer)
	if err != nil {
		w.t.Fatal(err)
	}
	return repository.SignedFile{Key: control.GrantExtensionKey("prod", "g1", until, control.ApproverID(signer.PublicKey())), Data: signed}
}

// closure signs the end of the grant.
func (w *world) closure(signer ssh.Signer) repository.SignedFile {
	w.t.Helper()
	signed, err := control.SignGrantClosure(control.GrantClosure{Version: control.FormatVersion, ID: "g1", Closed: w.clock().UTC()}, signer)
	if err != nil {
		w.t.Fatal(err)
	}
	return repository.SignedFile{Key: control.GrantClosureKey("prod", "g1", control.ApproverID(signer.PublicKey())), Data: signed}
}

// sent writes what was signed to the store.
func (w *world) sent(file repository.SignedFile) {
	w.t.Helper()
	if _, err := w.store.PutIfAbsent(w.t.Context(), file.Key, file.Data); err != nil {
		w.t.Fatal(err)
	}
}

// open writes a grant for ten minutes.
func (w *world) open(signer ssh.Signer, target string) {
	w.t.Helper()
	w.sent(w.request(signer, target))
}

func TestGrantSuspendsCorrectionUntilItEnds(t *testing.T) {
	t.Parallel()
	nine := cty.NumberIntVal(9)
	tests := map[string]struct {
		target string
		after  control.After
		want   control.Outcome
		result bool // corrected at the end
	}{
		"revert":               {"cloud_thing.a", control.AfterRevert, control.OutcomeApplied, true},
		"hold":                 {"cloud_thing.a", control.AfterHold, control.OutcomeDrifted, false},
		"propose":              {"cloud_thing.a", control.AfterPropose, control.OutcomeDrifted, false},
		"target with wildcard": {"cloud_thing.*", control.AfterRevert, control.OutcomeApplied, true},
		"target by attribute":  {"cloud_thing.a.size", control.AfterRevert, control.OutcomeApplied, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			signer, key := approver(t)
			w.made(w.policy(key, test.after))
			w.open(signer, test.target)
			w.edit("a", "size", nine)
			for range 3 {
				receipt := w.round(control.OutcomeDrifted)
				if len(receipt.Grants) != 1 || !slices.Equal(receipt.Grants[0].Held, []string{"cloud_thing.a"}) || receipt.Drift[0].Decision != "held" {
					t.Errorf("grants %+v, drift %+v", receipt.Grants, receipt.Drift)
				}
			}
			w.advance(10 * time.Minute)
			w.round(test.want)
			if got := !w.attribute("a", "size").RawEquals(nine); got != test.result {
				t.Errorf("corrected at the end: %v", got)
			}
		})
	}
}

func TestGrantHoldsBackTheRevisionToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	signer, key := approver(t)
	w.made(w.policy(key, control.AfterRevert))
	w.open(signer, "cloud_thing.a")
	w.publish(strings.Replace(twoThings, "size = 1", "size = 5", 1))
	w.round(control.OutcomeConverged)
	if !w.attribute("a", "size").RawEquals(cty.NumberIntVal(1)) {
		t.Error("a target was changed while the grant is open")
	}
	w.advance(10 * time.Minute)
	w.round(control.OutcomeApplied)
	if !w.attribute("a", "size").RawEquals(cty.NumberIntVal(5)) {
		t.Error("the revision is not in force after the grant's end")
	}
}

func TestAttackGrantOfAStranger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, key := approver(t)
	stranger, _ := approver(t)
	w.made(w.policy(key, control.AfterRevert))
	w.open(stranger, "cloud_thing.a")
	w.resize("a", 9)
	w.round(control.OutcomeApplied)
	if w.attribute("a", "size").RawEquals(cty.NumberIntVal(9)) {
		t.Error("a grant that no approver signed suspended correction")
	}
}

func TestGrantOutlivesTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	signer, key := approver(t)
	w.made(w.policy(key, control.AfterRevert))
	w.open(signer, "cloud_thing.a")
	w.round(control.OutcomeConverged)
	w.store.set(true)
	w.resize("a", 9)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.round(control.OutcomeDrifted)
	if !w.attribute("a", "size").RawEquals(cty.NumberIntVal(9)) {
		t.Error("the grant was forgotten with the store")
	}
}

func TestFailedApplyIsRepairedByTheNextRound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(twoThings)
	failing := true
	w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		resp := w.cloud.ApplyDefault(req)
		if failing {
			resp.Diagnostics = append(resp.Diagnostics, tfdiags.New(tfdiags.Error, "Cloud is full", "There is no room.")...)
		}
		return resp
	}
	receipt := w.round(control.OutcomeFailed)
	if receipt.Changes[0].Result != "failed" || receipt.Changes[1].Result != "failed" {
		t.Errorf("changes %+v", receipt.Changes)
	}
	failing = false
	w.round(control.OutcomeApplied)
	w.round(control.OutcomeConverged)
	if got := w.names(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the cloud has %v", got)
	}
}
