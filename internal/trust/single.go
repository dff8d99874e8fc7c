package trust

import (
	"fmt"

	"github.com/theupdateframework/go-tuf/v2/metadata"
)

// Single is one file of a role's metadata, read by its signatures alone.
type Single struct {
	Version int64
	// Delegations are what the targets role declares.
	Delegations []Delegation
	// List is what a delegated role lists.
	List []TargetInfo
}

// ReadSingle reads metadata of the targets role or of a delegated one that bears the
// signatures spec asks for. It is for whoever repairs a repository whose snapshot
// cannot be believed: nothing tells whether the file is the current one.
func ReadSingle(role string, data []byte, spec RoleSpec) (Single, error) {
	if err := checkShape(data); err != nil {
		return Single{}, fmt.Errorf("role %s: %w", role, err)
	}
	meta, err := metadata.Targets().FromBytes(data)
	if err != nil {
		return Single{}, fmt.Errorf("role %s: %w: %w", role, ErrMalformed, err)
	}
	if !spec.signed(meta) {
		return Single{}, fmt.Errorf("role %s: %w", role, ErrUnsigned)
	}
	if role == RoleTargets {
		return Single{Version: meta.Signed.Version, Delegations: delegationsOf(meta)}, nil
	}
	if err := checkList(role, meta); err != nil {
		return Single{}, err
	}
	return Single{Version: meta.Signed.Version, List: listOf(meta)}, nil
}

// SignedBy tells whether metadata of a delegated role bears the signatures that
// spec asks for.
func (s RoleSpec) SignedBy(data []byte) bool {
	if checkShape(data) != nil {
		return false
	}
	meta, err := metadata.Targets().FromBytes(data)
	return err == nil && s.signed(meta)
}

func (s RoleSpec) signed(meta *metadata.Metadata[metadata.TargetsType]) bool {
	const role = "any"
	delegator := metadata.Targets()
	delegator.Signed.Delegations = &metadata.Delegations{Keys: map[string]*metadata.Key{}}
	ids := addKeys(delegator.Signed.Delegations.Keys, s.Keys)
	delegator.Signed.Delegations.Roles = []metadata.DelegatedRole{{Name: role, KeyIDs: ids, Threshold: s.Threshold}}
	return delegator.VerifyDelegate(role, meta) == nil
}

// TimestampVersion reads the version of a timestamp that bears the signatures spec
// asks for, 0 of any other.
func (s RoleSpec) TimestampVersion(data []byte) int64 {
	if checkShape(data) != nil || checkTimestamp(data) != nil {
		return 0
	}
	root := metadata.Root()
	root.Signed.Roles[RoleTimestamp] = &metadata.Role{KeyIDs: addKeys(root.Signed.Keys, s.Keys), Threshold: s.Threshold}
	timestamp, err := metadata.Timestamp().FromBytes(data)
	if err != nil || root.VerifyDelegate(RoleTimestamp, timestamp) != nil {
		return 0
	}
	return max(timestamp.Signed.Version, timestamp.Signed.Meta[RoleSnapshot+metaSuffix].Version)
}
