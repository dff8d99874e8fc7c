package simcloud

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// keptEvents bounds the events in memory, at about 400 bytes each; a data file keeps all.
const keptEvents = 100_000

// entry is an object as it is sent. It is immutable, so readers need no lock once they have it.
type entry struct {
	object  *cloudapi.Object
	encoded []byte
	digest  string
}

// store holds the objects and the log of what was written.
type store struct {
	seed    uint64
	now     func() time.Time
	journal *journal

	mu      sync.RWMutex
	entries map[cloudapi.Ref]*entry
	// made counts the objects that were made under a name, one after the other.
	made     map[cloudapi.Ref]uint64
	events   []cloudapi.Event
	sequence int64
}

// author says who writes.
type author struct{ token, actor string }

// draft is what a write would make of an object: nil attributes delete it.
type draft struct{ attributes map[string]any }

// openStore replays the data file, if one is named.
func openStore(path string, seed uint64, now func() time.Time) (*store, error) {
	s := &store{seed: seed, now: now, entries: make(map[cloudapi.Ref]*entry), made: make(map[cloudapi.Ref]uint64)}
	if path == "" {
		return s, nil
	}
	journal, err := openJournal(path, s.replay)
	if err != nil {
		return nil, err
	}
	s.journal = journal
	return s, nil
}

func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return nil
	}
	return s.journal.close()
}

func (s *store) get(ref cloudapi.Ref) *entry {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.entries[ref]
}

// list returns the objects that keep wants, ordered by reference.
func (s *store) list(keep func(cloudapi.Ref) bool) []*entry {
	s.mu.RLock()
	var out []*entry
	for ref, e := range s.entries {
		if keep(ref) {
			out = append(out, e)
		}
	}
	s.mu.RUnlock()
	sort.Slice(out, func(i, j int) bool { return out[i].object.Ref.String() < out[j].object.Ref.String() })
	return out
}

// eventsAfter returns at most limit events that keep wants, and the oldest sequence still known.
func (s *store) eventsAfter(after int64, limit int, keep func(cloudapi.Ref) bool) cloudapi.EventList {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := cloudapi.EventList{Events: []cloudapi.Event{}, Oldest: s.sequence + 1}
	if len(s.events) > 0 {
		out.Oldest = s.events[0].Sequence
	}
	first := sort.Search(len(s.events), func(i int) bool { return s.events[i].Sequence > after })
	for _, event := range s.events[first:] {
		if len(out.Events) == limit {
			break
		}
		if keep(event.Ref) {
			out.Events = append(out.Events, event)
		}
	}
	return out
}

// write changes one object: decide sees it as it is, or nil, and says what to
// make of it. What is decided is recorded before any reader can see it. The
// entry returned is nil after a deletion.
func (s *store) write(ref cloudapi.Ref, by author, decide func(before *entry) (draft, error)) (*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.entries[ref]
	wanted, err := decide(before)
	if err != nil {
		return nil, err
	}
	after, err := s.make(ref, before, wanted)
	if err != nil || after == before {
		return after, err
	}
	event := s.describe(ref, before, after, by)
	if s.journal != nil {
		if err := s.journal.append(event, after); err != nil {
			return nil, fmt.Errorf("recording the change of %s: %w", ref, err)
		}
	}
	s.install(event, after)
	return after, nil
}

// make returns the object that the draft describes; before itself if nothing changes.
func (s *store) make(ref cloudapi.Ref, before *entry, wanted draft) (*entry, error) {
	if wanted.attributes == nil {
		return nil, nil
	}
	kind, ok := cloudapi.KindNamed(ref.Kind)
	if !ok {
		return nil, fmt.Errorf("there is no kind %q", ref.Kind)
	}
	now := s.now().UTC().Truncate(time.Millisecond)
	object := &cloudapi.Object{Ref: ref, Revision: 1, Created: now, Updated: now, Attributes: wanted.attributes}
	var old *cloudapi.Object
	if before != nil {
		old = before.object
		object.ID, object.Created, object.Revision = old.ID, old.Created, old.Revision+1
	} else {
		object.ID = s.newID(ref)
	}
	adopt(kind, object.ID, object.Attributes, old)
	if old != nil && reflect.DeepEqual(old.Attributes, object.Attributes) {
		return before, nil
	}
	object.Status = status(s.seed, object)
	return encode(object)
}

func encode(object *cloudapi.Object) (*entry, error) {
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", object.Ref, err)
	}
	return &entry{object: object, encoded: encoded, digest: cloudapi.Digest(encoded)}, nil
}

// newID is unique because the count of objects under a name rises, over restarts
// too. It does not depend on what else is made at the same time.
func (s *store) newID(ref cloudapi.Ref) string {
	key := binary.BigEndian.AppendUint64(nil, s.seed)
	key = binary.BigEndian.AppendUint64(key, s.made[ref]+1)
	sum := sha256.Sum256(append(key, ref.String()...))
	return strings.ReplaceAll(ref.Kind, "_", "-") + "-" + hex.EncodeToString(sum[:8])
}

func (s *store) describe(ref cloudapi.Ref, before, after *entry, by author) cloudapi.Event {
	event := cloudapi.Event{
		Sequence: s.sequence + 1, Time: s.now().UTC(), Ref: ref,
		Token: by.token, Actor: by.actor, Action: cloudapi.ActionUpdate,
	}
	if before != nil {
		event.Before, event.ID = before.digest, before.object.ID
	} else {
		event.Action = cloudapi.ActionCreate
	}
	if after != nil {
		event.After, event.ID = after.digest, after.object.ID
	} else {
		event.Action = cloudapi.ActionDelete
	}
	if event.Action == cloudapi.ActionUpdate {
		event.Changed = changed(before.object.Attributes, after.object.Attributes)
	}
	return event
}

func changed(before, after map[string]any) []string {
	var names []string
	for name, value := range after {
		if !reflect.DeepEqual(value, before[name]) {
			names = append(names, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// install makes a recorded change visible.
func (s *store) install(event cloudapi.Event, after *entry) {
	if after == nil {
		delete(s.entries, event.Ref)
	} else {
		s.entries[event.Ref] = after
	}
	if event.Action == cloudapi.ActionCreate {
		s.made[event.Ref]++
	}
	s.sequence = event.Sequence
	if len(s.events) >= 2*keptEvents {
		s.events = append([]cloudapi.Event(nil), s.events[len(s.events)-keptEvents:]...)
	}
	s.events = append(s.events, event)
}

// replay installs a change read from the data file.
func (s *store) replay(event cloudapi.Event, after *entry) error {
	if event.Sequence <= s.sequence {
		return fmt.Errorf("event %d follows event %d", event.Sequence, s.sequence)
	}
	s.install(event, after)
	return nil
}
