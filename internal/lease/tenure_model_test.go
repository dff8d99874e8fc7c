package lease_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/lease"
)

// The second model: two agents of one environment, of which one holds the lease and the
// other follows. Time passes between any two steps, for both alike; a machine that
// does nothing meanwhile is paused, slow or cut off. Steps bear the names of the
// functions of packages lease and agent that they stand for. That the tenure holds and that
// the provider is called is one step: a machine that stops exactly in between is not
// in the model, and nothing but the cloud itself could find it.

// quarter is how much time passes at once, as a share of a period.
const quarter = 4

// tenureStep is what an agent does next.
type tenureStep int8

const (
	listen tenureStep = iota
	takeOver
	ended
	speak // the word is begun
	say   // the store has it
	check // the lease is looked at, and the word counts
	succeed
	settle
	plan
	beginIntent
	holdsAndApply
	endResult
)

var tenureStepNames = [...]string{"listen", "TakeOver", "ended", "speak", "say", "Check", "succeed", "Settle", "makePlan", "Begin", "Holds, ApplyResourceChange", "End"}

const mostEpochs = 3

// holder is one agent. What a crash leaves are memory and made.
type holder struct {
	next tenureStep
	// held is the epoch it works under, memory the one it remembers.
	held, memory int8
	// tenure is how long it may change things yet, spoken since when its word was begun,
	// silent for how long it has heard no other word; fresh tells that there is one.
	tenure, spoken, silent int8
	fenced, fresh          bool
	// knows tells that it knows of the object, unsettled that an intent has no result.
	knows, unsettled bool
}

// reigns is everything.
type reigns struct {
	agents [2]holder
	// holders are the holders of epochs, plus 1; words are their last words: the epoch of
	// which it tells, 0 for that of an agent that stands by.
	holders [mostEpochs + 1]int8
	words   [2]int8
	// journal is what the store has of an epoch's journal.
	journal [mostEpochs + 1]int8
	objects int8
	// crashes and lost count what has happened to either agent.
	crashes, lost int8
	wrong         string
}

// omission is a step that is left out or done wrongly.
type omission int

const (
	complete omission = iota
	shortSilence
	noCheckAfterWord
	countedFromAnswer
	noSecondLook
	noHolds
	holdsBeforeIntent
	intentOnDiskOnly
	noJournalTakenUp
	noSettling
)

func (r *reigns) current() int8 {
	for e := int8(mostEpochs); e > 0; e-- {
		if r.holders[e] != 0 {
			return e
		}
	}
	return 0
}

func ticks(d time.Duration) int8 { return int8(d * quarter / time.Hour) }

func (o omission) silence() int8 {
	if o == shortSilence {
		return ticks(lease.Validity(time.Hour)) - 2
	}
	return ticks(lease.Silence(time.Hour))
}

// advance has an agent do its next step. lost tells that the store or the journal does
// what it is asked and nobody learns of it.
func (r reigns) advance(i int, lost bool, o omission) reigns {
	a := &r.agents[i]
	if lost {
		r.lost++
	}
	switch a.next {
	case listen:
		r.listen(i, o)
	case takeOver:
		r.takeOver(i, lost)
	case ended:
		r.ended(i, o)
	case speak:
		a.spoken, a.next = 0, say
	case say:
		r.words[i], r.agents[1-i].fresh, a.next = a.held, true, check
	case check:
		r.check(i, o)
	case succeed:
		r.succeed(i, o)
	case settle:
		a.next = plan
		if a.unsettled && o != noSettling {
			a.knows = r.objects > 0
		}
		a.unsettled = false
	case plan:
		if a.next = beginIntent; a.knows {
			a.next = speak
		}
	case beginIntent:
		r.begin(i, o)
	case holdsAndApply:
		r.apply(i, o)
	case endResult:
		a.knows, a.next = true, speak
		if !lost {
			r.journal[a.held] = result
		}
	}
	r.judge()
	return r.tidy()
}

// tidy forgets what makes no difference any more, so that equal worlds are equal.
func (r reigns) tidy() reigns {
	for i := range r.agents {
		a := &r.agents[i]
		if a.next != say && a.next != check {
			a.spoken = 0
		}
		if a.next > ended {
			a.silent, a.fresh = 0, false
		}
		if a.fenced {
			a.tenure = 0
		}
	}
	return r
}

// listen stands for a round on standby and for Watch.Look.
func (r *reigns) listen(i int, o omission) {
	a := &r.agents[i]
	current := r.current()
	if r.words[i] != 0 {
		r.words[i], r.agents[1-i].fresh = 0, true // it says that it stands by
	}
	switch {
	case r.holders[current] == int8(i)+1 && current == a.memory:
		a.held, a.next = current, speak
	case r.holders[current] == int8(i)+1:
		a.held, a.next = current, ended
	case a.fresh:
		a.fresh, a.silent = false, 0
	case a.silent >= o.silence() && current < mostEpochs:
		a.next = takeOver
	}
}

func (r *reigns) takeOver(i int, lost bool) {
	a := &r.agents[i]
	current := r.current()
	if a.next = listen; r.holders[current] == int8(i)+1 || a.silent == 0 {
		return
	}
	r.holders[current+1] = int8(i) + 1
	if !lost {
		a.held, a.next = current+1, ended
	}
}

// ended looks once more for a word of the holder before.
func (r *reigns) ended(i int, o omission) {
	a := &r.agents[i]
	former := r.words[1-i]
	switch {
	case o == noSecondLook, former != a.held-1, !a.fresh && a.silent >= o.silence():
		a.fenced, a.tenure, a.next = false, 0, speak
	case a.fresh:
		a.fresh, a.silent = false, 0
	}
}

// check stands for Lease.Check, Tenure.Confirm and Tenure.Fence.
func (r *reigns) check(i int, o omission) {
	a := &r.agents[i]
	if r.current() > a.held && o != noCheckAfterWord {
		a.fenced, a.held, a.silent, a.fresh, a.next = true, 0, 0, false, listen
		return
	}
	since := a.spoken
	if o == countedFromAnswer {
		since = 0
	}
	a.tenure = max(a.tenure, ticks(lease.Validity(time.Hour))-since)
	if a.next = plan; a.memory != a.held {
		a.next = succeed
	}
}

// succeed takes up what was left under earlier epochs.
func (r *reigns) succeed(i int, o omission) {
	a := &r.agents[i]
	a.memory, a.next = a.held, settle
	for epoch := int8(1); epoch < a.held && o != noJournalTakenUp; epoch++ {
		a.knows = a.knows || r.journal[epoch] == result
		a.unsettled = a.unsettled || r.journal[epoch] == intent
	}
	a.unsettled = a.unsettled && !a.knows
}

func (a *holder) holds() bool { return a.tenure > 0 && !a.fenced }

func (r *reigns) begin(i int, o omission) {
	a := &r.agents[i]
	if a.next = holdsAndApply; o == holdsBeforeIntent && !a.holds() {
		a.next = speak
		return
	}
	if o != intentOnDiskOnly {
		r.journal[a.held] = max(r.journal[a.held], intent)
	}
}

func (r *reigns) apply(i int, o omission) {
	a := &r.agents[i]
	if a.next = speak; o != noHolds && o != holdsBeforeIntent && !a.holds() {
		return // the call is withdrawn
	}
	r.objects++
	a.next = endResult
}

// crash ends an agent. What was under way is in its own journal, too.
func (r reigns) crash(i int) reigns {
	a := &r.agents[i]
	r.crashes++
	*a = holder{memory: a.memory, knows: a.knows, unsettled: a.unsettled || a.next == holdsAndApply || a.next == endResult}
	if a.unsettled { // it settles before it goes on
		a.knows, a.unsettled = a.knows || r.objects > 0, false
	}
	return r
}

// pass lets time pass.
func (r reigns) pass() reigns {
	for i := range r.agents {
		a := &r.agents[i]
		a.tenure, a.spoken, a.silent = max(a.tenure-1, 0), min(a.spoken+1, ticks(lease.Validity(time.Hour))), min(a.silent+1, ticks(lease.Silence(time.Hour)))
	}
	return r.tidy()
}

func (r *reigns) judge() {
	switch {
	case r.agents[0].holds() && r.agents[1].holds():
		r.wrong = "both may change things"
	case r.objects > 1:
		r.wrong = "the object was created twice"
	}
}

// stepOf is a way on.
type stepOf struct {
	agent int8
	step  tenureStep
	kind  string
}

func (s stepOf) String() string {
	if s.agent < 0 {
		return s.kind
	}
	return fmt.Sprintf("agent %d: %s%s", s.agent+1, s.kind, tenureStepNames[s.step])
}

// each calls a function with all ways on.
func (r reigns) each(o omission, visit func(stepOf, reigns)) {
	const mostCrashes, mostLost = 1, 1
	visit(stepOf{-1, 0, "a quarter of a period passes"}, r.pass())
	for i, a := range r.agents {
		visit(stepOf{int8(i), a.next, ""}, r.advance(i, false, o))
		if r.lost < mostLost && (a.next == takeOver || a.next == endResult) {
			visit(stepOf{int8(i), a.next, "without an answer, "}, r.advance(i, true, o))
		}
		if r.crashes < mostCrashes {
			visit(stepOf{int8(i), a.next, "killed before "}, r.crash(i))
		}
	}
}

// exploreReigns goes breadth first through everything, and returns how much there is and
// the shortest way to what is wrong.
func exploreReigns(o omission) (count int, wrong string, way []string) {
	type origin struct {
		from reigns
		step stepOf
	}
	first := reigns{words: [2]int8{1, 0}}
	first.holders[1] = 1
	first.agents[0] = holder{next: speak, held: 1, memory: 1}
	seen := map[reigns]origin{first: {}}
	for queue := []reigns{first}; len(queue) > 0 && wrong == ""; queue = queue[1:] {
		queue[0].each(o, func(step stepOf, to reigns) {
			if _, known := seen[to]; known || wrong != "" {
				return
			}
			seen[to] = origin{queue[0], step}
			queue = append(queue, to)
			if wrong = to.wrong; wrong == "" {
				return
			}
			for at := to; at != first; at = seen[at].from {
				way = append(way, seen[at].step.String())
			}
			slices.Reverse(way)
		})
	}
	return len(seen), wrong, way
}

// TestTenureModel goes through everything that a holder and its follower can do to each other.
func TestTenureModel(t *testing.T) {
	t.Parallel()
	count, wrong, way := exploreReigns(complete)
	if wrong != "" {
		t.Fatalf("%s:\n%s", wrong, strings.Join(way, "\n"))
	}
	t.Logf("%d worlds", count)
	if count < 100_000 {
		t.Errorf("the model has only %d worlds; does it still move?", count)
	}
}

// TestTenureModelFindsOmissions leaves out one step after the other.
func TestTenureModelFindsOmissions(t *testing.T) {
	t.Parallel()
	const both, twice = "both may change things", "the object was created twice"
	for name, test := range map[string]struct {
		omission omission
		want     string
	}{
		"a follower waits too short":                  {shortSilence, both},
		"the lease is not checked after a word":       {noCheckAfterWord, both},
		"a word counts from its answer":               {countedFromAnswer, both},
		"no second look after the takeover":           {noSecondLook, both},
		"the tenure is not looked at before a call":   {noHolds, twice},
		"the tenure is looked at before the intent":   {holdsBeforeIntent, twice},
		"the intent is on the holder's disk only":     {intentOnDiskOnly, twice},
		"the journal of the epoch before is not read": {noJournalTakenUp, twice},
		"what was under way is not settled":           {noSettling, twice},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			count, wrong, way := exploreReigns(test.omission)
			if wrong != test.want {
				t.Fatalf("the model found %q among %d worlds, want %q:\n%s", wrong, count, test.want, strings.Join(way, "\n"))
			}
		})
	}
}
