package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// round is one pass of the agent. Each step reads what earlier ones left here.
type round struct {
	agent   *Agent
	started time.Time

	// declared is what the environment says; fresh tells that it was verified in
	// this round, not kept from an earlier one.
	declared *repository.State
	fresh    bool
	self     control.Agent
	scopes   []control.Scope
	// neighbours are the other shards.
	neighbours []neighbour
	grants     []guard.OpenGrant
	// judgedGrants are those that provider calls ask for.
	judgedGrants judgedGrants
	// waiting are those that need approval; inSlack those, open or waiting, that people
	// may approve or close in Slack.
	waiting, inSlack []control.Grant
	// grantsEnded are the grants that are not in force any more, with what came of them.
	grantsEnded []control.GrantEnd
	revision    *loaded
	// variables are the revision's, with the values that they have in this round.
	variables variableValues
	// enrolled tells that the store has shown, in this round, that the claim is this machine's.
	enrolled bool

	// seen is the plan that shows the drift, made before it was judged.
	seen   *plans.Plan
	plan   *plans.Plan
	judged []guard.Judged
	// unmanaged are objects beside the agent's own that nobody manages.
	unmanaged []control.UnmanagedItem
	approved  guard.Approved
	changes   []control.Change
	// waits says why the newest revision is not in force yet; proposed is what it would change.
	waits    string
	proposed []control.Change
	// proposals are what became of plans that need approval.
	proposals []control.ProposalUse
	// asked is the plan that needs approval, nil without one.
	asked *asked
	// holds are what people have said about the correction of drift, by subject.
	holds map[string]control.Hold
	// policies are what policies said about the plan.
	policies []control.PolicyFinding

	outcome control.Outcome
	message string
	// left are the instances that were left alone because they, or what they depend on,
	// could not be read.
	left []addrs.ResourceInstance
	// missing are instances that other shards are to make.
	missing []addrs.ResourceInstance
	// notice is what people should know although the round did its work.
	notice string
	// stopped tells that the agent was told to stop before the round changed anything.
	stopped bool
	// known tells that drift was judged in this round.
	known bool
	diags tfdiags.Diagnostics
}

// Round does one round and reports it, whatever happens.
func (a *Agent) Round(ctx context.Context) control.Outcome {
	r := &round{agent: a, started: a.now().UTC()}
	defer r.report(context.WithoutCancel(ctx))
	for _, step := range []struct {
		name  string
		run   func(context.Context) error
		limit time.Duration
	}{
		{"check data folder", r.checkFolder, a.timeouts.Plan},
		{"fetch and verify", r.fetch, a.timeouts.Plan},
		{"enrol", r.enrol, a.timeouts.Plan},
		{"take lease", r.lease, a.timeouts.Plan},
		{"load", r.load, a.timeouts.Plan},
		{"read variables", r.readVariables, a.timeouts.Plan},
		{"recover", r.recover, a.timeouts.Plan},
		{"plan", r.makePlan, a.timeouts.Plan},
		{"ask policies", r.askPolicies, a.timeouts.Plan},
		{"guard", r.guard, a.timeouts.Plan},
		{"apply", r.apply, a.timeouts.Apply},
	} {
		err := a.within(ctx, step.limit, step.run)
		if err == nil {
			continue
		}
		r.stopped = ctx.Err() != nil && len(r.changes) == 0
		r.fail(step.name, err)
		return r.outcome
	}
	r.conclude()
	return r.outcome
}

// within runs a step that must end in time. The providers of one that did not are ended.
func (a *Agent) within(ctx context.Context, limit time.Duration, run func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := run(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		a.abandon()
		return fmt.Errorf("it did not end within %s, and the providers were ended: %w", limit, err)
	}
	return err
}

// errRefused ends a round in which the guard refused the plan.
var errRefused = errors.New("the guard refused the plan")

// fail ends a round early. Diagnostics inside err are kept one by one.
func (r *round) fail(step string, err error) {
	if errors.Is(err, errPending) {
		r.outcome, r.message = control.OutcomePending, firstLine(err.Error())
		return
	}
	r.outcome = control.OutcomeFailed
	if errors.Is(err, errRefused) {
		r.outcome = control.OutcomeRefused
	}
	r.message = fmt.Sprintf("%s: %s", step, firstLine(err.Error()))
	if errors.Is(err, errStandby) {
		r.outcome, r.message = control.OutcomeStandby, strings.TrimPrefix(firstLine(err.Error()), errStandby.Error()+": ")
		return
	}
	if !errors.Is(err, errRefused) {
		r.diags = append(r.diags, tfdiags.FromError("Round failed: "+step, err)...)
	}
}

// conclude sets the outcome of a round in which every step did its work.
func (r *round) conclude() {
	stands := map[string]bool{}
	for _, j := range r.judged {
		if j.Decision.Stands() {
			stands[j.Object.Address] = true
		}
	}
	standing := len(stands)
	r.message = r.notice
	switch {
	case len(r.left)+len(r.variables.missing) > 0:
		r.outcome = control.OutcomeFailed
		r.message = strings.Trim(r.notice+"; "+r.leftText(), "; ")
	case standing > 0:
		r.outcome = control.OutcomeDrifted
		r.message = strings.TrimPrefix(fmt.Sprintf("%s; drift stands on %d of the objects", r.notice, standing), "; ")
	case len(r.changes) > 0:
		r.outcome = control.OutcomeApplied
	default:
		r.outcome = control.OutcomeConverged
	}
	r.concludeWaiting()
	if r.outcome == control.OutcomeConverged || r.outcome == control.OutcomeApplied {
		r.agent.memory.Converged = r.agent.now().UTC()
	}
	r.agent.memory.Revision, r.agent.memory.Begun = r.revision.digest, r.revision.digest
}

// namedLeft is how many instances, or other things, a message names.
const namedLeft = 3

// leftText says what a round has left alone.
func (r *round) leftText() string {
	if text := r.waitText(); text != "" {
		return text
	}
	if len(r.left) == 0 {
		return ""
	}
	return "left alone, because they or what they depend on cannot be read: " + named(r.left)
}

// named names some of a list of instances, and how many more there are.
func named(list []addrs.ResourceInstance) string {
	var names []string
	for _, addr := range list {
		names = append(names, addr.String())
	}
	return few(names)
}

// few lists some names, and how many more there are.
func few(names []string) string {
	if more := len(names) - namedLeft; more > 0 {
		names = append(slices.Clone(names[:namedLeft]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// maxMessage bounds a message in heartbeats and receipts, in bytes.
const maxMessage = 500

func firstLine(text string) string {
	for i, c := range text {
		if c == '\n' || i >= maxMessage {
			return text[:i]
		}
	}
	return text
}
