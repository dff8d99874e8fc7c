package agent

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// lastRead notes when each object was read last, by address. It is not kept over
// a restart: the first round reads everything.
type lastRead map[string]time.Time

// dueReads chooses the objects to read in a round under a budget: those whose
// time has come, those that drifted, and of the others the ones not read for the
// longest, up to the budget's share. Nil means all.
func (l lastRead) dueReads(state *states.State, drifted map[string]bool, refresh *control.Refresh, interval time.Duration, now time.Time) map[string]bool {
	if refresh == nil || refresh.Budget >= 1 {
		return nil
	}
	type candidate struct {
		addr string
		read time.Time
	}
	var all []candidate
	state.Each(func(addr addrs.ResourceInstance, r *states.Resource, inst *states.Instance) {
		if r.Addr.Mode == addrs.Managed && inst.Current != nil {
			name := addr.String()
			all = append(all, candidate{name, l[name]})
		}
	})
	slices.SortFunc(all, func(a, b candidate) int {
		if c := a.read.Compare(b.read); c != 0 {
			return c
		}
		return cmp.Compare(a.addr, b.addr)
	})
	share := int(math.Ceil(refresh.Budget * float64(len(all))))
	due := make(map[string]bool, share)
	for i, c := range all {
		// An object that would pass its time before the next round is read now.
		late := now.Add(interval).Sub(c.read) > time.Duration(refresh.Within)
		if i < share || late || drifted[c.addr] {
			due[c.addr] = true
		}
	}
	return due
}

// note takes down what a round read.
func (l lastRead) note(state *states.State, due map[string]bool, now time.Time) {
	seen := make(map[string]bool, len(l))
	state.Each(func(addr addrs.ResourceInstance, _ *states.Resource, _ *states.Instance) {
		name := addr.String()
		seen[name] = true
		if due == nil || due[name] {
			l[name] = now
		}
	})
	for name := range l {
		if !seen[name] {
			delete(l, name)
		}
	}
}

// unreadChanges lists objects that a plan changes without having read them.
func unreadChanges(plan *plans.Plan, due map[string]bool) []string {
	if due == nil {
		return nil
	}
	var out []string
	for _, c := range plan.Changes {
		name := c.Addr.String()
		if c.Action != plans.NoOp && c.Action != plans.Create && c.Addr.Resource.Mode == addrs.Managed && !due[name] {
			out = append(out, name)
		}
	}
	return out
}
