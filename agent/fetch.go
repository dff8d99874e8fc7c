package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// fetch verifies what the repository says now. If it cannot be reached or is
// refused, what was verified last stays in force, and that is said.
func (r *round) fetch(ctx context.Context) error {
	state, err := r.agent.update(ctx)
	if err == nil {
		r.declared, r.fresh = state, true
		r.agent.warnOfExpiry(state)
		if state.From != r.agent.store.URL() {
			r.warn("Repository read from a mirror", fmt.Sprintf("The store gave nothing that holds; the repository was read from %s. What agents coordinate by is not there.", state.From))
		}
	} else {
		last, lastErr := r.agent.client.Last(ctx, r.agent.config.Environment, r.agent.memory.Channel)
		if lastErr != nil {
			return err
		}
		r.declared = last
		r.warn("Repository not usable", fmt.Sprintf("Nothing new was taken from the repository: %s. What was verified last stays in force.", err))
	}
	self, ok := r.declared.Agents[r.agent.config.Agent]
	if !ok {
		r.agent.ear.heed(nil)
		return fmt.Errorf("environment %s declares no agent named %s: it was removed, or the name in the agent's configuration is wrong; objects stay as they are", r.agent.config.Environment, r.agent.config.Agent)
	}
	r.self = self
	if err := r.agent.chooseShard(self); err != nil {
		return err
	}
	if err := r.refuseConflicts(); err != nil {
		return err
	}
	r.agent.expect(self.Signals)
	r.agent.interval = max(timeOf(self.PollInterval), minInterval)
	for _, name := range self.Scopes {
		scope, ok := r.declared.Scopes[name]
		if !ok {
			return fmt.Errorf("the agent's document names scope %s, which environment %s does not declare", name, r.agent.config.Environment)
		}
		r.scopes = append(r.scopes, scope)
	}
	return r.readGrants(ctx)
}

// refuseConflicts keeps the agent from working while another agent's scopes overlap
// with its own: both would write the same.
func (r *round) refuseConflicts() error {
	var agents []control.Agent
	for _, agent := range r.declared.Agents {
		if agent.Name == r.self.Name || !control.StandIns(agent, r.self) {
			agents = append(agents, agent)
		}
	}
	if len(agents) < 2 {
		return nil
	}
	for _, conflict := range r.agent.conflicts.of(agents, r.declared.Scopes) {
		if slices.Contains(conflict.Agents[:], r.self.Name) {
			return fmt.Errorf("%w: %w", errRefused, conflict)
		}
	}
	return nil
}

// comparison remembers what was compared last: declarations change seldom.
type comparison struct {
	agents    []control.Agent
	scopes    map[string]control.Scope
	conflicts []control.Conflict
}

// of returns the conflicts between declared agents.
func (c *comparison) of(agents []control.Agent, scopes map[string]control.Scope) []control.Conflict {
	slices.SortFunc(agents, func(a, b control.Agent) int { return strings.Compare(a.Name, b.Name) })
	if !reflect.DeepEqual(c.agents, agents) || !reflect.DeepEqual(c.scopes, scopes) {
		*c = comparison{agents, scopes, control.Conflicts(agents, scopes)}
	}
	return c.conflicts
}

// chooseShard says which part of the environment the agent works on. What it remembers is
// of one only.
func (a *Agent) chooseShard(self control.Agent) error {
	if a.memory.Epoch > 0 && a.memory.Shard != self.Shard {
		return fmt.Errorf("the agent's document names shard %q, and this machine has worked on shard %q; declare another agent for the other shard", self.Shard, a.memory.Shard)
	}
	if shard := self.ShardOf(); a.shard != shard {
		a.shard = shard
	}
	return nil
}

// update reads the repository. Which channel to follow is in the agent's own
// document, so a change of channel takes a second reading.
func (a *Agent) update(ctx context.Context) (*repository.State, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	state, err := a.client.Update(ctx, a.now(), a.config.Environment, a.memory.Channel)
	if err != nil {
		return nil, err
	}
	self, ok := state.Agents[a.config.Agent]
	if !ok || self.Channel == a.memory.Channel {
		return state, nil
	}
	if state, err = a.client.Update(ctx, a.now(), a.config.Environment, self.Channel); err != nil {
		return nil, err
	}
	a.memory.Channel = self.Channel
	return state, nil
}

// warnOfExpiry logs what of the metadata ends soon, whenever that changes. It is no
// problem of a round yet.
func (a *Agent) warnOfExpiry(state *repository.State) {
	var soon []string
	for _, ending := range state.Endings {
		if ending.Soon(a.now()) {
			soon = append(soon, fmt.Sprintf("%s at %s", ending.Role, ending.At.Format(time.RFC3339)))
		}
	}
	if text := strings.Join(soon, ", "); text != a.expiring {
		a.expiring = text
		if text != "" {
			a.log.Warn("Repository metadata expires soon", "ends", text, "detail", "then no new revision is taken; renew it with: towline repository refresh")
		}
	}
}

func (r *round) warn(summary, detail string) {
	r.agent.log.Warn(summary, "detail", detail)
	r.diags = append(r.diags, tfdiags.New(tfdiags.Warning, summary, detail)...)
}

// enrol claims the enrolment. Without the store an agent that is known goes on.
func (r *round) enrol(ctx context.Context) error {
	if !r.fresh {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	err := r.agent.enrol(ctx, r.self)
	if r.agent.known && isAway(err) {
		r.warn("Store not usable", fmt.Sprintf("The enrolment could not be checked: %s.", err))
		return nil
	}
	if errors.Is(err, ErrClaimed) {
		r.agent.stepDown(err)
		r.agent.ear.heed(nil)
	}
	if r.enrolled = err == nil; r.enrolled {
		r.agent.ear.heed(r.declared)
		r.chooseRecipients(ctx)
	}
	return err
}

// lease makes sure that this agent is the one that writes. While the store is away
// the lease last held stays valid if nobody follows: nobody else can take it without
// the store. Who may be followed has its tenure only.
func (r *round) lease(ctx context.Context) error {
	a := r.agent
	if !r.fresh {
		return a.withoutStore()
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	awaited := a.awaited
	a.awaited = nil
	held, err := r.acquire(ctx)
	if err == nil && held.Epoch < a.memory.Epoch {
		err = fmt.Errorf("%w: it shows epoch %d of the lease, and this agent has held %d: an older copy was put in its place", objstore.ErrUnavailable, held.Epoch, a.memory.Epoch)
	}
	if err == nil {
		err = r.bind(ctx, held)
	}
	if isAway(err) && a.awaited == nil {
		a.awaited = awaited // nothing was found out
	}
	if isAway(err) && a.memory.Epoch > 0 {
		r.warn("Store not usable", fmt.Sprintf("The lease could not be checked: %s.", err))
		return a.withoutStore()
	}
	if err != nil {
		return err
	}
	if held.Epoch != a.memory.Epoch || !a.caughtUp {
		if err := r.takeUp(ctx, held); err != nil {
			return err
		}
	}
	return r.replicate()
}

// withoutStore tells whether the agent can do without the store.
func (a *Agent) withoutStore() error {
	switch {
	case a.memory.Epoch == 0:
		return errors.New("the store is away and this agent has never held the lease")
	case a.lost != nil:
		return fmt.Errorf("the store is away and the state in %s cannot be used: %w", a.statePath(), a.lost)
	case a.memory.Bound:
		a.tenure.Bind()
		return a.tenure.Holds(a.now())
	}
	return nil
}

// isAway tells whether an error means that the store gave no answer.
func isAway(err error) bool {
	return errors.Is(err, objstore.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}
