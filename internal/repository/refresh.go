package repository

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/towline/terraform-provider-towline/internal/trust"
)

// Refreshed says what a refresh did.
type Refreshed struct {
	// Renewed are the roles signed again.
	Renewed []string
	// Due are the roles that end within the asked time and for which keys are missing.
	Due []string
}

// Refresh signs again whatever ends before a time, as far as the given keys may;
// the rest is named in the result. Whoever keeps the timestamp's key runs it on a
// schedule. It writes nothing if nothing is due.
func (r *Repository) Refresh(ctx context.Context, s trust.Signing, before time.Time) (Refreshed, error) {
	var done Refreshed
	renewedRoot, err := r.refreshRoot(ctx, s, before, &done)
	if err != nil {
		return Refreshed{}, fmt.Errorf("refresh repository: %w", err)
	}
	rootDone := done
	_, err = r.transact(ctx, s, func(view *view) (*change, error) {
		done = Refreshed{Renewed: slices.Clone(rootDone.Renewed), Due: slices.Clone(rootDone.Due)}
		return planRefresh(ctx, view, s, before, &done)
	})
	if err != nil && !renewedRoot {
		return Refreshed{}, fmt.Errorf("refresh repository: %w", err)
	}
	if err != nil {
		return rootDone, fmt.Errorf("refresh repository: the root was renewed, but: %w", err)
	}
	return done, nil
}

func (r *Repository) refreshRoot(ctx context.Context, s trust.Signing, before time.Time, done *Refreshed) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	view, err := r.loadRoots(ctx)
	if err != nil || !view.v.ExpiresOf(trust.RoleRoot).Before(before) {
		return false, err
	}
	top := view.v.Top()
	if !s.Suffices(top.Root) {
		done.Due = append(done.Due, trust.RoleRoot)
		return false, nil
	}
	done.Renewed = append(done.Renewed, trust.RoleRoot)
	return true, r.nextRoot(ctx, s, view, top)
}

func planRefresh(ctx context.Context, view *view, s trust.Signing, before time.Time, done *Refreshed) (*change, error) {
	top := view.v.Top()
	c := change{top: top, roles: map[string][]trust.TargetInfo{}}
	due := refreshing{view: view, before: before, done: done}
	timestamp := s.Suffices(top.Timestamp)
	snapshot := timestamp && s.Suffices(top.Snapshot)
	for _, d := range view.v.Delegations() {
		list, err := view.list(ctx, d.Role)
		if err != nil {
			return nil, err
		}
		if due.renew(d.Role, snapshot && s.Suffices(d.RoleSpec)) {
			c.roles[d.Role] = infos(list)
		}
	}
	c.renewTargets = due.renew(trust.RoleTargets, snapshot && s.Suffices(top.Targets))
	renewSnapshot := due.renew(trust.RoleSnapshot, snapshot)
	renewTimestamp := due.renew(trust.RoleTimestamp, timestamp)
	c.keepSnapshot = len(c.roles) == 0 && !c.renewTargets && !renewSnapshot
	if c.keepSnapshot && !renewTimestamp {
		return nil, nil
	}
	return &c, nil
}

// refreshing sorts what is due by whether the keys are there.
type refreshing struct {
	view   *view
	before time.Time
	done   *Refreshed
}

// renew tells whether a role is to be signed again, and records it if it is due.
func (r refreshing) renew(role string, signable bool) bool {
	ends := r.view.v.ExpiresOf(role)
	switch {
	case ends.IsZero() || !ends.Before(r.before):
		return false
	case !signable:
		r.done.Due = append(r.done.Due, role)
		return false
	}
	r.done.Renewed = append(r.done.Renewed, role)
	return true
}
