package repository

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// Limits of what is read: about the largest that an honest repository of
// [maxDelegations] environments and channels needs.
const (
	maxRoot      = 512 << 10
	maxTimestamp = 16 << 10
	maxSnapshot  = 4 << 20
	maxMetadata  = 8 << 20
	maxRotations = 256
	maxDocuments = 2000
	// MaxRevision bounds a revision's archive.
	MaxRevision = 256 << 20
)

const timestampFile = trust.RoleTimestamp + ".json"

func versionedFile(version int64, role string) string {
	return strconv.FormatInt(version, 10) + "." + role + ".json"
}

// fetch reads a file of metadata.
func fetch(ctx context.Context, store objstore.Store, file string, limit int64) (objstore.Object, error) {
	object, err := store.Get(ctx, control.MetadataKey(file), limit)
	if err != nil {
		return objstore.Object{}, fmt.Errorf("fetch metadata: %w", err)
	}
	return object, nil
}

// fetchNamed reads a file that other metadata describes.
func fetchNamed(ctx context.Context, store objstore.Store, role string, file trust.FileInfo, limit int64) ([]byte, error) {
	if file.Length > 0 && file.Length < limit {
		limit = file.Length
	}
	object, err := fetch(ctx, store, versionedFile(file.Version, role), limit)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	return object.Data, err
}

// fetchTarget reads a target's content.
func fetchTarget(ctx context.Context, store objstore.Store, target trust.Target) (trust.Verified, error) {
	object, err := store.Get(ctx, control.ContentKey(target.Name, target.SHA256), target.Length)
	switch {
	case errors.Is(err, objstore.ErrNotExist):
		return trust.Verified{}, fmt.Errorf("fetch %s: %w: %w", target.Name, ErrIncomplete, err)
	case errors.Is(err, objstore.ErrTooLarge):
		return trust.Verified{}, fmt.Errorf("fetch %s: %w: %w", target.Name, trust.ErrTampered, err)
	case err != nil:
		return trust.Verified{}, fmt.Errorf("fetch %s: %w", target.Name, err)
	}
	return target.Verify(object.Data)
}

// walkRoots has v accept every root that follows, and returns the bytes of the
// last, nil if there was none. A store that hides absence answers "denied" for
// the root that does not exist yet; withholding a root is bounded by expiry, as
// withholding anything is.
func walkRoots(ctx context.Context, store objstore.Store, v *trust.Verifier) ([]byte, error) {
	var last []byte
	for range maxRotations {
		next, err := followRoot(ctx, store, v)
		if err != nil || next == nil {
			return last, err
		}
		last = next
	}
	return nil, fmt.Errorf("fetch roots: %w: there are more than %d new ones", trust.ErrMalformed, maxRotations)
}

// followRoot has v accept the next root, nil if there is none.
func followRoot(ctx context.Context, store objstore.Store, v *trust.Verifier) ([]byte, error) {
	object, err := fetch(ctx, store, versionedFile(v.RootVersion()+1, trust.RoleRoot), maxRoot)
	if errors.Is(err, objstore.ErrNotExist) || errors.Is(err, objstore.ErrDenied) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return object.Data, v.AddRoot(object.Data)
}

// Fingerprint names a repository: the SHA-256 of its first root, in hex. It stays
// the same however often keys are rotated.
func Fingerprint(firstRoot []byte) string { return trust.Digest(firstRoot) }

// FetchRoot reads the repository's first root and checks its fingerprint; an empty
// one trusts whatever is there.
func FetchRoot(ctx context.Context, store objstore.Store, fingerprint string) ([]byte, error) {
	object, err := fetch(ctx, store, versionedFile(1, trust.RoleRoot), maxRoot)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil, fmt.Errorf("open repository: %w: %w", ErrNotInitialised, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	if got := Fingerprint(object.Data); fingerprint != "" && got != fingerprint {
		return nil, fmt.Errorf("open repository: %w: it has %s, and %s is expected", ErrFingerprint, got, fingerprint)
	}
	return object.Data, nil
}
