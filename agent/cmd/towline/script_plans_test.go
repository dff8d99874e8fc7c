package main

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/seal"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// approval ENV SCOPE APPROVALS PUBLIC-KEY-FILE...: a scope over everything whose
// proposals some people approve.
func approval(s script, args []string) error {
	scope := control.Scope{
		Version: control.FormatVersion, Environment: args[0], Name: args[1], Include: []control.Match{{Address: "**"}},
		Drift: control.Drift{Mode: control.DriftPropose}, Approval: &control.Approval{},
	}
	if _, err := fmt.Sscan(args[2], &scope.Approval.Approvals); err != nil {
		return err
	}
	for _, file := range args[3:] {
		scope.Approval.Approvers = append(scope.Approval.Approvers, strings.TrimSpace(s.ts.ReadFile(file)))
	}
	signing := trust.Signing{Keys: trust.Keyring{s.key(s.ts.Getenv("TOWLINE_SIGNING_KEY_FILE"))}, Now: time.Now()}
	_, err := s.repo().PutDocuments(context.Background(), signing, scope)
	return err
}

// propose ENV AGENT KEY-FILE SCOPE WHAT: the agent proposes a plan made of WHAT, sealed
// to the key that signs for the environment, and sets $PLAN to its digest.
func propose(s script, args []string) error {
	environment, name, key := args[0], args[1], s.key(args[2]).Ed25519()
	public, _ := s.key(s.ts.Getenv("TOWLINE_SIGNING_KEY_FILE")).Ed25519().Public().(ed25519.PublicKey)
	recipient, err := seal.RecipientOf(public)
	if err != nil {
		return err
	}
	body, err := json.Marshal(control.PlanBody{Text: "the plan made of " + args[4] + "\n", Plan: json.RawMessage(`{"format_version":"1.2"}`)})
	if err != nil {
		return err
	}
	ctx := context.Background()
	sealed, err := seal.Seal(ctx, seal.Subject{Environment: environment, Kind: seal.KindPlan}, []string{recipient}, body)
	if err != nil {
		return err
	}
	digest, plan := sha256.Sum256([]byte(args[4])), sha256.Sum256(sealed)
	doc := control.Proposal{
		Version: control.FormatVersion, Environment: environment, Agent: name, Digest: hex.EncodeToString(digest[:]), Plan: hex.EncodeToString(plan[:]),
		Revision: strings.Repeat("a", 64), Created: time.Now().UTC(), Scopes: []string{args[3]},
		Changes: []control.Change{{Address: "aws_instance.web", Actions: []control.Action{control.ActionUpdate}, Attributes: []string{"tags"}, Result: "proposed", Cause: "drift"}},
	}
	signed, err := control.Sign(doc, key)
	if err != nil {
		return err
	}
	if _, err := s.store.PutIfAbsent(ctx, control.PlanKey(environment, name, doc.Plan), sealed); err != nil {
		return err
	}
	if _, err := s.store.PutIfAbsent(ctx, control.ProposalKey(environment, name, doc.Digest), signed); err != nil {
		return err
	}
	s.ts.Setenv("PLAN", doc.Digest)
	return beat(s, []string{"-outcome", "drifted", "-drift", "1", "-proposal", doc.Digest, environment, name, args[2]})
}
