package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// heedHolds takes over what people have said, in Slack, about the correction of the drift
// that the last round has told of. Without the store what was said before stays.
func (r *round) heedHolds(ctx context.Context) {
	a := r.agent
	if !r.fresh {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	users := control.SlackUsersOf(r.declared.Scopes, r.self.Scopes)
	subjects := a.memory.Drift.Holds()
	if now := a.memory.Occurrence; now != "" && !slices.Contains(subjects, now) {
		subjects = append(subjects, now)
	}
	r.holds = map[string]control.Hold{}
	for _, subject := range subjects {
		clicks, err := repository.Clicks(ctx, a.store, r.declared, subject, users)
		if err != nil {
			r.warn("Holds not readable", fmt.Sprintf("What people have clicked about drift could not be read: %s. What they said before stays.", err))
			return
		}
		r.heedHold(control.HoldOf(r.self, subject, r.declared.Scopes, clicks))
	}
}

// heedHold does what was said last about one occurrence of drift. Only what was there then
// is held: later differences are another occurrence.
func (r *round) heedHold(hold control.Hold) {
	drift := r.agent.memory.Drift
	r.holds[hold.Subject] = hold
	held := func(addr string) bool { return hold.On && r.mayHold(hold.User, addr) }
	drift.Release(hold.Subject, func(addr string) bool { return !held(addr) })
	if hold.Subject == r.agent.memory.Occurrence {
		drift.Hold(hold.Subject, hold.User, held)
	}
}

// mayHold tells whether a Slack user is an approver of the scope that an object is in.
func (r *round) mayHold(user, addr string) bool {
	parsed, diags := addrs.ParseResourceInstance(addr)
	if diags.HasErrors() {
		return false
	}
	scope := guard.ScopeOf(r.scopes, r.objectOf(parsed))
	return scope != nil && scope.MayHold(user)
}

// holdUses lists what people's words kept from being corrected, for the receipt.
func (r *round) holdUses() []control.HoldUse {
	var out []control.HoldUse
	for _, j := range r.lastKnown() {
		if j.Word == "" {
			continue
		}
		at := slices.IndexFunc(out, func(h control.HoldUse) bool { return h.Subject == j.Word && h.User == j.HeldBy })
		if at < 0 {
			at, out = len(out), append(out, control.HoldUse{Subject: j.Word, User: j.HeldBy})
		}
		if addr := j.Addr.String(); !slices.Contains(out[at].Held, addr) {
			out[at].Held = append(out[at].Held, addr)
		}
	}
	return out
}
