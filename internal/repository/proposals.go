package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

const (
	// maxProposals bounds the proposals of one agent that are read. Agents keep fewer.
	maxProposals = 200
	// maxDecision bounds a decision about a proposal, in bytes.
	maxDecision = 64 << 10
)

// Proposal reads one of the agent's proposals; [ErrNotFound] if there is none.
func (r *Reports) Proposal(ctx context.Context, digest string) (control.Proposal, error) {
	return r.proposal(ctx, control.ProposalKey(r.declared.Environment, r.declared.Name, digest))
}

func (r *Reports) proposal(ctx context.Context, key string) (control.Proposal, error) {
	object, err := getReport(ctx, r.store, key)
	if errors.Is(err, objstore.ErrNotExist) {
		return control.Proposal{}, fmt.Errorf("%s: %w", key, ErrNotFound)
	}
	if err != nil {
		return control.Proposal{}, err
	}
	proposal, err := control.Open[control.Proposal](object.Data, r.key)
	if err == nil {
		err = r.isOurs(proposal.Environment, proposal.Agent)
	}
	if err == nil && control.ProposalKey(proposal.Environment, proposal.Agent, proposal.Digest) != key {
		err = errors.New("it was signed under another name")
	}
	if err != nil {
		return control.Proposal{}, notBelieved(key, err)
	}
	return proposal, nil
}

// Proposals reads the agent's proposals that hold, the newest first. What others have
// put beside them is left out.
func (r *Reports) Proposals(ctx context.Context) ([]control.Proposal, error) {
	var out []control.Proposal
	seen := 0
	for info, err := range r.store.List(ctx, control.ProposalPrefix(r.declared.Environment, r.declared.Name)) {
		if err != nil {
			return nil, fmt.Errorf("list proposals: %w", err)
		}
		if seen++; seen > maxProposals {
			break
		}
		proposal, err := r.proposal(ctx, info.Key)
		if errors.Is(err, ErrNotBelieved) || errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, proposal)
	}
	slices.SortFunc(out, func(a, b control.Proposal) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.Digest, b.Digest))
	})
	return out, nil
}

// Plan reads the sealed plan of a proposal; [ErrNotFound] if it is gone. limit bounds it, in bytes.
func (r *Reports) Plan(ctx context.Context, proposal control.Proposal, limit int64) ([]byte, error) {
	key := control.PlanKey(proposal.Environment, proposal.Agent, proposal.Plan)
	object, err := r.store.Get(ctx, key, limit)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", key, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	if (Held{Data: object.Data}).Digest() != proposal.Plan {
		return nil, notBelieved(key, errors.New("it is not what the proposal names"))
	}
	return object.Data, nil
}

// Decisions reads what is written in the names of a proposal's approvers, whoever wrote it,
// and what they have clicked; see [control.Decide]. Any number of other objects hides none of these.
func Decisions(ctx context.Context, store objstore.Store, proposal control.Proposal, state *State) (control.Decisions, error) {
	signed, err := signedDecisions(ctx, store, proposal, state.Scopes)
	if err != nil {
		return control.Decisions{}, err
	}
	clicks, err := Clicks(ctx, store, state, proposal.Digest, control.SlackUsersOf(state.Scopes, proposal.Scopes))
	if err != nil {
		return control.Decisions{}, err
	}
	return control.Decisions{Signed: signed, Clicks: clicks}, nil
}

func signedDecisions(ctx context.Context, store objstore.Store, proposal control.Proposal, scopes map[string]control.Scope) ([][]byte, error) {
	wanted := map[string]bool{}
	for _, approver := range proposal.ApproversIn(scopes) {
		wanted[control.DecisionKey(proposal.Environment, proposal.Digest, approver)] = true
	}
	var out [][]byte
	for info, err := range store.List(ctx, control.DecisionPrefix(proposal.Environment, proposal.Digest)) {
		if err != nil {
			return nil, fmt.Errorf("list decisions: %w", err)
		}
		if !wanted[info.Key] {
			continue
		}
		object, err := store.Get(ctx, info.Key, maxDecision)
		if errors.Is(err, objstore.ErrNotExist) || errors.Is(err, objstore.ErrTooLarge) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read decision: %w", err)
		}
		out = append(out, object.Data)
	}
	return out, nil
}
