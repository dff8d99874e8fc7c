package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// declareScope declares the agent's scope with a change.
func (w *world) declareScope(mode control.DriftMode, change func(*control.Scope)) {
	w.t.Helper()
	scope := w.scope(mode, 0)
	change(&scope)
	w.declare(scope)
}

func label(key, value string) cty.Value {
	return cty.MapVal(map[string]cty.Value{key: cty.StringVal(value)})
}

// TestUnownedAttributesStay: what another writer sets is neither reported nor put back,
// and an update of the object for another reason hands it on as it is.
func TestUnownedAttributesStay(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		scope func(*control.Scope)
		owned bool // whether labels["of"] is this agent's
	}{
		"all but some": {func(s *control.Scope) { s.Include[0].Except = []string{"size", `labels["team"]`} }, true},
		"by pattern":   {func(s *control.Scope) { s.IgnoreAttributes = []string{"cloud_thing.size", "**.labels"} }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.declareScope(control.DriftEnforce, test.scope)
			w.publish(twoThings)
			w.round(control.OutcomeApplied)
			w.edit("b", "size", cty.NumberIntVal(9))
			of := w.attribute("b", "labels").Index(cty.StringVal("of"))
			w.edit("b", "labels", cty.MapVal(map[string]cty.Value{"of": of, "team": cty.StringVal("other")}))
			receipt := w.round(control.OutcomeConverged)
			if len(receipt.Drift)+len(receipt.Changes) != 0 {
				t.Errorf("drift %+v, changes %+v", receipt.Drift, receipt.Changes)
			}
			w.publish(strings.Replace(twoThings, `name   = "b"`, "name = \"b\"\n note = \"new\"\n size = 3", 1))
			w.round(control.OutcomeApplied)
			labels := w.attribute("b", "labels")
			if !w.attribute("b", "note").RawEquals(cty.StringVal("new")) || !w.attribute("b", "size").RawEquals(cty.NumberIntVal(9)) ||
				!labels.HasIndex(cty.StringVal("team")).True() || !labels.Index(cty.StringVal("of")).RawEquals(of) {
				_, object := w.find("b")
				t.Errorf("after the update the object is %#v", object)
			}
			w.edit("b", "labels", label("of", "somebody else"))
			outcome := map[bool]control.Outcome{true: control.OutcomeApplied, false: control.OutcomeConverged}[test.owned]
			w.round(outcome)
			if got := w.attribute("b", "labels").Index(cty.StringVal("of")).RawEquals(of); got != test.owned {
				t.Errorf("the label was put back: %v", got)
			}
		})
	}
}

// TestGuestOwnsAttributesOnly: the object is another's; this agent keeps one attribute
// of it, and neither makes nor removes it.
func TestGuestOwnsAttributesOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.declareScope(control.DriftEnforce, func(s *control.Scope) { s.Include[0].Attributes = []string{"note"} })
	config := "resource \"cloud_thing\" \"a\" {\n name = \"host\"\n size = 5\n note = \"mine\"\n}\n"
	w.publish(config)
	receipt := w.round(control.OutcomeRefused)
	if !strings.Contains(problems(receipt), "Only attributes of the object are owned") || len(w.names()) != 0 {
		t.Errorf("problems: %s", problems(receipt))
	}
	w.cloud.SetObject(thing, "thing-9", cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("thing-9"), "name": cty.StringVal("host"), "size": cty.NumberIntVal(7),
		"note": cty.StringVal("theirs"), "labels": cty.NullVal(cty.Map(cty.String)), "secret": cty.NullVal(cty.String)}))
	w.publish(config + "import {\n to = cloud_thing.a\n id = \"thing-9\"\n}\n")
	w.round(control.OutcomeApplied)
	if !w.attribute("host", "note").RawEquals(cty.StringVal("mine")) || !w.attribute("host", "size").RawEquals(cty.NumberIntVal(7)) {
		_, object := w.find("host")
		t.Errorf("the object is %#v", object)
	}
	w.publish("# nothing\nlocals {}\n")
	receipt = w.round(control.OutcomeRefused)
	if !strings.Contains(problems(receipt), "Only attributes of the object are owned") || len(w.names()) != 1 {
		t.Errorf("the host's object was to be deleted: %s", problems(receipt))
	}
}

// TestStrayOfAProviderIsRefused: a provider that wants to change more than was asked
// is held back before anything is sent.
func TestStrayOfAProviderIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.declareScope(control.DriftEnforce, func(s *control.Scope) { s.Include[0].Except = []string{"note"} })
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.cloud.PlanHook = func(_ context.Context, req providers.PlanResourceChangeRequest) providers.PlanResourceChangeResponse {
		resp := w.cloud.PlanDefault(req)
		if attrs := resp.PlannedState.AsValueMap(); !req.PriorState.IsNull() {
			attrs["note"] = cty.StringVal("stray")
			resp.PlannedState, resp.LegacyTypeSystem = cty.ObjectVal(attrs), false
		}
		return resp
	}
	w.publish(strings.Replace(twoThings, "size = 1", "size = 2", 1))
	w.agent.Round(t.Context())
	receipt := w.lastReceipt()
	if receipt.Outcome == control.OutcomeApplied || !w.attribute("a", "size").RawEquals(cty.NumberIntVal(1)) {
		t.Errorf("%s: %s", receipt.Outcome, problems(receipt))
	}
}

// TestOneAttributeIsCorrectedWhileAnotherStands: the decision is about attributes, and
// the record keeps what was last right of the one that stands.
func TestOneAttributeIsCorrectedWhileAnotherStands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.declareScope(control.DriftEnforce, func(s *control.Scope) {
		s.Drift.Rules = []control.DriftRule{{Attributes: []string{"cloud_thing.note"}, Mode: control.DriftObserve}}
	})
	w.publish(strings.Replace(twoThings, "size = 1", "size = 1\n note = \"right\"", 1))
	w.round(control.OutcomeApplied)
	w.edit("a", "size", cty.NumberIntVal(9))
	w.edit("a", "note", cty.StringVal("by hand"))
	for i := range 3 {
		receipt := w.round(control.OutcomeDrifted)
		var got []string
		for _, item := range receipt.Drift {
			got = append(got, item.Decision+" "+strings.Join(item.Attributes, ","))
		}
		want := [][]string{{"corrected size", "observed note"}, {"observed note"}, {"observed note"}}[i]
		if !slices.Equal(got, want) {
			t.Errorf("round %d: drift %v, want %v", i, got, want)
		}
	}
	if !w.attribute("a", "size").RawEquals(cty.NumberIntVal(1)) || !w.attribute("a", "note").RawEquals(cty.StringVal("by hand")) {
		_, object := w.find("a")
		t.Errorf("the object is %#v", object)
	}
	w.declareScope(control.DriftEnforce, func(*control.Scope) {})
	w.round(control.OutcomeApplied)
	if !w.attribute("a", "note").RawEquals(cty.StringVal("right")) {
		t.Error("what stood was not brought back once it might be")
	}
}

// TestRevisionDecidesAboutDriftThatStands: what a revision asks for anew is no drift,
// whether it is what somebody did by hand or something else.
func TestRevisionDecidesAboutDriftThatStands(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		size    string
		outcome control.Outcome
		want    int64
	}{"takes it over": {"size = 9", control.OutcomeConverged, 9}, "asks for something else": {"size = 4", control.OutcomeApplied, 4}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.declareScope(control.DriftObserve, func(*control.Scope) {})
			w.publish(twoThings)
			w.round(control.OutcomeApplied)
			w.edit("a", "size", cty.NumberIntVal(9))
			w.round(control.OutcomeDrifted)
			w.publish(strings.Replace(twoThings, "size = 1", test.size, 1))
			w.round(test.outcome)
			if !w.attribute("a", "size").RawEquals(cty.NumberIntVal(test.want)) {
				t.Errorf("the size is %#v", w.attribute("a", "size"))
			}
			if receipt := w.round(control.OutcomeConverged); len(receipt.Drift) != 0 {
				t.Errorf("drift %+v", receipt.Drift)
			}
		})
	}
}

// TestRevisionLeavesDriftThatStandsAlone: another attribute of the object is changed.
func TestRevisionLeavesDriftThatStandsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.declareScope(control.DriftObserve, func(*control.Scope) {})
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.edit("a", "size", cty.NumberIntVal(9))
	w.round(control.OutcomeDrifted)
	w.publish(strings.Replace(twoThings, "size = 1", "size = 1\n note = \"new\"", 1))
	receipt := w.round(control.OutcomeDrifted)
	if !w.attribute("a", "size").RawEquals(cty.NumberIntVal(9)) || !w.attribute("a", "note").RawEquals(cty.StringVal("new")) {
		_, object := w.find("a")
		t.Errorf("the object is %#v, drift %+v", object, receipt.Drift)
	}
	if receipt = w.round(control.OutcomeDrifted); len(receipt.Drift) != 1 || !slices.Equal(receipt.Drift[0].Attributes, []string{"size"}) {
		t.Errorf("drift %+v", receipt.Drift)
	}
}

func TestTwoWritersThatUndoEachOtherAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.declareScope(control.DriftEnforce, func(s *control.Scope) {
		s.Drift.Oscillation = &control.Oscillation{Times: 2, Within: control.Duration(time.Hour)}
	})
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.slack.take()
	for range 2 {
		w.edit("a", "size", cty.NumberIntVal(9))
		w.round(control.OutcomeApplied)
		w.round(control.OutcomeConverged)
	}
	w.slack.take()
	w.edit("a", "size", cty.NumberIntVal(9))
	receipt := w.round(control.OutcomeDrifted)
	if receipt.Drift[0].Decision != "stopped" || !w.attribute("a", "size").RawEquals(cty.NumberIntVal(9)) {
		t.Errorf("drift %+v", receipt.Drift)
	}
	if !strings.Contains(problems(receipt), "size of cloud_thing.a was corrected and changed again; somebody else changed it at 2026-01-02T03:06:05Z, 2026-01-02T03:08:05Z, 2026-01-02T03:10:05Z") {
		t.Errorf("problems: %s", problems(receipt))
	}
	posts := strings.Join(w.slack.take(), "\n")
	if !strings.Contains(posts, "size was changed at 2026-01-02T03:06:05Z value 1, 2026-01-02T03:08:05Z value 1, 2026-01-02T03:10:05Z value 1") {
		t.Errorf("people were told %s", posts)
	}
	w.round(control.OutcomeDrifted)
	w.advance(time.Hour)
	w.round(control.OutcomeApplied) // it has been quiet
}

// Objects that were removed by hand count as the scope's, in each round anew.
func TestShareIsOfWhatWasRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	percent := 50
	w.declareScope(control.DriftEnforce, func(s *control.Scope) { s.MaxShare = &percent })
	w.publish("resource \"cloud_thing\" \"t\" {\n for_each = toset([\"a\", \"b\", \"c\"])\n name = each.key\n}\n")
	w.round(control.OutcomeApplied)
	w.remove("a")
	w.round(control.OutcomeApplied)
	w.remove("a")
	w.remove("b")
	for range 2 {
		if got := problems(w.round(control.OutcomeRefused)); !strings.Contains(got, "changes 2 of 3 objects") {
			t.Errorf("two are gone: %s", got)
		}
	}
	w.remove("c")
	if got := problems(w.round(control.OutcomeRefused)); !strings.Contains(got, "changes 3 of 3 objects") {
		t.Errorf("all are gone: %s", got)
	}
	percent = 100
	w.declareScope(control.DriftEnforce, func(s *control.Scope) { s.MaxShare = &percent })
	w.round(control.OutcomeApplied)
}
