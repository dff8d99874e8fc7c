package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

func (a *app) driftCommand() *command {
	flags := flag.NewFlagSet("drift", flag.ContinueOnError)
	at := a.accessFlags(flags)
	var which selection
	which.flags(flags)
	a.jsonFlag(flags)
	return &command{
		synopsis: "Show what drifts now, by attribute", usage: "[options]", flags: flags,
		long: `What each agent's newest receipt says stands, verified by the agent's key. What
the agent has corrected is not shown; towline receipts has it. Values are never
in receipts. Objects that an inventory of the agent's scopes lists and that it does
not manage are shown as unmanaged; they are no drift.

Exit status: 0 if nothing drifts, 1 for errors, 2 if something does or an agent
gives no proof.

JSON: a list of environment, agent, known, message, receipt, finished, revision,
drift (a list of address, attributes, deleted, replaced, computed, decision, since,
digest, grant), unmanaged (a list of inventory, id, since, digest). Where known is
false these are what was known last, or empty.`,
		run: a.overFleet("drift", at, &which, func(ctx context.Context, _ *repository.Repository, members []*member) (int, error) {
			return a.drift(ctx, members, time.Now())
		}),
	}
}

// driftResult is an agent's drift in JSON.
type driftResult struct {
	Environment string `json:"environment"`
	Agent       string `json:"agent"`
	// Known is false if the agent gives no proof of now.
	Known    bool                `json:"known"`
	Message  string              `json:"message,omitempty"`
	Receipt  string              `json:"receipt,omitempty"`
	Finished time.Time           `json:"finished,omitzero"`
	Revision string              `json:"revision,omitempty"`
	Drift    []control.DriftItem `json:"drift"`
	// Unmanaged are objects beside the agent's own that nobody manages.
	Unmanaged []control.UnmanagedItem `json:"unmanaged,omitempty"`
}

func (a *app) drift(ctx context.Context, members []*member, now time.Time) (int, error) {
	results := make([]driftResult, len(members))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(listeners)
	for i, m := range members {
		group.Go(func() (err error) {
			results[i], err = m.drift(ctx, now)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return exitFailed, err
	}
	code := exitOK
	for i, m := range members {
		if !results[i].Known || len(results[i].Drift) > 0 {
			code = exitChanges
		}
		if !results[i].Known && !a.json {
			a.show(tfdiags.New(tfdiags.Warning, "Drift is not known", fmt.Sprintf("Agent %s gives no proof of now: %s. What is shown of it, if anything, is what was known last.", m.name(), results[i].Message)))
		}
	}
	if a.json {
		return code, a.printJSON(results)
	}
	a.printDrift(results, now)
	return code, nil
}

// drift reads the receipt that the agent's report names.
func (m *member) drift(ctx context.Context, now time.Time) (driftResult, error) {
	out := driftResult{Environment: m.declared.Environment, Agent: m.declared.Name, Message: m.unproved(now), Drift: []control.DriftItem{}}
	out.Known = out.Message == ""
	if m.beat == nil || m.beat.Sequence == 0 {
		return out, nil
	}
	receipt, err := m.reports.Receipt(ctx, m.beat.Epoch, m.beat.Sequence)
	if errors.Is(err, repository.ErrNotBelieved) {
		out.Known, out.Message = false, err.Error()
		return out, nil
	}
	if err != nil {
		return out, err
	}
	if receipt.Outcome == control.OutcomeFailed && out.Known {
		out.Known, out.Message = false, "its last round failed: "+receipt.Message
	}
	out.Receipt, out.Finished, out.Revision, out.Unmanaged = receipt.Key, receipt.Finished, receipt.Revision, receipt.Unmanaged
	for _, item := range receipt.Drift {
		if guard.Decision(item.Decision).Stands() {
			out.Drift = append(out.Drift, item)
		}
	}
	return out, nil
}

func (a *app) printDrift(results []driftResult, now time.Time) {
	var rows [][]string
	for _, r := range results {
		for _, item := range r.Drift {
			attributes := item.Attributes
			switch {
			case item.Deleted:
				attributes = []string{"(deleted)"}
			case len(attributes) == 0:
				attributes = []string{"(replaced)"}
			}
			for _, attribute := range attributes {
				rows = append(rows, []string{r.Environment, r.Agent, item.Address, attribute, item.Decision, age(item.Since, now), item.Grant})
			}
		}
	}
	for _, r := range results {
		for _, item := range r.Unmanaged {
			rows = append(rows, []string{r.Environment, r.Agent, item.Inventory, item.ID, "unmanaged", age(item.Since, now), ""})
		}
	}
	if len(rows) == 0 {
		a.note("No drift is reported.")
		return
	}
	a.table([]string{"ENVIRONMENT", "AGENT", "ADDRESS", "ATTRIBUTE", "DECISION", "SINCE", "GRANT"}, rows)
	if slices.ContainsFunc(results, func(r driftResult) bool { return len(r.Unmanaged) > 0 }) {
		a.note("To have Towline manage what is unmanaged: towline drift adopt -import TYPE.NAME=ID")
	}
}
