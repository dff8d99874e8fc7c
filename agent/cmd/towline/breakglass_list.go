package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// phaseRefused is shown for files that grant nothing.
const phaseRefused = "refused"

func (a *app) breakGlassListCommand() *command {
	flags := flag.NewFlagSet("break-glass list", flag.ContinueOnError)
	at := a.accessFlags(flags)
	environment := flags.String("environment", "", "`NAME` of an environment; all, unless given")
	var where localAccess
	where.flags(flags)
	all := flags.Bool("all", false, "show grants that have ended, and those that their policy refuses, too")
	a.jsonFlag(flags)
	return &command{
		synopsis: "List break-glass grants", usage: "[options]", flags: flags,
		long: `Each grant is verified under its policy. One that does not hold grants nothing;
-all shows it as refused, with the reason.

JSON: a list of ` + grantFields,
		run: a.verb(func(ctx context.Context, args []string) (int, error) {
			if err := noArguments(args, "break-glass list"); err != nil {
				return exitFailed, err
			}
			records, err := a.grantRecords(ctx, at, &where, *environment)
			if err != nil {
				return exitFailed, err
			}
			return exitOK, a.printGrants(selectGrants(records, *all))
		}),
	}
}

// environmentGrants are the grants of one environment, and what judged them.
type environmentGrants struct {
	name     string
	policies map[string]control.BreakGlassPolicy
	records  []repository.GrantRecord
}

// grantRecords reads and judges the grants in the store, or those on this machine.
func (a *app) grantRecords(ctx context.Context, at *access, where *localAccess, environment string) ([]environmentGrants, error) {
	if where.local {
		place, err := where.open(ctx, a, environment)
		if err != nil {
			return nil, err
		}
		files, err := place.read(ctx, "")
		if err != nil {
			return nil, err
		}
		state := place.declared()
		return []environmentGrants{{state.Environment, state.Policies, files.Records(state.Environment, state.Policies, time.Now())}}, nil
	}
	r, err := at.read(ctx)
	if err != nil {
		return nil, orLocal(err)
	}
	return storedRecords(ctx, r, environment)
}

// storedRecords reads the grants of one environment, or of all.
func storedRecords(ctx context.Context, r *repository.Repository, environment string) ([]environmentGrants, error) {
	environments := []string{environment}
	if environment == "" {
		config, err := r.Config(ctx)
		if err != nil {
			return nil, err
		}
		environments = slices.Sorted(maps.Keys(config.Environments))
	}
	var out []environmentGrants
	for _, name := range environments {
		state, err := r.Environment(ctx, name)
		if err != nil {
			return nil, err
		}
		files, err := repository.ReadGrants(ctx, r.Store(), state)
		if err != nil {
			return nil, err
		}
		out = append(out, environmentGrants{name, state.Policies, files.Records(name, state.Policies, time.Now())})
	}
	return out, nil
}

// selectGrants leaves out, unless all are wanted, what is not in force and cannot be.
func selectGrants(environments []environmentGrants, all bool) []grantResult {
	out := []grantResult{}
	for _, e := range environments {
		for _, record := range e.records {
			result := resultOfRecord(record, e.name, e.policies)
			if all || result.Phase == string(control.GrantOpen) || result.Phase == string(control.GrantPending) {
				out = append(out, result)
			}
		}
	}
	return out
}

func resultOfRecord(record repository.GrantRecord, environment string, policies map[string]control.BreakGlassPolicy) grantResult {
	if record.Refusal == nil {
		return resultOf(record.Grant, policies[record.Grant.Request.Policy])
	}
	return grantResult{
		ID: record.ID, Environment: environment, Phase: phaseRefused, Targets: []string{}, Approvers: []approverResult{}, Refusal: record.Refusal.Error(),
	}
}

func (a *app) printGrants(grants []grantResult) error {
	if a.json {
		return a.printJSON(grants)
	}
	if len(grants) == 0 {
		a.note("No grants to show.")
		return nil
	}
	rows := make([][]string, len(grants))
	for i, g := range grants {
		rows[i] = g.row(time.Now())
	}
	a.table([]string{"ID", "ENVIRONMENT", "POLICY", "PHASE", "APPROVALS", "APPROVERS", "TARGETS", "UNTIL", "REASON"}, rows)
	return nil
}

func (g grantResult) row(now time.Time) []string {
	var who []string
	for _, approver := range g.Approvers {
		name := cmp.Or(approver.Name, approver.ID[:12])
		if approver.SlackUser != "" {
			name += " (" + approver.SlackUser + " in Slack)"
		}
		who = append(who, name)
	}
	approvals := fmt.Sprintf("%d of %d", len(g.Approvers), len(g.Approvers)+g.Missing)
	if g.Phase == phaseRefused {
		approvals = none
	}
	return []string{g.ID, g.Environment, g.Policy, g.Phase, approvals, strings.Join(who, ", "), strings.Join(g.Targets, " "), age(g.Until, now), cmp.Or(g.Refusal, g.Reason)}
}
