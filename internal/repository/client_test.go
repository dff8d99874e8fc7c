package repository

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// world is a repository with a document and a revision, and a client that read them.
type world struct {
	store  *mem.Store
	repo   *Repository
	dir    string
	client *Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	store := mem.New(t.Name())
	w := &world{store: store, repo: initialise(t, store), dir: t.TempDir()}
	if _, err := w.repo.PutDocuments(t.Context(), signing(t, noon, "owner"), scope("net")); err != nil {
		t.Fatal(err)
	}
	publish(t, w.repo, "one")
	w.restart(t)
	w.update(t, nil)
	return w
}

// restart opens the client again over the same folder.
func (w *world) restart(t *testing.T) {
	t.Helper()
	client, err := NewClient(w.store, w.dir, w.repo.Root())
	if err != nil {
		t.Fatal(err)
	}
	w.client = client
}

func (w *world) update(t *testing.T, want error) *State {
	t.Helper()
	state, err := w.client.Update(t.Context(), noon, "prod", "stable")
	if !errors.Is(err, want) {
		t.Errorf("Update: %v; want %v", err, want)
	}
	return state
}

// wantHeld checks that the state verified before is still there.
func (w *world) wantHeld(t *testing.T, sequence int64) {
	t.Helper()
	state, err := w.client.Last(t.Context(), "prod", "stable")
	if err != nil || state.Revision.Sequence != sequence || len(state.Scopes) != 1 {
		t.Errorf("Last = %+v, %v; want revision %d and one scope", state, err, sequence)
	}
}

// copyOf returns what the store holds, for putting it back later.
func copyOf(t *testing.T, store objstore.Store) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, key := range allKeys(t, store) {
		object, err := store.Get(t.Context(), key, packagePart)
		if err != nil {
			t.Fatal(err)
		}
		all[key] = object.Data
	}
	return all
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	state := w.update(t, nil)
	if _, ok := state.Scopes["net"]; !ok || state.Revision == nil || state.Revision.Note.Message != "one" {
		t.Errorf("state = %+v", state)
	}
	if state.Expires.At.IsZero() {
		t.Error("the state does not say when it ends")
	}
	if _, err := w.client.Update(t.Context(), noon, "staging", "stable"); !errors.Is(err, trust.ErrNoRole) {
		t.Errorf("undeclared environment: %v; want %v", err, trust.ErrNoRole)
	}
	dev, err := w.client.Update(t.Context(), noon, "dev", "stable")
	if err != nil || len(dev.Scopes) != 0 {
		t.Errorf("environment without documents = %+v, %v", dev, err)
	}
}

// TestLostStore keeps the state and the revision without the store, also after a restart.
func TestLostStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	state := w.update(t, nil)
	if _, err := w.client.Content(t.Context(), *state.Revision); err != nil {
		t.Fatal(err)
	}
	for _, key := range allKeys(t, w.store) {
		if err := w.store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	w.restart(t)
	w.update(t, objstore.ErrNotExist)
	w.wantHeld(t, 1)
	held, err := w.client.Last(t.Context(), "prod", "stable")
	if err != nil {
		t.Fatal(err)
	}
	content, err := w.client.Content(t.Context(), *held.Revision)
	if err != nil || string(content.Content()) != "one" {
		t.Errorf("Content = %q, %v", content.Content(), err)
	}
	if _, err := newClient(t, w.store, w.repo.Root()).Last(t.Context(), "prod", "stable"); !errors.Is(err, ErrNothingKept) {
		t.Errorf("a client that verified nothing: %v; want %v", err, ErrNothingKept)
	}
}

// TestPreviousRevisionIsKept keeps what one may want to return to, and no more.
func TestPreviousRevisionIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var revisions []Revision
	for i := range 4 {
		if i > 0 {
			publish(t, w.repo, fmt.Sprint("content ", i))
		}
		state := w.update(t, nil)
		if _, err := w.client.Content(t.Context(), *state.Revision); err != nil {
			t.Fatal(err)
		}
		revisions = append(revisions, *state.Revision)
	}
	for i, want := range []bool{false, false, true, true} {
		_, err := w.client.cache.content(t.Context(), revisions[i].target)
		if got := err == nil; got != want {
			t.Errorf("revision %d kept: %t; want %t", i+1, got, want)
		}
	}
}

// TestReadsOnlyItsOwn records what a client reads in a repository of several
// environments, and that an unchanged repository costs it two reads.
func TestReadsOnlyItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := scope("x")
	other.Environment = "dev"
	if _, err := w.repo.PutDocuments(t.Context(), signing(t, noon, "owner"), other); err != nil {
		t.Fatal(err)
	}
	recorder := &recorder{Store: w.store}
	client := newClient(t, recorder, w.repo.Root())
	if _, err := client.Update(t.Context(), noon, "prod", "stable"); err != nil {
		t.Fatal(err)
	}
	foreign := func(key string) bool { return strings.Contains(key, "dev") }
	if got := recorder.take(); len(got) != 7 || slices.ContainsFunc(got, foreign) {
		t.Errorf("the first round read %q; want 7 objects of its own", got)
	}
	if _, err := client.Update(t.Context(), noon, "prod", "stable"); err != nil {
		t.Fatal(err)
	}
	if got := recorder.take(); !slices.Equal(got, []string{"tuf/2.root.json", "tuf/timestamp.json"}) {
		t.Errorf("a round without news read %q", got)
	}
}

type recorder struct {
	objstore.Store
	mu   sync.Mutex
	keys []string
}

func (r *recorder) Get(ctx context.Context, key string, limit int64) (objstore.Object, error) {
	r.mu.Lock()
	r.keys = append(r.keys, key)
	r.mu.Unlock()
	return r.Store.Get(ctx, key, limit)
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := r.keys
	r.keys = nil
	return keys
}

// TestStoreThatHidesAbsence answers "denied" for what is not there, as S3 does
// without the permission to list.
func TestStoreThatHidesAbsence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := newClient(t, hiding{w.store}, w.repo.Root()).Update(t.Context(), noon, "prod", "stable"); err != nil {
		t.Errorf("Update: %v", err)
	}
}

type hiding struct{ objstore.Store }

func (h hiding) Get(ctx context.Context, key string, limit int64) (objstore.Object, error) {
	object, err := h.Store.Get(ctx, key, limit)
	if errors.Is(err, objstore.ErrNotExist) {
		return object, fmt.Errorf("read %q: %w", key, objstore.ErrDenied)
	}
	return object, err
}

// TestClientFollowsRotation has a client miss several changes of all keys.
func TestClientFollowsRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := "owner"
	for _, name := range []string{"second", "third"} {
		config := SingleKey(testKey(t, name).Public(), []string{"prod", "dev"}, []string{"stable"})
		if _, err := w.repo.Reconfigure(t.Context(), config, signing(t, noon, before, name)); err != nil {
			t.Fatal(err)
		}
		before = name
	}
	if state := w.update(t, nil); state != nil && state.Revision.Sequence != 1 {
		t.Errorf("state = %+v", state)
	}
	if _, _, err := w.repo.Publish(t.Context(), signing(t, noon, "owner"), "stable", []byte("x"), Note{}); !errors.Is(err, trust.ErrKeyMissing) {
		t.Errorf("the first key still publishes: %v", err)
	}
	if _, _, err := w.repo.Publish(t.Context(), signing(t, noon.Add(time.Minute), "third"), "stable", []byte("x"), Note{}); err != nil {
		t.Errorf("the third key: %v", err)
	}
	w.update(t, nil)
	w.wantHeld(t, 2)
}
