package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// publishAttempts bounds how often a publisher starts again after losing a race.
// With the pauses of [backOff] that is about half a minute.
const publishAttempts = 30

// freeVersions bounds how many versions left over from crashes are passed over.
const freeVersions = 1000

// errLost says that somebody else published in between.
var errLost = errors.New("somebody else published in between")

// change is what one publication signs anew.
type change struct {
	// roles are the delegated roles with their new lists.
	roles map[string][]trust.TargetInfo
	// delegations, if not nil, replaces who may sign for what.
	delegations []trust.Delegation
	// top is the specs to sign targets, snapshot and timestamp for.
	top trust.Top
	// renewTargets signs the targets role again though it stays the same.
	renewTargets bool
	// keepSnapshot leaves the snapshot as it is; nothing but the timestamp is signed.
	keepSnapshot bool
}

// transact reads, plans and publishes, again from the start whenever somebody
// else was faster. A nil plan changes nothing.
func (r *Repository) transact(ctx context.Context, s trust.Signing, plan func(*view) (*change, error)) (changed bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for attempt := range publishAttempts {
		if attempt > 0 {
			if err := r.wait(ctx, attempt); err != nil {
				return false, err
			}
		}
		view, err := r.load(ctx)
		if err != nil {
			return false, err
		}
		planned, err := plan(view)
		if err != nil || planned == nil {
			return false, err
		}
		err = r.commit(ctx, s, view, *planned)
		if !errors.Is(err, errLost) {
			return err == nil, err
		}
	}
	return false, ErrContended
}

// backOff waits for a random time that grows with the attempts.
func backOff(ctx context.Context, attempt int) error {
	longest := min(2*time.Second, 20*time.Millisecond<<min(attempt, 10))
	timer := time.NewTimer(rand.N(longest))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// commit writes what a change needs and makes it visible in the last step. A
// crash before that leaves files that nothing names.
func (r *Repository) commit(ctx context.Context, s trust.Signing, view *view, c change) error {
	files := view.v.Files()
	for _, role := range slices.Sorted(maps.Keys(c.roles)) {
		if err := r.commitRole(ctx, s, role, specIn(view, c, role), c.roles[role], files); err != nil {
			return err
		}
	}
	if c.delegations != nil || c.renewTargets {
		if err := r.commitTargets(ctx, s, view, c, files); err != nil {
			return err
		}
	}
	snapshot, _ := view.v.SnapshotFile() // there is none in a new repository
	if c.keepSnapshot {
		return r.commitTimestamp(ctx, s, view, c, snapshot)
	}
	snapshot, err := r.putVersioned(ctx, trust.RoleSnapshot, snapshot.Version+1, func(version int64) ([]byte, error) {
		return s.Snapshot(version, c.top.Snapshot, files)
	})
	if err != nil {
		return err
	}
	return r.commitTimestamp(ctx, s, view, c, snapshot)
}

// specIn is a role's spec as it will be after the change.
func specIn(view *view, c change, role string) trust.RoleSpec {
	for _, d := range c.delegations {
		if d.Role == role {
			return d.RoleSpec
		}
	}
	d, _ := view.v.Delegation(role)
	return d.RoleSpec
}

func (r *Repository) commitRole(ctx context.Context, s trust.Signing, role string, spec trust.RoleSpec, list []trust.TargetInfo, files map[string]trust.FileInfo) error {
	file, err := r.putVersioned(ctx, role, files[role].Version+1, func(version int64) ([]byte, error) {
		return s.Role(version, role, spec, list)
	})
	files[role] = file
	return err
}

func (r *Repository) commitTargets(ctx context.Context, s trust.Signing, view *view, c change, files map[string]trust.FileInfo) error {
	delegations := c.delegations
	if delegations == nil {
		delegations = view.v.Delegations()
	}
	file, err := r.putVersioned(ctx, trust.RoleTargets, files[trust.RoleTargets].Version+1, func(version int64) ([]byte, error) {
		return s.Targets(version, c.top.Targets, delegations)
	})
	files[trust.RoleTargets] = file
	return err
}

func (r *Repository) commitTimestamp(ctx context.Context, s trust.Signing, view *view, c change, snapshot trust.FileInfo) error {
	data, err := s.Timestamp(view.v.TimestampVersion()+1, c.top.Timestamp, snapshot)
	if err != nil {
		return err
	}
	key := control.MetadataKey(timestampFile)
	if view.timestamp == "" {
		_, err = r.store.PutIfAbsent(ctx, key, data)
	} else {
		_, err = r.store.PutIfMatch(ctx, key, data, view.timestamp)
	}
	if errors.Is(err, objstore.ErrChanged) || errors.Is(err, objstore.ErrExist) {
		return errLost
	}
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

// putVersioned creates the first free version of a role's metadata from a version
// on. Versions may have gaps; they must only rise.
func (r *Repository) putVersioned(ctx context.Context, role string, from int64, sign func(version int64) ([]byte, error)) (trust.FileInfo, error) {
	for version := from; version < from+freeVersions; version++ {
		data, err := sign(version)
		if err != nil {
			return trust.FileInfo{}, err
		}
		_, err = r.store.PutIfAbsent(ctx, control.MetadataKey(versionedFile(version, role)), data)
		if errors.Is(err, objstore.ErrExist) {
			continue
		}
		if err != nil {
			return trust.FileInfo{}, fmt.Errorf("publish: %w", err)
		}
		return trust.FileInfo{Version: version, Length: int64(len(data)), SHA256: trust.Digest(data)}, nil
	}
	return trust.FileInfo{}, fmt.Errorf("publish: versions %d to %d of %s are taken, but nothing names them", from, from+freeVersions-1, role)
}

// putContent stores a target's content before anything names it. Content that is
// there already but differs was damaged, and is replaced.
func (r *Repository) putContent(ctx context.Context, target trust.TargetInfo, content []byte) error {
	key := control.ContentKey(target.Name, target.SHA256)
	_, err := r.store.PutIfAbsent(ctx, key, content)
	if !errors.Is(err, objstore.ErrExist) {
		return err
	}
	object, err := r.store.Get(ctx, key, target.Length)
	if err == nil && bytes.Equal(object.Data, content) {
		return nil
	}
	if err != nil && !errors.Is(err, objstore.ErrTooLarge) && !errors.Is(err, objstore.ErrNotExist) {
		return err
	}
	_, err = r.store.Put(ctx, key, content)
	return err
}

func infos(targets []trust.Target) []trust.TargetInfo {
	list := make([]trust.TargetInfo, len(targets))
	for i, target := range targets {
		list[i] = target.TargetInfo
	}
	return list
}
