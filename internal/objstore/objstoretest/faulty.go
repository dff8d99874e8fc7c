package objstoretest

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// Faulty is a store whose writes begin to fail, as if the writer had crashed or
// the store had gone. It is safe for concurrent use.
type Faulty struct {
	objstore.Store
	// KeepFailedWrite lets the first failing write reach the store before it
	// fails, as when only the answer is lost.
	KeepFailedWrite bool
	left            atomic.Int64
	failed          atomic.Bool
}

// NewFaulty returns a store whose first writes succeed and whose later ones fail.
func NewFaulty(store objstore.Store, writes int) *Faulty {
	f := &Faulty{Store: store}
	f.left.Store(int64(writes))
	return f
}

// Failed tells whether any write has failed.
func (f *Faulty) Failed() bool { return f.failed.Load() }

// Put implements [objstore.Store].
func (f *Faulty) Put(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return f.write(key, func() (objstore.Version, error) { return f.Store.Put(ctx, key, data) })
}

// PutIfAbsent implements [objstore.Store].
func (f *Faulty) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return f.write(key, func() (objstore.Version, error) { return f.Store.PutIfAbsent(ctx, key, data) })
}

// PutIfMatch implements [objstore.Store].
func (f *Faulty) PutIfMatch(ctx context.Context, key string, data []byte, version objstore.Version) (objstore.Version, error) {
	return f.write(key, func() (objstore.Version, error) { return f.Store.PutIfMatch(ctx, key, data, version) })
}

// Delete implements [objstore.Store].
func (f *Faulty) Delete(ctx context.Context, key string) error {
	_, err := f.write(key, func() (objstore.Version, error) { return "", f.Store.Delete(ctx, key) })
	return err
}

func (f *Faulty) write(key string, do func() (objstore.Version, error)) (objstore.Version, error) {
	left := f.left.Add(-1)
	if left >= 0 {
		return do()
	}
	f.failed.Store(true)
	if left == -1 && f.KeepFailedWrite {
		if _, err := do(); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("write %q: %w (the test made it fail)", key, objstore.ErrUnavailable)
}
