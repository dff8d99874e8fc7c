package workdir

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/backend"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

const provider = `provider["registry.terraform.io/towline/cloud"]`

func openAt(path string) (*State, tfdiags.Diagnostics) {
	return Open(context.Background(), backend.File(path), Options{Operation: "test", Journal: path + ".journal", Backup: path + ".backup"})
}

// open opens the state at path for the length of the test.
func open(t *testing.T, path string) *State {
	t.Helper()
	s, diags := openAt(path)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// crashed leaves a folder as a process does that died after it had created a and
// while it created b.
func crashed(t *testing.T) (path string, serial uint64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), DefaultStateFile)
	s := open(t, path)
	addr, diags := addrs.ParseResourceInstance("cloud_thing.old")
	p, moreDiags := addrs.ParseProviderConfig(provider)
	if diags.HasErrors() || moreDiags.HasErrors() {
		t.Fatal(diags, moreDiags)
	}
	s.State.SetObject(addr, p, &states.Object{AttrsJSON: []byte(`{"id":"0"}`)})
	if err := s.Save(s.State); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cloud_thing.a", "cloud_thing.b"} {
		id, err := s.Journal.Begin(journal.Intent{Address: name, Action: "create", Provider: provider})
		if err != nil {
			t.Fatal(err)
		}
		if name == "cloud_thing.a" {
			err = s.Journal.End(journal.Result{ID: id, Address: name, Provider: provider, Object: &states.Object{AttrsJSON: []byte(`{"id":"1"}`)}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	serial = s.State.Serial
	if err := s.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	s.Journal = nil
	return path, serial
}

// TestPlanFromBeforeCrashIsStale: a saved plan names the serial it was made from.
// What a dead process created must raise it, or the plan would create it again.
func TestPlanFromBeforeCrashIsStale(t *testing.T) {
	t.Parallel()
	path, before := crashed(t)
	s := open(t, path)
	if s.State.Serial <= before || s.State.Count() != 2 {
		t.Errorf("serial %d after %d, %d objects", s.State.Serial, before, s.State.Count())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path)
	if len(again.Open) != 1 || again.Open[0].Address != "cloud_thing.b" || again.State.Count() != 2 {
		t.Errorf("the next one finds %d objects and %+v open", again.State.Count(), again.Open)
	}
	serial := again.State.Serial
	if err := again.Keep(nil); err != nil {
		t.Fatal(err)
	}
	if again.State.Serial != serial {
		t.Error("the serial rises although nothing changed, so that good plans become stale")
	}
}

func TestDamagedStateIsRefused(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"garbage": "what is this", "cut short": `{"version": 4, "serial": 3, "res`, "null": "null"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), DefaultStateFile)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			s, diags := openAt(path)
			if !diags.HasErrors() {
				t.Errorf("it was read as a state with %d objects", s.State.Count())
			}
			if now, _ := os.ReadFile(path); string(now) != content {
				t.Error("the file was changed")
			}
		})
	}
}

// TestLookingTouchesNothing: a verb that only looks, without the lock, sees what the
// journal holds and leaves it to the process that may be writing it.
func TestLookingTouchesNothing(t *testing.T) {
	t.Parallel()
	path, serial := crashed(t)
	content := func() string {
		state, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadFile(path + ".journal")
		if err != nil {
			t.Fatal(err)
		}
		return string(state) + string(entries)
	}
	before := content()
	s, diags := Open(context.Background(), backend.File(path), Options{Operation: "test", NoLock: true, LookOnly: true, Journal: path + ".journal", Backup: path + ".backup"})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	if s.State.Count() != 2 || s.State.Serial != serial || len(s.Open) != 0 {
		t.Errorf("got %d objects, serial %d and %d open calls", s.State.Count(), s.State.Serial, len(s.Open))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if content() != before {
		t.Error("looking changed the state or its journal")
	}
}
