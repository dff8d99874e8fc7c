package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/theupdateframework/go-tuf/v2/metadata"
)

// checkShape refuses what the library would stumble over, since it does not look:
// null where it expects an object, keys of a wrong size, and names that differ in
// case only, which may mean the same field or not.
func checkShape(data []byte) error {
	var parsed any
	if err := json.Unmarshal(data, &parsed); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	top, ok := parsed.(map[string]any)
	if !ok || top["signed"] == nil {
		return fmt.Errorf("%w: it says nothing that is signed", ErrMalformed)
	}
	if ambiguous(parsed) {
		return fmt.Errorf("%w: a value is null or a name is there twice", ErrMalformed)
	}
	return checkFields(data)
}

// checkFields refuses keys of other kinds and versions that nobody can reach by publishing.
func checkFields(data []byte) error {
	type keyed struct {
		Keys map[string]*metadata.Key `json:"keys"`
	}
	type versioned struct {
		Version int64 `json:"version"`
	}
	var file struct {
		Signed struct {
			keyed
			versioned
			Meta        map[string]versioned `json:"meta"`
			Delegations keyed                `json:"delegations"`
		} `json:"signed"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	for name, meta := range file.Signed.Meta {
		if meta.Version > MaxVersion {
			return fmt.Errorf("%w: it names version %d of %.64q", ErrFastForward, meta.Version, name)
		}
	}
	if file.Signed.Version > MaxVersion {
		return fmt.Errorf("%w: it is version %d", ErrFastForward, file.Signed.Version)
	}
	for _, keys := range []map[string]*metadata.Key{file.Signed.Keys, file.Signed.Delegations.Keys} {
		for id, key := range keys {
			if _, err := publicOf(key); err != nil {
				return fmt.Errorf("%w: key %.64q: %w", ErrMalformed, id, err)
			}
		}
	}
	return nil
}

// ambiguous looks for null and for names that differ in case only.
func ambiguous(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		seen := map[string]bool{}
		for name, inner := range value {
			folded := strings.ToLower(strings.ToUpper(name)) // as encoding/json folds
			if seen[folded] || ambiguous(inner) {
				return true
			}
			seen[folded] = true
		}
	case []any:
		for _, inner := range value {
			if ambiguous(inner) {
				return true
			}
		}
	}
	return false
}

// checkTimestamp refuses a timestamp that names no snapshot.
func checkTimestamp(data []byte) error {
	timestamp, err := metadata.Timestamp().FromBytes(data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if timestamp.Signed.Meta[RoleSnapshot+metaSuffix] == nil {
		return fmt.Errorf("%w: it names no snapshot", ErrMalformed)
	}
	return nil
}

// refusal gives an error of the library its name. badVersion is what a wrong
// version number means at this step.
func (v *Verifier) refusal(role string, data []byte, err, badVersion error) error {
	switch {
	case errors.Is(err, &metadata.ErrUnsignedMetadata{}):
		if v.someTrustedKeySigned(role, data) {
			return fmt.Errorf("%w (%w)", ErrThreshold, err)
		}
		return fmt.Errorf("%w (%w)", ErrUnsigned, err)
	case errors.Is(err, &metadata.ErrBadVersionNumber{}):
		return fmt.Errorf("%w (%w)", badVersion, err)
	case errors.Is(err, &metadata.ErrLengthOrHashMismatch{}):
		return fmt.Errorf("%w (%w)", ErrMixAndMatch, err)
	case role == RoleSnapshot && errors.Is(err, &metadata.ErrRepository{}) && !errors.Is(err, &metadata.ErrExpiredMetadata{}):
		return fmt.Errorf("%w (%w)", ErrRollback, err) // a role that was there is missing
	}
	return asRefusal(err)
}

// asRefusal names what needs no more than the error itself.
func asRefusal(err error) error {
	name := ErrMalformed
	switch {
	case errors.Is(err, &metadata.ErrUnsignedMetadata{}):
		name = ErrUnsigned
	case errors.Is(err, &metadata.ErrExpiredMetadata{}):
		name = ErrExpired
	case errors.Is(err, &metadata.ErrRuntime{}):
		name = ErrOrder
	}
	return fmt.Errorf("%w (%w)", name, err)
}

// someTrustedKeySigned asks again with a threshold of one, to tell a stranger's
// signature from too few of the right ones.
func (v *Verifier) someTrustedKeySigned(role string, data []byte) bool {
	switch role {
	case RoleRoot:
		return signedBy(v.looseRoot(role), role, data, metadata.Root().FromBytes)
	case RoleTimestamp:
		return signedBy(v.looseRoot(role), role, data, metadata.Timestamp().FromBytes)
	case RoleSnapshot:
		return signedBy(v.looseRoot(role), role, data, metadata.Snapshot().FromBytes)
	case RoleTargets:
		return signedBy(v.looseRoot(role), role, data, metadata.Targets().FromBytes)
	}
	return signedBy(v.looseTargets(role), role, data, metadata.Targets().FromBytes)
}

func signedBy[T metadata.Roles](delegator interface{ VerifyDelegate(string, any) error }, role string, data []byte, parse func([]byte) (*metadata.Metadata[T], error)) bool {
	meta, err := parse(data)
	return err == nil && delegator.VerifyDelegate(role, meta) == nil
}

// looseRoot is the current root with a threshold of one for a role.
func (v *Verifier) looseRoot(role string) *metadata.Metadata[metadata.RootType] {
	loose := *v.md.Root
	loose.Signed.Roles = maps.Clone(loose.Signed.Roles)
	if declared, ok := loose.Signed.Roles[role]; ok {
		one := *declared
		one.Threshold = 1
		loose.Signed.Roles[role] = &one
	}
	return &loose
}

// looseTargets is the current targets role with a threshold of one for a delegated role.
func (v *Verifier) looseTargets(role string) *metadata.Metadata[metadata.TargetsType] {
	loose := *v.md.Targets[RoleTargets]
	if loose.Signed.Delegations == nil {
		return &loose
	}
	delegations := *loose.Signed.Delegations
	delegations.Roles = append([]metadata.DelegatedRole(nil), delegations.Roles...)
	for i := range delegations.Roles {
		if delegations.Roles[i].Name == role {
			delegations.Roles[i].Threshold = 1
		}
	}
	loose.Signed.Delegations = &delegations
	return &loose
}
