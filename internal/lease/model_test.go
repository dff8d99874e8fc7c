package lease_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The model: two machines that go by one agent's name, as after it was enrolled anew,
// one object that the second revision declares, a cloud that makes the object as
// often as it is asked to, and a store. Steps bear the names of the functions of
// packages lease, journal and agent that they stand for. Between any two steps the
// other machine may go on, a machine may end, and an answer may be lost; a pause is
// nothing else than the other going on.

// step is what a machine does next.
type step int8

const (
	enrol step = iota
	acquiring
	takeUp
	recovering
	makePlan
	stillHolds
	begin
	applyResourceChange
	end
	saveState
	emptyJournal
	uploadState
	halted
)

var stepNames = [...]string{"enrol", "acquire", "takeUp", "recover", "makePlan", "stillHolds", "Begin", "ApplyResourceChange", "End", "saveState", "emptyJournal", "uploadState", "halted"}

// What a journal holds.
const (
	empty = iota
	intent
	result
)

// A state's content: none, without the object, with it.
const (
	none = iota
	without
	with
)

const machines, epochs = 2, 3

// machine is one machine. What a crash leaves are epoch, file and journal.
type machine struct {
	next step
	// enrolled tells that the claim was seen to be this machine's in this round.
	enrolled bool
	// caughtUp tells that the store was asked since the process began.
	caughtUp bool
	// held is the epoch of this round, epoch the one that the memory names.
	held, epoch   int8
	state, file   int8
	journal       int8
	crashes, lost int8
}

// world is everything; it is a value, so that worlds can be compared.
type world struct {
	machines [machines]machine
	// holders are the machines that hold epochs, from 1, plus 1; states what they uploaded.
	holders, states [epochs + 1]int8
	// claim is the machine whose claim counts; declared tells that the revision has the object.
	claim    int8
	declared bool
	objects  int8
	// overlap tells that a machine took up the state while the one before it had made, or
	// might still make, a change that no state in the store tells of.
	overlap bool
	// unkeyed is the one state that there is if keys carry no epoch.
	unkeyed int8
	wrong   string
}

// weakness is a step that is left out or done wrongly.
type weakness int

const (
	sound weakness = iota
	overwrittenLease
	uncheckedClaim
	noTakeUp
	noCheck
	noIntent
	journalFirst
	noEpochInKey
)

const wrongClaim = "a machine that did not see whether its claim counts has taken over"

// current is the highest epoch.
func (w *world) current() int8 {
	for e := int8(epochs); e > 0; e-- {
		if w.holders[e] != 0 {
			return e
		}
	}
	return 0
}

// newest is what a reader takes for the newest state.
func (w *world) newest(weak weakness) int8 {
	if weak == noEpochInKey {
		return w.unkeyed
	}
	return w.newestKeyed()
}

func (w *world) newestKeyed() int8 {
	for e := epochs; e > 0; e-- {
		if w.states[e] != none {
			return w.states[e]
		}
	}
	return none
}

// advance has a machine do its next step. lost tells that the store or the cloud
// does what it is asked and the answer does not arrive.
func (w world) advance(i int, lost bool, weak weakness) world {
	m := &w.machines[i]
	if lost {
		m.lost++
	}
	switch m.next {
	case enrol:
		w.enrol(i, lost)
	case acquiring:
		w.acquire(i, lost, weak)
	case takeUp:
		w.takeUp(i, weak)
	case recovering:
		w.settle(i)
	case makePlan:
		m.next = stillHolds
		if m.state == with || !w.declared {
			m.next, m.state = saveState, max(m.state, without)
		}
	case stillHolds:
		m.next = begin
		if weak != noCheck && w.current() > m.held {
			m.next = uploadState // the round ends with its report
		}
	case begin:
		m.next = applyResourceChange
		if weak != noIntent {
			m.journal = intent
		}
	case applyResourceChange:
		w.objects++
		if m.next = end; lost {
			m.next = uploadState // the intent stays open
		}
	case end:
		m.journal, m.state, m.next = result, with, saveState
		if weak == journalFirst {
			m.next = emptyJournal
		}
	case saveState:
		m.file, m.next = m.state, emptyJournal
		if weak == journalFirst {
			m.next = uploadState
		}
	case emptyJournal:
		m.journal, m.next = empty, uploadState
		if weak == journalFirst {
			m.next = saveState
		}
	case uploadState:
		w.upload(i)
		m.next, m.held, m.enrolled = enrol, 0, false
	case halted:
	}
	w.judge(weak)
	return w
}

// enrol stops a machine whose claim does not count. Without an answer a machine that
// is known goes on, and may only keep what it has.
func (w *world) enrol(i int, lost bool) {
	m := &w.machines[i]
	m.next = acquiring
	switch {
	case lost:
	case w.claim != int8(i):
		m.next = halted
	default:
		m.enrolled = true
	}
}

// acquire stands for lease.Acquire and lease.TakeOver.
func (w *world) acquire(i int, lost bool, weak weakness) {
	m := &w.machines[i]
	current := w.current()
	if current > 0 && w.holders[current] == int8(i)+1 {
		m.held, m.next = current, takeUp
		return
	}
	if !m.enrolled && weak != uncheckedClaim || current == epochs {
		m.next = enrol
		return
	}
	if weak == overwrittenLease && current > 0 {
		current-- // the object of the present epoch is replaced
	}
	w.holders[current+1] = int8(i) + 1
	if !m.enrolled {
		w.wrong = wrongClaim
	}
	m.held, m.next = current+1, takeUp
	if lost {
		m.held, m.next = 0, enrol
	}
}

// takeUp continues from the store's state in a new epoch and in a new process.
func (w *world) takeUp(i int, weak weakness) {
	m := &w.machines[i]
	m.next = recovering
	if m.held == m.epoch && m.caughtUp {
		return
	}
	m.epoch, m.caughtUp = m.held, true
	other := w.machines[1-i]
	unfinished := other.next > stillHolds && other.next < halted || other.journal != empty || other.file > w.newestKeyed()
	w.overlap = w.overlap || unfinished
	if stored := w.newest(weak); stored > m.state && weak != noTakeUp {
		m.state, m.file = stored, stored
	}
}

// settle stands for what recover has the engine do about an intent without a result.
func (w *world) settle(i int) {
	m := &w.machines[i]
	m.next = makePlan
	if m.journal != intent {
		return
	}
	if w.objects > 0 {
		m.state, m.next = with, saveState
		return
	}
	m.journal = empty
}

// upload writes the file's state under the epoch that the memory names.
func (w *world) upload(i int) {
	m := &w.machines[i]
	if m.file == none || m.epoch == 0 {
		return
	}
	w.states[m.epoch] = max(w.states[m.epoch], m.file)
	w.unkeyed = m.file
}

// crash ends a machine; its successor reads file and journal.
func (w world) crash(i int) world {
	m := &w.machines[i]
	*m = machine{epoch: m.epoch, file: m.file, state: m.file, journal: m.journal, crashes: m.crashes + 1, lost: m.lost}
	if m.journal == result {
		m.state = with
	}
	return w
}

// judge notes what must never be.
func (w *world) judge(weak weakness) {
	a, b := w.machines[0], w.machines[1]
	switch {
	case a.held != 0 && a.held == b.held:
		w.wrong = "two machines hold one epoch"
	case w.objects > 1 && !w.overlap:
		w.wrong = "the object was created twice"
	case w.newest(weak) != w.newestKeyed():
		w.wrong = "a state of a fenced holder passes for the newest"
	}
}

// move is one way on.
type move struct {
	name string
	to   world
}

// moves are all ways on from a world.
func (w world) moves(weak weakness) []move {
	const mostCrashes, mostLost = 1, 1
	var out []move
	for i, m := range w.machines {
		name := fmt.Sprintf("machine %d: %s", i+1, stepNames[m.next])
		if m.next != halted {
			out = append(out, move{name, w.advance(i, false, weak)})
		}
		if m.lost < mostLost && (m.next == enrol && m.epoch > 0 || m.next == acquiring || m.next == applyResourceChange) {
			out = append(out, move{name + ", answer lost", w.advance(i, true, weak)})
		}
		if m.crashes < mostCrashes && m.next != enrol && m.next != halted {
			out = append(out, move{fmt.Sprintf("machine %d: killed before %s", i+1, stepNames[m.next]), w.crash(i)})
		}
	}
	if !w.declared {
		next := w
		next.declared = true
		out = append(out, move{"Publish", next})
	}
	if w.claim == 0 {
		next := w
		next.claim = 1
		out = append(out, move{"the second machine is enrolled", next})
	}
	return out
}

// explore goes breadth first through all worlds and returns how many there are, and
// the shortest way to one in which something is wrong.
func explore(weak weakness) (worlds int, wrong string, way []string) {
	type origin struct {
		from world
		name string
	}
	first := world{}
	seen := map[world]origin{first: {}}
	for queue := []world{first}; len(queue) > 0; queue = queue[1:] {
		for _, m := range queue[0].moves(weak) {
			if _, known := seen[m.to]; known {
				continue
			}
			seen[m.to] = origin{queue[0], m.name}
			if m.to.wrong != "" {
				for at := m.to; at != first; at = seen[at].from {
					way = append(way, seen[at].name)
				}
				slices.Reverse(way)
				return len(seen), m.to.wrong, way
			}
			queue = append(queue, m.to)
		}
	}
	return len(seen), "", nil
}

// TestModel goes through everything that two machines can do to each other. What it
// does not promise is in the model's overlap: a machine that takes over while
// the one before has a change under way does not know of that change.
func TestModel(t *testing.T) {
	t.Parallel()
	worlds, wrong, way := explore(sound)
	if wrong != "" {
		t.Fatalf("%s:\n%s", wrong, strings.Join(way, "\n"))
	}
	t.Logf("%d worlds", worlds)
	if worlds < 10_000 {
		t.Errorf("the model has only %d worlds; does it still move?", worlds)
	}
}

// TestModelFindsWeaknesses leaves out one step after the other: the model must tell
// what comes of it, or it would prove nothing.
func TestModelFindsWeaknesses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		weak weakness
		want string
	}{
		"epochs are overwritten, not created":        {overwrittenLease, "two machines hold one epoch"},
		"the claim is not checked before a takeover": {uncheckedClaim, wrongClaim},
		"the store's state is not taken up":          {noTakeUp, "the object was created twice"},
		"the lease is not checked before applying":   {noCheck, "the object was created twice"},
		"no intent before the call":                  {noIntent, "the object was created twice"},
		"the journal is emptied before the state":    {journalFirst, "the object was created twice"},
		"keys of states carry no epoch":              {noEpochInKey, "a state of a fenced holder passes for the newest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worlds, wrong, way := explore(test.weak)
			if wrong != test.want {
				t.Fatalf("the model found %q among %d worlds, want %q:\n%s", wrong, worlds, test.want, strings.Join(way, "\n"))
			}
		})
	}
}
