package repository

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// rekeyed is the fort with other keys for everything; "lead" alone stays.
func rekeyed(t *testing.T) Config {
	t.Helper()
	config := fortConfig(t)
	config.Root, config.Targets = spec(t, 1, "new"), spec(t, 1, "new")
	config.Snapshot, config.Timestamp = spec(t, 1, "keeper2"), spec(t, 1, "keeper2")
	config.Environments["prod"], config.Channels["stable"] = spec(t, 1, "ops2"), spec(t, 2, "ci2", "lead")
	return config
}

// rekeyers hold what it takes to change from [fortConfig] to [rekeyed].
var rekeyers = []string{"owner", "new", "keeper", "keeper2", "ops2", "ci2", "lead"}

// rekey changes all keys, with and without overlap.
var rekey = map[string]func(*testing.T, *fort) error{
	"rotated": func(t *testing.T, f *fort) error {
		_, err := f.repo.Reconfigure(t.Context(), rekeyed(t), signing(t, noon, rekeyers...))
		return err
	},
	"revoked": func(t *testing.T, f *fort) error {
		done, err := f.repo.Revoke(t.Context(), rekeyed(t), signing(t, noon, rekeyers...))
		if !slices.Equal(done.Resigned, []string{"channel-stable", "env-prod"}) {
			t.Errorf("signed again: %q", done.Resigned)
		}
		return err
	},
}

// TestAttackRevokedKey has somebody go on signing with keys that were taken from
// their roles.
func TestAttackRevokedKey(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		attack func(*testing.T, *fort)
		want   error
	}{
		"timestamp": {func(t *testing.T, f *fort) { f.sealAs(t, 1<<35, "keeper", map[string]trust.FileInfo{}) }, trust.ErrUnsigned},
		"root": {func(t *testing.T, f *fort) {
			next := f.view(t).v.RootVersion() + 1
			root, err := signing(t, noon, "owner").Root(next, fortConfig(t).Top, nil)
			if err != nil {
				t.Fatal(err)
			}
			f.put(t, control.MetadataKey(versionedFile(next, trust.RoleRoot)), root)
		}, trust.ErrUnsigned},
		"env-prod":       {func(t *testing.T, f *fort) { f.forgeNow(t, "env-prod", "ops") }, trust.ErrUnsigned},
		"channel-stable": {func(t *testing.T, f *fort) { f.forgeNow(t, "channel-stable", "ci", "lead") }, trust.ErrThreshold},
	}
	for how, change := range rekey {
		for role, test := range tests {
			t.Run(how+", "+role, func(t *testing.T) {
				t.Parallel()
				f := newFort(t, mem.New(t.Name()))
				if err := change(t, f); err != nil {
					t.Fatal(err)
				}
				f.take(t, "one")
				test.attack(t, f)
				f.wantRefused(t, test.want)
				if _, err := f.read(t.Context()); !strings.Contains(fmt.Sprint(err), role) {
					t.Errorf("the refusal does not name %s: %v", role, err)
				}
			})
		}
	}
}

func (f *fort) view(t *testing.T) *view {
	t.Helper()
	view, err := f.repo.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// forgeNow names a list that some keys have signed in a snapshot and a timestamp of
// the keeper of now.
func (f *fort) forgeNow(t *testing.T, role string, names ...string) {
	t.Helper()
	view := f.view(t)
	version := view.v.TimestampVersion() + 100
	data := sign(t, role, version, nil, names...)
	f.put(t, control.MetadataKey(versionedFile(version, role)), data)
	files := view.v.Files()
	files[role] = trust.FileInfo{Version: version, Length: int64(len(data)), SHA256: trust.Digest(data)}
	f.sealAs(t, version, "keeper2", files)
}

// between is a store that does something else before the n-th write.
type between struct {
	objstore.Store
	left int
	do   func()
}

func (b *between) tick() {
	if b.left--; b.left == 0 {
		b.do()
	}
}

func (b *between) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	b.tick()
	return b.Store.PutIfAbsent(ctx, key, data)
}

func (b *between) PutIfMatch(ctx context.Context, key string, data []byte, version objstore.Version) (objstore.Version, error) {
	b.tick()
	return b.Store.PutIfMatch(ctx, key, data, version)
}

// TestAttackRotationDuringPublish changes all keys before each write of a publication
// in turn, and publishes before each write of a change of keys. Whoever has only old
// keys is refused or was in time; whoever has both kinds is not disturbed. Agents read
// at every end, and nothing published is lost.
func TestAttackRotationDuringPublish(t *testing.T) {
	t.Parallel()
	publishing := func(t *testing.T, r *Repository, names ...string) error {
		_, _, err := r.Publish(t.Context(), signing(t, noon, names...), "stable", []byte("two"), Note{Message: "two"})
		return err
	}
	change := func(t *testing.T, f *fort, r *Repository, how string) error {
		other := *f
		other.repo = r
		return rekey[how](t, &other)
	}
	for how := range rekey {
		for who, keys := range map[string][]string{"old keys": {"keeper", "ci", "lead"}, "both": {"keeper", "ci", "lead", "keeper2", "ci2"}} {
			t.Run(how+", publisher with "+who+", change in between", func(t *testing.T) {
				t.Parallel()
				atEveryWrite(t, func(f *fort, cut *Repository, between func(func())) {
					between(func() {
						if err := change(t, f, f.repo, how); err != nil {
							t.Error(err)
						}
					})
					f.wantOutcome(t, publishing(t, cut, keys...), how, who)
				})
			})
			t.Run(how+", publisher with "+who+", publishes in between", func(t *testing.T) {
				t.Parallel()
				atEveryWrite(t, func(f *fort, cut *Repository, between func(func())) {
					err := errNever
					between(func() { err = publishing(t, f.repo, keys...) })
					if err := change(t, f, cut, how); err != nil {
						t.Error(err)
					}
					f.wantOutcome(t, err, how, who)
				})
			})
		}
	}
}

// atEveryWrite runs on a new fort for each write that cut does, until there is none
// left before which something could happen.
func atEveryWrite(t *testing.T, run func(f *fort, cut *Repository, between func(func()))) {
	t.Helper()
	for write, fired := 1, true; fired; write++ {
		fired = false
		f := newFort(t, mem.New(t.Name()))
		store := &between{Store: f.store, left: write}
		cut := newRepository(store, f.repo.Root())
		cut.wait = f.repo.wait
		run(f, cut, func(do func()) { store.do = func() { fired = true; do() } })
	}
}

// errNever is the outcome of a publication that had no moment to be made in.
var errNever = errors.New("nothing was published")

// wantOutcome checks that agents read what was published. A publisher is refused only
// for want of keys, or at the moment of a revocation.
func (f *fort) wantOutcome(t *testing.T, published error, how, who string) {
	t.Helper()
	refused := errors.Is(published, errNever) || errors.Is(published, trust.ErrKeyMissing) && who != "both" || how == "revoked" && disowned(published)
	if published != nil && !refused {
		t.Errorf("%s, the publisher with %s: %v", how, who, published)
	}
	f.take(t, map[bool]string{true: "two", false: "one"}[published == nil])
}

// TestAttackFastForward has somebody with the key of who keeps the time, or of a
// channel too, drive versions up to the end, so that no newer one can follow. After a
// revocation agents that have seen it and agents that have not follow again.
func TestAttackFastForward(t *testing.T) {
	t.Parallel()
	const top = trust.MaxVersion
	tests := map[string]struct {
		attack func(*testing.T, *fort)
		want   error
	}{
		"timestamp and snapshot": {func(t *testing.T, f *fort) { f.sealAs(t, top, "keeper", f.view(t).v.Files()) }, nil},
		"channel": {func(t *testing.T, f *fort) {
			f.forge(t, "channel-stable", top, sign(t, "channel-stable", top, infos(f.lists(t, "channel-stable")), "ci", "lead"))
		}, nil},
		"beyond the end": {func(t *testing.T, f *fort) { f.sealAs(t, top+1, "keeper", f.view(t).v.Files()) }, trust.ErrFastForward},
		"snapshot that is not there": {func(t *testing.T, f *fort) {
			timestamp, err := signing(t, noon, "keeper").Timestamp(top, spec(t, 1, "keeper"), trust.FileInfo{Version: top, Length: 9, SHA256: trust.Digest(nil)})
			if err != nil {
				t.Fatal(err)
			}
			f.put(t, control.MetadataKey(timestampFile), timestamp)
		}, ErrIncomplete},
		"no timestamp at all": {func(t *testing.T, f *fort) {
			f.put(t, control.MetadataKey(timestampFile), make([]byte, maxTimestamp+1))
		}, objstore.ErrTooLarge},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFort(t, mem.New(t.Name()))
			test.attack(t, f)
			if _, err := f.read(t.Context()); !errors.Is(err, test.want) {
				t.Errorf("the answer to the attack is %v; want %v", err, test.want)
			}
			f.wantHeld(t)
			if _, err := f.repo.Refresh(t.Context(), signing(t, noon, "keeper"), noon.Add(2*DefaultExpiry)); err == nil {
				t.Error("the attack does not keep anybody from renewing")
			}
			if _, err := f.repo.Revoke(t.Context(), rekeyed(t), signing(t, noon, rekeyers...)); err != nil {
				t.Fatal(err)
			}
			f.take(t, "one")
			if _, _, err := f.repo.Publish(t.Context(), signing(t, noon, "keeper2", "ci2", "lead"), "stable", []byte("two"), Note{Message: "two"}); err != nil {
				t.Fatal(err)
			}
			f.take(t, "two")
			if state, err := newClient(t, f.store, f.repo.Root()).Update(t.Context(), noon, "prod", "stable"); err != nil || len(state.Scopes) != 1 {
				t.Errorf("a new agent reads %+v, %v", state, err)
			}
		})
	}
}

func (f *fort) lists(t *testing.T, role string) []trust.Target {
	t.Helper()
	list, err := f.view(t).list(t.Context(), role)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestAttackFastForwardTwice: the versions that a revocation begins with leave room.
func TestAttackFastForwardTwice(t *testing.T) {
	t.Parallel()
	f := newFort(t, mem.New(t.Name()))
	keeper := "keeper"
	for _, next := range []string{"keeper2", "keeper3"} {
		f.sealAs(t, trust.MaxVersion, keeper, f.view(t).v.Files())
		f.take(t, "one")
		config := fortConfig(t)
		config.Snapshot, config.Timestamp = spec(t, 1, next), spec(t, 1, next)
		if _, err := f.repo.Revoke(t.Context(), config, signing(t, noon, "owner", next)); err != nil {
			t.Fatal(err)
		}
		f.take(t, "one")
		keeper = next
	}
}

// TestAttackLostRoot has lost the key of the root, and of everything but the channel:
// the backup key gives the repository other keys, and agents that were away follow.
func TestAttackLostRoot(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"only the root's", "all of the owner's"} {
		t.Run(lost, func(t *testing.T) {
			t.Parallel()
			f := newFort(t, mem.New(t.Name()))
			config := fortConfig(t)
			config.Root = spec(t, 1, "backup", "owner2")
			keys := []string{"backup", "owner2", "owner", "keeper"}
			if lost != "only the root's" {
				config.Targets, config.Snapshot, config.Timestamp = spec(t, 1, "owner2"), spec(t, 1, "keeper2"), spec(t, 1, "keeper2")
				keys = []string{"backup", "owner2", "keeper2"}
			}
			if changed, err := f.repo.Reconfigure(t.Context(), config, signing(t, noon, keys...)); err != nil || !changed {
				t.Fatalf("Reconfigure = %t, %v", changed, err)
			}
			f.take(t, "one")
			if _, err := f.repo.Reconfigure(t.Context(), fortConfig(t), signing(t, noon, "owner", "keeper", "keeper2")); !errors.Is(err, trust.ErrKeyMissing) {
				t.Errorf("whoever finds the lost key changes the repository: %v", err)
			}
		})
	}
	f := newFort(t, mem.New(t.Name()))
	if _, err := f.repo.Reconfigure(t.Context(), rekeyed(t), signing(t, noon, "new", "keeper", "keeper2", "ops2", "ci2", "lead")); !errors.Is(err, trust.ErrKeyMissing) {
		t.Errorf("without any key of the root: %v; want %v", err, trust.ErrKeyMissing)
	}
	f.take(t, "one")
}

// TestAttackLyingMirror has an agent's reads go to a mirror that does what its name
// says. The mirror needs no trust: what it says is refused, or is what was signed.
func TestAttackLyingMirror(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prepare func(*testing.T, *fort, objstore.Store)
		want    error
	}{
		"is honest": {func(t *testing.T, f *fort, mirror objstore.Store) { fill(t, mirror, copyOf(t, f.store)) }, nil},
		"is behind": {func(t *testing.T, f *fort, mirror objstore.Store) {
			fill(t, mirror, copyOf(t, f.store))
			f.publish(t, "two")
			f.take(t, "two")
		}, trust.ErrRollback},
		"is half copied": {func(t *testing.T, f *fort, mirror objstore.Store) {
			old := copyOf(t, f.store)
			f.publish(t, "two")
			fill(t, mirror, old)
			fill(t, mirror, map[string][]byte{control.MetadataKey(timestampFile): f.get(t, control.MetadataKey(timestampFile))})
		}, ErrIncomplete},
		"says that nothing is there": {func(*testing.T, *fort, objstore.Store) {}, objstore.ErrNotExist},
		"holds another repository": {func(t *testing.T, _ *fort, mirror objstore.Store) {
			initialise(t, mirror)
		}, trust.ErrUnsigned},
		"changes every byte of content": {func(t *testing.T, f *fort, mirror objstore.Store) {
			f.publish(t, "two")
			all := copyOf(t, f.store)
			for key := range all {
				if strings.HasPrefix(key, control.TargetsPrefix+"channels/") {
					all[key] = []byte("evil")
				}
			}
			fill(t, mirror, all)
		}, trust.ErrTampered},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFort(t, mem.New(t.Name()))
			origin, mirror := f.store, mem.New("mirror")
			test.prepare(t, f, mirror)
			current := f.view(t)
			f.store = mirror
			f.restart(t)
			if test.want != nil {
				f.wantRefused(t, test.want)
			} else if _, err := f.read(t.Context()); err != nil {
				t.Errorf("an honest mirror is refused: %v", err)
			}
			f.store = origin
			f.restart(t)
			revisions, err := current.revisions(t.Context(), "stable")
			if err != nil {
				t.Fatal(err)
			}
			f.take(t, revisions[0].Note.Message)
		})
	}
}

func fill(t *testing.T, store objstore.Store, all map[string][]byte) {
	t.Helper()
	for key, data := range all {
		put(t, store, key, data)
	}
}
