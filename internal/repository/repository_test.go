package repository

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/file"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testKey derives a key from a name, so that failures repeat.
func testKey(t testing.TB, name string) trust.Key {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
	if err != nil {
		t.Fatal(err)
	}
	key, err := trust.ParseKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func signing(t testing.TB, now time.Time, names ...string) trust.Signing {
	t.Helper()
	s := trust.Signing{Now: now}
	for _, name := range names {
		s.Keys = append(s.Keys, testKey(t, name))
	}
	return s
}

func spec(t testing.TB, threshold int, names ...string) trust.RoleSpec {
	t.Helper()
	s := trust.RoleSpec{Threshold: threshold, Expiry: DefaultExpiry}
	for _, name := range names {
		s.Keys = append(s.Keys, testKey(t, name).Public())
	}
	return s
}

func simpleConfig(t testing.TB) Config {
	return SingleKey(testKey(t, "owner").Public(), []string{"prod", "dev"}, []string{"stable"})
}

func initialise(t testing.TB, store objstore.Store) *Repository {
	t.Helper()
	r, err := Init(t.Context(), store, simpleConfig(t), signing(t, noon, "owner"))
	if err != nil {
		t.Fatal(err)
	}
	r.wait = func(ctx context.Context, _ int) error { return ctx.Err() }
	return r
}

func scope(name string) control.Scope {
	return control.Scope{
		Version: 1, Environment: "prod", Name: name, Include: []control.Match{{Address: "**"}},
		Drift: control.Drift{Mode: control.DriftObserve},
	}
}

func publish(t testing.TB, r *Repository, content string) Revision {
	t.Helper()
	revision, _, err := r.Publish(t.Context(), signing(t, noon, "owner"), "stable", []byte(content), Note{Message: content})
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

func TestInit(t *testing.T) {
	t.Parallel()
	store := mem.New(t.Name())
	r := initialise(t, store)
	got, err := r.Config(t.Context())
	if err != nil || !got.Equal(simpleConfig(t)) {
		t.Errorf("Config = %+v, %v", got, err)
	}
	if _, err := Init(t.Context(), store, simpleConfig(t), signing(t, noon, "owner")); !errors.Is(err, ErrInitialised) {
		t.Errorf("second Init: %v; want %v", err, ErrInitialised)
	}
	if _, err := Open(t.Context(), store, r.Fingerprint()); err != nil {
		t.Errorf("Open: %v", err)
	}
	if _, err := Open(t.Context(), store, "0000"); !errors.Is(err, ErrFingerprint) {
		t.Errorf("Open with another fingerprint: %v; want %v", err, ErrFingerprint)
	}
	if _, err := Open(t.Context(), mem.New("empty"), ""); !errors.Is(err, ErrNotInitialised) {
		t.Errorf("Open of an empty store: %v; want %v", err, ErrNotInitialised)
	}
}

func TestInitWithoutKeysWritesNothing(t *testing.T) {
	t.Parallel()
	store := mem.New(t.Name())
	config := simpleConfig(t)
	config.Timestamp = spec(t, 1, "elsewhere")
	if _, err := Init(t.Context(), store, config, signing(t, noon, "owner")); !errors.Is(err, trust.ErrKeyMissing) {
		t.Errorf("Init: %v; want %v", err, trust.ErrKeyMissing)
	}
	if keys := allKeys(t, store); len(keys) != 0 {
		t.Errorf("the store holds %q", keys)
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	store := mem.New(t.Name())
	r, s := initialise(t, store), signing(t, noon, "owner")
	if changed, err := r.PutDocuments(t.Context(), s, scope("a"), scope("b")); !changed || err != nil {
		t.Fatalf("PutDocuments = %t, %v", changed, err)
	}
	before := allKeys(t, store)
	if changed, err := r.PutDocuments(t.Context(), s, scope("a")); changed || err != nil {
		t.Errorf("PutDocuments of the same = %t, %v", changed, err)
	}
	if after := allKeys(t, store); !slices.Equal(before, after) {
		t.Errorf("declaring the same wrote something: %q, then %q", before, after)
	}
	edited := scope("a")
	edited.Drift.Mode = control.DriftEnforce
	if changed, err := r.PutDocuments(t.Context(), s, edited); !changed || err != nil {
		t.Errorf("PutDocuments of an edit = %t, %v", changed, err)
	}
	got, err := r.Document(t.Context(), edited.Ref())
	if now, ok := got.(control.Scope); err != nil || !ok || now.Drift.Mode != control.DriftEnforce {
		t.Errorf("Document = %+v, %v", got, err)
	}
	if changed, err := r.RemoveDocuments(t.Context(), s, edited.Ref()); !changed || err != nil {
		t.Errorf("RemoveDocuments = %t, %v", changed, err)
	}
	if changed, err := r.RemoveDocuments(t.Context(), s, edited.Ref()); changed || err != nil {
		t.Errorf("RemoveDocuments again = %t, %v", changed, err)
	}
	if _, err := r.Document(t.Context(), edited.Ref()); !errors.Is(err, ErrNotFound) {
		t.Errorf("Document after removal: %v; want %v", err, ErrNotFound)
	}
	refs, err := r.Documents(t.Context(), "prod")
	if err != nil || len(refs) != 1 || refs[0] != scope("b").Ref() {
		t.Errorf("Documents = %v, %v", refs, err)
	}
	other := scope("c")
	other.Environment = "staging"
	if _, err := r.PutDocuments(t.Context(), s, other); !errors.Is(err, trust.ErrNoRole) {
		t.Errorf("document of an undeclared environment: %v; want %v", err, trust.ErrNoRole)
	}
}

func TestRevisions(t *testing.T) {
	t.Parallel()
	store := mem.New(t.Name())
	r := initialise(t, store)
	first := publish(t, r, "one")
	publish(t, r, "two")
	before := allKeys(t, store)
	again, published, err := r.Publish(t.Context(), signing(t, noon, "owner"), "stable", []byte("two"), Note{})
	if err != nil || published || again.Sequence != 2 {
		t.Errorf("publishing the current content again = %+v, %t, %v", again, published, err)
	}
	if after := allKeys(t, store); !slices.Equal(before, after) {
		t.Error("publishing the current content again wrote something")
	}
	back := publish(t, r, "one")
	if back.Sequence != 3 || back.Digest != first.Digest {
		t.Errorf("going back = %+v; want sequence 3 with the digest of %+v", back, first)
	}
	list, err := r.Revisions(t.Context(), "stable")
	if err != nil || len(list) != 3 || list[0].Sequence != 3 || list[2].Note.Message != "one" {
		t.Fatalf("Revisions = %+v, %v", list, err)
	}
	content, err := r.Content(t.Context(), list[1])
	if err != nil || string(content.Content()) != "two" {
		t.Errorf("Content = %q, %v", content.Content(), err)
	}
	if _, _, err := r.Publish(t.Context(), signing(t, noon, "owner"), "beta", []byte("x"), Note{}); !errors.Is(err, trust.ErrNoRole) {
		t.Errorf("undeclared channel: %v; want %v", err, trust.ErrNoRole)
	}
}

func TestOldRevisionsAreForgotten(t *testing.T) {
	t.Parallel()
	r := initialise(t, mem.New(t.Name()))
	for i := range keptRevisions + 3 {
		publish(t, r, fmt.Sprint("content ", i))
	}
	list, err := r.Revisions(t.Context(), "stable")
	if err != nil || len(list) != keptRevisions || list[0].Sequence != keptRevisions+3 {
		t.Errorf("%d revisions, newest %d, %v", len(list), list[0].Sequence, err)
	}
}

func TestThresholdOfTwo(t *testing.T) {
	t.Parallel()
	r := initialise(t, mem.New(t.Name()))
	config := simpleConfig(t)
	config.Channels["stable"] = spec(t, 2, "ci", "lead")
	if changed, err := r.Reconfigure(t.Context(), config, signing(t, noon, "owner")); !changed || err != nil {
		t.Fatalf("Reconfigure = %t, %v", changed, err)
	}
	if _, _, err := r.Publish(t.Context(), signing(t, noon, "owner", "ci"), "stable", []byte("x"), Note{}); !errors.Is(err, trust.ErrKeyMissing) {
		t.Errorf("one signature: %v; want %v", err, trust.ErrKeyMissing)
	}
	if _, published, err := r.Publish(t.Context(), signing(t, noon, "owner", "ci", "lead"), "stable", []byte("x"), Note{}); !published || err != nil {
		t.Errorf("two signatures: %t, %v", published, err)
	}
}

func TestReconfigure(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edit    func(*Config)
		keys    []string
		changed bool
		want    error
	}{
		"nothing":             {func(*Config) {}, []string{"owner"}, false, nil},
		"another environment": {func(c *Config) { c.Environments["staging"] = spec(t, 1, "owner") }, []string{"owner"}, true, nil},
		"environment removed": {func(c *Config) { delete(c.Environments, "dev") }, []string{"owner"}, true, nil},
		"longer expiry":       {func(c *Config) { c.Root.Expiry *= 2 }, []string{"owner"}, true, nil},
		"root key replaced":   {func(c *Config) { c.Root = spec(t, 1, "new") }, []string{"owner", "new"}, true, nil},
		"online keys replaced": {func(c *Config) {
			c.Targets, c.Snapshot, c.Timestamp = spec(t, 1, "new"), spec(t, 1, "new"), spec(t, 2, "new", "third")
		}, []string{"owner", "new", "third"}, true, nil},
		"root by a stranger":            {func(c *Config) { c.Root = spec(t, 1, "mallory") }, []string{"mallory"}, false, trust.ErrKeyMissing},
		"channel key added":             {func(c *Config) { c.Channels["stable"] = spec(t, 1, "owner", "ci") }, []string{"owner"}, true, nil},
		"channel key replaced":          {func(c *Config) { c.Channels["stable"] = spec(t, 1, "ci") }, []string{"owner", "ci"}, true, nil},
		"channel key held by others":    {func(c *Config) { c.Channels["stable"] = spec(t, 1, "ci") }, []string{"owner"}, false, ErrNeedsSignature},
		"channel threshold not yet met": {func(c *Config) { c.Channels["stable"] = spec(t, 2, "owner", "ci") }, []string{"owner"}, false, ErrNeedsSignature},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := mem.New(t.Name())
			r := initialise(t, store)
			publish(t, r, "one")
			config := simpleConfig(t)
			test.edit(&config)
			before := allKeys(t, store)
			changed, err := r.Reconfigure(t.Context(), config, signing(t, noon, test.keys...))
			if changed != test.changed || !errors.Is(err, test.want) {
				t.Fatalf("Reconfigure = %t, %v; want %t, %v", changed, err, test.changed, test.want)
			}
			if !changed && err == nil && !slices.Equal(before, allKeys(t, store)) {
				t.Error("nothing changed, but something was written")
			}
			wantReadable(t, store, r.Root(), "one")
			if err != nil {
				return
			}
			if got, err := r.Config(t.Context()); err != nil || !got.Equal(config) {
				t.Errorf("Config = %+v, %v; want %+v", got, err, config)
			}
			if changed, err := r.Reconfigure(t.Context(), config, signing(t, noon, test.keys...)); changed || err != nil {
				t.Errorf("the same again = %t, %v", changed, err)
			}
		})
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	store := mem.New(t.Name())
	config := simpleConfig(t)
	config.Timestamp = trust.RoleSpec{Keys: spec(t, 1, "keeper").Keys, Threshold: 1, Expiry: time.Hour}
	r, err := Init(t.Context(), store, config, signing(t, noon, "owner", "keeper"))
	if err != nil {
		t.Fatal(err)
	}
	done, err := r.Refresh(t.Context(), signing(t, noon, "keeper"), noon.Add(time.Minute))
	if err != nil || len(done.Renewed)+len(done.Due) != 0 {
		t.Errorf("nothing is due: %+v, %v", done, err)
	}
	later := noon.Add(2 * time.Hour)
	wantUpdateErr(t, store, r.Root(), later, trust.ErrExpired)
	done, err = r.Refresh(t.Context(), signing(t, later, "keeper"), later)
	if err != nil || !slices.Equal(done.Renewed, []string{trust.RoleTimestamp}) {
		t.Fatalf("the keeper's refresh: %+v, %v", done, err)
	}
	wantUpdateErr(t, store, r.Root(), later, nil)
	done, err = r.Refresh(t.Context(), signing(t, later, "keeper"), later.Add(2*DefaultExpiry))
	if err != nil || !slices.Contains(done.Due, trust.RoleSnapshot) {
		t.Errorf("what the keeper cannot sign: %+v, %v", done, err)
	}
	done, err = r.Refresh(t.Context(), signing(t, later, "owner", "keeper"), later.Add(2*DefaultRootExpiry))
	if err != nil || len(done.Due) != 0 || !slices.Contains(done.Renewed, trust.RoleRoot) || !slices.Contains(done.Renewed, trust.RoleTargets) {
		t.Errorf("the owner's refresh: %+v, %v", done, err)
	}
	wantUpdateErr(t, store, r.Root(), later, nil)
}

func wantUpdateErr(t *testing.T, store objstore.Store, root []byte, now time.Time, want error) {
	t.Helper()
	if _, err := newClient(t, store, root).Update(t.Context(), now, "prod", "stable"); !errors.Is(err, want) {
		t.Errorf("Update: %v; want %v", err, want)
	}
}

func TestDestroy(t *testing.T) {
	t.Parallel()
	store := mem.New(t.Name())
	r := initialise(t, store)
	if _, err := store.Put(t.Context(), "not/ours", nil); err != nil {
		t.Fatal(err)
	}
	publish(t, r, "one")
	if err := Destroy(t.Context(), store, false); !errors.Is(err, ErrInUse) {
		t.Errorf("Destroy: %v; want %v", err, ErrInUse)
	}
	wantReadable(t, store, r.Root(), "one")
	if err := Destroy(t.Context(), store, true); err != nil {
		t.Errorf("forced Destroy: %v", err)
	}
	if keys := allKeys(t, store); !slices.Equal(keys, []string{"not/ours"}) {
		t.Errorf("left: %q", keys)
	}
}

// TestRacingPublishers has several publishers declare and publish at once, each
// with a handle of its own as a process would. Nobody's work may be lost.
func TestRacingPublishers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := openFile(t, dir)
	root := initialise(t, store).Root()
	const publishers, rounds = 4, 4
	var group sync.WaitGroup
	for p := range publishers {
		r := newRepository(openFile(t, dir), root)
		group.Go(func() {
			for i := range rounds {
				if _, err := r.PutDocuments(t.Context(), signing(t, noon, "owner"), scope(fmt.Sprintf("s-%d-%d", p, i))); err != nil {
					t.Error(err)
				}
				if _, _, err := r.Publish(t.Context(), signing(t, noon, "owner"), "stable", fmt.Appendf(nil, "%d-%d", p, i), Note{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	client := newClient(t, store, root)
	for range 20 {
		if _, err := client.Update(t.Context(), noon, "prod", "stable"); err != nil {
			t.Errorf("an agent could not read meanwhile: %v", err)
		}
	}
	group.Wait()
	state, err := client.Update(t.Context(), noon, "prod", "stable")
	if err != nil || len(state.Scopes) != publishers*rounds || state.Revision.Sequence != publishers*rounds {
		t.Errorf("%d scopes, revision %+v, %v; want %d of each", len(state.Scopes), state.Revision, err, publishers*rounds)
	}
}

func TestRacingInits(t *testing.T) {
	t.Parallel()
	store := mem.New(t.Name())
	var mu sync.Mutex
	var succeeded int
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			_, err := Init(t.Context(), store, simpleConfig(t), signing(t, noon, "owner"))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				succeeded++
			case !errors.Is(err, ErrInitialised):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if succeeded != 1 {
		t.Errorf("%d of 4 created the repository", succeeded)
	}
}

func openFile(t *testing.T, dir string) objstore.Store {
	t.Helper()
	store, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func newClient(t testing.TB, store objstore.Store, root []byte) *Client {
	t.Helper()
	client, err := NewClient(store, t.TempDir(), root)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// wantReadable checks what a new agent reads.
func wantReadable(t *testing.T, store objstore.Store, root []byte, contents ...string) {
	t.Helper()
	wantState(t, newClient(t, store, root), contents...)
}

// wantState checks that the client can update and finds one of these contents.
func wantState(t *testing.T, client *Client, contents ...string) {
	t.Helper()
	state, err := client.Update(t.Context(), noon, "prod", "stable")
	if err != nil {
		t.Errorf("Update: %v", err)
		return
	}
	verified, err := client.Content(t.Context(), *state.Revision)
	if err != nil || !slices.Contains(contents, string(verified.Content())) {
		t.Errorf("content %q, %v; want one of %q", verified.Content(), err, contents)
	}
}

func allKeys(t *testing.T, store objstore.Store) []string {
	t.Helper()
	var keys []string
	for info, err := range store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	return keys
}
