package repository

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// broken is a store whose reads end with an error, or not before the caller's time does.
type broken struct {
	objstore.Store
	err   error
	asked int
}

func (b *broken) Get(ctx context.Context, key string, _ int64) (objstore.Object, error) {
	b.asked++
	if b.err == nil {
		<-ctx.Done()
		return objstore.Object{}, ctx.Err()
	}
	return objstore.Object{}, b.err
}

// mirrorOf copies what a store holds.
func mirrorOf(t *testing.T, store objstore.Store) *mem.Store {
	t.Helper()
	mirror := mem.New(store.URL() + "-mirror")
	for key, data := range copyOf(t, store) {
		put(t, mirror, key, data)
	}
	return mirror
}

// with gives the world's client other stores, over the folder that it has.
func (w *world) with(t *testing.T, sources ...objstore.Store) {
	t.Helper()
	client, err := NewClient(sources[0], w.dir, w.repo.Root(), sources[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	w.client = client
}

// TestMirrors: what the store does not give, or gives wrongly, is read from a mirror that
// is as new, whatever the mirrors before it say.
func TestMirrors(t *testing.T) {
	t.Parallel()
	lying := func(t *testing.T, store objstore.Store) objstore.Store {
		lie := mirrorOf(t, store)
		put(t, lie, "tuf/timestamp.json", []byte(`{"signed":{},"signatures":[]}`))
		return lie
	}
	lost := func(*testing.T, objstore.Store) objstore.Store { return mem.New("emptied") }
	away := func(err error) func(*testing.T, objstore.Store) objstore.Store {
		return func(_ *testing.T, store objstore.Store) objstore.Store { return &broken{Store: store, err: err} }
	}
	for name, bad := range map[string]func(*testing.T, objstore.Store) objstore.Store{
		"away": away(objstore.ErrUnavailable), "denied": away(objstore.ErrDenied), "lying": lying, "emptied": lost,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			publish(t, w.repo, "two")
			mirror := mirrorOf(t, w.store)
			w.with(t, bad(t, w.store), bad(t, w.store), mirror)
			state := w.update(t, nil)
			if state == nil || state.Revision.Note.Message != "two" || state.From != mirror.URL() {
				t.Fatalf("state = %+v; want revision two from %s", state, mirror.URL())
			}
			content, err := w.client.Content(t.Context(), *state.Revision)
			if err != nil || string(content.Content()) != "two" {
				t.Errorf("Content = %q, %v", content.Content(), err)
			}
		})
	}
}

// TestStoreBeforeMirrors: mirrors are asked for nothing while the store answers.
func TestStoreBeforeMirrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mirror := &broken{Store: w.store, err: objstore.ErrUnavailable}
	w.with(t, w.store, mirror)
	publish(t, w.repo, "two")
	if state := w.update(t, nil); state.From != w.store.URL() || mirror.asked != 0 {
		t.Errorf("read from %s, and the mirror was asked %d times", state.From, mirror.asked)
	}
}

// TestAttackOldMirror: a mirror that stayed behind, or is held back, gives nothing older
// than what was verified before.
func TestAttackOldMirror(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := mirrorOf(t, w.store)
	publish(t, w.repo, "two")
	w.update(t, nil)
	w.with(t, &broken{Store: w.store, err: objstore.ErrUnavailable}, old)
	w.update(t, trust.ErrRollback)
	w.wantHeld(t, 2)
}

// TestAllAway: the error is the store's and tells of the mirrors.
func TestAllAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.with(t, &broken{Store: w.store, err: objstore.ErrDenied}, &broken{Store: w.store, err: objstore.ErrUnavailable})
	w.update(t, objstore.ErrDenied)
	w.update(t, objstore.ErrUnavailable)
	w.wantHeld(t, 1)
}

// TestHangingStore: a store that never answers leaves its mirrors time enough.
func TestHangingStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		publish(t, w.repo, "two")
		mirror := mirrorOf(t, w.store)
		w.with(t, &broken{Store: w.store}, &broken{Store: w.store}, mirror)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		state, err := w.client.Update(ctx, noon, "prod", "stable")
		if err != nil || state.From != mirror.URL() {
			t.Fatalf("Update = %+v, %v; want it from %s", state, err, mirror.URL())
		}
		if ctx.Err() != nil {
			t.Error("the time of the call is over")
		}
	})
}

// TestPackagesFromMirrors: each part is read from whoever has it right.
func TestPackagesFromMirrors(t *testing.T) {
	t.Parallel()
	content := make([]byte, 3*packagePart)
	for i := range content {
		content[i] = byte(i>>16 + i>>23 + i)
	}
	store, p := stored(t, content)
	keys := allKeys(t, store)
	if len(keys) < 3 {
		t.Fatalf("the package has %d parts", len(keys))
	}
	damaged, incomplete := mirrorOf(t, store), mirrorOf(t, store)
	for i, key := range slices.Sorted(slices.Values(keys)) {
		if i%2 == 0 {
			put(t, damaged, key, []byte("changed"))
		} else if err := incomplete.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	var got bytes.Buffer
	if err := FetchPackage(t.Context(), Sources{damaged, incomplete}, p, &got); err != nil || !bytes.Equal(got.Bytes(), content) {
		t.Errorf("%d of %d bytes, %v", got.Len(), len(content), err)
	}
	if err := FetchPackage(t.Context(), Sources{damaged, damaged}, p, &got); !errors.Is(err, trust.ErrTampered) {
		t.Errorf("from damaged mirrors only: %v; want %v", err, trust.ErrTampered)
	}
}
