package agent_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/seal"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// planted is a value that must not be found where others can read.
const planted = "planted-7c1f"

const plantedThing = "resource \"cloud_thing\" \"a\" {\n  name = \"a\"\n  secret = \"" + planted + "\"\n  note = \"" + planted + "\"\n}\n"

// declared reads what the environment declares.
func (w *world) declared() *repository.State {
	w.t.Helper()
	state, err := w.repo.Environment(w.t.Context(), "prod")
	if err != nil {
		w.t.Fatal(err)
	}
	return state
}

// newest reads the newest believed state in the store.
func (w *world) newest() repository.Held {
	w.t.Helper()
	held, err := repository.NewestState(w.t.Context(), w.store, w.declared(), inProd, states.MaxFileSize)
	if err != nil {
		w.t.Fatal(err)
	}
	return held
}

// opens tells whether an identity opens the newest state in the store.
func (w *world) opens(identity age.Identity) bool {
	w.t.Helper()
	data, err := seal.Open(w.t.Context(), seal.Subject{Environment: "prod", Kind: seal.KindState}, []age.Identity{identity}, w.newest().Data, states.MaxFileSize)
	return err == nil && strings.Contains(string(data), planted)
}

func ageIdentity(t *testing.T) (*age.X25519Identity, string) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity, identity.Recipient().String()
}

func keyIdentity(t *testing.T, key ed25519.PrivateKey) age.Identity {
	t.Helper()
	identity, err := seal.IdentityOf(key)
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

// agentKey is the private key of the agent on a data folder.
func agentKey(t *testing.T, dir string) ed25519.PrivateKey {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "agent.key"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := trust.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key.Ed25519()
}

// everything in the store, by key.
func (w *world) everything() map[string][]byte {
	w.t.Helper()
	out := map[string][]byte{}
	for _, key := range w.keys("") {
		object, err := w.store.Get(w.t.Context(), key, 1<<30)
		if err != nil {
			w.t.Fatal(err)
		}
		out[key] = object.Data
	}
	return out
}

// TestAttackCopyOfTheStore: whoever can read the bucket learns no value of an object,
// but the recipients can: at first who signs for the environment, then whom it declares.
func TestAttackCopyOfTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(strings.ReplaceAll(plantedThing, planted, `${join("-", ["planted", "7c1f"])}`))
	w.round(control.OutcomeApplied)
	for key, data := range w.everything() {
		if bytes.Contains(data, []byte(planted)) {
			t.Errorf("%s can be read", key)
		}
	}
	own := keyIdentity(t, agentKey(t, filepath.Join(w.dir, "data")))
	signer := keyIdentity(t, w.key.Ed25519())
	if !w.opens(own) || !w.opens(signer) {
		t.Error("the agent and who signs for the environment cannot open the state")
	}

	person, recipient := ageIdentity(t)
	doc := w.agentDoc()
	doc.Recipients = []string{recipient}
	w.declare(doc)
	w.round(control.OutcomeConverged)
	if !w.opens(own) || !w.opens(person) || w.opens(signer) {
		t.Error("the state was not sealed to those who are declared, and to nobody else")
	}
	before := len(w.keys(inProd.StatePrefix()))
	w.round(control.OutcomeConverged)
	if after := len(w.keys(inProd.StatePrefix())); after != before {
		t.Errorf("a round without news wrote %d states", after-before)
	}
}

// TestReplacedMachine has a machine with a new key take the place of a lost one: it cannot
// open the state, says what to do, and goes on once that was done.
func TestReplacedMachine(t *testing.T) {
	t.Parallel()
	remedies := map[string]func(w *world){
		"identity in its configuration": func(w *world) {
			w.identities = []string{filepath.Join(w.dir, "recovery.pem")}
			if err := w.start(); err != nil {
				w.t.Fatal(err)
			}
		},
		"key given by a recipient": func(w *world) { w.rewrap() },
	}
	for name, remedy := range remedies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.identities = nil
			w.publish(plantedThing)
			w.round(control.OutcomeApplied)
			w.reenrol(true)
			log := &strings.Builder{}
			w.advance(time.Minute)
			if got := w.roundLogged(log); got != control.OutcomeFailed || !strings.Contains(log.String(), "towline state rewrap -repository mem://world -environment prod -key FILE") {
				t.Fatalf("outcome %s, log %s", got, log)
			}
			remedy(w)
			w.advance(time.Minute)
			if got := w.agent.Round(t.Context()); got != control.OutcomeConverged {
				t.Errorf("outcome %s", got)
			}
			if w.creations() != 1 {
				t.Errorf("%d things were created, want 1", w.creations())
			}
			if !w.opens(keyIdentity(t, agentKey(t, filepath.Join(w.dir, "data")))) {
				t.Error("the new machine cannot open what it left itself")
			}
		})
	}
}

// rewrap does what "towline state rewrap" does, with the key of who signs for the environment.
func (w *world) rewrap() {
	w.t.Helper()
	left, err := repository.Left(w.t.Context(), w.store, w.declared(), inProd, states.MaxFileSize)
	if err != nil || len(left) == 0 {
		w.t.Fatalf("%d objects are left, %v", len(left), err)
	}
	public, _ := agentKey(w.t, filepath.Join(w.dir, "data")).Public().(ed25519.PublicKey)
	recipient, err := seal.RecipientOf(public)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, held := range left {
		shared, err := seal.Share(w.t.Context(), seal.Subject{Environment: "prod", Kind: held.Kind}, []age.Identity{keyIdentity(w.t, w.key.Ed25519())}, held.Data, []string{recipient})
		if err != nil {
			w.t.Fatal(err)
		}
		w.put(control.SharedKey("prod", held.Digest(), control.KeyID(public)), string(shared))
	}
}

// TestAttackForgedKeyToTheState: what a writer puts in the place of a key that is given
// opens nothing and changes nothing.
func TestAttackForgedKeyToTheState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.identities = nil
	w.publish(plantedThing)
	w.round(control.OutcomeApplied)
	w.reenrol(true)
	w.advance(time.Minute)
	w.roundLogged(&strings.Builder{})
	public, _ := agentKey(t, filepath.Join(w.dir, "data")).Public().(ed25519.PublicKey)
	recipient, err := seal.RecipientOf(public)
	if err != nil {
		t.Fatal(err)
	}
	held := w.newest()
	forged, err := seal.Seal(t.Context(), seal.Subject{Environment: "prod", Kind: "key-of-state"}, []string{recipient}, make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"garbage": "\x00", "another key": string(forged), "too long": strings.Repeat("x", seal.MaxShared+1)} {
		w.put(control.SharedKey("prod", held.Digest(), control.KeyID(public)), data)
		w.advance(time.Minute)
		log := &strings.Builder{}
		if got := w.roundLogged(log); got != control.OutcomeFailed || !strings.Contains(log.String(), "state rewrap") {
			t.Errorf("%s: outcome %s, log %s", name, got, log)
		}
	}
	w.rewrap()
	w.advance(time.Minute)
	if got := w.agent.Round(t.Context()); got != control.OutcomeConverged {
		t.Errorf("outcome %s", got)
	}
}

// curveSigner signs with an ECDSA key, as a service does that keeps keys. Nothing can be
// sealed to it.
type curveSigner struct{ key *ecdsa.PrivateKey }

func (s curveSigner) Public() trust.PublicKey {
	public, err := trust.PublicKeyFrom(&s.key.PublicKey)
	if err != nil {
		return trust.PublicKey{}
	}
	return public
}

func (s curveSigner) Sign(message []byte) ([]byte, error) {
	digest := sha256.Sum256(message)
	return ecdsa.SignASN1(rand.Reader, s.key, digest[:])
}

// TestNobodyElseCouldOpen has an environment that declares no recipient and is signed for
// by a key that decrypts nothing: nothing with values leaves the machine, and it is said.
func TestNobodyElseCouldOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer := curveSigner{curve}
	w.rotate(signer)
	w.publish(plantedThing)
	receipt := w.round(control.OutcomeApplied)
	if text := problems(receipt); !strings.Contains(text, "only this machine could open it") || !strings.Contains(text, "Set recipients of towline_agent") {
		t.Errorf("problems %q", text)
	}
	if states := w.keys(inProd.StatePrefix()); len(states) > 0 {
		t.Errorf("the store holds %v", states)
	}
	person, recipient := ageIdentity(t)
	doc := w.agentDoc()
	doc.Recipients = []string{recipient}
	signing := w.signing()
	signing.Keys = append(signing.Keys, signer)
	if _, err := w.repo.PutDocuments(t.Context(), signing, doc); err != nil {
		t.Fatal(err)
	}
	w.round(control.OutcomeConverged)
	if !w.opens(person) {
		t.Error("who is declared cannot open the state")
	}
}

// rotate has another key sign for the environment.
func (w *world) rotate(signer trust.Signer) {
	w.t.Helper()
	config, err := w.repo.Config(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	spec := config.Environments["prod"]
	spec.Keys = []trust.PublicKey{signer.Public()}
	config.Environments["prod"] = spec
	signing := w.signing()
	signing.Keys = append(signing.Keys, signer)
	if _, err := w.repo.Reconfigure(w.t.Context(), config, signing); err != nil {
		w.t.Fatal(err)
	}
}

// TestStateOfEarlierVersions: a state that was left in clear text is taken up, is sealed
// from then on, and no copy in clear text stays.
func TestStateOfEarlierVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(plantedThing)
	w.round(control.OutcomeApplied)
	w.stop()
	data := filepath.Join(w.dir, "data")
	state, err := os.ReadFile(filepath.Join(data, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	var head struct{ Serial uint64 }
	if err := json.Unmarshal(state, &head); err != nil {
		t.Fatal(err)
	}
	record := control.StateRecord{Version: control.FormatVersion, Environment: "prod", Agent: "a1", Epoch: 1, Serial: head.Serial}
	object, err := control.SignState(record, state, agentKey(t, data))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range w.keys(inProd.StatePrefix()) {
		if err := w.store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	w.put(inProd.StateKey(1, head.Serial), string(object))
	for _, name := range []string{"state.json", "memory.json"} { // as on a machine that kept its key only
		if err := os.Remove(filepath.Join(data, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.round(control.OutcomeConverged)
	if w.creations() != 1 {
		t.Errorf("%d things were created, want 1", w.creations())
	}
	for key, data := range w.everything() {
		if strings.HasPrefix(key, inProd.StatePrefix()) && bytes.Contains(data, []byte(planted)) {
			t.Errorf("%s can still be read", key)
		}
	}
	if held := w.newest(); !held.Sealed {
		t.Error("the newest state is not sealed")
	}
}

// lostAnswers is a store that carries a write of a state out and does not say so.
type lostAnswers struct{ objstore.Store }

func (s *lostAnswers) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	version, err := s.Store.PutIfAbsent(ctx, key, data)
	if strings.HasPrefix(key, inProd.StatePrefix()) && err == nil {
		return "", objstore.ErrUnavailable
	}
	return version, err
}

// TestStateIsTheAgentsOwnAfterACrash: an upload whose answer was lost is found again, though
// nothing is sealed to the same bytes twice.
func TestStateIsTheAgentsOwnAfterACrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(plantedThing)
	inner := w.store.Store
	w.store.Store = &lostAnswers{inner}
	w.round(control.OutcomeApplied)
	w.store.Store = inner
	before := w.keys(inProd.StatePrefix())
	w.round(control.OutcomeConverged)
	if after := w.keys(inProd.StatePrefix()); len(before) != 1 || len(after) != 1 {
		t.Errorf("states %v, then %v", before, after)
	}
}
