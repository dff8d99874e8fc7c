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
		published, err := r.commit(ctx, s, view.base(), *planned)
		if err == nil {
			err = r.confirm(ctx, view, published)
		}
		if !errors.Is(err, errLost) {
			return err == nil, err
		}
	}
	return false, ErrContended
}

// confirm makes sure that no root that came meanwhile disowns what was just
// published: nobody could read the repository. Then the timestamp of before is put
// back, and whoever still may publish does so again.
func (r *Repository) confirm(ctx context.Context, view *view, published objstore.Version) error {
	_, err := r.store.Stat(ctx, control.MetadataKey(versionedFile(view.v.RootVersion()+1, trust.RoleRoot)))
	if errors.Is(err, objstore.ErrNotExist) || errors.Is(err, objstore.ErrDenied) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look whether keys were changed while publishing (it is published): %w", err)
	}
	if _, err := r.load(ctx); !disowned(err) {
		return nil
	}
	if _, err := r.store.PutIfMatch(ctx, control.MetadataKey(timestampFile), view.stamp, published); err != nil && !errors.Is(err, objstore.ErrChanged) {
		return fmt.Errorf("take back what is signed by keys that were removed meanwhile: %w", err)
	}
	return errLost
}

// disowned tells whether metadata is refused because its keys are not trusted.
func disowned(err error) bool {
	return errors.Is(err, trust.ErrUnsigned) || errors.Is(err, trust.ErrThreshold)
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

// base is what a publication builds on.
type base struct {
	files       map[string]trust.FileInfo
	delegations []trust.Delegation
	// snapshot is the current one, of version 0 in a new repository.
	snapshot trust.FileInfo
	// timestamp is the version of the current one, object that of the file to replace.
	timestamp int64
	object    objstore.Version
}

func (w *view) base() base {
	snapshot, _ := w.v.SnapshotFile() // there is none in a new repository
	return base{w.v.Files(), w.v.Delegations(), snapshot, w.v.TimestampVersion(), w.timestamp}
}

// commit writes what a change needs and makes it visible in the last step. A
// crash before that leaves files that nothing names.
func (r *Repository) commit(ctx context.Context, s trust.Signing, on base, c change) (objstore.Version, error) {
	if c.delegations == nil {
		c.delegations = on.delegations
	} else {
		c.renewTargets = true
	}
	for _, role := range slices.Sorted(maps.Keys(c.roles)) {
		if err := r.commitRole(ctx, s, role, c, on.files); err != nil {
			return "", err
		}
	}
	if c.renewTargets {
		if err := r.commitTargets(ctx, s, c, on.files); err != nil {
			return "", err
		}
	}
	if c.keepSnapshot {
		return r.commitTimestamp(ctx, s, on, c)
	}
	snapshot, err := r.putVersioned(ctx, trust.RoleSnapshot, on.snapshot.Version, func(version int64) ([]byte, error) {
		return s.Snapshot(version, c.top.Snapshot, on.files)
	})
	if err != nil {
		return "", err
	}
	on.snapshot = snapshot
	return r.commitTimestamp(ctx, s, on, c)
}

// specOf is a role's spec as it will be after the change.
func (c change) specOf(role string) trust.RoleSpec {
	for _, d := range c.delegations {
		if d.Role == role {
			return d.RoleSpec
		}
	}
	return trust.RoleSpec{}
}

func (r *Repository) commitRole(ctx context.Context, s trust.Signing, role string, c change, files map[string]trust.FileInfo) error {
	file, err := r.putVersioned(ctx, role, files[role].Version, func(version int64) ([]byte, error) {
		return s.Role(version, role, c.specOf(role), c.roles[role])
	})
	files[role] = file
	return err
}

func (r *Repository) commitTargets(ctx context.Context, s trust.Signing, c change, files map[string]trust.FileInfo) error {
	file, err := r.putVersioned(ctx, trust.RoleTargets, files[trust.RoleTargets].Version, func(version int64) ([]byte, error) {
		return s.Targets(version, c.top.Targets, c.delegations)
	})
	files[trust.RoleTargets] = file
	return err
}

func (r *Repository) commitTimestamp(ctx context.Context, s trust.Signing, on base, c change) (objstore.Version, error) {
	version, err := following(trust.RoleTimestamp, on.timestamp)
	if err != nil {
		return "", err
	}
	data, err := s.Timestamp(version, c.top.Timestamp, on.snapshot)
	if err != nil {
		return "", err
	}
	published, err := r.putTimestamp(ctx, data, on.object)
	if errors.Is(err, objstore.ErrChanged) || errors.Is(err, objstore.ErrExist) {
		return "", errLost
	}
	if err != nil {
		return "", fmt.Errorf("publish: %w", err)
	}
	return published, nil
}

func (r *Repository) putTimestamp(ctx context.Context, data []byte, before objstore.Version) (objstore.Version, error) {
	key := control.MetadataKey(timestampFile)
	if before == "" {
		return r.store.PutIfAbsent(ctx, key, data)
	}
	return r.store.PutIfMatch(ctx, key, data, before)
}

// following is the version after one that somebody else may have chosen.
func following(role string, version int64) (int64, error) {
	if version >= trust.MaxVersion {
		return 0, fmt.Errorf("publish: version %d of %s: %w", version, role, trust.ErrFastForward)
	}
	return version + 1, nil
}

// putVersioned creates the first free version of a role's metadata after a version.
// Versions may have gaps; they must only rise.
func (r *Repository) putVersioned(ctx context.Context, role string, after int64, sign func(version int64) ([]byte, error)) (trust.FileInfo, error) {
	from, err := following(role, after)
	if err != nil {
		return trust.FileInfo{}, err
	}
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
