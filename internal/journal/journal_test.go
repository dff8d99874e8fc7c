package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/towline/terraform-provider-towline/internal/states"
)

const provider = `provider["registry.terraform.io/towline/cloud"]`

func intent(address string) Intent {
	return Intent{Address: address, Action: "create", Provider: provider, Planned: []byte{0xc0}}
}

func open(t *testing.T, path string) (*Journal, []Entry) {
	t.Helper()
	j, entries, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j, entries
}

// begin begins creates and returns their identifiers.
func begin(t *testing.T, j *Journal, addresses ...string) []uint64 {
	t.Helper()
	var ids []uint64
	for _, address := range addresses {
		id, err := j.Begin(intent(address))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// reopened is what a successor finds in a journal whose process died just now.
func reopened(t *testing.T, path string) (*states.State, []string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(copied, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, entries := open(t, copied)
	state := states.New()
	pending, err := Replay(state, entries)
	if err != nil {
		t.Fatal(err)
	}
	var addresses []string
	for _, i := range pending {
		addresses = append(addresses, i.Address)
	}
	return state, addresses
}

func TestSuccessorKnowsWhatEndedAndWhatDidNot(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	j, _ := open(t, path)
	ids := begin(t, j, "cloud_thing.a", "cloud_thing.b")
	object := &states.Object{AttrsJSON: []byte(`{"id":"1"}`)}
	if err := j.End(Result{ID: ids[0], Address: "cloud_thing.a", Provider: provider, Object: object}); err != nil {
		t.Fatal(err)
	}
	state, pending := reopened(t, path)
	if state.Count() != 1 {
		t.Errorf("the state has %d objects", state.Count())
	}
	if diff := cmp.Diff([]string{"cloud_thing.b"}, pending); diff != "" {
		t.Error(diff)
	}
}

// TestResetKeepsOpenIntents looks at the file as a crash would leave it,
// whenever it changes.
func TestResetKeepsOpenIntents(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	j, _ := open(t, path)
	begin(t, j, "cloud_thing.a", "cloud_thing.b", "cloud_thing.c")
	_, entries := open(t, path)
	pending, err := Replay(states.New(), entries)
	if err != nil {
		t.Fatal(err)
	}
	stop, watched := make(chan struct{}), make(chan bool)
	go func() {
		complete := true
		for {
			content, err := os.ReadFile(path)
			complete = complete && err == nil && bytes.Contains(content, []byte("cloud_thing.b"))
			select {
			case <-stop:
				watched <- complete
				return
			default:
			}
		}
	}()
	for range 100 {
		if err := j.Reset(pending[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if !<-watched {
		t.Error("a crash at the wrong moment would have lost an open intent")
	}
	ids := begin(t, j, "cloud_thing.d")
	if ids[0] <= pending[2].ID {
		t.Errorf("identifier %d is given twice", ids[0])
	}
	_, left := reopened(t, path)
	if diff := cmp.Diff([]string{"cloud_thing.b", "cloud_thing.c", "cloud_thing.d"}, left); diff != "" {
		t.Error(diff)
	}
}

func TestDamage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		damage func([]byte) []byte
		left   int    // entries that are read
		err    string // "" means that it opens
	}{
		"whole":               {func(b []byte) []byte { return b }, 3, ""},
		"torn last line":      {func(b []byte) []byte { return b[:len(b)-7] }, 2, ""},
		"only newline torn":   {func(b []byte) []byte { return b[:len(b)-1] }, 2, ""},
		"zeros after the end": {func(b []byte) []byte { return append(b, make([]byte, 4096)...) }, 3, ""},
		"bit in the middle":   {flip("cloud_thing.b"), 0, "entry 2 is damaged"},
		"bit in the last":     {flip("cloud_thing.c"), 0, "entry 3 is damaged"},
		"garbage":             {func([]byte) []byte { return []byte("what is this\n") }, 0, "entry 1 is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "journal")
			j, _ := open(t, path)
			begin(t, j, "cloud_thing.a", "cloud_thing.b", "cloud_thing.c")
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damaged := test.damage(content)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			again, entries, err := Open(path)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				if now, _ := os.ReadFile(path); !bytes.Equal(now, damaged) {
					t.Error("the damaged journal was changed, and nobody can look at it any more")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(entries) != test.left {
				t.Errorf("got %d entries, want %d", len(entries), test.left)
			}
			begin(t, again, "cloud_thing.d")
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			if _, pending := reopened(t, path); len(pending) != test.left+1 {
				t.Errorf("after one more entry there are %q", pending)
			}
		})
	}
}

func flip(inside string) func([]byte) []byte {
	return func(b []byte) []byte {
		out := bytes.Clone(b)
		out[bytes.Index(out, []byte(inside))] ^= 1
		return out
	}
}

// TestFullDisk: nothing is accepted after a write failed, and all is well again
// once there is room and the state was kept.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	j, _ := open(t, path)
	begin(t, j, "cloud_thing.a")
	good := j.file
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	j.file = full
	if _, err := j.Begin(intent("cloud_thing.b")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want %v", err, syscall.ENOSPC)
	}
	j.file = good
	if _, err := j.Begin(intent("cloud_thing.c")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("an entry was accepted behind one that may be torn: %v", err)
	}
	if err := errors.Join(full.Close(), j.Reset()); err != nil {
		t.Fatal(err)
	}
	begin(t, j, "cloud_thing.d")
	if _, pending := reopened(t, path); !cmp.Equal(pending, []string{"cloud_thing.d"}) {
		t.Errorf("after room was made there are %q", pending)
	}
}

// TestEachThatMayAppearStays keeps two creates of one address that may still appear.
func TestEachThatMayAppearStays(t *testing.T) {
	t.Parallel()
	var entries []Entry
	for id := uint64(1); id <= 2; id++ {
		i := intent("t.x")
		i.ID, i.Absent = id, time.Now()
		entries = append(entries, Entry{Intent: &i})
	}
	open, err := Replay(states.New(), entries)
	if err != nil || len(open) != 2 {
		t.Errorf("%d of 2 are left: %v", len(open), err)
	}
}
