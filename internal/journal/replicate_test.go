package journal

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/states"
)

// farAway is a replica that a test can take away, and hold up.
type farAway struct {
	mu      sync.Mutex
	gone    bool
	batches [][]byte
	// arrived gets a word for each batch that is being taken; it goes on when proceed does.
	arrived, proceed chan struct{}
}

var errGone = errors.New("gone")

func (f *farAway) take(batch []byte) error {
	if f.arrived != nil {
		f.arrived <- struct{}{}
		<-f.proceed
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return errGone
	}
	f.batches = append(f.batches, slices.Clone(batch))
	return nil
}

func (f *farAway) set(gone bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = gone
}

// open is what a successor finds to be open.
func (f *farAway) open(t *testing.T) []string {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var entries []Entry
	for _, batch := range f.batches {
		more, err := Decode(batch)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, more...)
	}
	pending, err := Replay(states.New(), entries)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, intent := range pending {
		out = append(out, intent.Address)
	}
	return out
}

func replicated(t *testing.T, f *farAway, strict bool) *Journal {
	t.Helper()
	j, _ := open(t, filepath.Join(t.TempDir(), "journal"))
	if err := j.Replicate(f.take, strict); err != nil {
		t.Fatal(err)
	}
	return j
}

func TestIntentIsReplicatedBeforeItCounts(t *testing.T) {
	t.Parallel()
	f := &farAway{}
	j := replicated(t, f, true)
	ids := begin(t, j, "a.a", "a.b")
	if got := f.open(t); !slices.Equal(got, []string{"a.a", "a.b"}) {
		t.Errorf("the replica has %q open", got)
	}
	if err := j.End(Result{ID: ids[0], Address: "a.a", Provider: provider}); err != nil {
		t.Fatal(err)
	}
	f.set(true)
	if _, err := j.Begin(intent("a.c")); !errors.Is(err, errGone) {
		t.Errorf("without the replica: %v, want %v", err, errGone)
	}
	if got := j.Pending(); len(got) != 1 || got[0].Address != "a.b" {
		t.Errorf("pending: %+v, want a.b only", got)
	}
	if err := j.End(Result{ID: ids[1], Address: "a.b", Provider: provider}); err != nil {
		t.Errorf("a result waits for the replica: %v", err)
	}
	f.set(false)
	begin(t, j, "a.d")
	if got := f.open(t); !slices.Equal(got, []string{"a.c", "a.d"}) {
		t.Errorf("the replica has %q open; want what it was not given before, too", got)
	}
}

// TestIntentsShareABatch has intents come while a batch is on its way.
func TestIntentsShareABatch(t *testing.T) {
	t.Parallel()
	f := &farAway{arrived: make(chan struct{}), proceed: make(chan struct{})}
	j := replicated(t, f, true)
	var group sync.WaitGroup
	add := func(address string) {
		group.Go(func() { begin(t, j, address) })
	}
	add("a.first")
	<-f.arrived
	for _, address := range []string{"a.b", "a.c", "a.d", "a.e"} {
		add(address)
	}
	for j.replicas.waits() < 4 { // each is on disk and waits
		if err := j.put(j.file, nil); err != nil {
			t.Fatal(err)
		}
	}
	f.proceed <- struct{}{}
	<-f.arrived
	f.proceed <- struct{}{}
	group.Wait()
	if got := f.open(t); len(f.batches) != 2 || len(got) != 5 {
		t.Errorf("%d batches with %q, want 2 with 5 intents", len(f.batches), got)
	}
}

func (r *replicator) waits() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting)
}

// TestReplicaInTheBackground never keeps anybody waiting, and is whole again after a reset.
func TestReplicaInTheBackground(t *testing.T) {
	t.Parallel()
	f := &farAway{gone: true}
	j := replicated(t, f, false)
	large := intent("a.large")
	large.Planned = make([]byte, maxQueued)
	if _, err := j.Begin(large); err != nil {
		t.Fatal(err)
	}
	if err := j.Flush(); !errors.Is(err, errGone) && !errors.Is(err, errBehind) {
		t.Errorf("Flush without the replica: %v", err)
	}
	f.set(false)
	begin(t, j, "a.a")
	if err := j.Flush(); !errors.Is(err, errBehind) || len(f.batches) != 0 {
		t.Errorf("after entries were dropped: %v and %d batches, want %v and none", err, len(f.batches), errBehind)
	}
	if err := j.Reset(intent("a.open")); err != nil {
		t.Fatal(err)
	}
	begin(t, j, "a.b")
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := f.open(t); !slices.Equal(got, []string{"a.open", "a.b"}) {
		t.Errorf("the replica has %q open", got)
	}
}

// TestFlushWhileEntriesAreDropped has somebody wait for entries that are dropped because
// the batch before fails: it must not be told that the replica has them.
func TestFlushWhileEntriesAreDropped(t *testing.T) {
	t.Parallel()
	f := &farAway{gone: true, arrived: make(chan struct{}), proceed: make(chan struct{})}
	j := replicated(t, f, false)
	large := intent("a.large")
	large.Planned = make([]byte, maxQueued)
	if _, err := j.Begin(large); err != nil {
		t.Fatal(err)
	}
	<-f.arrived
	flushed := make(chan error)
	go func() { flushed <- j.Flush() }()
	for j.replicas.waits() < 1 {
		runtime.Gosched()
	}
	close(f.proceed)
	if err := <-flushed; !errors.Is(err, errBehind) {
		t.Errorf("Flush: %v, want %v", err, errBehind)
	}
}

// TestFollowersAppear hands over what is open as soon as somebody may follow.
func TestFollowersAppear(t *testing.T) {
	t.Parallel()
	f := &farAway{}
	j, _ := open(t, filepath.Join(t.TempDir(), "journal"))
	begin(t, j, "a.a")
	if err := j.Replicate(f.take, true); err != nil {
		t.Fatal(err)
	}
	begin(t, j, "a.b")
	if got := f.open(t); !slices.Equal(got, []string{"a.a", "a.b"}) {
		t.Errorf("the replica has %q open", got)
	}
	if err := errors.Join(j.Close(), j.Close()); err != nil {
		t.Error(err)
	}
	if err := j.Flush(); err != nil {
		t.Errorf("Flush of a closed journal that has nothing: %v", err)
	}
}

// TestLaterIntentClosesEarlierOnes: what is begun for an object is begun after whatever was
// under way for it was settled, in another process or by another agent.
func TestLaterIntentClosesEarlierOnes(t *testing.T) {
	t.Parallel()
	first, second, again := intent("cloud_thing.a"), intent("cloud_thing.a"), intent("cloud_thing.b")
	first.ID, second.ID, again.ID = 1, 2, 3
	first.Action = "delete"
	entries := []Entry{{Intent: &first}, {Intent: &again}, {Intent: &second}, {Result: &Result{ID: 2, Address: "cloud_thing.a", Provider: provider, Object: &states.Object{AttrsJSON: []byte("{}")}}}, {Intent: &again}}
	state := states.New()
	pending, err := Replay(state, entries)
	if err != nil || len(pending) != 1 || pending[0].Address != "cloud_thing.b" {
		t.Errorf("open: %+v, %v; want cloud_thing.b once", pending, err)
	}
	if state.Count() != 1 {
		t.Errorf("the state has %d objects, want that of the later intent", state.Count())
	}
}

func FuzzDecode(f *testing.F) {
	raw, err := encodeIntents([]Intent{intent("a.a")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte("{\"crc\":0,\"body\":{}}\n"))
	f.Fuzz(func(t *testing.T, batch []byte) {
		entries, err := Decode(batch)
		if err != nil {
			return
		}
		_, _ = Replay(states.New(), entries) // it must not panic
	})
}
