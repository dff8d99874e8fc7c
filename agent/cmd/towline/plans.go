package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// planFields documents the JSON of the verbs about proposed plans.
const planFields = `environment, agent, digest, phase (pending, approved, rejected or
superseded), revision, created, scopes, changes (a list of address, actions,
attributes, cause), approvers, missing, rejector, reason.`

// proposed is a proposal with what became of it.
type proposed struct {
	control.Proposal
	member   *member
	state    *repository.State
	standing control.Standing
}

// proposedResult is a proposed plan in JSON.
type proposedResult struct {
	Environment string                `json:"environment"`
	Agent       string                `json:"agent"`
	Digest      string                `json:"digest"`
	Phase       control.ProposalPhase `json:"phase"`
	Revision    string                `json:"revision"`
	Created     time.Time             `json:"created"`
	Scopes      []string              `json:"scopes"`
	Changes     []control.Change      `json:"changes"`
	Approvers   []approverResult      `json:"approvers"`
	Missing     int                   `json:"missing"`
	Rejector    string                `json:"rejector,omitempty"`
	Reason      string                `json:"reason,omitempty"`
}

func (p *proposed) result() proposedResult {
	out := proposedResult{
		Environment: p.Environment, Agent: p.Agent, Digest: p.Digest, Phase: p.standing.Phase, Revision: p.Revision, Created: p.Created,
		Scopes: p.Scopes, Changes: p.Changes, Approvers: []approverResult{}, Missing: p.standing.Missing, Reason: p.standing.Reason,
	}
	names := p.approverNames()
	for _, id := range p.standing.Approvers {
		out.Approvers = append(out.Approvers, approverResult{ID: id, Name: names[id]})
	}
	if id := p.standing.Rejector; id != "" {
		out.Rejector = cmp.Or(names[id], id)
	}
	return out
}

// approverNames are the comments of the keys of the proposal's scopes, by approver.
func (p *proposed) approverNames() map[string]string {
	names := map[string]string{}
	for _, name := range p.Scopes {
		if approval := p.state.Scopes[name].Approval; approval != nil {
			for id, comment := range namesOfKeys(approval.Approvers) {
				names[id] = comment
			}
		}
	}
	return names
}

// proposalsOf reads agents' proposals and what was said about them, the newest first.
func proposalsOf(ctx context.Context, r *repository.Repository, members []*member) ([]*proposed, error) {
	states := map[string]*repository.State{}
	var out []*proposed
	for _, m := range members {
		environment := m.declared.Environment
		if states[environment] == nil {
			state, err := r.Environment(ctx, environment)
			if err != nil {
				return nil, err
			}
			states[environment] = state
		}
		more, err := m.proposals(ctx, r.Store(), states[environment])
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	slices.SortStableFunc(out, func(a, b *proposed) int { return b.Created.Compare(a.Created) })
	return out, nil
}

func (m *member) proposals(ctx context.Context, store objstore.Store, state *repository.State) ([]*proposed, error) {
	if m.reports == nil {
		return nil, nil
	}
	list, err := m.reports.Proposals(ctx)
	if err != nil {
		return nil, err
	}
	var out []*proposed
	for _, proposal := range list {
		decisions, err := repository.Decisions(ctx, store, proposal, state)
		if err != nil {
			return nil, err
		}
		p := &proposed{Proposal: proposal, member: m, state: state, standing: control.Decide(proposal, state.Scopes, decisions)}
		if current := m.beat != nil && m.beat.Proposal == proposal.Digest; !current && p.standing.Phase == control.ProposalPending {
			p.standing.Phase = control.ProposalSuperseded
		}
		out = append(out, p)
	}
	return out, nil
}

func (a *app) plansListCommand() *command {
	flags := flag.NewFlagSet("plans list", flag.ContinueOnError)
	at := a.accessFlags(flags)
	var which selection
	which.flags(flags)
	all := flags.Bool("all", false, "also list plans that are no longer pending")
	a.jsonFlag(flags)
	return &command{
		synopsis: "List the plans that wait for approval", usage: "[options]", flags: flags,
		long: `An agent proposes a plan where a scope says that its drift, or what a revision
changes, is to be approved. A plan stands for exactly what it was made of: when
that changes, another takes its place.

JSON: a list of ` + planFields,
		run: a.overFleet("plans list", at, &which, func(ctx context.Context, r *repository.Repository, members []*member) (int, error) {
			list, err := proposalsOf(ctx, r, members)
			if err != nil {
				return exitFailed, err
			}
			if !*all {
				list = slices.DeleteFunc(list, func(p *proposed) bool { return p.standing.Phase != control.ProposalPending })
			}
			return exitOK, a.printPlans(list)
		}),
	}
}

func (a *app) printPlans(list []*proposed) error {
	if a.json {
		results := []proposedResult{}
		for _, p := range list {
			results = append(results, p.result())
		}
		return a.printJSON(results)
	}
	if len(list) == 0 {
		a.note("No plans to show.")
		return nil
	}
	rows := make([][]string, len(list))
	for i, p := range list {
		approvals := fmt.Sprintf("%d of %d", len(p.standing.Approvers), len(p.standing.Approvers)+p.standing.Missing)
		rows[i] = []string{p.Digest[:12], p.Environment + "/" + p.Agent, string(p.standing.Phase), approvals, plural(len(p.Changes), "change"), strings.Join(p.Scopes, " "), age(p.Created, time.Now())}
	}
	a.table([]string{"DIGEST", "AGENT", "PHASE", "APPROVALS", "CHANGES", "SCOPES", "CREATED"}, rows)
	return nil
}

// printPlan shows what may be seen by everybody.
func (a *app) printPlan(p *proposed) error {
	result := p.result()
	if a.json {
		return a.printJSON(result)
	}
	a.printf("Plan %s of agent %s/%s is %s.\n", p.Digest, p.Environment, p.Agent, p.standing.Phase)
	a.printf("Made %s of revision %s; needs the approval of scope %s.\n\n", age(p.Created, time.Now()), p.Revision[:min(12, len(p.Revision))], strings.Join(p.Scopes, ", "))
	for _, c := range p.Changes {
		verbs := make([]string, len(c.Actions))
		for i, action := range c.Actions {
			verbs[i] = string(action)
		}
		a.printf("  %-16s %s", strings.Join(verbs, " and "), c.Address)
		if len(c.Attributes) > 0 && !slices.Contains(c.Actions, control.ActionCreate) && !slices.Contains(c.Actions, control.ActionDelete) {
			a.printf(": %s", strings.Join(c.Attributes, ", "))
		}
		a.printf(" (%s)\n", c.Cause)
	}
	a.printf("\n")
	for _, approver := range result.Approvers {
		a.printf("Approved by %s.\n", cmp.Or(approver.Name, approver.ID))
	}
	switch p.standing.Phase {
	case control.ProposalRejected:
		a.printf("Rejected by %s: %s.\n", result.Rejector, cmp.Or(result.Reason, "no reason given"))
	case control.ProposalPending:
		a.printf("%s missing. To approve exactly this plan: towline plans approve -environment %s -key FILE %s\n", plural(p.standing.Missing, "approval"), p.Environment, p.Digest[:12])
	}
	return nil
}
