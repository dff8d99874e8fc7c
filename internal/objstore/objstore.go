package objstore

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Errors that callers act on. Implementations wrap them with the key concerned.
var (
	// ErrNotExist: there is no object under the key. Stores that hide absence
	// (S3 without ListBucket answers 403) report ErrNotExist only when they know.
	ErrNotExist = errors.New("object does not exist")
	// ErrExist: PutIfAbsent found an object under the key.
	ErrExist = errors.New("object already exists")
	// ErrChanged: PutIfMatch found another version than the one named.
	ErrChanged = errors.New("object was changed by someone else")
	// ErrTooLarge: the object is larger than the reader's limit.
	ErrTooLarge = errors.New("object is larger than allowed")
	// ErrDenied: the store refused the credentials or the permission.
	ErrDenied = errors.New("access denied")
	// ErrUnavailable: the store could not be reached or failed; trying later may help.
	ErrUnavailable = errors.New("store is unavailable")
	// ErrInvalidKey: the key or prefix breaks the rules of [ValidateKey].
	ErrInvalidKey = errors.New("invalid object key")
)

// Version names one content of one key, as the store sees it (an S3 ETag). It is opaque.
type Version string

// Object is a stored object with its content.
type Object struct {
	Data    []byte
	Version Version
	// Modified is the store's own time of the last write.
	Modified time.Time
}

// Info describes a stored object.
type Info struct {
	Key  string
	Size int64
	// Version is empty in a listing, where a store would have to read every object for it.
	Version  Version
	Modified time.Time
}

// Store is a bucket and prefix. Keys are slash-separated relative paths (see
// [ValidateKey]); no key may be a folder of another. All methods are safe for concurrent use by many
// processes; every write is atomic: a reader sees the old or the new content whole.
// Reads see all writes that finished before.
type Store interface {
	// Get reads the whole object, at most limit bytes of it (else ErrTooLarge).
	Get(ctx context.Context, key string, limit int64) (Object, error)
	Stat(ctx context.Context, key string) (Info, error)
	// Put writes unconditionally. Use it only for keys with one writer.
	Put(ctx context.Context, key string, data []byte) (Version, error)
	// PutIfAbsent writes unless the key exists (ErrExist). Of many concurrent
	// calls for one key exactly one succeeds.
	PutIfAbsent(ctx context.Context, key string, data []byte) (Version, error)
	// PutIfMatch replaces the content if it is still the given version (ErrChanged;
	// ErrNotExist if it is gone).
	PutIfMatch(ctx context.Context, key string, data []byte, version Version) (Version, error)
	// List yields the objects whose keys begin with prefix, in byte order of their
	// keys, until the caller stops. The first error ends the sequence.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]
	// Delete removes the object. A key that does not exist is no error.
	Delete(ctx context.Context, key string) error
	// URL names the store for people and for opening it again; it holds no secret.
	URL() string
}
