package repository

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// Repository is what publishers use. It reads the store anew for every call. It is
// safe for concurrent use; writes of one value wait for each other.
type Repository struct {
	store objstore.Store
	root  []byte // the first
	mu    sync.Mutex
	// wait is replaced in tests.
	wait func(ctx context.Context, attempt int) error
}

// Open opens the repository in a store. Its first root must have the fingerprint;
// an empty one trusts whatever is there, which suits only who has just created it.
func Open(ctx context.Context, store objstore.Store, fingerprint string) (*Repository, error) {
	root, err := FetchRoot(ctx, store, fingerprint)
	if err != nil {
		return nil, err
	}
	r := newRepository(store, root)
	if _, err := r.load(ctx); err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	return r, nil
}

// OpenDamaged opens a repository of which nothing but the roots need be readable, for
// [Repository.Salvage] and [Repository.Revoke].
func OpenDamaged(ctx context.Context, store objstore.Store, fingerprint string) (*Repository, error) {
	root, err := FetchRoot(ctx, store, fingerprint)
	if err != nil {
		return nil, err
	}
	return newRepository(store, root), nil
}

func newRepository(store objstore.Store, root []byte) *Repository {
	return &Repository{store: store, root: root, wait: backOff}
}

// Root returns the first root, which agents are given as the one to trust.
func (r *Repository) Root() []byte { return r.root }

// Fingerprint is that of the first root.
func (r *Repository) Fingerprint() string { return Fingerprint(r.root) }

// Store is where the repository lies.
func (r *Repository) Store() objstore.Store { return r.store }

// Config reads who may sign what.
func (r *Repository) Config(ctx context.Context) (Config, error) {
	view, err := r.load(ctx)
	if err != nil {
		return Config{}, fmt.Errorf("read repository's configuration: %w", err)
	}
	return configOf(view.v), nil
}

// Endings reads when what every agent needs ends, beginning with what ends first.
func (r *Repository) Endings(ctx context.Context) ([]trust.Ending, error) {
	view, err := r.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("read repository's expiry: %w", err)
	}
	return view.v.Endings(), nil
}

// Standing is who may sign for a role, and until when what they have signed is good.
type Standing struct {
	Role string
	trust.RoleSpec
	// Ends is zero for a role that has not signed anything yet.
	Ends time.Time
}

// Standings reads who may sign what: the four roles that every repository has, then
// environments and channels by name.
func (r *Repository) Standings(ctx context.Context) ([]Standing, error) {
	view, err := r.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("read who may sign: %w", err)
	}
	top := view.v.Top()
	list := []Standing{
		{Role: trust.RoleRoot, RoleSpec: top.Root}, {Role: trust.RoleTargets, RoleSpec: top.Targets},
		{Role: trust.RoleSnapshot, RoleSpec: top.Snapshot}, {Role: trust.RoleTimestamp, RoleSpec: top.Timestamp},
	}
	for _, d := range view.v.Delegations() {
		if _, err := view.list(ctx, d.Role); err != nil {
			return nil, fmt.Errorf("read who may sign: %w", err)
		}
		list = append(list, Standing{Role: d.Role, RoleSpec: d.RoleSpec})
	}
	for i := range list {
		list[i].Ends = view.v.ExpiresOf(list[i].Role)
	}
	return list, nil
}

// view is one verified reading of the repository. Expiry is not judged: who
// renews must be able to read what has expired.
type view struct {
	store objstore.Store
	v     *trust.Verifier
	// timestamp is the version to replace, "" if there is no timestamp yet.
	timestamp objstore.Version
	// stamp is the timestamp itself.
	stamp []byte
}

func (r *Repository) load(ctx context.Context) (*view, error) {
	view, err := r.loadRoots(ctx)
	if err != nil {
		return nil, err
	}
	object, err := fetch(ctx, r.store, timestampFile, maxTimestamp)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil, fmt.Errorf("%w: creating it was not completed", ErrNotInitialised)
	}
	if err != nil {
		return nil, err
	}
	view.timestamp, view.stamp = object.Version, object.Data
	return view, view.accept(ctx, object.Data)
}

func (r *Repository) loadRoots(ctx context.Context) (*view, error) {
	v, err := trust.NewVerifier(r.root, time.Time{})
	if err != nil {
		return nil, err
	}
	if _, err := walkRoots(ctx, r.store, v); err != nil {
		return nil, err
	}
	return &view{store: r.store, v: v}, nil
}

func (w *view) accept(ctx context.Context, timestamp []byte) error {
	if err := w.v.Timestamp(timestamp); err != nil {
		return err
	}
	file, err := w.v.SnapshotFile()
	if err != nil {
		return err
	}
	snapshot, err := fetchNamed(ctx, w.store, trust.RoleSnapshot, file, maxSnapshot)
	if err != nil {
		return err
	}
	if err := w.v.Snapshot(snapshot); err != nil {
		return err
	}
	targets, err := w.fetchRole(ctx, trust.RoleTargets)
	if err != nil {
		return err
	}
	return w.v.Targets(targets)
}

// fetchRole reads a role's metadata, nil if it has signed nothing yet.
func (w *view) fetchRole(ctx context.Context, role string) ([]byte, error) {
	file, ok := w.v.File(role)
	if !ok {
		return nil, nil
	}
	return fetchNamed(ctx, w.store, role, file, maxMetadata)
}

// list returns a delegated role's targets, none if it has signed nothing yet.
func (w *view) list(ctx context.Context, role string) ([]trust.Target, error) {
	if _, ok := w.v.Delegation(role); !ok {
		return nil, fmt.Errorf("role %s: %w", role, trust.ErrNoRole)
	}
	if targets := w.v.List(role); targets != nil {
		return targets, nil
	}
	data, err := w.fetchRole(ctx, role)
	if err != nil || data == nil {
		return nil, err
	}
	if err := w.v.Role(role, data); err != nil {
		return nil, err
	}
	return w.v.List(role), nil
}
