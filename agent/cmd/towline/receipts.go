package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// maxListed bounds -n: what is listed is kept in memory.
const maxListed = 10_000

// receiptReader is what "receipts" is told.
type receiptReader struct {
	app    *app
	at     *access
	which  selection
	limit  int
	verify bool
}

func (a *app) receiptsCommand() *command {
	flags := flag.NewFlagSet("receipts", flag.ContinueOnError)
	r := &receiptReader{app: a, at: a.accessFlags(flags)}
	flags.StringVar(&r.which.environment, "environment", "", "`NAME` of the agent's environment")
	flags.StringVar(&r.which.agent, "agent", "", "`NAME` of the agent")
	flags.IntVar(&r.limit, "n", 20, "show the newest `N` receipts")
	flags.BoolVar(&r.verify, "verify", false, "verify the whole chain to its first receipt, not only what is shown")
	a.jsonFlag(flags)
	return &command{
		synopsis: "Show the signed records of an agent's rounds", usage: "-environment NAME -agent NAME [options]", flags: flags,
		long: `The newest receipt stands first. Each is verified by the agent's key and by the
digest that the next one names. One that does not hold, or is missing, is an
error that names it; nothing is shown then.

An inherited receipt is from before the agent was enrolled anew. Its key is void,
and a later receipt vouches for it.

JSON: a list of key, digest, inherited, receipt (the document as it was signed).`,
		run: a.verb(r.run),
	}
}

func (r *receiptReader) run(ctx context.Context, args []string) (int, error) {
	if err := noArguments(args, "receipts"); err != nil {
		return exitFailed, err
	}
	if r.which.environment == "" || r.which.agent == "" {
		return exitFailed, mistake("Agent is missing", "Receipts form one chain for each agent. Give -environment NAME and -agent NAME; towline status lists the agents.")
	}
	if r.limit < 1 || r.limit > maxListed {
		return exitFailed, mistake("Invalid number of receipts", fmt.Sprintf("-n %d was given; it must be between 1 and %d.", r.limit, maxListed))
	}
	repo, err := r.at.read(ctx)
	if err != nil {
		return exitFailed, err
	}
	reports, err := r.reports(ctx, repo)
	if err != nil {
		return exitFailed, err
	}
	list, err := reports.Receipts(ctx, r.limit, r.verify)
	if err != nil {
		return exitFailed, err
	}
	return exitOK, r.print(list, time.Now())
}

func (r *receiptReader) reports(ctx context.Context, repo *repository.Repository) (*repository.Reports, error) {
	ref := control.Ref{Kind: control.KindAgent, Environment: r.which.environment, Name: r.which.agent}
	doc, err := repo.Document(ctx, ref)
	if err != nil {
		return nil, err
	}
	declared, ok := doc.(control.Agent)
	if !ok {
		return nil, fmt.Errorf("%s is not an agent", ref)
	}
	return repository.OpenReports(ctx, repo.Store(), declared)
}

// receiptResult is a receipt in JSON.
type receiptResult struct {
	Key       string          `json:"key"`
	Digest    string          `json:"digest"`
	Inherited bool            `json:"inherited"`
	Receipt   control.Receipt `json:"receipt"`
}

func (r *receiptReader) print(list []repository.Receipt, now time.Time) error {
	if r.app.json {
		out := make([]receiptResult, len(list))
		for i, receipt := range list {
			out[i] = receiptResult{receipt.Key, receipt.Digest, receipt.Inherited, receipt.Receipt}
		}
		return r.app.printJSON(out)
	}
	if len(list) == 0 {
		r.app.note("The agent has written no receipt yet.")
		return nil
	}
	rows := make([][]string, len(list))
	for i, receipt := range list {
		rows[i] = []string{
			strconv.FormatInt(receipt.Sequence, 10), strconv.FormatInt(receipt.Epoch, 10), age(receipt.Finished, now), span(receipt.Finished.Sub(receipt.Started)),
			string(receipt.Outcome), short(receipt.Revision), strconv.Itoa(len(receipt.Changes)), strconv.Itoa(len(receipt.Drift)), strconv.Itoa(len(receipt.Grants)), receipt.Message,
		}
	}
	r.app.table([]string{"SEQUENCE", "EPOCH", "FINISHED", "TOOK", "OUTCOME", "REVISION", "CHANGES", "DRIFT", "GRANTS", "MESSAGE"}, rows)
	if r.verify {
		r.app.note("The chain is whole, from its first receipt to sequence %d.", list[0].Sequence)
	}
	return nil
}
