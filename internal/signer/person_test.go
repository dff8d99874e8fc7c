package signer_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/signer"
)

// A person's key in an SSH agent signs decisions, whatever kind of key it is.
func TestPersonsKeyInAnAgent(t *testing.T) { //nolint:paralleltest // the agent is named in the environment
	sshAgent(t, "ana@laptop")
	for _, kind := range []string{"rsa", "ecdsa"} {
		path := filepath.Join(t.TempDir(), kind)
		for _, args := range [][]string{{"ssh-keygen", "-q", "-t", kind, "-N", "", "-C", kind, "-f", path}, {"ssh-add", "-q", path}} {
			if output, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v: %s", args, err, output)
			}
		}
	}
	for _, name := range []string{"ana@laptop", "rsa", "ecdsa"} { //nolint:paralleltest // as above
		t.Run(name, func(t *testing.T) {
			person, ok, err := signer.Person(t.Context(), "ssh-agent:"+name)
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			proposal := control.Proposal{Environment: "prod", Agent: "a", Digest: strings.Repeat("a", 64), Scopes: []string{"s"}}
			signed, err := control.SignPlanDecision(control.PlanDecision{
				Version: control.FormatVersion, Environment: "prod", Agent: "a", Digest: proposal.Digest, Verdict: control.VerdictApprove, Time: time.Now().UTC(),
			}, person)
			if err != nil {
				t.Fatal(err)
			}
			scopes := map[string]control.Scope{"s": {Approval: &control.Approval{Approvers: []string{string(ssh.MarshalAuthorizedKey(person.PublicKey()))}}}}
			if got := control.Decide(proposal, scopes, control.Decisions{Signed: [][]byte{signed}}); got.Phase != control.ProposalApproved {
				t.Errorf("got %+v", got)
			}
		})
	}
	if _, ok, err := signer.Person(t.Context(), "ssh-agent:nobody"); !ok || err == nil || !strings.Contains(err.Error(), "holds 0 keys of this name") {
		t.Errorf("got %v, %v", ok, err)
	}
	if _, ok, err := signer.Person(t.Context(), "/home/ana/.ssh/id_ed25519"); ok || err != nil {
		t.Errorf("a file: %v, %v", ok, err)
	}
}
