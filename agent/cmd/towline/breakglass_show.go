package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

func (a *app) breakGlassShowCommand() *command {
	flags := flag.NewFlagSet("break-glass show", flag.ContinueOnError)
	at := a.accessFlags(flags)
	environment := flags.String("environment", "", "`NAME` of the environment")
	a.jsonFlag(flags)
	return &command{
		synopsis: "Show a grant, and what changed while it was open", usage: "-environment NAME [options] ID", flags: flags,
		long: `What each of the environment's agents has seen differ since the grant was opened, by
address and attribute, from signed receipts. What is older differed before. Of a
grant that has ended, the result says what became of it: corrected, held, proposed,
another decision about drift, or gone, where it did not differ any more at the end.
Values are never in receipts; towline plans show -values has those of what is proposed.

JSON: ` + grantFields + `
changed (a list of agent, receipt, address, attributes, deleted, replaced, since,
result) and silent (a list of agents that have reported no round with it).`,
		run: a.verb(func(ctx context.Context, args []string) (int, error) {
			id, err := oneArgument(args, "break-glass show", "the grant's ID, which towline break-glass list -all shows")
			if err != nil {
				return exitFailed, err
			}
			if *environment == "" {
				return exitFailed, mistake("Environment is missing", "Grants belong to one environment. Give -environment NAME.")
			}
			r, err := at.read(ctx)
			if err != nil {
				return exitFailed, err
			}
			shown, err := showGrant(ctx, r, *environment, id)
			if err != nil {
				return exitFailed, err
			}
			return exitOK, a.printShown(shown, time.Now())
		}),
	}
}

// shownGrant is a grant with what changed while it was open, in JSON.
type shownGrant struct {
	grantResult
	Changed []shownChange `json:"changed"`
	// Silent are agents that have reported no round in which it was in force.
	Silent []string `json:"silent,omitempty"`
}

// shownChange is what one agent has seen of one object, in JSON.
type shownChange struct {
	Agent   string `json:"agent"`
	Receipt string `json:"receipt"`
	control.GrantChange
}

func showGrant(ctx context.Context, r *repository.Repository, environment, id string) (shownGrant, error) {
	state, err := r.Environment(ctx, environment)
	if err != nil {
		return shownGrant{}, err
	}
	record, err := recordOf(ctx, inStore{r.Store(), state}, id)
	if err != nil {
		return shownGrant{}, err
	}
	out := shownGrant{grantResult: resultOfRecord(record, environment, state.Policies), Changed: []shownChange{}}
	for _, name := range slices.Sorted(maps.Keys(state.Agents)) {
		receipt, found, err := lastWithGrant(ctx, r, state.Agents[name], record.Grant.Request)
		if err != nil {
			return shownGrant{}, err
		}
		if !found {
			out.Silent = append(out.Silent, name)
		}
		for _, change := range changesOf(receipt.Receipt, id) {
			out.Changed = append(out.Changed, shownChange{name, receipt.Key, change})
		}
	}
	return out, nil
}

// lastWithGrant finds the newest receipt of an agent that tells of a grant.
func lastWithGrant(ctx context.Context, r *repository.Repository, declared control.Agent, request control.GrantRequest) (repository.Receipt, bool, error) {
	reports, err := repository.OpenReports(ctx, r.Store(), declared)
	if errors.Is(err, repository.ErrNotEnrolled) {
		return repository.Receipt{}, false, nil
	}
	if err != nil {
		return repository.Receipt{}, false, err
	}
	// An agent's clock may be behind the opener's.
	return reports.Latest(ctx, request.Opened.Add(-maxClockSkew), func(receipt control.Receipt) bool {
		return slices.ContainsFunc(receipt.Grants, func(use control.GrantUse) bool { return use.ID == request.ID }) ||
			slices.ContainsFunc(receipt.GrantsEnded, func(end control.GrantEnd) bool { return end.ID == request.ID })
	})
}

// changesOf is what a receipt says of a grant.
func changesOf(receipt control.Receipt, id string) []control.GrantChange {
	for _, end := range receipt.GrantsEnded {
		if end.ID == id {
			return end.Changed
		}
	}
	for _, use := range receipt.Grants {
		if use.ID == id {
			return use.Changed
		}
	}
	return nil
}

func (a *app) printShown(shown shownGrant, now time.Time) error {
	if a.json {
		return a.printJSON(shown)
	}
	a.table([]string{"ID", "ENVIRONMENT", "POLICY", "PHASE", "APPROVALS", "APPROVERS", "TARGETS", "UNTIL", "REASON"}, [][]string{shown.row(now)})
	if shown.SlackUser != "" {
		a.note("Slack user %s opened it as %s.", shown.SlackUser, shown.Opener)
	}
	if len(shown.Silent) > 0 {
		a.note("No round in which it was in force is reported by: %s.", strings.Join(shown.Silent, ", "))
	}
	if len(shown.Changed) == 0 {
		a.note("Nothing is reported to differ since it was opened.")
		return nil
	}
	var rows [][]string
	for _, c := range shown.Changed {
		attributes := c.Attributes
		switch {
		case c.Deleted:
			attributes = []string{"(deleted)"}
		case len(attributes) == 0:
			attributes = []string{"(replaced)"}
		}
		for _, attribute := range attributes {
			rows = append(rows, []string{c.Agent, c.Address, attribute, age(c.Since, now), cmp.Or(c.Result, string(control.GrantOpen))})
		}
	}
	a.printf("\n")
	a.table([]string{"AGENT", "ADDRESS", "ATTRIBUTE", "SINCE", "RESULT"}, rows)
	return nil
}
