package demo

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/open"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// patience is how long anything may take that is waited for. Two cores that do
// other work as well need a multiple of what a round takes.
const patience = 90 * time.Second

// recentReceipts is how far back a wait looks: more rounds than fit into it.
const recentReceipts = 200

// StartAgent starts the agent on its machine: with the credentials of the cloud,
// and without the signing key.
func (w *World) StartAgent(ctx context.Context) error {
	args := append(slices.Clone(w.wrap), w.opts.Programs.path(towlineProgram), "agent", "run", "-config", w.path("agent", "agent.hcl"))
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = w.path("agent"), w.Inside()
	started, _, err := launch(ctx, "towline agent", cmd, w.path("logs", "agent.log"), false)
	if err == nil {
		w.agent = started
	}
	return err
}

// AgentPID is the process of the agent that runs, 0 if none does.
func (w *World) AgentPID() int {
	if w.agent == nil {
		return 0
	}
	return w.agent.cmd.Process.Pid
}

// StopAgent asks the agent to end and waits.
func (w *World) StopAgent() {
	if w.agent != nil {
		w.agent.stop()
		w.agent = nil
	}
}

// CrashAgent ends the agent and its providers at once, as a machine that fails does.
func (w *World) CrashAgent() {
	w.agent.kill()
	w.agent = nil
}

// reports reads what the agent has signed, trusting no more than the root that
// terraform declared. What was declared is read once: a store that is attacked
// later changes nothing about whom to believe.
func (w *World) reports(ctx context.Context) (*repository.Reports, error) {
	store, err := open.Open(ctx, w.url)
	if err != nil {
		return nil, err
	}
	if w.declared.Name == "" {
		if w.declared, err = w.declaration(ctx, store); err != nil {
			return nil, err
		}
	}
	return repository.OpenReports(ctx, store, w.declared)
}

// declaration reads the agent's document.
func (w *World) declaration(ctx context.Context, store objstore.Store) (control.Agent, error) {
	r, err := repository.Open(ctx, store, w.fingerprint)
	if err != nil {
		return control.Agent{}, err
	}
	doc, err := r.Document(ctx, control.Ref{Kind: control.KindAgent, Environment: environment, Name: agentName})
	if err != nil {
		return control.Agent{}, err
	}
	declared, ok := doc.(control.Agent)
	if !ok {
		return control.Agent{}, errors.New("the agent's document is of another kind")
	}
	return declared, nil
}

// Receipts returns the agent's newest receipts, the newest first, after verifying
// that they form a chain.
func (w *World) Receipts(ctx context.Context, limit int) ([]repository.Receipt, error) {
	reports, err := w.reports(ctx)
	if errors.Is(err, repository.ErrNotEnrolled) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return reports.Receipts(ctx, limit, false)
}

// Newest is the sequence of the agent's newest receipt, 0 without any.
func (w *World) Newest(ctx context.Context) (int64, error) {
	receipts, err := w.Receipts(ctx, 1)
	if err != nil || len(receipts) == 0 {
		return 0, err
	}
	return receipts[0].Sequence, nil
}

// Await waits for a receipt after a sequence that is what is waited for.
func (w *World) Await(ctx context.Context, after int64, what string, match func(control.Receipt) bool) (control.Receipt, error) {
	var found, last control.Receipt
	err := until(ctx, patience, what, func() (bool, error) {
		if w.agent != nil {
			if err := w.agent.running(); err != nil {
				return false, err
			}
		}
		receipts, err := w.Receipts(ctx, recentReceipts)
		if err != nil {
			return false, err
		}
		for _, receipt := range slices.Backward(receipts) {
			if last = receipt.Receipt; receipt.Sequence > after && match(receipt.Receipt) {
				found = receipt.Receipt
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil && w.agent != nil {
		err = fmt.Errorf("%w\nthe last receipt: %+v\nthe agent's log:\n%s", err, last, w.agent.tail())
	}
	return found, err
}

// converged is a round that found nothing to do.
func converged(r control.Receipt) bool { return r.Outcome == control.OutcomeConverged }

// idle is a round that found nothing to do: what is only observed stays.
func idle(r control.Receipt) bool {
	return converged(r) || r.Outcome == control.OutcomeDrifted &&
		!slices.ContainsFunc(r.Drift, func(item control.DriftItem) bool { return item.Decision != "observed" })
}

// decided returns a condition: the round decided this about each of the addresses.
func decided(decision string, addresses ...string) func(control.Receipt) bool {
	return func(r control.Receipt) bool {
		for _, address := range addresses {
			if !slices.ContainsFunc(r.Drift, func(item control.DriftItem) bool { return item.Address == address && item.Decision == decision }) {
				return false
			}
		}
		return true
	}
}
