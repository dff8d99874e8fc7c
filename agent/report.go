package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// report records a round and tells the store and people of it. Nothing here may
// stop the agent: what cannot be sent now waits on disk.
func (r *round) report(ctx context.Context) {
	a := r.agent
	if r.stopped {
		a.log.Info("stopped in the middle of a round; nothing was changed", "revision", r.revisionDigest())
		return
	}
	r.noteGrants()
	r.message = a.secrets.Redact(r.message)
	r.log()
	defer func() {
		if err := r.measure(); err != nil {
			a.log.Warn("metrics not written", "file", a.config.MetricsFile, "error", err)
		}
	}()
	if a.doubled != nil {
		return // the other process's receipts are the chain that counts
	}
	if r.outcome == control.OutcomeStandby {
		r.reportStandby(ctx)
		if err := r.handOver(ctx); err != nil {
			a.log.Warn("people were not told that another agent works", "error", err)
		}
		if err := a.memory.save(a.config.DataDir); err != nil {
			a.log.Error("memory not saved", "error", err)
		}
		return
	}
	r.warnOfDenied()
	if err := r.writeReceipt(); err != nil {
		a.log.Error("receipt not written", "error", err)
	}
	r.send(ctx)
	if err := r.notify(ctx); err != nil {
		a.log.Warn("people were not told; it is tried again next round", "error", err)
	}
	if err := r.tellOfGrants(ctx); err != nil {
		a.log.Warn("people were not told of grants; it is tried again next round", "error", err)
	}
	if err := a.memory.save(a.config.DataDir); err != nil {
		a.log.Error("memory not saved", "error", err)
	}
}

func (r *round) log() {
	a := r.agent
	for _, d := range r.diags {
		if d.Severity == tfdiags.Error {
			a.log.Error(d.Summary, "address", d.Address, "detail", d.Detail)
		}
	}
	for _, j := range r.judged {
		a.log.Info("drift", "address", j.Addr.String(), "attributes", j.Attributes, "deleted", j.Deleted, "decision", j.Decision, "since", j.Since, "grant", j.Grant)
	}
	for _, c := range r.changes {
		a.log.Info("change", "address", c.Address, "actions", c.Actions, "result", c.Result, "cause", c.Cause)
	}
	level := slog.LevelInfo
	if r.outcome == control.OutcomeFailed || r.outcome == control.OutcomeRefused {
		level = slog.LevelError
	}
	a.log.Log(context.Background(), level, "round ended", "outcome", r.outcome, "message", r.message, "revision", r.revisionDigest(),
		"changes", len(r.changes), "drift", len(r.judged), "took", a.now().Sub(r.started).Round(time.Millisecond))
}

// revisionDigest is the revision that the round is about: the one that it has loaded, or
// else the one in force.
func (r *round) revisionDigest() string {
	if r.revision != nil {
		return r.revision.digest
	}
	return r.agent.memory.Begun
}

// driftItems lists the round's drift for receipts.
func (r *round) driftItems() []control.DriftItem {
	judged := r.lastKnown()
	out := make([]control.DriftItem, 0, len(judged))
	for _, j := range judged {
		out = append(out, control.DriftItem{Address: j.Addr.String(), Attributes: j.Attributes, Deleted: j.Deleted, Replaced: j.Replaced, Computed: j.Computed,
			Decision: string(j.Decision), Since: j.Since, Digest: r.agent.digestOf(j), Grant: j.Grant})
	}
	return out
}

// lastKnown is the round's drift, or the last round's that got as far as judging any.
func (r *round) lastKnown() []guard.Judged {
	if r.known {
		return r.judged
	}
	return r.agent.lastJudged
}

// standing counts the attributes and deleted objects whose drift stands.
func (r *round) standing() int {
	n := 0
	for _, j := range r.lastKnown() {
		if j.Decision.Stands() {
			n += max(len(j.Attributes), 1)
		}
	}
	return n
}

// outbox holds receipts until the store has them.
func (a *Agent) outbox() string { return filepath.Join(a.config.DataDir, "outbox") }

// writeReceipt signs the round's receipt and puts it into the outbox.
func (r *round) writeReceipt() error {
	a := r.agent
	if a.memory.Epoch == 0 || r.needless() {
		return nil
	}
	items := r.driftItems()
	a.memory.Occurrence = control.Occurrence(items)
	changes := append(a.recovered, r.changes...)
	receipt := control.Receipt{
		Version: control.FormatVersion, Environment: a.config.Environment, Agent: a.config.Agent,
		Epoch: a.memory.Epoch, Sequence: a.memory.Sequence + 1, Started: r.started, Finished: a.now().UTC(), Previous: a.memory.Previous,
		Channel: a.memory.Channel, Revision: r.revisionDigest(), Outcome: r.outcome, Message: r.message,
		Changes: changes, Drift: items, DriftSet: control.DriftSet(items), Unmanaged: r.unmanaged, Grants: r.grantUses(), GrantsEnded: r.grantsEnded, Holds: r.holdUses(), Policies: r.policies, Proposals: r.proposals, Serial: a.memory.Serial, Problems: r.problems(),
	}
	signed, err := control.Sign(receipt, a.private)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.outbox(), 0o700); err != nil {
		return fmt.Errorf("make outbox: %w", err)
	}
	name := filepath.Base(control.ReceiptKey(a.config.Environment, a.config.Agent, receipt.Epoch, receipt.Sequence))
	if err := writeFile(filepath.Join(a.outbox(), name), signed); err != nil {
		return err
	}
	a.recovered = nil
	a.memory.Sequence, a.memory.Previous = receipt.Sequence, control.ReceiptDigest(signed)
	return a.memory.save(a.config.DataDir)
}

func (r *round) grantUses() []control.GrantUse {
	var out []control.GrantUse
	for _, g := range r.grants {
		use := control.GrantUse{ID: g.ID, Policy: g.Policy, Until: g.Until, Opener: g.Opener, User: g.User, Changed: r.agent.memory.Grants[g.ID].Changed}
		for _, j := range r.judged {
			if j.Grant == g.ID {
				use.Held = append(use.Held, j.Addr.String())
			}
		}
		out = append(out, use)
	}
	return out
}

// maxProblems bounds the problems of one receipt.
const maxProblems = 100

func (r *round) problems() []control.Problem {
	var out []control.Problem
	for _, d := range r.diags[:min(len(r.diags), maxProblems)] {
		out = append(out, control.Problem{Severity: d.Severity.String(), Summary: d.Summary, Detail: firstLine(d.Detail), Address: d.Address})
	}
	return r.agent.secrets.redactedProblems(out)
}

// sendReceipts uploads the outbox in order.
func (a *Agent) sendReceipts(ctx context.Context) error {
	entries, err := os.ReadDir(a.outbox())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list outbox: %w", err)
	}
	for _, entry := range entries { // names sort by epoch and sequence
		if err := a.sendReceipt(ctx, entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

// sendReceipt uploads one receipt. A foreign object in its place keeps it in the
// outbox, and does not keep the agent from saying more.
func (a *Agent) sendReceipt(ctx context.Context, name string) error {
	path := filepath.Join(a.outbox(), name)
	key := control.ReceiptPrefix(a.config.Environment, a.config.Agent) + name
	if _, _, ok := control.ParseReceiptKey(key); !ok {
		return nil // what a crash left of a file that was never finished
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read outbox: %w", err)
	}
	_, err = a.store.PutIfAbsent(ctx, key, data)
	if errors.Is(err, objstore.ErrExist) {
		var existing objstore.Object
		existing, err = a.store.Get(ctx, key, control.MaxDocument)
		if errors.Is(err, objstore.ErrTooLarge) || (err == nil && !bytes.Equal(existing.Data, data)) {
			a.noteDouble(key, existing.Data)
			a.log.Error("the store holds something else in the place of a receipt; find out who wrote it", "key", key)
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("upload receipt: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("empty outbox: %w", err)
	}
	return nil
}

// noteDouble recognises a receipt that another process has signed with this agent's
// key, as on a machine that was cloned. Both hold the same lease, so one must stop.
func (a *Agent) noteDouble(key string, signed []byte) {
	if _, err := control.Open[control.Receipt](signed, a.publicHalf()); err == nil {
		a.doubled = fmt.Errorf("another process uses this agent's key and has written %s: was its machine or data folder copied? Stop one of the two and declare a new generation of the enrolment for it", key)
	}
}

// send tells the store of the round. An agent that has never held the lease has only its
// word to give.
func (r *round) send(ctx context.Context) {
	a := r.agent
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	for _, step := range []struct {
		name string
		due  bool
		run  func(context.Context) error
	}{
		{"state", a.memory.Epoch > 0, a.uploadState},
		{"receipts", a.memory.Epoch > 0, a.sendReceipts},
		{"heartbeat", a.memory.Epoch > 0 || r.enrolled, r.sendHeartbeat},
	} {
		if !step.due {
			continue
		}
		if err := step.run(ctx); err != nil {
			a.log.Warn("not sent; it is kept and sent later", "what", step.name, "error", err)
			return
		}
	}
}

// reportStandby says that the agent waits. What it has still to say of its own work
// is said too; the work's state is its successor's now.
func (r *round) reportStandby(ctx context.Context) {
	a := r.agent
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err := a.sendReceipts(ctx); err != nil {
		a.log.Warn("not sent; it is kept and sent later", "what", "receipts", "error", err)
	}
	if a.awaited != nil && agentOf(a.awaited.Holder) == a.config.Agent {
		return // its predecessor's words are under the same key
	}
	if err := r.sendHeartbeat(ctx); err != nil {
		a.log.Warn("not sent", "what", "heartbeat", "error", err)
	}
}

// sendHeartbeat gives the agent's latest word.
func (r *round) sendHeartbeat(ctx context.Context) error {
	a := r.agent
	if err := a.voice.say(ctx, r.heartbeat(r.outcome, r.message)); err != nil {
		return err
	}
	a.compareClocks(ctx)
	return nil
}

func (r *round) heartbeat(outcome control.Outcome, message string) control.Heartbeat {
	a := r.agent
	now := a.now().UTC()
	return control.Heartbeat{
		Version: control.FormatVersion, Environment: a.config.Environment, Agent: a.config.Agent, Time: now, AgentVersion: Version,
		Epoch: a.memory.Epoch, Sequence: a.memory.Sequence, Channel: a.memory.Channel, Revision: a.memory.Begun,
		Outcome: outcome, Converged: a.memory.Converged, Drift: r.standing(), Objects: a.state.Count(), OpenGrants: len(r.grants),
		Message: message, Round: now, NextRound: now.Add(a.interval), Proposal: a.memory.Proposal,
	}
}

// openOutbox finds the end of the chain: a process that was killed may have written a
// receipt of which the memory does not know.
func (a *Agent) openOutbox() error {
	entries, err := os.ReadDir(a.outbox())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("list outbox: %w", err)
	}
	for _, entry := range entries {
		if _, _, ok := control.ParseReceiptKey(entry.Name()); !ok {
			continue // what a crash left of a file that was never finished
		}
		data, err := os.ReadFile(filepath.Join(a.outbox(), entry.Name()))
		if err != nil {
			return fmt.Errorf("read outbox: %w", err)
		}
		receipt, err := control.Open[control.Receipt](data, a.publicHalf())
		if err == nil && receipt.Sequence > a.memory.Sequence {
			a.memory.Sequence, a.memory.Previous = receipt.Sequence, control.ReceiptDigest(data)
		}
	}
	return nil
}
