package trust

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/cjson"
	"github.com/theupdateframework/go-tuf/v2/metadata"
)

// Top is the specs of the four roles that every repository has.
type Top struct{ Root, Targets, Snapshot, Timestamp RoleSpec }

func (t Top) all() map[string]RoleSpec {
	return map[string]RoleSpec{RoleRoot: t.Root, RoleTargets: t.Targets, RoleSnapshot: t.Snapshot, RoleTimestamp: t.Timestamp}
}

// FileInfo describes a file of metadata as another file names it.
type FileInfo struct {
	Version int64
	Length  int64
	// SHA256 is in hex.
	SHA256 string
}

// Signing is what all signatures of a publication share.
type Signing struct {
	Keys Keyring
	Now  time.Time
}

func (s Signing) expires(spec RoleSpec) time.Time {
	return s.Now.Add(spec.Expiry).UTC().Truncate(time.Second)
}

// Root signs a root. The keys must suffice for the new root and, unless it is
// the first, for the one before.
func (s Signing) Root(version int64, top Top, before *RoleSpec) ([]byte, error) {
	root := metadata.Root(s.expires(top.Root))
	root.Signed.Version = version
	for role, spec := range top.all() {
		if err := spec.Validate(); err != nil {
			return nil, fmt.Errorf("sign root: role %s: %w", role, err)
		}
		root.Signed.Roles[role] = &metadata.Role{
			KeyIDs: addKeys(root.Signed.Keys, spec.Keys), Threshold: spec.Threshold,
			UnrecognizedFields: map[string]any{expiryField: spec.Expiry.String()},
		}
	}
	signers, err := s.signers(RoleRoot, top.Root)
	if err != nil {
		return nil, err
	}
	if before != nil {
		old, err := s.signers("previous root", *before)
		if err != nil {
			return nil, err
		}
		signers = append(signers, Keyring(old).except(signers)...)
	}
	return seal(root, signers)
}

// Targets signs the role that declares the delegated ones.
func (s Signing) Targets(version int64, spec RoleSpec, delegations []Delegation) ([]byte, error) {
	targets := metadata.Targets(s.expires(spec))
	targets.Signed.Version = version
	targets.Signed.Delegations = &metadata.Delegations{Keys: map[string]*metadata.Key{}, Roles: []metadata.DelegatedRole{}}
	sorted := slices.SortedFunc(slices.Values(delegations), func(a, b Delegation) int { return strings.Compare(a.Role, b.Role) })
	for _, d := range sorted {
		if err := d.Validate(); err != nil {
			return nil, fmt.Errorf("sign targets: role %s: %w", d.Role, err)
		}
		targets.Signed.Delegations.Roles = append(targets.Signed.Delegations.Roles, metadata.DelegatedRole{
			Name: d.Role, KeyIDs: addKeys(targets.Signed.Delegations.Keys, d.Keys), Threshold: d.Threshold,
			Terminating: true, Paths: pathsOf(d.Role),
			UnrecognizedFields: map[string]any{expiryField: d.Expiry.String()},
		})
	}
	return sealFor(s, RoleTargets, spec, targets)
}

// Role signs a delegated role's list of targets.
func (s Signing) Role(version int64, role string, spec RoleSpec, list []TargetInfo) ([]byte, error) {
	meta := metadata.Targets(s.expires(spec))
	meta.Signed.Version = version
	for _, target := range list {
		digest, err := hex.DecodeString(target.SHA256)
		if err != nil {
			return nil, fmt.Errorf("sign %s: digest of %s: %w", role, target.Name, err)
		}
		if !mayList(role, target.Name) {
			return nil, fmt.Errorf("sign %s: target %s: %w", role, target.Name, ErrOutsideRole)
		}
		file := &metadata.TargetFiles{Length: target.Length, Hashes: metadata.Hashes{"sha256": digest}}
		if len(target.Custom) > 0 {
			custom := target.Custom
			file.Custom = &custom
		}
		meta.Signed.Targets[target.Name] = file
	}
	return sealFor(s, role, spec, meta)
}

// Snapshot signs which version of each role's metadata belongs to one publication.
func (s Signing) Snapshot(version int64, spec RoleSpec, files map[string]FileInfo) ([]byte, error) {
	snapshot := metadata.Snapshot(s.expires(spec))
	snapshot.Signed.Version = version
	snapshot.Signed.Meta = map[string]*metadata.MetaFiles{}
	for role, file := range files {
		meta, err := metaFile(file)
		if err != nil {
			return nil, fmt.Errorf("sign snapshot: %s: %w", role, err)
		}
		snapshot.Signed.Meta[role+metaSuffix] = meta
	}
	return sealFor(s, RoleSnapshot, spec, snapshot)
}

// Timestamp signs which snapshot is current.
func (s Signing) Timestamp(version int64, spec RoleSpec, snapshot FileInfo) ([]byte, error) {
	meta, err := metaFile(snapshot)
	if err != nil {
		return nil, fmt.Errorf("sign timestamp: %w", err)
	}
	timestamp := metadata.Timestamp(s.expires(spec))
	timestamp.Signed.Version = version
	timestamp.Signed.Meta = map[string]*metadata.MetaFiles{RoleSnapshot + metaSuffix: meta}
	return sealFor(s, RoleTimestamp, spec, timestamp)
}

const metaSuffix = ".json"

func metaFile(file FileInfo) (*metadata.MetaFiles, error) {
	digest, err := hex.DecodeString(file.SHA256)
	if err != nil {
		return nil, fmt.Errorf("digest: %w", err)
	}
	return &metadata.MetaFiles{Version: file.Version, Length: file.Length, Hashes: metadata.Hashes{"sha256": digest}}, nil
}

func addKeys(all map[string]*metadata.Key, keys []PublicKey) []string {
	ids := make([]string, len(keys))
	for i, key := range keys {
		ids[i] = key.ID()
		all[ids[i]] = key.tuf()
	}
	slices.Sort(ids)
	return ids
}

// Suffices tells whether the held keys can sign for a role of this spec.
func (s Signing) Suffices(spec RoleSpec) bool { return len(s.Keys.among(spec.Keys)) >= spec.Threshold }

// signers returns the held keys that may sign for a role, if they are enough.
func (s Signing) signers(role string, spec RoleSpec) ([]Signer, error) {
	found := s.Keys.among(spec.Keys)
	if len(found) < spec.Threshold {
		return nil, fmt.Errorf("sign %s: %w: %d of the role's %d keys must sign, and %d of them were given", role, ErrKeyMissing, spec.Threshold, len(spec.Keys), len(found))
	}
	return found, nil
}

func (r Keyring) except(others []Signer) []Signer {
	var left []Signer
	for _, signer := range r {
		if !slices.ContainsFunc(others, func(o Signer) bool { return o.Public() == signer.Public() }) {
			left = append(left, signer)
		}
	}
	return left
}

func sealFor[T metadata.Roles](s Signing, role string, spec RoleSpec, meta *metadata.Metadata[T]) ([]byte, error) {
	signers, err := s.signers(role, spec)
	if err != nil {
		return nil, err
	}
	return seal(meta, signers)
}

// seal signs the canonical form of what meta says and returns the whole file.
func seal[T metadata.Roles](meta *metadata.Metadata[T], signers []Signer) ([]byte, error) {
	payload, err := cjson.EncodeCanonical(meta.Signed)
	if err != nil {
		return nil, fmt.Errorf("sign metadata: %w", err)
	}
	for _, signer := range signers {
		signature, err := signer.Sign(payload)
		if err != nil {
			return nil, fmt.Errorf("sign metadata: %w", err)
		}
		if !signer.Public().Verify(payload, signature) {
			return nil, fmt.Errorf("sign metadata: %w: what the signer of %s answered", ErrUnsigned, signer.Public())
		}
		meta.Signatures = append(meta.Signatures, metadata.Signature{KeyID: signer.Public().ID(), Signature: signature})
	}
	data, err := json.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("sign metadata: %w", err)
	}
	return data, nil
}
