package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/bundle"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/open"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// forger is a store whose writer changes what others put there.
type forger struct {
	objstore.Store
	// matching says which keys.
	matching *regexp.Regexp
	// honest is what should have been there.
	honest map[string][]byte
}

// PutIfAbsent writes the data with one bit changed.
func (f *forger) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	if f.matching.MatchString(key) {
		f.honest[key] = data
		data = bytes.Clone(data)
		data[len(data)/2] ^= 1
	}
	return f.Store.PutIfAbsent(ctx, key, data)
}

// undo puts back what should have been there.
func (f *forger) undo(ctx context.Context) error {
	for key, data := range f.honest {
		if _, err := f.Store.Put(ctx, key, data); err != nil {
			return err
		}
	}
	return nil
}

// attacks are what somebody may do who can write to the store and has no key.
var attacks = map[string]struct {
	// publication is what the owner publishes meanwhile.
	publication func(s *scene, r *repository.Repository) error
	// matching says which object the attacker gets at.
	matching string
	// refusal is what the agent's receipt must say.
	refusal error
}{
	"tampered metadata":         {(*scene).publishNext, `^tuf/\d+\.channel-stable\.json$`, trust.ErrMixAndMatch},
	"tampered snapshot":         {(*scene).publishNext, `^tuf/\d+\.snapshot\.json$`, trust.ErrMixAndMatch},
	"tampered revision":         {(*scene).publishNext, `^targets/channels/`, trust.ErrTampered},
	"tampered declaration":      {(*scene).declareScope, `^tuf/\d+\.env-prod\.json$`, trust.ErrMixAndMatch},
	"tampered control document": {(*scene).declareScope, `^targets/environments/prod/scopes/`, trust.ErrTampered},
}

// TestAttacksOnTheStore forges one publication after the other under a running
// agent: each is refused by name, what runs goes on, and the honest publication is
// taken up afterwards.
func TestAttacksOnTheStore(t *testing.T) {
	t.Parallel()
	s := newScene(t, &simcloud{}, nil)
	s.converge()
	edits := s.cloud.edits()[:2] // what is deleted is made again, and whole counts creations
	for name, attack := range attacks {
		ok := t.Run(name, func(t *testing.T) { //nolint:paralleltest // one world, one attack after the other
			s := &scene{World: s.World, t: t, cloud: s.cloud}
			f := &forger{Store: s.store(), matching: regexp.MustCompile(attack.matching), honest: map[string][]byte{}}
			s.endure(edits[0], attack.refusal, func() error {
				r, err := repository.Open(t.Context(), f, s.fingerprint)
				if err != nil {
					return err
				}
				return attack.publication(s, r)
			}, func() error { return f.undo(t.Context()) })
			if len(f.honest) != 1 {
				t.Errorf("the forger has changed %d objects, want 1", len(f.honest))
			}
		})
		if !ok {
			return // the store is not as the next attack expects it
		}
		edits = append(edits[1:], edits[0]) // one attribute that is changed again and again would not be corrected any more
	}
	t.Run("replayed timestamp", func(t *testing.T) { //nolint:paralleltest // see above
		s := &scene{World: s.World, t: t, cloud: s.cloud}
		old, err := os.ReadFile(s.path("store", "tuf", "timestamp.json"))
		s.must(err)
		after := s.newest()
		s.publish("registry.example.com/newest")
		s.await(after, "the newest revision is applied", func(r control.Receipt) bool { return r.Outcome == control.OutcomeApplied })
		current, err := os.ReadFile(s.path("store", "tuf", "timestamp.json"))
		s.must(err)
		s.endure(edits[0], trust.ErrRollback, func() error { return s.write("store/tuf/timestamp.json", string(old)) },
			func() error { return s.write("store/tuf/timestamp.json", string(current)) })
	})
	s.whole()
}

// endure attacks, expects that a round refuses by name and keeps the revision, that
// a manual change is corrected all the same, and that all is well once it is undone.
func (s *scene) endure(e edit, refusal error, attack, undo func() error) {
	s.t.Helper()
	before := s.await(0, "a round", func(r control.Receipt) bool { return r.Sequence == s.newest() })
	registry := s.registry()
	s.must(attack())
	refused := s.await(before.Sequence, fmt.Sprintf("a receipt says %q", refusal), func(r control.Receipt) bool { return says(r, refusal.Error()) })
	if refused.Revision != before.Revision {
		s.t.Errorf("revision %s is in force, want %s", refused.Revision, before.Revision)
	}
	s.edit(e)
	s.corrected(e)
	if got := s.registry(); got != registry {
		s.t.Errorf("images come from %s, want %s", got, registry)
	}
	after := s.newest()
	s.must(undo())
	s.await(after, "a round takes all that is published", func(r control.Receipt) bool {
		return r.Outcome == control.OutcomeConverged && len(r.Problems) == 0
	})
}

func (s *scene) store() objstore.Store {
	s.t.Helper()
	store, err := open.Open(s.t.Context(), s.url)
	s.must(err)
	return store
}

func (s *scene) signing() trust.Signing {
	s.t.Helper()
	pem, err := os.ReadFile(s.path("signing-key.pem"))
	s.must(err)
	key, err := trust.ParseKey(pem)
	s.must(err)
	return trust.Signing{Keys: trust.Keyring{key}, Now: time.Now()}
}

// publishNext publishes a revision that differs from the one before.
func (s *scene) publishNext(r *repository.Repository) error {
	registry := "registry.example.com/" + strings.ToLower(regexp.MustCompile(`[^A-Za-z]+`).ReplaceAllString(s.t.Name(), "-"))
	s.must(s.write("quickstart/registry.auto.tfvars", fmt.Sprintf("registry = %q\n", registry)))
	archive, err := bundle.Pack(s.path("quickstart"), bundle.DefaultLimits)
	if err != nil {
		return err
	}
	_, _, err = r.Publish(s.t.Context(), s.signing(), channel, archive.Data, repository.Note{Message: s.t.Name()})
	return err
}

// declareScope declares a scope that nothing uses yet.
func (s *scene) declareScope(r *repository.Repository) error {
	name := "extra-" + strings.ToLower(regexp.MustCompile(`[^A-Za-z]+`).ReplaceAllString(s.t.Name(), "-"))
	_, err := r.PutDocuments(s.t.Context(), s.signing(), control.Scope{
		Version: control.FormatVersion, Environment: environment, Name: strings.Trim(name[:min(len(name), 60)], "-"),
		Include: []control.Match{{Address: "nothing.*"}}, Drift: control.Drift{Mode: control.DriftObserve},
	})
	return err
}

// TestAttackStrangersControlDocument has a publisher, who may sign what is current but
// not what an environment declares, sign a scope with another key. Metadata around
// it is as it should be: only the missing signature tells.
func TestAttackStrangersControlDocument(t *testing.T) {
	t.Parallel()
	s := newScene(t, &simcloud{}, nil)
	s.converge()
	before := s.await(0, "a round", func(r control.Receipt) bool { return r.Sequence == s.newest() })
	s.must(s.declareAsStranger(control.Scope{
		Version: control.FormatVersion, Environment: environment, Name: "all",
		Include: []control.Match{{Address: "**"}}, Drift: control.Drift{Mode: control.DriftObserve},
	}))
	refused := s.await(before.Sequence, "the receipt says that nobody trusted has signed", func(r control.Receipt) bool {
		return says(r, trust.ErrUnsigned.Error()) && says(r, "env-prod")
	})
	if refused.Revision != before.Revision {
		t.Errorf("revision %s is in force, want %s", refused.Revision, before.Revision)
	}
	e := s.cloud.edits()[0] // the stranger's scope would leave it alone
	s.edit(e)
	s.corrected(e)
	s.whole()
}

// declareAsStranger replaces the environment's declarations by one that a stranger
// has signed, and publishes that with the repository's own key.
func (s *scene) declareAsStranger(scope control.Scope) error {
	stranger, err := trust.GenerateKey()
	s.must(err)
	content, err := control.Encode(scope)
	s.must(err)
	r, err := repository.Open(s.t.Context(), s.store(), s.fingerprint)
	s.must(err)
	config, err := r.Config(s.t.Context())
	s.must(err)
	var timestamp, snapshot metadataFile
	s.read("tuf/timestamp.json", &timestamp)
	current := timestamp.Signed.Meta["snapshot.json"]
	s.read(fmt.Sprintf("tuf/%d.snapshot.json", current.Version), &snapshot)
	files := map[string]trust.FileInfo{}
	for name, meta := range snapshot.Signed.Meta {
		files[strings.TrimSuffix(name, ".json")] = trust.FileInfo{Version: meta.Version, Length: meta.Length, SHA256: meta.Hashes["sha256"]}
	}
	const forged = 1000 // above all versions there are
	target := control.Ref{Kind: control.KindScope, Environment: environment, Name: scope.Name}.Target()
	role, err := trust.Signing{Keys: trust.Keyring{stranger}, Now: time.Now()}.Role(forged, trust.EnvironmentRole(environment),
		trust.RoleSpec{Keys: []trust.PublicKey{stranger.Public()}, Threshold: 1, Expiry: time.Hour}, []trust.TargetInfo{trust.Describe(target, content, nil)})
	s.must(err)
	name := trust.EnvironmentRole(environment)
	files[name] = trust.FileInfo{Version: forged, Length: int64(len(role)), SHA256: trust.Digest(role)}
	newSnapshot, err := s.signing().Snapshot(forged, config.Snapshot, files)
	s.must(err)
	newTimestamp, err := s.signing().Timestamp(forged, config.Timestamp, trust.FileInfo{Version: forged, Length: int64(len(newSnapshot)), SHA256: trust.Digest(newSnapshot)})
	s.must(err)
	for _, file := range []struct {
		key  string
		data []byte
	}{
		{control.ContentKey(target, trust.Digest(content)), content}, {fmt.Sprintf("tuf/%d.%s.json", forged, name), role},
		{fmt.Sprintf("tuf/%d.snapshot.json", forged), newSnapshot}, {"tuf/timestamp.json", newTimestamp},
	} {
		if _, err := s.store().Put(s.t.Context(), file.key, file.data); err != nil {
			return err
		}
	}
	return nil
}

// metadataFile is the part of TUF's metadata that names other files.
type metadataFile struct {
	Signed struct {
		Meta map[string]struct {
			Version, Length int64
			Hashes          map[string]string
		}
	}
}

func (s *scene) read(key string, into any) {
	s.t.Helper()
	object, err := s.store().Get(s.t.Context(), key, control.MaxDocument)
	s.must(err)
	s.must(json.Unmarshal(object.Data, into))
}
