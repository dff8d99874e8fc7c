package agent_test

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// partner is one of two agents of an environment, with a way of its own to the store.
type partner struct {
	w     *world
	name  string
	token ed25519.PrivateKey
	// change is what is different about its document.
	change []func(*control.Agent)
	store  *flakyStore
	agent  *agent.Agent
	// identities are files with keys that the agent may open things with.
	identities []string
}

// newPair has two agents enrolled in the world's environment. The first holds the lease,
// and knows that the second follows.
func newPair(t *testing.T) (w *world, first, second *partner) {
	t.Helper()
	w = newWorld(t)
	w.cloud.ReadHook = w.findByName
	w.publish("locals {}\n")
	first, second = w.partner("a1"), w.partner("a2")
	first.round(control.OutcomeConverged)
	second.round(control.OutcomeStandby)
	first.round(control.OutcomeConverged) // what it leaves can be read by the second now
	return w, first, second
}

// partner declares an agent, with what is to be different about its document, and makes
// its machine.
func (w *world) partner(name string, change ...func(*control.Agent)) *partner {
	w.t.Helper()
	_, token, err := ed25519.GenerateKey(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	p := &partner{w: w, name: name, token: token, change: change, store: &flakyStore{Store: w.store.Store}}
	if name == "a1" {
		p.token = w.token
	}
	w.writeFile(name+".token", seedText(p.token))
	w.declare(p.doc())
	w.t.Cleanup(p.stop)
	return p
}

func (p *partner) doc() control.Agent {
	doc := p.w.agentDoc()
	public, _ := p.token.Public().(ed25519.PublicKey)
	doc.Name, doc.Join.PublicKey = p.name, control.EncodeKey(public)
	for _, change := range p.change {
		change(&doc)
	}
	return doc
}

func (p *partner) data(name string) string { return filepath.Join(p.w.dir, p.name, name) }

func (p *partner) start() {
	p.w.t.Helper()
	if p.agent != nil {
		return
	}
	config := agent.Config{Store: p.store.URL(), Environment: "prod", Agent: p.name, TrustedRoot: filepath.Join(p.w.dir, "root.json"),
		DataDir: p.data(""), Identities: p.identities, SlackAPIURL: p.w.slackURL, JoinToken: &agent.JoinToken{File: filepath.Join(p.w.dir, p.name+".token")}}
	var err error
	if p.agent, err = agent.New(config, agent.Options{Store: p.store, Now: p.w.clock, Providers: p.w.providers, Logger: slog.New(slog.NewTextHandler(p.w.t.Output(), nil))}); err != nil {
		p.w.t.Fatal(err)
	}
}

// stop ends the agent without a last word, as its machine's end would.
func (p *partner) stop() {
	if p.agent != nil {
		if err := p.agent.Close(); err != nil {
			p.w.t.Error(err)
		}
		p.agent = nil
	}
}

func (p *partner) round(want control.Outcome) {
	p.w.t.Helper()
	p.start()
	if got := p.agent.Round(p.w.t.Context()); got != want {
		p.w.t.Errorf("%s: outcome %q, want %q: %s", p.name, got, want, p.beat().Message) // it may be called in the middle of another's round
	}
}

// takeOver has the agent hear the other's last word and then none for long enough.
func (p *partner) takeOver(want control.Outcome) {
	p.w.t.Helper()
	p.round(control.OutcomeStandby)
	p.w.advance(lease.Silence(time.Duration(control.DefaultHeartbeat)))
	p.round(want)
}

// beat is the agent's last word, signed with the key that it claimed.
func (p *partner) beat() control.Heartbeat {
	p.w.t.Helper()
	object, err := p.w.store.Store.Get(p.w.t.Context(), control.HeartbeatKey("prod", p.name), control.MaxDocument)
	if err != nil {
		return control.Heartbeat{}
	}
	beat, err := control.Open[control.Heartbeat](object.Data, p.key())
	if err != nil {
		p.w.t.Fatal(err)
	}
	return beat
}

func (p *partner) key() ed25519.PublicKey {
	p.w.t.Helper()
	claim, err := p.w.store.Store.Get(p.w.t.Context(), control.ClaimKey("prod", p.name, 1), control.MaxDocument)
	if err != nil {
		p.w.t.Fatal(err)
	}
	_, key, err := control.OpenClaim(p.doc(), claim.Data, claim.Modified)
	if err != nil {
		p.w.t.Fatal(err)
	}
	return key
}

// receipts are the agent's, after a check of the chain from its beginning.
func (p *partner) receipts() []control.Receipt {
	p.w.t.Helper()
	var signed [][]byte
	for _, key := range p.w.keys(control.ReceiptPrefix("prod", p.name)) {
		object, err := p.w.store.Store.Get(p.w.t.Context(), key, control.MaxDocument)
		if err != nil {
			p.w.t.Fatal(err)
		}
		signed = append(signed, object.Data)
	}
	receipts, err := control.VerifyChain(p.key(), signed)
	if err != nil {
		p.w.t.Fatal(err)
	}
	if len(receipts) > 0 && receipts[0].Sequence != 1 {
		p.w.t.Fatalf("%s: the first receipt has the number %d", p.name, receipts[0].Sequence)
	}
	return receipts
}

// epoch is the lease's.
func (w *world) epoch() int64 {
	w.t.Helper()
	current, _, err := lease.Current(w.t.Context(), w.store.Store, inProd)
	if err != nil {
		w.t.Fatal(err)
	}
	return current.Epoch
}

func TestFollowerTakesOverAfterSilence(t *testing.T) {
	t.Parallel()
	w, first, second := newPair(t)
	w.publish(twoThings)
	first.round(control.OutcomeApplied)
	second.round(control.OutcomeStandby)
	if beat := second.beat(); beat.Outcome != control.OutcomeStandby || !strings.Contains(beat.Message, "agent a1 holds the lease (epoch 1)") {
		t.Errorf("the follower says %q: %s", beat.Outcome, beat.Message)
	}
	w.advance(40 * time.Second)
	first.round(control.OutcomeConverged) // a word
	second.round(control.OutcomeStandby)
	said := w.clock()
	first.stop()
	w.advance(lease.Silence(30*time.Second) - time.Second)
	second.round(control.OutcomeStandby)
	w.remove("b")
	w.advance(time.Second)
	second.round(control.OutcomeApplied)
	if passed := w.clock().Sub(said); passed >= 3*30*time.Second || w.epoch() != 2 || w.creations() != 3 {
		t.Errorf("%s after the last word: epoch %d, %d creations; want 2 and 3", passed, w.epoch(), w.creations())
	}
	if got := second.receipts(); len(got) != 1 || got[0].Epoch != 2 {
		t.Errorf("receipts of the follower: %+v; want one, of epoch 2", got)
	}
	if posts := w.slack.take(); len(posts) != 1 { // of the removed thing, and not of standing by
		t.Errorf("people were told %q", posts)
	}
	w.advance(time.Minute)
	first.round(control.OutcomeStandby)
	if got := first.beat(); got.Outcome != control.OutcomeStandby || got.Tenure != nil {
		t.Errorf("the former holder says %+v", got)
	}
	second.stop()
	first.takeOver(control.OutcomeConverged)
	if w.epoch() != 3 || w.creations() != 3 {
		t.Errorf("epoch %d, %d creations; want 3 and 3", w.epoch(), w.creations())
	}
	first.receipts()
}

// TestPausedHolderChangesNothing stops the holder between two changes for as long as it
// takes another to follow.
func TestPausedHolderChangesNothing(t *testing.T) {
	t.Parallel()
	w, first, second := newPair(t)
	w.publish(twoThings)
	first.round(control.OutcomeApplied)
	w.publish(strings.ReplaceAll(twoThings, "size = 1", "size = 2") + "resource \"cloud_thing\" \"c\" {\n  name = \"c\"\n  labels = { of = cloud_thing.a.size }\n}\n")
	var paused atomic.Bool
	w.cloud.PlanHook = func(_ context.Context, req providers.PlanResourceChangeRequest) providers.PlanResourceChangeResponse {
		updated := w.attribute("a", "size").RawEquals(cty.NumberIntVal(2))
		if updated && req.ProposedNewState.GetAttr("name").AsString() == "c" && paused.CompareAndSwap(false, true) {
			second.takeOver(control.OutcomeApplied)
		}
		return w.cloud.PlanDefault(req)
	}
	w.advance(time.Minute)
	first.round(control.OutcomeFailed)
	if got := w.names(); !slices.Equal(got, []string{"a", "b", "c"}) || w.creations() != 3 || !paused.Load() {
		t.Errorf("the cloud has %v after %d creations (paused: %t), want 3", got, w.creations(), paused.Load())
	}
	if last := first.receipts()[3]; last.Epoch != 1 || !strings.Contains(problems(last), "lapsed") {
		t.Errorf("the receipt of the paused holder: %+v", last)
	}
	first.round(control.OutcomeStandby)
	second.round(control.OutcomeConverged)
}

// TestFollowerSettlesWhatWasUnderWay has a call of the holder under way when another
// follows: it is known to the follower, and made once.
func TestFollowerSettlesWhatWasUnderWay(t *testing.T) {
	t.Parallel()
	w, first, second := newPair(t)
	w.publish(twoThings)
	var once atomic.Bool
	w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		resp := w.cloud.ApplyDefault(req)
		if req.PlannedState.GetAttr("name").AsString() == "b" && once.CompareAndSwap(false, true) {
			second.takeOver(control.OutcomeConverged)
		}
		return resp
	}
	first.round(control.OutcomeApplied) // it was told so, and its successor knows it too
	if w.creations() != 2 || w.epoch() != 2 {
		t.Errorf("%d creations and epoch %d, want 2 and 2", w.creations(), w.epoch())
	}
	changes := second.receipts()[0].Changes
	if len(changes) != 2 || changes[0].Cause != "recovered" || changes[1].Cause != "recovered" {
		t.Errorf("the follower's receipt tells of %+v, want both creations as recovered", changes)
	}
	first.round(control.OutcomeStandby)
	second.stop()
	first.takeOver(control.OutcomeConverged)
	if w.creations() != 2 {
		t.Errorf("%d creations, want 2", w.creations())
	}
	if left := w.keys(inProd.JournalPrefix()); len(left) != 0 {
		t.Errorf("the store still has %q, which states contain", left)
	}
}

// batches are the journal batches in the store of the lease's present epoch.
func (w *world) batches() []string {
	return slices.DeleteFunc(w.keys(inProd.JournalPrefix()), func(key string) bool {
		epoch, _, _ := control.ParseJournalKey(key)
		return epoch != w.epoch()
	})
}

// TestCreateThatComesLate has a holder's machine stand still right before a create that it may
// make, and go on after another agent has looked for the object.
func TestCreateThatComesLate(t *testing.T) {
	t.Parallel()
	for name, restarted := range map[string]bool{"": false, "and the follower is started anew": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, first, second := newPair(t)
			w.publish(chain)
			late := w.makeLate("c", func() { second.takeOver(control.OutcomeFailed) })
			first.round(control.OutcomeFailed)
			if !late.made {
				t.Fatal("the late create was not made")
			}
			if restarted {
				second.stop()
			}
			second.round(control.OutcomeApplied)
			if things := w.cloud.IDs("cloud_thing"); len(things) != 4 {
				t.Errorf("the cloud has %q, want four things", things)
			}
			receipts := second.receipts()
			changes := receipts[len(receipts)-1].Changes
			if len(changes) != 2 || changes[0].Cause != "recovered" || changes[0].Address != "cloud_thing.c" || changes[1].Address != "cloud_thing.d" {
				t.Errorf("the receipt tells of %+v, want c as recovered, and d", changes)
			}
			second.round(control.OutcomeConverged)
			if left := w.batches(); len(left) > 0 { // one may have been on its way while the journal was emptied
				second.round(control.OutcomeConverged)
				if left = w.batches(); len(left) > 0 {
					t.Errorf("the store still has %q, of a create that was found", left)
				}
			}
		})
	}
}

// lateCreate is a create of a machine that stood still.
type lateCreate struct {
	asked       providers.ApplyResourceChangeRequest
	begun, made bool
}

// makeLate has the first create of a thing wait for what is done meanwhile, and be made only
// when somebody else is about to make the same thing, who is refused.
func (w *world) makeLate(name string, meanwhile func()) *lateCreate {
	late := &lateCreate{}
	w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		switch {
		case late.made || req.PlannedState.GetAttr("name").AsString() != name:
			return w.cloud.ApplyDefault(req)
		case !late.begun:
			late.begun, late.asked = true, req
			meanwhile()
			return providers.ApplyResourceChangeResponse{Diagnostics: tfdiags.New(tfdiags.Error, "Gone", "The machine was paused.")}
		}
		late.made = true
		w.cloud.ApplyDefault(late.asked)
		return providers.ApplyResourceChangeResponse{Diagnostics: tfdiags.New(tfdiags.Error, "Object already exists", "The name is taken.")}
	}
	return late
}

// TestPartitionedHolderStops cuts the holder from the store only.
func TestPartitionedHolderStops(t *testing.T) {
	t.Parallel()
	w, first, second := newPair(t)
	w.publish(twoThings)
	first.round(control.OutcomeApplied)
	second.round(control.OutcomeStandby)
	first.store.set(true)
	w.remove("a")
	w.advance(lease.Validity(30*time.Second) - time.Second)
	first.round(control.OutcomeFailed) // it may work, but an intent could not outlive it
	if w.creations() != 2 {
		t.Errorf("%d creations without the store, want 2", w.creations())
	}
	w.advance(time.Minute)
	first.round(control.OutcomeFailed)
	second.round(control.OutcomeApplied)
	first.round(control.OutcomeFailed)
	first.store.set(false)
	first.round(control.OutcomeStandby)
	if w.creations() != 3 || w.epoch() != 2 {
		t.Errorf("%d creations and epoch %d, want 3 and 2", w.creations(), w.epoch())
	}
	if got := first.receipts(); len(got) != 6 || got[5].Outcome != control.OutcomeFailed {
		t.Errorf("the partitioned holder's receipts: %+v; want 6, of which it sends the last ones later", got)
	}
}

// TestHolderWithoutPromiseIsNotFollowed: a holder that does not know of a follower yet
// works without the store for as long as it likes.
func TestHolderWithoutPromiseIsNotFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.partner("a1")
	w.publish(twoThings)
	first.round(control.OutcomeApplied)
	second := w.partner("a2")
	for range 3 {
		second.round(control.OutcomeStandby)
		w.advance(time.Hour)
	}
	doc := first.doc() // somebody says that the first one's machine is gone
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	doc.Earlier = []control.Join{doc.Join}
	doc.Join.Generation, doc.Join.PublicKey = 2, control.EncodeKey(public)
	w.declare(doc)
	second.stop()
	second.identities = []string{w.writeKey()} // nothing was sealed to it
	second.takeOver(control.OutcomeConverged)
	first.round(control.OutcomeFailed)
	if w.creations() != 2 || w.epoch() != 2 {
		t.Errorf("%d creations and epoch %d, want 2 and 2", w.creations(), w.epoch())
	}
}

// writeKey writes the key that signs for the environment into a file.
func (w *world) writeKey() string {
	w.t.Helper()
	pem, err := w.key.PEM()
	if err != nil {
		w.t.Fatal(err)
	}
	w.writeFile("key.pem", string(pem))
	return filepath.Join(w.dir, "key.pem")
}

// TestIntentIsInTheStoreBeforeTheCall looks at what another machine would find.
func TestIntentIsInTheStoreBeforeTheCall(t *testing.T) {
	t.Parallel()
	w, first, _ := newPair(t)
	w.publish(twoThings)
	found := map[string]int{}
	w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		found[req.PlannedState.GetAttr("name").AsString()] = len(w.keys(inProd.JournalPrefix()))
		return w.cloud.ApplyDefault(req)
	}
	first.round(control.OutcomeApplied)
	if found["a"] != 1 || found["b"] < 2 {
		t.Errorf("batches in the store before each call: %v", found)
	}
	for _, key := range w.keys(inProd.JournalPrefix()) {
		t.Errorf("the store still has %s", key)
	}
}

// withoutJournal is a store that takes no journal.
type withoutJournal struct{ objstore.Store }

func (s withoutJournal) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	if strings.Contains(key, "/journal/") {
		return "", objstore.ErrUnavailable
	}
	return s.Store.PutIfAbsent(ctx, key, data)
}

func TestNoCallWithoutIntentInTheStore(t *testing.T) {
	t.Parallel()
	for name, followed := range map[string]bool{"another may follow": true, "nobody follows": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			first := w.partner("a1")
			if followed {
				w.partner("a2")
			}
			w.publish(twoThings)
			first.store.Store = withoutJournal{first.store.Store}
			want, creations := control.OutcomeApplied, 2
			if followed {
				want, creations = control.OutcomeFailed, 0
			}
			first.round(want)
			if w.creations() != creations {
				t.Errorf("%d creations, want %d", w.creations(), creations)
			}
		})
	}
}

// TestKilledBeforeItRemembers: a process was killed after its receipt was written and before
// the memory was. Its next receipt follows that one, under a later epoch too.
func TestKilledBeforeItRemembers(t *testing.T) {
	t.Parallel()
	w, first, second := newPair(t)
	w.publish(twoThings)
	first.round(control.OutcomeApplied)
	memory, err := os.ReadFile(first.data("memory.json"))
	if err != nil {
		t.Fatal(err)
	}
	first.store.set(true)
	first.round(control.OutcomeConverged)
	first.stop()
	if err := os.WriteFile(first.data("memory.json"), memory, 0o600); err != nil {
		t.Fatal(err)
	}
	second.takeOver(control.OutcomeConverged)
	first.store.set(false)
	first.round(control.OutcomeStandby)
	second.stop()
	first.takeOver(control.OutcomeConverged)
	if got := first.receipts(); len(got) != 5 || got[4].Epoch != 3 {
		t.Errorf("receipts %+v, want 5", got)
	}
}
