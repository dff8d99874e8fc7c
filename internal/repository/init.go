package repository

import (
	"context"
	"errors"
	"fmt"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/probe"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// Init creates a repository. One whose creation was cut short is completed, if the
// keys suffice for the root it has; a complete one is [ErrInitialised].
func Init(ctx context.Context, store objstore.Store, config Config, s trust.Signing) (*Repository, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("create repository: %w", err)
	}
	root, err := createRoot(ctx, store, config, s)
	if err != nil {
		return nil, fmt.Errorf("create repository: %w", err)
	}
	r := newRepository(store, root)
	view, err := r.loadRoots(ctx)
	if err != nil {
		return nil, fmt.Errorf("create repository: %w", err)
	}
	_, err = store.Stat(ctx, control.MetadataKey(timestampFile))
	switch {
	case err == nil:
		return nil, fmt.Errorf("create repository in %s: %w", store.URL(), ErrInitialised)
	case !errors.Is(err, objstore.ErrNotExist):
		return nil, fmt.Errorf("create repository: %w", err)
	}
	delegations := config.delegations()
	if delegations == nil {
		delegations = []trust.Delegation{}
	}
	_, err = r.commit(ctx, s, view.base(), change{delegations: delegations, top: view.v.Top()})
	if errors.Is(err, errLost) {
		return nil, fmt.Errorf("create repository in %s: %w", store.URL(), ErrInitialised)
	}
	if err != nil {
		return nil, fmt.Errorf("create repository: %w", err)
	}
	if sameTop(view.v.Top(), config.Top) {
		return r, nil
	}
	// An earlier attempt had left another root.
	if _, err := r.Reconfigure(ctx, config, s); err != nil {
		return nil, fmt.Errorf("create repository: %w", err)
	}
	return r, nil
}

// createRoot creates the first root, or returns the one that is there.
func createRoot(ctx context.Context, store objstore.Store, config Config, s trust.Signing) ([]byte, error) {
	root, err := s.Root(1, config.Top, nil)
	if err != nil {
		return nil, err
	}
	// What the keys cannot sign must show before anything is written.
	for _, spec := range []trust.RoleSpec{config.Targets, config.Snapshot, config.Timestamp} {
		if !s.Suffices(spec) {
			return nil, fmt.Errorf("%w: the keys must suffice for root, targets, snapshot and timestamp", trust.ErrKeyMissing)
		}
	}
	key := control.MetadataKey(versionedFile(1, trust.RoleRoot))
	_, err = store.PutIfAbsent(ctx, key, root)
	if errors.Is(err, objstore.ErrExist) {
		return FetchRoot(ctx, store, "")
	}
	if err != nil {
		return nil, err
	}
	return root, probe.Honours(ctx, store, key, root)
}

// Reconfigure changes who may sign what. It writes nothing if nothing changes.
// Agents can read the repository at every moment of it: where the keys of targets,
// snapshot or timestamp change, one root allows both the old and the new until
// everything is signed by the new. What somebody publishes meanwhile with a key that
// is being removed stays published, signed by the new. A role that is declared again after its removal continues where it ended.
func (r *Repository) Reconfigure(ctx context.Context, config Config, s trust.Signing) (changed bool, err error) {
	if err := config.Validate(); err != nil {
		return false, fmt.Errorf("reconfigure repository: %w", err)
	}
	overlapped, err := r.overlap(ctx, config, s)
	if err != nil {
		return false, fmt.Errorf("reconfigure repository: %w", err)
	}
	changed, err = r.transact(ctx, s, func(view *view) (*change, error) { return planConfig(ctx, view, config, s, overlapped) })
	if err != nil {
		return false, fmt.Errorf("reconfigure repository: %w", err)
	}
	final, err := r.putRoot(ctx, s, config.Top)
	if err != nil {
		return false, fmt.Errorf("reconfigure repository: %w", err)
	}
	if overlapped {
		if err := r.settle(ctx, config, s); err != nil {
			return false, fmt.Errorf("reconfigure repository: %w", err)
		}
	}
	return changed || overlapped || final, nil
}

// settle signs again what somebody published, before the last root, with a key that
// it removes.
func (r *Repository) settle(ctx context.Context, config Config, s trust.Signing) error {
	_, err := r.load(ctx)
	if disowned(err) {
		_, err = r.Revoke(ctx, config, s)
	}
	return err
}

// overlap publishes a root that allows the old and the new keys, if they differ.
func (r *Repository) overlap(ctx context.Context, config Config, s trust.Signing) (bool, error) {
	view, err := r.loadRoots(ctx)
	if err != nil || sameOnline(view.v.Top(), config.Top) {
		return false, err
	}
	now := view.v.Top()
	both := trust.Top{
		Root:    config.Root,
		Targets: now.Targets.Union(config.Targets), Snapshot: now.Snapshot.Union(config.Snapshot), Timestamp: now.Timestamp.Union(config.Timestamp),
	}
	_, err = r.putRoot(ctx, s, both)
	return true, err
}

// putRoot publishes the next root unless the current one says the same. Roots
// have no gaps, so losing the race means to look again.
func (r *Repository) putRoot(ctx context.Context, s trust.Signing, top trust.Top) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range publishAttempts {
		view, err := r.loadRoots(ctx)
		if err != nil || sameTop(view.v.Top(), top) {
			return false, err
		}
		err = r.nextRoot(ctx, s, view, top)
		if !errors.Is(err, objstore.ErrExist) {
			return err == nil, err
		}
	}
	return false, ErrContended
}

func (r *Repository) nextRoot(ctx context.Context, s trust.Signing, view *view, top trust.Top) error {
	version := view.v.RootVersion() + 1
	before := view.v.Top().Root
	data, err := s.Root(version, top, &before)
	if err != nil {
		return err
	}
	_, err = r.store.PutIfAbsent(ctx, control.MetadataKey(versionedFile(version, trust.RoleRoot)), data)
	return err
}

func planConfig(ctx context.Context, view *view, config Config, s trust.Signing, overlapped bool) (*change, error) {
	now := configOf(view.v)
	wanted := config
	wanted.Top = now.Top
	if now.Equal(wanted) && !overlapped {
		return nil, nil
	}
	c := change{top: config.Top, roles: map[string][]trust.TargetInfo{}, renewTargets: overlapped}
	if now.Equal(wanted) {
		return &c, nil
	}
	c.delegations = config.delegations()
	if c.delegations == nil {
		c.delegations = []trust.Delegation{}
	}
	for _, d := range c.delegations {
		if err := planRole(ctx, view, d, s, c.roles); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

// planRole has a role whose signers change signed again, unless its present
// signatures are good for the new rule.
func planRole(ctx context.Context, view *view, d trust.Delegation, s trust.Signing, roles map[string][]trust.TargetInfo) error {
	before, declared := view.v.Delegation(d.Role)
	if declared && before.Equal(d.RoleSpec) {
		return nil
	}
	data, err := view.fetchRole(ctx, d.Role)
	if err != nil || data == nil || d.SignedBy(data) {
		return err
	}
	if !s.Suffices(d.RoleSpec) {
		return fmt.Errorf("role %s: %w: its new rule asks for %d of %d keys, so give that many of their private keys", d.Role, ErrNeedsSignature, d.Threshold, len(d.Keys))
	}
	if !declared {
		roles[d.Role] = nil // the keys that signed it before are not to be trusted any more
		return nil
	}
	targets, err := view.list(ctx, d.Role)
	roles[d.Role] = infos(targets)
	return err
}
