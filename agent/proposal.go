package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/planjson"
	"github.com/towline/terraform-provider-towline/internal/plans/render"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/seal"
)

// keptProposals is how many of the agent's proposals stay in the store.
const keptProposals = 100

var (
	// errPending ends a round whose changes wait for approval.
	errPending = errors.New("the changes wait for approval")
	// errPlanGone: a plan that was approved cannot be looked at any more.
	errPlanGone = errors.New("the approved plan is gone from the store, so that nobody can see any more what was approved; nothing was applied")
)

// waiting is a plan that needs approval, and what the round makes of it.
type waiting struct {
	plan   *plans.Plan
	judged []guard.Judged
	// scopes are those whose approval the plan needs.
	scopes []string
	// changes are the plan's; revised tells that the revision asks for some that wait, so
	// that it is not drift alone.
	changes []control.Change
	revised bool
}

// asked is what people are asked about, and what they have said.
type asked struct {
	proposal control.Proposal
	standing control.Standing
	// revised tells that it is about what a revision changes, not drift alone.
	revised bool
}

// propose looks for what needs approval. What is approved takes the place of the
// round's plan; without approval drift stands as it is, and a revision's changes wait.
func (r *round) propose(ctx context.Context, first *plans.Plan) error {
	wanted, err := r.findWaiting(ctx, first)
	if err != nil {
		return err
	}
	if wanted == nil {
		r.supersede("")
		return nil
	}
	proposal := r.proposalOf(wanted)
	standing, err := r.submit(ctx, wanted, proposal)
	if err != nil {
		return err
	}
	if r.agent.memory.Proposal == proposal.Digest {
		r.asked = &asked{proposal, standing, wanted.revised}
	}
	r.proposals = append(r.proposals, control.ProposalUse{Digest: proposal.Digest, Phase: standing.Phase, Approvers: standing.Approvers, Missing: standing.Missing})
	switch {
	case standing.Phase == control.ProposalApproved:
		r.agent.log.Info("plan approved", "digest", proposal.Digest, "approvers", standing.Approvers)
		r.agent.memory.Proposal = ""
		r.plan, r.judged = wanted.plan, wanted.judged
		r.compare(wanted.plan)
		return nil
	case wanted.revised:
		r.changes = wanted.changes
		return fmt.Errorf("%w: %s", errPending, standingText(proposal, standing))
	}
	return nil
}

// standingText says what a proposal waits for.
func standingText(proposal control.Proposal, standing control.Standing) string {
	if standing.Phase == control.ProposalRejected {
		return fmt.Sprintf("plan %s was rejected by %s (%s); publish another revision", short(proposal.Digest), short(standing.Rejector), cmp.Or(standing.Reason, "no reason given"))
	}
	return fmt.Sprintf("plan %s needs %d more; see it with: towline plans show -environment %s %s", short(proposal.Digest), standing.Missing, proposal.Environment, short(proposal.Digest))
}

// findWaiting makes the plan that would be applied if everything was approved, nil if
// nothing needs to be.
func (r *round) findWaiting(ctx context.Context, first *plans.Plan) (*waiting, error) {
	if !slices.ContainsFunc(r.scopes, func(s control.Scope) bool { return s.Approval != nil }) {
		return nil, nil
	}
	w := &waiting{plan: r.plan, judged: slices.Clone(r.judged)}
	needed := map[string]bool{}
	for i, j := range w.judged {
		if scope := guard.ScopeOf(r.scopes, j.Object); j.Decision == guard.Proposed && scope != nil && scope.Approval != nil {
			w.judged[i].Decision = guard.Corrected
			needed[scope.Name] = true
		}
	}
	if len(needed) > 0 {
		plan, err := r.planDecided(ctx, first, byObject(w.judged))
		if err != nil {
			return nil, err
		}
		w.plan = plan
	}
	w.changes = r.changesOf(w.plan, w.judged, "proposed")
	objects := currentChanges(w.plan)
	for _, c := range w.changes {
		planned := objects[c.Address]
		if planned == nil || c.Cause != "revision" {
			continue
		}
		if scope := guard.ScopeOf(r.scopes, guard.ObjectOf(planned.Addr, planned.Provider)); scope != nil && scope.Approval != nil && scope.Approval.Changes {
			needed[scope.Name], w.revised = true, true
		}
	}
	if len(needed) == 0 || len(w.changes) == 0 {
		return nil, nil
	}
	w.scopes = slices.Sorted(maps.Keys(needed))
	return w, nil
}

// proposalOf describes a plan without values.
func (r *round) proposalOf(w *waiting) control.Proposal {
	a := r.agent
	return control.Proposal{
		Version: control.FormatVersion, Environment: a.config.Environment, Agent: a.config.Agent, Digest: r.planDigest(w.plan),
		Revision: r.revision.digest, Created: a.now().UTC(), Scopes: w.scopes, Changes: w.changes,
	}
}

// planDigest stands for everything that a plan was made of, as far as it matters to
// what the plan changes, for who is to make it, and for the time since an approval was
// made use of last: one is good for one time, and for one agent. It is keyed with the
// state's lineage, which is in nobody's hands who may not see the values.
func (r *round) planDigest(plan *plans.Plan) string {
	h := hmac.New(sha256.New, []byte("plan "+plan.Prior.Lineage))
	write(h, r.agent.holder(), strconv.FormatInt(r.agent.memory.Spent, 10))
	write(h, r.revision.digest, hex.EncodeToString(r.revision.lock[:]))
	for _, name := range slices.Sorted(maps.Keys(r.variables.values)) {
		write(h, name, encoded(r.variables.values[name]))
	}
	for _, c := range plan.Changes {
		if c.Action == plans.NoOp && !c.Moved() && c.Importing == "" {
			continue
		}
		write(h, c.Addr.String(), c.PrevAddr.String(), string(c.Deposed), fmt.Sprint(c.Action), c.Importing)
		write(h, r.digestedValues(c)...)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digestedValues are an object's values before and after a change. Of an update, what
// others own and the plan leaves alone is no part of what is approved; whose it is,
// by the guard's rule, is.
func (r *round) digestedValues(c *plans.Change) []string {
	own := r.rules().Ownership(guard.ObjectOf(c.Addr, c.Provider))
	schema := r.revision.engine.ResourceSchema(c.Addr.Config())
	if c.Action != plans.Update || c.Deposed != "" || own.Entire() || schema == nil {
		return []string{encoded(c.Before), encoded(c.After)}
	}
	before, _ := c.Before.UnmarkDeep() // digests are of values alone
	after, _ := c.After.UnmarkDeep()
	before, after = objchange.OwnedOrChanged(schema, before, after, own)
	return []string{encoded(before), encoded(after), own.String()}
}

// write adds texts to a hash so that none runs into the next.
func write(h hash.Hash, texts ...string) {
	for _, text := range texts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(text), text) // a hash takes everything
	}
}

func encoded(v cty.Value) string {
	if v == cty.NilVal {
		return ""
	}
	v, _ = v.UnmarkDeep()
	data, err := msgpack.Marshal(v, cty.DynamicPseudoType)
	if err != nil {
		return v.GoString()
	}
	return string(data)
}

// spend uses up the approval of what was carried out: should the same be to do again,
// people are asked again.
func (r *round) spend() {
	approved := slices.ContainsFunc(r.proposals, func(p control.ProposalUse) bool { return p.Phase == control.ProposalApproved })
	if approved && slices.ContainsFunc(r.changes, func(c control.Change) bool { return c.Result == "applied" }) {
		r.agent.memory.Spent = r.agent.memory.Sequence + 1 // no receipt before this round's has it
	}
}

// supersede notes that the proposal of the rounds before is no more, because another
// one or none takes its place.
func (r *round) supersede(by string) {
	a := r.agent
	if before := a.memory.Proposal; before != "" && before != by {
		r.proposals = append(r.proposals, control.ProposalUse{Digest: before, Phase: control.ProposalSuperseded, By: by})
	}
	a.memory.Proposal = by
}

// submit makes sure that people can see a proposal, and counts what they have said.
// Without the store it waits.
func (r *round) submit(ctx context.Context, w *waiting, proposal control.Proposal) (control.Standing, error) {
	a := r.agent
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	pending := control.Decide(proposal, r.declared.Scopes, control.Decisions{})
	known := a.memory.Proposal == proposal.Digest
	r.supersede(proposal.Digest)
	if !r.fresh {
		return pending, nil
	}
	plan, err := r.publishProposal(ctx, w, proposal, known)
	if errors.Is(err, errPlanGone) {
		a.memory.Proposal = ""
		return pending, err
	}
	if err != nil {
		r.warn("Proposal not published", fmt.Sprintf("The plan that waits for approval could not be written to the store: %s. It is tried again in the next round.", err))
		a.memory.Proposal = ""
		return pending, nil
	}
	decisions, err := repository.Decisions(ctx, a.store, proposal, r.declared)
	if err != nil {
		r.warn("Approvals not readable", fmt.Sprintf("%s. The plan waits.", err))
		return pending, nil
	}
	standing := control.Decide(proposal, r.declared.Scopes, decisions)
	if standing.Phase != control.ProposalApproved {
		return standing, nil
	}
	_, err = a.store.Stat(ctx, control.PlanKey(proposal.Environment, proposal.Agent, plan))
	switch {
	case errors.Is(err, objstore.ErrNotExist):
		return standing, errPlanGone
	case err != nil:
		r.warn("Approved plan not readable", fmt.Sprintf("%s. The plan waits.", err))
		return pending, nil
	}
	return standing, nil
}

// publishProposal writes the sealed plan and the proposal that names it, once, and
// returns the name of the plan.
func (r *round) publishProposal(ctx context.Context, w *waiting, proposal control.Proposal, known bool) (plan string, err error) {
	a := r.agent
	key := control.ProposalKey(proposal.Environment, proposal.Agent, proposal.Digest)
	object, err := a.store.Get(ctx, key, control.MaxDocument)
	if err == nil {
		before, err := control.Open[control.Proposal](object.Data, a.publicHalf())
		if err != nil || before.Digest != proposal.Digest {
			return "", fmt.Errorf("the store holds something under %s that this agent has not written; find out who did", key)
		}
		return before.Plan, nil
	}
	switch {
	case !errors.Is(err, objstore.ErrNotExist):
		return "", err
	case known:
		return "", errPlanGone // it was there, and somebody has removed it
	}
	body, err := r.planBody(ctx, w.plan)
	if err != nil {
		return "", err
	}
	sealed, err := a.sealed(ctx, seal.KindPlan, body)
	if err != nil {
		return "", err
	}
	proposal.Plan = digestOf(sealed)
	signed, err := control.Sign(proposal, a.private)
	if err != nil {
		return "", err
	}
	if _, err := a.store.PutIfAbsent(ctx, control.PlanKey(proposal.Environment, proposal.Agent, proposal.Plan), sealed); err != nil {
		return "", err
	}
	if _, err := a.store.PutIfAbsent(ctx, key, signed); err != nil {
		return "", err
	}
	return proposal.Plan, a.removeOldProposals(ctx)
}

// planBody is what may be seen of a plan by those who may see values.
func (r *round) planBody(ctx context.Context, plan *plans.Plan) ([]byte, error) {
	document, schemas, err := r.planDocument(ctx, plan)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := render.Plan(&text, plan, render.SchemasOf(schemas), render.Options{}); err != nil {
		return nil, err
	}
	return json.Marshal(control.PlanBody{Text: text.String(), Plan: document})
}

// planDocument is Terraform's plan JSON, with the schemas that it was made with.
func (r *round) planDocument(ctx context.Context, plan *plans.Plan) ([]byte, planjson.Schemas, error) {
	schemas, diags := r.revision.engine.PlanSchemas(ctx, r.revision.config, plan)
	if diags.HasErrors() {
		return nil, nil, diags.Err()
	}
	document, err := planjson.Plan(plan, r.revision.config, schemas)
	return document, schemas, err
}

// removeOldProposals bounds what the store keeps of the agent's proposals and plans.
func (a *Agent) removeOldProposals(ctx context.Context) error {
	own := control.AgentPrefix(a.config.Environment, a.config.Agent)
	for _, prefix := range []string{own + "plans/", control.ProposalPrefix(a.config.Environment, a.config.Agent)} {
		if err := a.removeOldest(ctx, prefix); err != nil {
			return err
		}
	}
	return nil
}

// removeOldest leaves the newest objects with a prefix. A store that forbids to remove any
// is no failure.
func (a *Agent) removeOldest(ctx context.Context, prefix string) error {
	type object struct {
		key      string
		modified time.Time
	}
	var objects []object
	for info, err := range a.store.List(ctx, prefix) {
		if err != nil {
			return fmt.Errorf("list %s: %w", prefix, err)
		}
		objects = append(objects, object{info.Key, info.Modified})
	}
	if len(objects) <= keptProposals {
		return nil
	}
	slices.SortFunc(objects, func(a, b object) int { return b.modified.Compare(a.modified) })
	for _, old := range objects[keptProposals:] {
		if err := a.store.Delete(ctx, old.key); err != nil && !errors.Is(err, objstore.ErrDenied) {
			return fmt.Errorf("remove old plan: %w", err)
		}
	}
	return nil
}
