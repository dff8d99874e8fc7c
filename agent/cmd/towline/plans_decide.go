package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/seal"
)

const (
	// minDigest is how many digits of a digest name a plan.
	minDigest = 8
	// maxPlan bounds a sealed plan, in bytes.
	maxPlan = 256 << 20
)

// findPlan reads the one plan that a digest, or its beginning, names.
func findPlan(ctx context.Context, r *repository.Repository, which selection, digest string) (*proposed, error) {
	if len(digest) < minDigest || strings.Trim(digest, "0123456789abcdef") != "" {
		return nil, mistake("Invalid digest", fmt.Sprintf("%q is no digest of a plan. Give at least its first %d digits, as towline plans list shows them.", digest, minDigest))
	}
	members, err := fleet(ctx, r, which)
	if err != nil {
		return nil, err
	}
	list, err := proposalsOf(ctx, r, members)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(p *proposed) bool { return !strings.HasPrefix(p.Digest, digest) })
	switch len(list) {
	case 0:
		return nil, mistake("Plan is not there", fmt.Sprintf("No agent proposes a plan %s. It was never proposed, or was removed after others took its place; towline plans list shows what waits now.", digest))
	case 1:
		return list[0], nil
	}
	return nil, mistake("Digest is not unique", fmt.Sprintf("%d plans begin with %s. Give more digits, or -environment and -agent.", len(list), digest))
}

func (a *app) plansShowCommand() *command {
	flags := flag.NewFlagSet("plans show", flag.ContinueOnError)
	at := a.accessFlags(flags)
	var which selection
	which.flags(flags)
	values := flags.Bool("values", false, "show values; it takes the private key of a recipient")
	var keys repeated
	flags.Var(&keys, "key", "`FILE` with the private key of a recipient, for -values; may be repeated. Else the files in $"+identitiesEnv)
	a.jsonFlag(flags)
	return &command{
		synopsis: "Show a plan that an agent proposes", usage: "[options] DIGEST", flags: flags,
		long: `Without -values only names are shown: what changes, and in which attributes. With
-values the sealed plan is opened and shown as terraform shows plans; sensitive
values stay hidden. With -values and -json it is Terraform's plan JSON, with every
value in clear text.

JSON: ` + planFields,
		run: a.verb(func(ctx context.Context, args []string) (int, error) {
			digest, err := oneArgument(args, "plans show", "the plan's digest, which towline plans list shows")
			if err != nil {
				return exitFailed, err
			}
			r, err := at.read(ctx)
			if err != nil {
				return exitFailed, err
			}
			p, err := findPlan(ctx, r, which, digest)
			if err != nil {
				return exitFailed, err
			}
			if !*values {
				return exitOK, a.printPlan(p)
			}
			return exitOK, a.printValues(ctx, p, keys)
		}),
	}
}

// printValues opens a sealed plan.
func (a *app) printValues(ctx context.Context, p *proposed, keys []string) error {
	identities, err := readIdentities(identityFiles(keys))
	if err != nil {
		return err
	}
	sealed, err := p.member.reports.Plan(ctx, p.Proposal, maxPlan)
	if err != nil {
		return err
	}
	data, err := seal.Open(ctx, seal.Subject{Environment: p.Environment, Kind: seal.KindPlan}, identities, sealed, maxPlan)
	if errors.Is(err, seal.ErrNoKey) {
		return mistake("Plan cannot be opened", fmt.Sprintf("%s. Give the private key of a recipient with -key FILE: one of towline_agent's recipients, or, if it has none, a key that signs for the environment.", err))
	}
	if err != nil {
		return err
	}
	var body control.PlanBody
	if err := json.Unmarshal(data, &body); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	if a.json {
		_, err = a.stdout.Write(append(body.Plan, '\n'))
		return err
	}
	a.printf("%s", body.Text)
	return nil
}

// planDecider is what "plans approve" and "plans reject" are told.
type planDecider struct {
	*person
	agent, reason string
	verdict       control.Verdict
}

func (a *app) plansDecideCommand(verdict control.Verdict) func() *command {
	return func() *command {
		name := "plans " + string(verdict)
		flags := flag.NewFlagSet(name, flag.ContinueOnError)
		d := &planDecider{person: a.personFlags(flags), verdict: verdict}
		flags.StringVar(&d.agent, "agent", "", "`NAME` of an agent; all, unless given")
		flags.StringVar(&d.reason, "reason", "", "why; it is signed, stored and shown")
		synopsis := map[control.Verdict]string{control.VerdictApprove: "Approve one plan, by its digest", control.VerdictReject: "Refuse one plan, by its digest"}[verdict]
		return &command{
			synopsis: synopsis, usage: "-environment NAME -key FILE [options] DIGEST", flags: flags,
			long: `The word is signed with the SSH key of one of the approvers that the plan's scopes
name. It holds for this very plan: if anything that the plan was made of changes
before the agent comes to it, another plan is proposed and needs approval anew. It
cannot be taken back. Saying it again changes nothing and succeeds.

JSON: ` + planFields,
			run: a.verb(d.run),
		}
	}
}

func (d *planDecider) run(ctx context.Context, args []string) (int, error) {
	digest, err := oneArgument(args, "plans "+string(d.verdict), "the plan's digest, which towline plans list shows")
	if err != nil {
		return exitFailed, err
	}
	signer, place, err := d.prepare(ctx)
	if err != nil {
		return exitFailed, err
	}
	r, err := d.at.read(ctx)
	if err != nil {
		return exitFailed, err
	}
	p, err := findPlan(ctx, r, selection{d.environment, d.agent}, digest)
	if err != nil {
		return exitFailed, err
	}
	if err := d.check(p, signer); err != nil {
		return exitFailed, err
	}
	me := control.ApproverID(signer.PublicKey())
	if !slices.Contains(p.standing.Approvers, me) && p.standing.Rejector != me {
		if err := d.write(ctx, place, p, signer); err != nil {
			return exitFailed, err
		}
	}
	decisions, err := repository.Decisions(ctx, place.store, p.Proposal, place.state)
	if err != nil {
		return exitFailed, err
	}
	p.standing = control.Decide(p.Proposal, place.state.Scopes, decisions)
	return exitOK, d.app.printPlan(p)
}

// check refuses a word that would count for nothing.
func (d *planDecider) check(p *proposed, signer ssh.Signer) error {
	me := control.ApproverID(signer.PublicKey())
	if _, ok := p.approverNames()[me]; !ok {
		return mistake("Key is not an approver's", fmt.Sprintf("The key %s is not among the approvers of scope %s, so its word about plan %s would count for nothing. Nothing was written.", ssh.FingerprintSHA256(signer.PublicKey()), strings.Join(p.Scopes, ", "), p.Digest[:12]))
	}
	if p.standing.Phase == control.ProposalSuperseded {
		now := "no plan waits now"
		if p.member.beat != nil && p.member.beat.Proposal != "" {
			now = "plan " + p.member.beat.Proposal[:min(12, len(p.member.beat.Proposal))] + " waits in its place"
		}
		return mistake("Plan is superseded", fmt.Sprintf("Something that plan %s was made of has changed since: %s. Nothing was written.", p.Digest[:12], now))
	}
	said := map[bool]control.Verdict{true: control.VerdictApprove, false: control.VerdictReject}
	before := slices.Contains(p.standing.Approvers, me)
	if (before || p.standing.Rejector == me) && said[before] != d.verdict {
		return mistake("Decision stands", fmt.Sprintf("You have said %s of plan %s before, and a decision cannot be taken back. A new revision makes a new plan.", said[before], p.Digest[:12]))
	}
	return nil
}

func (d *planDecider) write(ctx context.Context, place inStore, p *proposed, signer ssh.Signer) error {
	me := control.ApproverID(signer.PublicKey())
	signed, err := control.SignPlanDecision(control.PlanDecision{
		Version: control.FormatVersion, Environment: p.Environment, Agent: p.Agent, Digest: p.Digest, Verdict: d.verdict,
		Reason: d.reason, By: p.approverNames()[me], Time: time.Now().UTC().Truncate(time.Second),
	}, signer)
	if err != nil {
		return err
	}
	key := control.DecisionKey(p.Environment, p.Digest, me)
	return occupied(key, place.add(ctx, repository.SignedFile{Key: key, Data: signed}))
}
