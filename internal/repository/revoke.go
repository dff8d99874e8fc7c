package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// Revoked says what [Repository.Revoke] took over.
type Revoked struct {
	// Resigned are the environments' and channels' roles whose newest list only keys
	// that are revoked had signed. It was signed again as it is, so look at what it lists.
	Resigned []string
}

const (
	// maxListed bounds the files of metadata that are looked through: some hundred
	// publications a day for five years.
	maxListed = 500_000
	// salvageChunk is how many of them are read at once.
	salvageChunk = 16
)

// Revoke changes who may sign what when somebody else has a key, or when the
// repository cannot be read because of it. Other than [Repository.Reconfigure] it has
// no overlap: what a removed key signed counts for nothing as soon as agents see the
// new root. It does not believe the snapshot and the timestamp that the store holds; of each
// role it takes the newest list that the role's own keys have signed, also one whose
// publication was cut short. Agents forget
// versions that a removed key has signed, however high, and so follow.
func (r *Repository) Revoke(ctx context.Context, config Config, s trust.Signing) (Revoked, error) {
	if err := config.Validate(); err != nil {
		return Revoked{}, fmt.Errorf("revoke keys: %w", err)
	}
	// What the keys cannot sign must show before anything is written.
	if _, _, _, err := r.revocation(ctx, config, s); err != nil {
		return Revoked{}, fmt.Errorf("revoke keys: %w", err)
	}
	if _, err := r.putRoot(ctx, s, config.Top); err != nil {
		return Revoked{}, fmt.Errorf("revoke keys: %w", err)
	}
	done, err := r.signAnew(ctx, config, s)
	if err != nil {
		return Revoked{}, fmt.Errorf("revoke keys: the root is new, but the rest was not signed again (run it once more): %w", err)
	}
	return done, nil
}

// signAnew signs everything for the root that stands, again from the start whenever
// somebody else was faster.
func (r *Repository) signAnew(ctx context.Context, config Config, s trust.Signing) (Revoked, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for attempt := range publishAttempts {
		if attempt > 0 {
			if err := r.wait(ctx, attempt); err != nil {
				return Revoked{}, err
			}
		}
		on, c, done, err := r.revocation(ctx, config, s)
		if err != nil {
			return Revoked{}, err
		}
		if _, err := r.commit(ctx, s, on, c); !errors.Is(err, errLost) {
			return done, err
		}
	}
	return Revoked{}, ErrContended
}

// revocation is what a revocation signs anew, by what the store holds now.
func (r *Repository) revocation(ctx context.Context, config Config, s trust.Signing) (base, change, Revoked, error) {
	for role, spec := range map[string]trust.RoleSpec{trust.RoleTargets: config.Targets, trust.RoleSnapshot: config.Snapshot, trust.RoleTimestamp: config.Timestamp} {
		if !s.Suffices(spec) {
			return base{}, change{}, Revoked{}, fmt.Errorf("sign %s: %w: %d of the role's %d keys must sign", role, trust.ErrKeyMissing, spec.Threshold, len(spec.Keys))
		}
	}
	found, err := r.salvage(ctx)
	if err != nil {
		return base{}, change{}, Revoked{}, err
	}
	return found.plan(ctx, config, s)
}

// Salvage reads who may sign what, as [Repository.Config] does, from the roots and the
// newest targets that their keys have signed, whatever else the store holds.
func (r *Repository) Salvage(ctx context.Context) (Config, error) {
	found, err := r.salvage(ctx)
	if err != nil {
		return Config{}, fmt.Errorf("salvage repository's configuration: %w", err)
	}
	targets, err := found.targets(ctx)
	if err != nil {
		return Config{}, fmt.Errorf("salvage repository's configuration: %w", err)
	}
	return configFrom(found.tops[0], targets.Delegations), nil
}

// salvaged is what a store holds, file by file.
type salvaged struct {
	store objstore.Store
	// tops are what the current root declares, and the one before it, which counts
	// where a revocation was cut short.
	tops []trust.Top
	// versions are the versions of each role's files, the highest first.
	versions map[string][]int64
	// timestamp is the current one's version, as far as it is believed.
	timestamp int64
	object    objstore.Version
}

func (r *Repository) salvage(ctx context.Context) (*salvaged, error) {
	v, err := trust.NewVerifier(r.root, time.Time{})
	if err != nil {
		return nil, err
	}
	found := &salvaged{store: r.store, tops: []trust.Top{v.Top()}, versions: map[string][]int64{}}
	for range maxRotations {
		next, err := followRoot(ctx, r.store, v)
		if err != nil {
			return nil, err
		}
		if next == nil {
			break
		}
		found.tops = []trust.Top{v.Top(), found.tops[0]}
	}
	if err := found.list(ctx); err != nil {
		return nil, err
	}
	return found, found.readTimestamp(ctx)
}

// list finds the versions that there are files of.
func (f *salvaged) list(ctx context.Context) error {
	count := 0
	for info, err := range f.store.List(ctx, control.MetadataPrefix) {
		if err != nil {
			return err
		}
		if count++; count > maxListed {
			return fmt.Errorf("there are more than %d files of metadata", maxListed)
		}
		number, rest, _ := strings.Cut(strings.TrimPrefix(info.Key, control.MetadataPrefix), ".")
		version, err := strconv.ParseInt(number, 10, 64)
		role, named := strings.CutSuffix(rest, ".json")
		if err == nil && named && version > 0 && version <= trust.MaxVersion {
			f.versions[role] = append(f.versions[role], version)
		}
	}
	for _, versions := range f.versions {
		slices.SortFunc(versions, func(a, b int64) int { return cmp.Compare(b, a) })
	}
	return nil
}

func (f *salvaged) readTimestamp(ctx context.Context) error {
	object, err := fetch(ctx, f.store, timestampFile, maxTimestamp)
	switch {
	case errors.Is(err, objstore.ErrNotExist):
		return nil
	case errors.Is(err, objstore.ErrTooLarge):
		info, err := f.store.Stat(ctx, control.MetadataKey(timestampFile))
		f.object = info.Version
		return err
	case err != nil:
		return err
	}
	f.object = object.Version
	for _, top := range f.tops {
		f.timestamp = max(f.timestamp, top.Timestamp.TimestampVersion(object.Data))
	}
	return nil
}

// single is one file that a role's keys have signed.
type single struct {
	trust.FileInfo
	trust.Single
	// by is which of the specs asks for its signatures, -1 if there is no file.
	by int
}

// newest is a role's newest file that bears the signatures one of the specs asks
// for; what the first spec finds goes before what the second would, however much newer:
// keys that were taken out may go on signing.
func (f *salvaged) newest(ctx context.Context, role string, specs ...trust.RoleSpec) (single, error) {
	best := single{by: len(specs)}
	for versions := range slices.Chunk(f.versions[role], salvageChunk) {
		files, err := f.fetchAll(ctx, role, versions)
		if err != nil {
			return single{}, err
		}
		for i, data := range files {
			for by, spec := range specs[:best.by] {
				content, err := trust.ReadSingle(role, data, spec)
				if err == nil && content.Version == versions[i] {
					best = single{trust.FileInfo{Version: versions[i], Length: int64(len(data)), SHA256: trust.Digest(data)}, content, by}
					break
				}
			}
		}
		if best.by == 0 {
			return best, nil
		}
	}
	if best.by == len(specs) {
		best.by = -1
	}
	return best, nil
}

// fetchAll reads files of a role at once; one that is gone or too large is empty.
func (f *salvaged) fetchAll(ctx context.Context, role string, versions []int64) ([][]byte, error) {
	files := make([][]byte, len(versions))
	group, ctx := errgroup.WithContext(ctx)
	for i, version := range versions {
		group.Go(func() error {
			object, err := fetch(ctx, f.store, versionedFile(version, role), maxMetadata)
			if errors.Is(err, objstore.ErrTooLarge) || errors.Is(err, objstore.ErrNotExist) {
				return nil
			}
			files[i] = object.Data
			return err
		})
	}
	return files, group.Wait()
}

// targets is the newest declaration of environments and channels.
func (f *salvaged) targets(ctx context.Context) (single, error) {
	var specs []trust.RoleSpec
	for _, top := range f.tops {
		specs = append(specs, top.Targets)
	}
	targets, err := f.newest(ctx, trust.RoleTargets, specs...)
	if err == nil && targets.by < 0 {
		err = fmt.Errorf("role targets: %w: the store holds none that its keys have signed", ErrIncomplete)
	}
	return targets, err
}

// plan signs anew the targets, the snapshot, the timestamp, and each list that the new
// keys have not signed.
func (f *salvaged) plan(ctx context.Context, config Config, s trust.Signing) (base, change, Revoked, error) {
	targets, err := f.targets(ctx)
	if err != nil {
		return base{}, change{}, Revoked{}, err
	}
	// Agents that do not forget what they saw have seen fewer publications than seconds.
	seconds := s.Now.Unix()
	on := base{
		files:    map[string]trust.FileInfo{trust.RoleTargets: {Version: room(targets.FileInfo.Version, seconds)}},
		snapshot: trust.FileInfo{Version: max(seconds, room(f.timestamp, seconds))}, timestamp: max(seconds, room(f.timestamp, seconds)), object: f.object,
	}
	c := change{top: config.Top, delegations: append([]trust.Delegation{}, config.delegations()...), roles: map[string][]trust.TargetInfo{}}
	done, err := f.planRoles(ctx, s, targets.Delegations, on, c)
	return on, c, done, err
}

// room is a version that others can follow.
func room(version, seconds int64) int64 {
	if version < trust.MaxVersion/2 {
		return version
	}
	return seconds
}

func (f *salvaged) planRoles(ctx context.Context, s trust.Signing, before []trust.Delegation, on base, c change) (Revoked, error) {
	var done Revoked
	for _, d := range c.delegations {
		specs := []trust.RoleSpec{d.RoleSpec}
		if at := slices.IndexFunc(before, func(b trust.Delegation) bool { return b.Role == d.Role }); at >= 0 {
			specs = append(specs, before[at].RoleSpec)
		}
		list, err := f.newest(ctx, d.Role, specs...)
		file := list.FileInfo
		switch {
		case err != nil:
			return Revoked{}, err
		case list.by < 0:
			continue // it has signed nothing yet
		case list.by > 0 && !s.Suffices(d.RoleSpec):
			return Revoked{}, fmt.Errorf("role %s: %w: its new rule asks for %d of %d keys, so give that many of their private keys", d.Role, ErrNeedsSignature, d.Threshold, len(d.Keys))
		case list.by > 0:
			c.roles[d.Role] = list.List
			file = trust.FileInfo{Version: room(file.Version, s.Now.Unix())}
			done.Resigned = append(done.Resigned, d.Role)
		}
		on.files[d.Role] = file
	}
	slices.Sort(done.Resigned)
	return done, nil
}
