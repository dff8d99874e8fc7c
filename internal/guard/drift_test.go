package guard_test

import (
	"slices"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }

func digest(v cty.Value) string { return v.GoString() }

// resized is an object whose size somebody changed.
func resized(t *testing.T, to int64) []guard.Observation {
	t.Helper()
	return observe(t, scopes("**"), object("i", 1, tag("a", "1")), object("i", to, tag("a", "1")))
}

func TestGraceCountsFromTheFirstSight(t *testing.T) {
	t.Parallel()
	set := scopes("**")
	set[0].Drift.Grace = control.Duration(10 * time.Minute)
	rules, memory := guard.Rules{Scopes: set}, guard.Memory{}
	for _, step := range []struct {
		minute int
		want   guard.Decision
	}{{0, guard.InGrace}, {9, guard.InGrace}, {10, guard.Corrected}} {
		judged, next := guard.Judge(resized(t, 2), rules, memory, digest, at(step.minute))
		if judged[0].Decision != step.want || !judged[0].Since.Equal(start) {
			t.Errorf("minute %d: %s since %s", step.minute, judged[0].Decision, judged[0].Since)
		}
		memory = next
	}
	_, memory = guard.Judge(nil, rules, memory, digest, at(11))
	if len(memory.Addresses()) != 0 {
		t.Error("drift that is gone is remembered as drift")
	}
	if _, memory = guard.Judge(nil, rules, memory, digest, at(200)); len(memory) != 0 {
		t.Error("corrections are remembered for ever")
	}
}

func TestGraceOutlivesNoClockThatIsSetBack(t *testing.T) {
	t.Parallel()
	set := scopes("**")
	set[0].Drift.Grace = control.Duration(10 * time.Minute)
	rules := guard.Rules{Scopes: set}
	_, memory := guard.Judge(resized(t, 2), rules, guard.Memory{}, digest, at(300))
	for _, step := range []struct {
		minute int
		want   guard.Decision
	}{{0, guard.InGrace}, {10, guard.Corrected}} {
		var judged []guard.Judged
		judged, memory = guard.Judge(resized(t, 2), rules, memory, digest, at(step.minute))
		if judged[0].Decision != step.want {
			t.Errorf("minute %d after the clock was set back: %s, want %s", step.minute, judged[0].Decision, step.want)
		}
	}
}

func TestEachAttributeHasItsDecision(t *testing.T) {
	t.Parallel()
	set := scopes("**")
	set[0].Drift.Rules = []control.DriftRule{
		{Attributes: []string{`x_y.tags["quiet"]`}, Mode: control.DriftObserve},
		{Attributes: []string{"x_y.tags"}, Mode: control.DriftPropose},
	}
	grant := guard.OpenGrant{ID: "g", Targets: []string{"x_y.z.note"}, Scopes: []string{"s"}}
	before := withNote(object("i", 1, tag("a", "1")), "n")
	after := withNote(object("i", 2, map[string]cty.Value{"a": cty.StringVal("2"), "quiet": cty.StringVal("!")}), "m")
	judged, _ := guard.Judge(observe(t, set, before, after), guard.Rules{Scopes: set, Grants: []guard.OpenGrant{grant}}, nil, digest, start)
	got := map[guard.Decision][]string{}
	for _, j := range judged {
		got[j.Decision] = j.Attributes
	}
	want := map[guard.Decision][]string{guard.Corrected: {"size"}, guard.Observed: {`tags["quiet"]`}, guard.Proposed: {`tags["a"]`}, guard.Held: {"note"}}
	for decision, attributes := range want {
		if !slices.Equal(got[decision], attributes) {
			t.Errorf("%s: %v, want %v", decision, got[decision], attributes)
		}
	}
	if len(judged) != len(want) {
		t.Errorf("judged %+v", judged)
	}
}

func TestOscillationStopsCorrectionOfTheAttribute(t *testing.T) {
	t.Parallel()
	set := scopes("**")
	set[0].Drift.Oscillation = &control.Oscillation{Times: 2, Within: control.Duration(time.Hour)}
	memory := guard.Memory{}
	round := func(minute int, size int64, note string) map[string]guard.Judged {
		before, after := withNote(object("i", 1, tag("a", "1")), "n"), withNote(object("i", size, tag("a", "1")), note)
		var judged []guard.Judged
		judged, memory = guard.Judge(observe(t, set, before, after), guard.Rules{Scopes: set}, memory, digest, at(minute))
		out := map[string]guard.Judged{}
		for _, j := range judged {
			for _, path := range j.Attributes {
				out[path] = j
			}
		}
		return out
	}
	for _, step := range []struct {
		minute int
		size   int64
		note   string
		size1  guard.Decision // of size, "" for no drift
		note1  guard.Decision
	}{
		{0, 2, "n", guard.Corrected, ""},
		{1, 1, "n", "", ""},
		{10, 2, "n", guard.Corrected, ""},
		{11, 1, "n", "", ""},
		{20, 2, "x", guard.Stopped, guard.Corrected}, // the other attribute of the object is still corrected
		{40, 2, "n", guard.Stopped, ""},
		{50, 3, "n", guard.Stopped, ""}, // somebody still writes
		{109, 3, "n", guard.Stopped, ""},
		{110, 3, "n", guard.Corrected, ""}, // quiet for an hour
		{111, 1, "n", "", ""},
	} {
		got := round(step.minute, step.size, step.note)
		if got["size"].Decision != step.size1 || got["note"].Decision != step.note1 {
			t.Errorf("minute %d: size %q, note %q; want %q, %q", step.minute, got["size"].Decision, got["note"].Decision, step.size1, step.note1)
		}
		if step.minute != 50 {
			continue
		}
		var times []time.Time
		for _, w := range got["size"].Writes["size"] {
			times = append(times, w.At)
		}
		if !slices.Equal(times, []time.Time{at(0), at(10), at(20), at(50)}) {
			t.Errorf("the other writer's times are %v", times)
		}
	}
}

func TestAPersonResumesCorrection(t *testing.T) {
	t.Parallel()
	set := scopes("**")
	oscillation := &control.Oscillation{Times: 1, Within: control.Duration(time.Hour)}
	set[0].Drift.Oscillation = oscillation
	rules, memory := guard.Rules{Scopes: set}, guard.Memory{}
	want := []guard.Decision{guard.Corrected, guard.Stopped, guard.Corrected}
	for i, minute := range []int{0, 10, 20} {
		if i == 2 {
			oscillation.Resumed = at(15)
		}
		var judged []guard.Judged
		judged, memory = guard.Judge(resized(t, int64(2+i)), rules, memory, digest, at(minute))
		if judged[0].Decision != want[i] {
			t.Errorf("minute %d: %s, want %s", minute, judged[0].Decision, want[i])
		}
		_, memory = guard.Judge(nil, rules, memory, digest, at(minute+1))
	}
}

func TestFailingCorrectionsAreNoOscillation(t *testing.T) {
	t.Parallel()
	rules, memory := guard.Rules{Scopes: scopes("**")}, guard.Memory{}
	for minute := range 30 { // the same drift, seen and not brought back again and again
		var judged []guard.Judged
		judged, memory = guard.Judge(resized(t, 2), rules, memory, digest, at(minute))
		if judged[0].Decision != guard.Corrected {
			t.Fatalf("minute %d: %s", minute, judged[0].Decision)
		}
	}
}

func TestAnotherObjectInThePlace(t *testing.T) {
	t.Parallel()
	rules := guard.Rules{Scopes: scopes("**")}
	same := observe(t, rules.Scopes, object("i", 1, tag("a", "1")), object("j", 1, tag("a", "1")))
	other := observe(t, rules.Scopes, object("i", 1, tag("a", "1")), object("j", 2, tag("a", "1")))
	for name, test := range map[string]struct {
		seen []guard.Observation
		want guard.Decision
	}{"as it should be": {same, guard.Accepted}, "that differs": {other, guard.Corrected}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged, _ := guard.Judge(test.seen, rules, nil, digest, start)
			if len(judged) != 1 || judged[0].Decision != test.want || !judged[0].Replaced {
				t.Errorf("judged %+v", judged)
			}
		})
	}
}

// What a person holds stands past its grace time, with the value that it had, and only
// where the person has a word; another value is corrected.
func TestHeldDriftWaits(t *testing.T) {
	t.Parallel()
	set := scopes("**")
	set[0].Drift.Grace = control.Duration(10 * time.Minute)
	rules, memory := guard.Rules{Scopes: set}, guard.Memory{}
	anywhere, nowhere := func(string) bool { return true }, func(string) bool { return false }
	for _, step := range []struct {
		minute int
		size   int64
		say    func(guard.Memory)
		want   guard.Decision
	}{
		{0, 2, func(guard.Memory) {}, guard.InGrace},
		{1, 2, func(m guard.Memory) { m.Hold("w", "ana", nowhere) }, guard.InGrace},
		{2, 2, func(m guard.Memory) { m.Hold("w", "ana", anywhere) }, guard.Held},
		{60, 2, func(m guard.Memory) { m.Release("another", anywhere); m.Release("w", nowhere) }, guard.Held},
		{61, 2, func(m guard.Memory) { m.Release("w", anywhere) }, guard.Corrected},
		{62, 2, func(m guard.Memory) { m.Hold("w", "ana", anywhere) }, guard.Held},
		{63, 3, func(guard.Memory) {}, guard.Corrected},
		{64, 2, func(guard.Memory) {}, guard.Corrected}, // the word ended with its value
	} {
		step.say(memory)
		var judged []guard.Judged
		judged, memory = guard.Judge(resized(t, step.size), rules, memory, digest, at(step.minute))
		if got := judged[0]; got.Decision != step.want || (got.Word == "w") != (step.want == guard.Held) {
			t.Errorf("minute %d: %s by %q", step.minute, got.Decision, got.Word)
		}
		if held := memory.Holds(); (len(held) == 1) != (step.want == guard.Held) {
			t.Errorf("minute %d: held %v", step.minute, held)
		}
	}
}

// underGrant is a grant over the object that is resized.
func underGrant(after control.After) guard.OpenGrant {
	return guard.OpenGrant{ID: "g", Targets: []string{"x_y.z"}, Scopes: []string{"s"}, After: after}
}

// TestEndOfAGrantHasNoMoreCorrected: whatever a policy chooses for the end of its grants,
// nothing is corrected or proposed that the scope would not have come to without one.
func TestEndOfAGrantHasNoMoreCorrected(t *testing.T) {
	t.Parallel()
	rank := []guard.Decision{guard.Observed, guard.Proposed, guard.InGrace, guard.Corrected}
	for _, mode := range []control.DriftMode{control.DriftObserve, control.DriftPropose, control.DriftEnforce} {
		for _, grace := range []control.Duration{0, control.Duration(time.Hour)} {
			for after, most := range map[control.After]guard.Decision{control.AfterRevert: guard.Corrected, control.AfterPropose: guard.Proposed, control.AfterHold: guard.Held} {
				set := scopes("**")
				set[0].Drift.Mode, set[0].Drift.Grace = mode, grace
				_, without := guard.Judge(resized(t, 2), guard.Rules{Scopes: set}, nil, digest, at(0))
				_, during := guard.Judge(resized(t, 2), guard.Rules{Scopes: set, Grants: []guard.OpenGrant{underGrant(after)}}, nil, digest, at(0))
				plain, _ := guard.Judge(resized(t, 2), guard.Rules{Scopes: set}, without, digest, at(60)) // after any grace
				ended, _ := guard.Judge(resized(t, 2), guard.Rules{Scopes: set}, during, digest, at(10))
				got, limit := ended[0].Decision, plain[0].Decision
				if got == guard.Held && after == control.AfterHold {
					continue
				}
				if slices.Index(rank, got) > slices.Index(rank, limit) || slices.Index(rank, got) > slices.Index(rank, most) {
					t.Errorf("mode %s, grace %s, after %s: %s, and %s without a grant", mode, time.Duration(grace), after, got, limit)
				}
			}
		}
	}
}

// TestHoldLastsUntilNothingDiffers: correcting a change that somebody makes after a grant
// would undo what was mended under it as well.
func TestHoldLastsUntilNothingDiffers(t *testing.T) {
	t.Parallel()
	set := scopes("**")
	open := guard.Rules{Scopes: set, Grants: []guard.OpenGrant{underGrant(control.AfterHold)}}
	closed := guard.Rules{Scopes: set}
	_, memory := guard.Judge(resized(t, 2), open, nil, digest, at(0))
	judged, memory := guard.Judge(resized(t, 3), closed, memory, digest, at(1))
	if judged[0].Decision != guard.Held {
		t.Errorf("a change after the grant is %s", judged[0].Decision)
	}
	_, memory = guard.Judge(nil, closed, memory, digest, at(2)) // the repository has caught up
	if judged, _ = guard.Judge(resized(t, 2), closed, memory, digest, at(3)); judged[0].Decision != guard.Corrected {
		t.Errorf("drift that comes back is %s", judged[0].Decision)
	}
}
