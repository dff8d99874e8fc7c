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
			r, err := at.read(ctx)
			if err != nil {
				return exitFailed, err
			}
			grants, err := listGrants(ctx, r, *environment, *all)
			if err != nil {
				return exitFailed, err
			}
			return exitOK, a.printGrants(grants)
		}),
	}
}

func listGrants(ctx context.Context, r *repository.Repository, environment string, all bool) ([]grantResult, error) {
	environments := []string{environment}
	if environment == "" {
		config, err := r.Config(ctx)
		if err != nil {
			return nil, err
		}
		environments = slices.Sorted(maps.Keys(config.Environments))
	}
	out := []grantResult{}
	for _, name := range environments {
		state, err := r.Environment(ctx, name)
		if err != nil {
			return nil, err
		}
		records, err := repository.GrantRecords(ctx, r.Store(), name, state.Policies, time.Now())
		if err != nil {
			return nil, err
		}
		for _, record := range records {
			result := resultOfRecord(record, name, state.Policies)
			if all || result.Phase == string(control.GrantOpen) || result.Phase == string(control.GrantPending) {
				out = append(out, result)
			}
		}
	}
	return out, nil
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
		who = append(who, cmp.Or(approver.Name, approver.ID[:12]))
	}
	approvals := fmt.Sprintf("%d of %d", len(g.Approvers), len(g.Approvers)+g.Missing)
	if g.Phase == phaseRefused {
		approvals = none
	}
	return []string{g.ID, g.Environment, g.Policy, g.Phase, approvals, strings.Join(who, ", "), strings.Join(g.Targets, " "), age(g.Until, now), cmp.Or(g.Refusal, g.Reason)}
}
