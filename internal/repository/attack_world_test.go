package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// fort is a repository in which every role has keys of its own, and the client of
// an agent that has read it. The attacker writes to its store as anybody may who
// has the bucket's credentials.
type fort struct {
	store  objstore.Store
	repo   *Repository
	dir    string
	client *Client
	// now is the client's time.
	now time.Time
	// held is what the client has verified, and what it keeps under attack.
	held *State
	// honest is what the attacker has replaced; nil stands for an object that was not there.
	honest map[string][]byte
	// stolen tells whether the attacker has used the key of who keeps the time.
	stolen bool
}

// fortConfig: production takes two of three signatures, and who keeps the time signs nothing else.
func fortConfig(t testing.TB) Config {
	t.Helper()
	config := simpleConfig(t)
	config.Root = spec(t, 1, "owner", "backup")
	config.Snapshot, config.Timestamp = spec(t, 1, "keeper"), spec(t, 1, "keeper")
	config.Environments["prod"], config.Environments["dev"] = spec(t, 1, "ops"), spec(t, 1, "dev-ops")
	config.Channels["stable"] = spec(t, 2, "ci", "lead", "boss")
	return config
}

func newFort(t *testing.T, store objstore.Store) *fort {
	t.Helper()
	r, err := Init(t.Context(), store, fortConfig(t), signing(t, noon, "owner", "keeper"))
	if err != nil {
		t.Fatal(err)
	}
	r.wait = func(ctx context.Context, _ int) error { return ctx.Err() }
	f := &fort{store: store, repo: r, dir: t.TempDir(), now: noon, honest: map[string][]byte{}}
	f.declare(t, "net")
	f.publish(t, "one")
	f.restart(t)
	f.take(t, "one")
	return f
}

// restart opens the client again over the same folder.
func (f *fort) restart(t *testing.T) {
	t.Helper()
	client, err := NewClient(f.store, f.dir, f.repo.Root())
	if err != nil {
		t.Fatal(err)
	}
	f.client = client
}

// read is what an agent does: metadata, documents, then the revision.
func (f *fort) read(ctx context.Context) (*State, error) {
	state, err := f.client.Update(ctx, f.now, "prod", "stable")
	if err != nil {
		return nil, err
	}
	_, err = f.client.Content(ctx, *state.Revision)
	return state, err
}

// take has the client take what the owner has published last.
func (f *fort) take(t *testing.T, want string) {
	t.Helper()
	state, err := f.read(t.Context())
	if err != nil {
		t.Fatalf("the honest repository is refused: %v", err)
	}
	if state.Revision.Note.Message != want {
		t.Fatalf("revision %q is current, want %q", state.Revision.Note.Message, want)
	}
	f.held = state
}

// publish and declare are the owner's work.
func (f *fort) publish(t *testing.T, content string) {
	t.Helper()
	if _, _, err := f.repo.Publish(t.Context(), signing(t, noon, "keeper", "ci", "lead"), "stable", []byte(content), Note{Message: content}); err != nil {
		t.Fatal(err)
	}
}

func (f *fort) declare(t *testing.T, name string) {
	t.Helper()
	if _, err := f.repo.PutDocuments(t.Context(), signing(t, noon, "keeper", "ops"), scope(name)); err != nil {
		t.Fatal(err)
	}
}

// get, put, remove and alter are the attacker's.
func (f *fort) get(t *testing.T, key string) []byte {
	t.Helper()
	object, err := f.store.Get(t.Context(), key, MaxRevision)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return object.Data
}

func (f *fort) put(t *testing.T, key string, data []byte) {
	t.Helper()
	if _, seen := f.honest[key]; !seen {
		f.honest[key] = f.get(t, key)
	}
	put(t, f.store, key, data)
}

func (f *fort) remove(t *testing.T, key string) {
	t.Helper()
	f.honest[key] = f.get(t, key)
	if err := f.store.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
}

func (f *fort) alter(t *testing.T, key, old, new string) {
	t.Helper()
	before := f.get(t, key)
	after := bytes.Replace(before, []byte(old), []byte(new), 1)
	if bytes.Equal(before, after) {
		t.Fatalf("%s does not contain %s", key, old)
	}
	f.put(t, key, after)
}

// undo puts back what should have been there.
func (f *fort) undo(t *testing.T) {
	t.Helper()
	for key, data := range f.honest {
		if data != nil {
			put(t, f.store, key, data)
		} else if err := f.store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
}

// find returns the one key that contains all parts.
func (f *fort) find(t *testing.T, parts ...string) string {
	t.Helper()
	for _, key := range allKeys(t, f.store) {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(key, part) }) {
			return key
		}
	}
	t.Fatalf("no key contains %q", parts)
	return ""
}

// newest returns the key of a role's metadata with the highest version.
func (f *fort) newest(t *testing.T, role string) string {
	t.Helper()
	for version := int64(50); version > 0; version-- {
		key := control.MetadataKey(versionedFile(version, role))
		if f.get(t, key) != nil {
			return key
		}
	}
	t.Fatalf("no metadata of %s", role)
	return ""
}

// forge names forged metadata of a role in a new snapshot and timestamp, which
// whoever has the keeper's key can.
func (f *fort) forge(t *testing.T, role string, version int64, data []byte) {
	t.Helper()
	view, err := f.repo.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.put(t, control.MetadataKey(versionedFile(version, role)), data)
	files := view.v.Files()
	files[role] = trust.FileInfo{Version: version, Length: int64(len(data)), SHA256: trust.Digest(data)}
	f.sealAs(t, version, "keeper", files)
}

// sealAs signs a snapshot and a timestamp with one key and puts them in place.
func (f *fort) sealAs(t *testing.T, version int64, name string, files map[string]trust.FileInfo) {
	t.Helper()
	f.stolen = name == "keeper"
	s := signing(t, noon, name)
	snapshot, err := s.Snapshot(version, spec(t, 1, name), files)
	if err != nil {
		t.Fatal(err)
	}
	f.put(t, control.MetadataKey(versionedFile(version, trust.RoleSnapshot)), snapshot)
	timestamp, err := s.Timestamp(version, spec(t, 1, name), trust.FileInfo{Version: version, Length: int64(len(snapshot)), SHA256: trust.Digest(snapshot)})
	if err != nil {
		t.Fatal(err)
	}
	f.put(t, control.MetadataKey(timestampFile), timestamp)
}

// sign returns metadata of a delegated role that the named keys have signed.
func sign(t *testing.T, role string, version int64, list []trust.TargetInfo, names ...string) []byte {
	t.Helper()
	data, err := signing(t, noon, names...).Role(version, role, spec(t, len(names), names...), list)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// attack is what somebody does to a fort, and the refusal that it ends in.
type attack struct {
	do   func(*testing.T, *fort)
	want error
	// published is the revision that is current once the attack is undone; "" for "one".
	published string
}

// endure attacks. The client refuses by name, also after a restart, and keeps what
// it had verified; once the store is as it should be, or the stolen key is revoked,
// everything published is there.
func (a attack) endure(t *testing.T, store objstore.Store) {
	t.Helper()
	f := newFort(t, store)
	a.do(t, f)
	f.wantRefused(t, a.want)
	if a.published == "" {
		a.published = "one"
	}
	if f.stolen {
		f.revoke(t)
	} else {
		f.undo(t)
	}
	f.take(t, a.published)
}

// revoke takes the stolen key its power, while the attacker's files are still there.
func (f *fort) revoke(t *testing.T) {
	t.Helper()
	config := fortConfig(t)
	config.Snapshot, config.Timestamp = spec(t, 1, "keeper2"), spec(t, 1, "keeper2")
	done, err := f.repo.Revoke(t.Context(), config, signing(t, noon, "owner", "keeper2"))
	if err != nil || len(done.Resigned) != 0 {
		t.Fatalf("Revoke = %+v, %v", done, err)
	}
	if _, _, err := f.repo.Publish(t.Context(), signing(t, noon, "keeper", "ci", "lead"), "stable", []byte("evil"), Note{}); !errors.Is(err, trust.ErrKeyMissing) {
		t.Errorf("the stolen key still publishes: %v", err)
	}
}

// wantRefused checks that the client refuses what is in the store by this name,
// before and after a restart, and keeps what it had.
func (f *fort) wantRefused(t *testing.T, want error) {
	t.Helper()
	for range 2 {
		if _, err := f.read(t.Context()); !errors.Is(err, want) || !strings.Contains(fmt.Sprint(err), want.Error()) {
			t.Errorf("the answer to the attack is %v; want %q", err, want)
		}
		f.restart(t)
		f.wantHeld(t)
	}
}

// wantHeld checks that the client still has all that it had verified before.
func (f *fort) wantHeld(t *testing.T) {
	t.Helper()
	last, err := f.client.Last(t.Context(), "prod", "stable")
	if err != nil || last.Revision == nil || len(last.Scopes) < len(f.held.Scopes) {
		t.Errorf("what was verified before is lost: %+v, %v", last, err)
	}
	content, err := f.client.cache.content(t.Context(), f.held.Revision.target)
	if err != nil || string(content.Content()) != f.held.Revision.Note.Message {
		t.Errorf("the revision verified before is %q, %v; want %q", content.Content(), err, f.held.Revision.Note.Message)
	}
}
