package trust

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/theupdateframework/go-tuf/v2/metadata"
	"github.com/theupdateframework/go-tuf/v2/metadata/trustedmetadata"
)

// Verifier accepts metadata in order: [Verifier.AddRoot] any number of times,
// [Verifier.Timestamp], [Verifier.Snapshot], [Verifier.Targets], [Verifier.Role].
// It is not safe for concurrent use.
type Verifier struct {
	md *trustedmetadata.TrustedMetadata
}

// NewVerifier begins with a root that the caller trusts already. Expiry is judged
// at now; the zero time means that it is not, as for reading what was accepted
// before or for renewing it.
func NewVerifier(root []byte, now time.Time) (*Verifier, error) {
	if err := checkShape(root); err != nil {
		return nil, fmt.Errorf("trusted root: %w", err)
	}
	md, err := trustedmetadata.New(root)
	if err != nil {
		return nil, fmt.Errorf("trusted root: %w", asRefusal(err))
	}
	md.RefTime = now
	return &Verifier{md}, nil
}

// AddRoot accepts the root that follows the current one.
func (v *Verifier) AddRoot(data []byte) error {
	if err := checkShape(data); err != nil {
		return fmt.Errorf("root %d: %w", v.RootVersion()+1, err)
	}
	if _, err := v.md.UpdateRoot(data); err != nil {
		return fmt.Errorf("root %d: %w", v.RootVersion()+1, v.refusal(RoleRoot, data, err, ErrRollback))
	}
	return nil
}

// RememberTimestamp lowers nothing: it takes a timestamp accepted earlier as the
// version below which [Verifier.Timestamp] refuses. One that the current root no
// longer vouches for is forgotten, which is how a repository recovers from a
// stolen timestamp key.
func (v *Verifier) RememberTimestamp(data []byte) {
	if checkShape(data) == nil && checkTimestamp(data) == nil {
		_, _ = v.md.UpdateTimestamp(data)
	}
}

// Timestamp accepts the newest timestamp. The same version as before is accepted again.
func (v *Verifier) Timestamp(data []byte) error {
	if err := errors.Join(checkShape(data), checkTimestamp(data)); err != nil {
		return fmt.Errorf("timestamp: %w", err)
	}
	_, err := v.md.UpdateTimestamp(data)
	if err == nil || errors.Is(err, &metadata.ErrEqualVersionNumber{}) {
		return nil
	}
	return fmt.Errorf("timestamp: %w", v.refusal(RoleTimestamp, data, err, ErrRollback))
}

// SnapshotFile describes the snapshot that the timestamp names.
func (v *Verifier) SnapshotFile() (FileInfo, error) {
	if v.md.Timestamp == nil {
		return FileInfo{}, fmt.Errorf("snapshot: %w", ErrOrder)
	}
	return infoOf(v.md.Timestamp.Signed.Meta[RoleSnapshot+metaSuffix]), nil
}

// RememberSnapshot takes a snapshot accepted earlier as the versions below which
// [Verifier.Snapshot] refuses, and tells whether it is still the current one.
func (v *Verifier) RememberSnapshot(data []byte) (current bool) {
	file, err := v.SnapshotFile()
	if err != nil || checkShape(data) != nil {
		return false
	}
	_, err = v.md.UpdateSnapshot(data, true)
	return err == nil && file.Matches(data)
}

// Snapshot accepts the snapshot that the timestamp names.
func (v *Verifier) Snapshot(data []byte) error {
	if err := checkShape(data); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	before := v.md.Snapshot
	_, err := v.md.UpdateSnapshot(data, false)
	if err == nil {
		return nil
	}
	// The library keeps a snapshot of a wrong version as a lower bound; what was
	// fetched just now and refused must not become one.
	v.md.Snapshot = before
	return fmt.Errorf("snapshot: %w", v.refusal(RoleSnapshot, data, err, v.snapshotMismatch(data)))
}

// snapshotMismatch tells what a bad version number of a snapshot means.
func (v *Verifier) snapshotMismatch(data []byte) error {
	file, err := v.SnapshotFile()
	if parsed, parseErr := metadata.Snapshot().FromBytes(data); err == nil && parseErr == nil && parsed.Signed.Version != file.Version {
		return ErrMixAndMatch
	}
	return ErrRollback
}

// Targets accepts the role that declares environments and channels.
func (v *Verifier) Targets(data []byte) error {
	return v.update(RoleTargets, RoleRoot, data)
}

// Role accepts a delegated role's list of targets. A list that names a target
// outside the role's paths is refused whole: nobody has a good reason to sign one.
func (v *Verifier) Role(role string, data []byte) error {
	if _, ok := v.Delegation(role); !ok {
		return fmt.Errorf("role %s: %w", role, ErrNoRole)
	}
	if err := v.update(role, RoleTargets, data); err != nil {
		return err
	}
	if err := checkList(role, v.md.Targets[role]); err != nil {
		delete(v.md.Targets, role)
		return err
	}
	return nil
}

// checkList refuses a list that names a target outside the role's paths.
func checkList(role string, meta *metadata.Metadata[metadata.TargetsType]) error {
	for name, file := range meta.Signed.Targets {
		err := error(nil)
		switch {
		case !mayList(role, name):
			err = ErrOutsideRole
		case len(file.Hashes["sha256"]) != 32 || len(file.Hashes) != 1 || file.Length < 0:
			err = ErrMalformed
		}
		if err != nil {
			return fmt.Errorf("role %s: target %q: %w", role, name, err)
		}
	}
	return nil
}

func (v *Verifier) update(role, delegator string, data []byte) error {
	if err := checkShape(data); err != nil {
		return fmt.Errorf("role %s: %w", role, err)
	}
	if _, err := v.md.UpdateDelegatedTargets(data, role, delegator); err != nil {
		return fmt.Errorf("role %s: %w", role, v.refusal(role, data, err, ErrMixAndMatch))
	}
	return nil
}

// File describes a role's metadata as the snapshot names it; ok is false for a
// role that has never signed anything.
func (v *Verifier) File(role string) (file FileInfo, ok bool) {
	if v.md.Snapshot == nil {
		return FileInfo{}, false
	}
	meta, ok := v.md.Snapshot.Signed.Meta[role+metaSuffix]
	return infoOf(meta), ok
}

// Files describes the metadata of all roles that the snapshot names.
func (v *Verifier) Files() map[string]FileInfo {
	files := map[string]FileInfo{}
	if v.md.Snapshot == nil {
		return files
	}
	for name, meta := range v.md.Snapshot.Signed.Meta {
		files[strings.TrimSuffix(name, metaSuffix)] = infoOf(meta)
	}
	return files
}

// RootVersion is the version of the current root.
func (v *Verifier) RootVersion() int64 { return v.md.Root.Signed.Version }

// TimestampVersion is the version of the accepted timestamp, 0 before there is one.
func (v *Verifier) TimestampVersion() int64 {
	if v.md.Timestamp == nil {
		return 0
	}
	return v.md.Timestamp.Signed.Version
}

// Top is what the current root declares.
func (v *Verifier) Top() Top {
	spec := func(role string) RoleSpec {
		declared, ok := v.md.Root.Signed.Roles[role]
		if !ok {
			return RoleSpec{}
		}
		return specOf(v.md.Root.Signed.Keys, declared.KeyIDs, declared.Threshold, declared.UnrecognizedFields)
	}
	return Top{Root: spec(RoleRoot), Targets: spec(RoleTargets), Snapshot: spec(RoleSnapshot), Timestamp: spec(RoleTimestamp)}
}

// Delegations are the environments' and channels' roles, sorted by name.
func (v *Verifier) Delegations() []Delegation { return delegationsOf(v.md.Targets[RoleTargets]) }

func delegationsOf(targets *metadata.Metadata[metadata.TargetsType]) []Delegation {
	if targets == nil || targets.Signed.Delegations == nil {
		return nil
	}
	var list []Delegation
	for _, role := range targets.Signed.Delegations.Roles {
		if pathsOf(role.Name) == nil {
			continue
		}
		spec := specOf(targets.Signed.Delegations.Keys, role.KeyIDs, role.Threshold, role.UnrecognizedFields)
		list = append(list, Delegation{Role: role.Name, RoleSpec: spec})
	}
	slices.SortFunc(list, func(a, b Delegation) int { return strings.Compare(a.Role, b.Role) })
	return list
}

// Delegation is the declaration of one delegated role.
func (v *Verifier) Delegation(role string) (Delegation, bool) {
	for _, d := range v.Delegations() {
		if d.Role == role {
			return d, true
		}
	}
	return Delegation{}, false
}

// List returns the targets of an accepted role, sorted by name.
func (v *Verifier) List(role string) []Target {
	meta := v.md.Targets[role]
	if meta == nil {
		return nil
	}
	var list []Target
	for _, info := range listOf(meta) {
		list = append(list, Target{TargetInfo: info, role: role})
	}
	return list
}

func listOf(meta *metadata.Metadata[metadata.TargetsType]) []TargetInfo {
	var list []TargetInfo
	for _, name := range slices.Sorted(maps.Keys(meta.Signed.Targets)) {
		file := meta.Signed.Targets[name]
		info := TargetInfo{Name: name, Length: file.Length, SHA256: hex.EncodeToString(file.Hashes["sha256"])}
		if file.Custom != nil {
			info.Custom = *file.Custom
		}
		list = append(list, info)
	}
	return list
}

// ExpiresOf returns when an accepted role's metadata expires; zero if none was accepted.
func (v *Verifier) ExpiresOf(role string) time.Time { return v.ends()[role] }

// Expires returns what ends first of all accepted metadata.
func (v *Verifier) Expires() Ending { return v.Endings()[0] }

// Endings says when each accepted role's metadata ends, what ends first at the
// beginning. There is always the root's.
func (v *Verifier) Endings() []Ending {
	lifetimes := map[string]time.Duration{}
	for role, spec := range v.Top().all() {
		lifetimes[role] = spec.Expiry
	}
	for _, d := range v.Delegations() {
		lifetimes[d.Role] = d.Expiry
	}
	var list []Ending
	for role, at := range v.ends() {
		list = append(list, Ending{Role: role, At: at, Lifetime: lifetimes[role]})
	}
	slices.SortFunc(list, func(a, b Ending) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Role, b.Role)) })
	return list
}

func (v *Verifier) ends() map[string]time.Time {
	ends := map[string]time.Time{RoleRoot: v.md.Root.Signed.Expires}
	if v.md.Timestamp != nil {
		ends[RoleTimestamp] = v.md.Timestamp.Signed.Expires
	}
	if v.md.Snapshot != nil {
		ends[RoleSnapshot] = v.md.Snapshot.Signed.Expires
	}
	for name, meta := range v.md.Targets {
		ends[name] = meta.Signed.Expires
	}
	return ends
}

// Matches tells whether data is the file that f describes.
func (f FileInfo) Matches(data []byte) bool {
	return f.Length == int64(len(data)) && f.SHA256 == Digest(data)
}

func infoOf(meta *metadata.MetaFiles) FileInfo {
	if meta == nil {
		return FileInfo{}
	}
	return FileInfo{Version: meta.Version, Length: meta.Length, SHA256: hex.EncodeToString(meta.Hashes["sha256"])}
}
