package agent_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// breakable makes a world in which one approver may break the glass.
func breakable(t *testing.T) (*world, ssh.Signer) {
	t.Helper()
	w := newWorld(t)
	signer, key := approver(t)
	w.made(w.policy(key, control.AfterRevert))
	return w, signer
}

// folder is that of the agent's machine.
func (w *world) folder() repository.GrantFolder {
	return repository.OpenGrantFolder(filepath.Join(w.dir, "data"), "prod")
}

// here writes what was signed to the agent's machine.
func (w *world) here(file repository.SignedFile) {
	w.t.Helper()
	if err := w.folder().Add(file); err != nil {
		w.t.Fatal(err)
	}
}

// onMachine lists the folder's files.
func (w *world) onMachine() []string {
	w.t.Helper()
	entries, err := os.ReadDir(w.folder().Path())
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// sizeOfA tells whether the size of a is as somebody made it by hand.
func (w *world) byHand() bool { return w.attribute("a", "size").RawEquals(cty.NumberIntVal(9)) }

// A grant that is opened on the machine while the store is away holds at once, over a
// restart, and in the end the store has it: as one grant.
func TestGrantWithoutTheStore(t *testing.T) {
	t.Parallel()
	for name, stopped := range map[string]bool{"agent runs": false, "agent is stopped": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, signer := breakable(t)
			w.store.set(true)
			w.advance(time.Minute)
			w.agent.Round(t.Context())
			if stopped {
				w.stop()
			}
			request := w.request(signer, "cloud_thing.a")
			w.here(request)
			w.resize("a", 9)
			if stopped {
				if err := w.start(); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				w.advance(time.Minute)
				if got := w.agent.Round(t.Context()); got != control.OutcomeDrifted || !w.byHand() {
					t.Fatalf("outcome %q; the grant did not hold", got)
				}
			}
			w.store.set(false)
			for range 2 {
				receipt := w.round(control.OutcomeDrifted)
				if len(receipt.Grants) != 1 || receipt.Grants[0].ID != "g1" || !slices.Equal(receipt.Grants[0].Held, []string{"cloud_thing.a"}) {
					t.Errorf("grants %+v", receipt.Grants)
				}
			}
			stored, err := w.store.Get(t.Context(), request.Key, control.MaxDocument)
			if err != nil || !bytes.Equal(stored.Data, request.Data) {
				t.Errorf("the store holds %q, %v", stored.Data, err)
			}
			if got := w.onMachine(); !slices.Equal(got, []string{"g1.request.json"}) {
				t.Errorf("while it is open the machine holds %v", got)
			}
			w.advance(10 * time.Minute)
			w.round(control.OutcomeApplied)
			w.round(control.OutcomeConverged)
			if got := w.onMachine(); w.byHand() || len(got) != 0 {
				t.Errorf("afterwards: by hand %v, the machine holds %v", w.byHand(), got)
			}
		})
	}
}

// What the store holds of a grant in force is on the machine too, so that it can be
// extended and closed there.
func TestGrantOfTheStoreIsClosedWithoutIt(t *testing.T) {
	t.Parallel()
	w, signer := breakable(t)
	w.open(signer, "cloud_thing.a")
	opened := w.clock()
	w.resize("a", 9)
	w.round(control.OutcomeDrifted)
	w.store.set(true)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	extension := w.extension(signer, w.clock(), opened.Add(30*time.Minute))
	w.here(extension)
	w.advance(time.Minute)
	w.agent.Round(t.Context())
	w.advance(15 * time.Minute)
	if w.agent.Round(t.Context()); !w.byHand() {
		t.Fatal("the extension on the machine did not count")
	}
	closure := w.closure(signer)
	w.here(closure)
	w.advance(time.Minute)
	if got := w.agent.Round(t.Context()); got != control.OutcomeApplied || w.byHand() {
		t.Errorf("outcome %q; the closure on the machine did not count", got)
	}
	w.store.set(false)
	w.round(control.OutcomeConverged)
	for _, file := range []repository.SignedFile{extension, closure} {
		if _, err := w.store.Stat(t.Context(), file.Key); err != nil {
			t.Errorf("not uploaded: %v", err)
		}
	}
}

// Who can write to the machine's folder opens nothing, and what cannot be read is named.
func TestAttackGrantPlantedOnTheMachine(t *testing.T) {
	t.Parallel()
	stranger, _ := approver(t)
	tests := map[string]struct {
		plant func(w *world, signer ssh.Signer, dir string) error
		want  string
	}{
		"by a stranger": {func(w *world, _ ssh.Signer, dir string) error {
			return os.WriteFile(filepath.Join(dir, "g1.request.json"), w.request(stranger, "cloud_thing.a").Data, 0o600)
		}, "is not one of the policy's approvers. It is not uploaded"},
		"for longer than the policy allows": {func(w *world, signer ssh.Signer, dir string) error {
			now := w.clock().UTC()
			signed, err := control.SignGrantRequest(control.GrantRequest{Version: control.FormatVersion, ID: "g1", Environment: "prod", Policy: "fix",
				Targets: []string{"cloud_thing.a"}, Reason: "incident 7", Opened: now, Until: now.Add(3 * time.Hour)}, signer)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "g1.request.json"), signed, 0o600)
		}, "it asks for 3h0m0s, more than the policy's 1h0m0s"},
		"under another name": {func(w *world, signer ssh.Signer, dir string) error {
			return os.WriteFile(filepath.Join(dir, "g2.request.json"), w.request(signer, "cloud_thing.a").Data, 0o600)
		}, "it was signed as environments/prod/grants/g1/request.json"},
		"garbage": {func(_ *world, _ ssh.Signer, dir string) error {
			return os.WriteFile(filepath.Join(dir, "g1.request.json"), []byte("{"), 0o600)
		}, "malformed document"},
		"a name that none has": {func(_ *world, _ ssh.Signer, dir string) error {
			return os.WriteFile(filepath.Join(dir, "README"), []byte("hello"), 0o600)
		}, "no file about a grant has such a name"},
		"huge": {func(_ *world, _ ssh.Signer, dir string) error {
			file, err := os.Create(filepath.Join(dir, "g1.request.json"))
			if err != nil {
				return err
			}
			defer file.Close()
			return file.Truncate(1 << 40)
		}, "object is larger than allowed"},
		"a link to what holds": {func(w *world, signer ssh.Signer, dir string) error {
			path := filepath.Join(w.dir, "elsewhere")
			if err := os.WriteFile(path, w.request(signer, "cloud_thing.a").Data, 0o600); err != nil {
				return err
			}
			return os.Symlink(path, filepath.Join(dir, "g1.request.json"))
		}, "it is no regular file"},
		"a pipe": {func(_ *world, _ ssh.Signer, dir string) error {
			return syscall.Mkfifo(filepath.Join(dir, "g1.request.json"), 0o600)
		}, "it is no regular file"},
		"a folder elsewhere": {func(w *world, signer ssh.Signer, dir string) error {
			elsewhere := w.t.TempDir()
			if err := os.WriteFile(filepath.Join(elsewhere, "g1.request.json"), w.request(signer, "cloud_thing.a").Data, 0o600); err != nil {
				return err
			}
			if err := os.Remove(dir); err != nil {
				return err
			}
			return os.Symlink(elsewhere, dir)
		}, "it is no folder"},
		"too many": {func(_ *world, _ ssh.Signer, dir string) error {
			for i := range 201 {
				if err := os.WriteFile(filepath.Join(dir, "z"+strings.Repeat("z", i)), nil, 0o600); err != nil {
					return err
				}
			}
			return nil
		}, "there are more than 200 files"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, signer := breakable(t)
			dir := w.folder().Path()
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := test.plant(w, signer, dir); err != nil {
				t.Fatal(err)
			}
			w.resize("a", 9)
			receipt := w.round(control.OutcomeApplied)
			if w.byHand() || len(receipt.Grants) != 0 {
				t.Errorf("what was planted suspended correction: %+v", receipt.Grants)
			}
			if got := problems(receipt); !strings.Contains(got, test.want) {
				t.Errorf("problems %q, want %q", got, test.want)
			}
			if _, err := w.store.Stat(t.Context(), control.GrantRequestKey("prod", "g1")); err == nil {
				t.Error("what was planted was uploaded")
			}
		})
	}
}

// A stranger's closure on the machine ends nothing.
func TestAttackClosurePlantedOnTheMachine(t *testing.T) {
	t.Parallel()
	w, signer := breakable(t)
	stranger, _ := approver(t)
	w.here(w.request(signer, "cloud_thing.a"))
	w.here(w.closure(stranger))
	w.resize("a", 9)
	receipt := w.round(control.OutcomeDrifted)
	if got := problems(receipt); !w.byHand() || !strings.Contains(got, "somebody who is not one of the approvers of policy fix") {
		t.Errorf("by hand %v, problems %q", w.byHand(), got)
	}
}

// Somebody has put something else where the grant belongs in the store: it holds here,
// that is said once, and the file goes when its grant cannot be open any more.
func TestGrantThatCannotBeUploaded(t *testing.T) {
	t.Parallel()
	w, signer := breakable(t)
	w.put(control.GrantRequestKey("prod", "g1"), "{}")
	w.here(w.request(signer, "cloud_thing.a"))
	w.resize("a", 9)
	receipt := w.round(control.OutcomeDrifted)
	for _, want := range []string{"which has something else under that key", "It counts on this machine and nowhere else. Find out who wrote what is there"} {
		if got := problems(receipt); !w.byHand() || !strings.Contains(got, want) || strings.Contains(got, "uploaded later") {
			t.Errorf("by hand %v, problems %q, want %q", w.byHand(), got, want)
		}
	}
	if got := problems(w.round(control.OutcomeDrifted)); strings.Contains(got, "upload") {
		t.Errorf("it is said again: %q", got)
	}
	w.advance(10 * time.Minute)
	w.round(control.OutcomeApplied)
	if got := w.onMachine(); len(got) != 1 {
		t.Errorf("the store does not have it, and the machine holds %v", got)
	}
	w.advance(24 * time.Hour)
	if got := problems(w.round(control.OutcomeConverged)); strings.Contains(got, "upload") || len(w.onMachine()) != 0 {
		t.Errorf("long after the end: problems %q, the machine holds %v", got, w.onMachine())
	}
}

// What blocks an upload is removed: it comes to the store.
func TestGrantIsUploadedOnceThereIsRoom(t *testing.T) {
	t.Parallel()
	w, signer := breakable(t)
	request := w.request(signer, "cloud_thing.a")
	w.put(request.Key, "{}")
	w.here(request)
	w.round(control.OutcomeConverged)
	if err := w.store.Delete(t.Context(), request.Key); err != nil {
		t.Fatal(err)
	}
	w.round(control.OutcomeConverged)
	object, err := w.store.Get(t.Context(), request.Key, control.MaxDocument)
	if err != nil || string(object.Data) != string(request.Data) {
		t.Errorf("the store has %q, %v", object.Data, err)
	}
}

// Of two requests under one name the store's holds: what is here is told as worthless.
func TestGrantUnderANameThatIsTaken(t *testing.T) {
	t.Parallel()
	w, signer := breakable(t)
	w.open(signer, "cloud_thing.a")
	w.here(w.request(signer, "cloud_thing.b"))
	got := problems(w.round(control.OutcomeConverged))
	if !strings.Contains(got, "It counts for nothing, because the request that is there holds. Remove it from ") || !strings.Contains(got, "open a grant under another name") {
		t.Errorf("problems %q", got)
	}
}

// An approver closes a grant on the machine and, a minute later, in the store: that is
// no problem, and nothing is left behind.
func TestGrantClosedTwice(t *testing.T) {
	t.Parallel()
	w, signer := breakable(t)
	w.open(signer, "cloud_thing.a")
	w.round(control.OutcomeConverged)
	w.here(w.closure(signer))
	w.advance(time.Minute)
	w.sent(w.closure(signer))
	if got := problems(w.round(control.OutcomeConverged)); strings.Contains(got, "upload") || len(w.onMachine()) != 0 {
		t.Errorf("problems %q, the machine holds %v", got, w.onMachine())
	}
}

// An extension that the agent first sees after the end does not open a closed window
// again, whatever time it was signed with; nor does the removal of a closure.
func TestAttackGrantOpenedAgain(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		end, reopen func(w *world, signer ssh.Signer, opened time.Time)
		restart     bool
	}{
		"extension dated back": {
			end: func(w *world, _ ssh.Signer, _ time.Time) { w.advance(10 * time.Minute) },
			reopen: func(w *world, signer ssh.Signer, opened time.Time) {
				w.sent(w.extension(signer, opened, opened.Add(time.Hour)))
			},
		},
		"extension dated back, seen after a restart": {
			end: func(w *world, _ ssh.Signer, _ time.Time) { w.advance(10 * time.Minute) },
			reopen: func(w *world, signer ssh.Signer, opened time.Time) {
				w.sent(w.extension(signer, opened, opened.Add(time.Hour)))
			},
			restart: true,
		},
		"extension dated back on the machine": {
			end: func(w *world, _ ssh.Signer, _ time.Time) { w.advance(10 * time.Minute) },
			reopen: func(w *world, signer ssh.Signer, opened time.Time) {
				w.here(w.extension(signer, opened, opened.Add(time.Hour)))
			},
		},
		"closure removed": {
			end: func(w *world, signer ssh.Signer, _ time.Time) { w.sent(w.closure(signer)) },
			reopen: func(w *world, signer ssh.Signer, _ time.Time) {
				if err := w.store.Delete(w.t.Context(), w.closure(signer).Key); err != nil {
					w.t.Fatal(err)
				}
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, signer := breakable(t)
			opened := w.clock()
			w.open(signer, "cloud_thing.a")
			w.round(control.OutcomeConverged)
			test.end(w, signer, opened)
			w.round(control.OutcomeConverged)
			if test.restart {
				w.stop()
			}
			test.reopen(w, signer, opened)
			w.resize("a", 9)
			receipt := w.round(control.OutcomeApplied)
			if got := problems(receipt); w.byHand() || len(receipt.Grants) != 0 || !strings.Contains(got, "Extension of a grant came too late: Grant g1 had ended at") {
				t.Errorf("by hand %v, grants %+v, problems %q", w.byHand(), receipt.Grants, got)
			}
			if got := problems(w.round(control.OutcomeConverged)); strings.Contains(got, "too late") {
				t.Errorf("it is said again: %q", got)
			}
		})
	}
}

// An extension in time counts, and the agent that sees it before the end goes by it.
func TestExtensionInTime(t *testing.T) {
	t.Parallel()
	w, signer := breakable(t)
	opened := w.clock()
	w.open(signer, "cloud_thing.a")
	w.resize("a", 9)
	w.round(control.OutcomeDrifted)
	w.sent(w.extension(signer, w.clock(), opened.Add(30*time.Minute)))
	w.round(control.OutcomeDrifted)
	w.advance(15 * time.Minute)
	if w.round(control.OutcomeDrifted); !w.byHand() {
		t.Error("the extension did not count")
	}
	w.advance(15 * time.Minute)
	w.round(control.OutcomeApplied)
}

// A grant that is opened while a round changes things holds for the calls that come next,
// over objects and over attributes.
func TestGrantHoldsBeforeEveryCall(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]string{"object": "cloud_thing.b", "attribute": "cloud_thing.b.size"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, signer := breakable(t)
			w.resize("a", 9)
			w.resize("b", 9)
			w.publish(strings.Replace(twoThings, "resource \"cloud_thing\" \"b\" {", "resource \"cloud_thing\" \"b\" {\n depends_on = [cloud_thing.a]", 1))
			w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
				w.here(w.request(signer, target))
				return w.cloud.ApplyDefault(req)
			}
			receipt := w.round(control.OutcomeFailed)
			if got := problems(receipt); w.byHand() || !strings.Contains(got, "Change of what a grant suspends") {
				t.Errorf("by hand %v, problems %q", w.byHand(), got)
			}
			if !w.attribute("b", "size").RawEquals(cty.NumberIntVal(9)) {
				t.Error("b was corrected although a grant was opened before the call")
			}
			w.round(control.OutcomeDrifted)
		})
	}
}

// agedHere writes what was signed to the agent's machine as if that was an hour ago, so that
// what is there counts as settled.
func (w *world) agedHere(file repository.SignedFile) {
	w.t.Helper()
	w.here(file)
	old := time.Now().Add(-time.Hour)
	for _, name := range w.onMachine() {
		if err := os.Chtimes(filepath.Join(w.folder().Path(), name), old, old); err != nil {
			w.t.Error(err)
		}
	}
}

// A grant that is opened and that ends while a round changes things counts for the calls
// in between, and for none that come after, however it ends. The change of d has the agent
// look at the grant before each test ends it.
func TestGrantEndsBetweenCalls(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end  func(w *world, signer ssh.Signer)
		made bool // e is, which the grant covered
	}{
		"it is closed here":     {func(w *world, signer ssh.Signer) { w.agedHere(w.closure(signer)) }, true},
		"its files are removed": {func(w *world, _ ssh.Signer) { _ = os.RemoveAll(w.folder().Path()) }, true},
		"its time is over":      {func(w *world, _ ssh.Signer) { w.advance(5 * time.Second) }, true},
		"it stays":              {func(*world, ssh.Signer) {}, false},
		"it is closed by a stranger": {func(w *world, _ ssh.Signer) {
			eve, _ := approver(w.t)
			w.agedHere(w.closure(eve))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, signer := breakable(t)
			w.publish(chain + "resource \"cloud_thing\" \"e\" {\n  name = \"e\"\n  labels = { of = cloud_thing.d.id }\n}\n")
			w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
				switch req.Config.GetAttr("name").AsString() {
				case "c":
					w.agedHere(w.request(signer, "cloud_thing.e"))
					w.advance(10*time.Minute - 3*time.Second) // of the ten that it is for
				case "d":
					test.end(w, signer)
				}
				return w.cloud.ApplyDefault(req)
			}
			want := control.OutcomeFailed
			if test.made {
				want = control.OutcomeApplied
			}
			receipt := w.round(want)
			if got := slices.Contains(w.names(), "e"); got != test.made || strings.Contains(problems(receipt), "Change of what a grant suspends") == test.made {
				t.Errorf("made: %v, want %v; problems %q", got, test.made, problems(receipt))
			}
		})
	}
}

// What people sign on the machine is judged by what the agent has verified last, without
// any store.
func TestLastDeclared(t *testing.T) {
	t.Parallel()
	w, _ := breakable(t)
	w.store.set(true)
	declared, err := agent.LastDeclared(t.Context(), w.config(filepath.Join(w.dir, "data")))
	if err != nil || declared.Policies["fix"].Approvals != 1 || len(declared.Scopes) != 1 {
		t.Errorf("declared %+v, %v", declared, err)
	}
	_, err = agent.LastDeclared(t.Context(), w.config(t.TempDir()))
	if err == nil || !strings.Contains(err.Error(), "the agent on this machine has not verified yet what its environment declares") {
		t.Errorf("of a machine without memory: %v", err)
	}
}

// The folder takes each file once, and not without end.
func TestGrantFolderIsBounded(t *testing.T) {
	t.Parallel()
	w, signer := breakable(t)
	request := w.request(signer, "cloud_thing.a")
	w.here(request)
	w.here(request)
	if err := w.folder().Add(repository.SignedFile{Key: request.Key, Data: []byte("{}")}); err == nil || !strings.Contains(err.Error(), objstore.ErrExist.Error()) {
		t.Errorf("another content: %v", err)
	}
	for i := range 199 {
		w.here(w.extension(signer, w.clock(), w.clock().Add(time.Duration(i+1)*time.Second)))
	}
	if err := w.folder().Add(w.closure(signer)); err == nil || !strings.Contains(err.Error(), repository.ErrFolderFull.Error()) {
		t.Errorf("one too many: %v", err)
	}
}
