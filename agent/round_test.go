package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

const twoThings = `
resource "cloud_thing" "a" {
  name = "a"
  size = 1
}
resource "cloud_thing" "b" {
  name   = "b"
  labels = { of = cloud_thing.a.id }
}
`

func TestConvergesAndReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(twoThings)
	receipt := w.round(control.OutcomeApplied)
	if got := w.names(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the cloud has %v", got)
	}
	if len(receipt.Changes) != 2 || receipt.Changes[0].Result != "applied" || receipt.Changes[0].Cause != "revision" {
		t.Errorf("changes in the receipt: %+v", receipt.Changes)
	}
	w.round(control.OutcomeConverged)
	w.cloud.ResetCalls()
	w.round(control.OutcomeConverged)
	if got := len(w.cloud.Calls("PlanResourceChange", "ApplyResourceChange", "UpgradeResourceState")); got != 0 {
		t.Errorf("a round without changes made %d calls besides reads", got)
	}
	if got := len(w.cloud.Calls("ReadResource")); got != 2 {
		t.Errorf("a round without changes made %d reads, want 2", got)
	}
	if len(w.slack.take()) != 0 {
		t.Error("people were told of nothing")
	}
}

func TestManualChangesAreCorrected(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edit  func(w *world)
		paths []string
		check func(w *world) bool
	}{
		"attribute that the configuration sets": {
			func(w *world) { w.edit("a", "size", cty.NumberIntVal(9)) }, []string{"size"},
			func(w *world) bool { return w.attribute("a", "size").RawEquals(cty.NumberIntVal(1)) }},
		"attribute that nobody sets": {
			func(w *world) { w.edit("a", "note", cty.StringVal("by hand")) }, []string{"note"},
			func(w *world) bool { return w.attribute("a", "note").AsString() != "by hand" }},
		"element of a map": {
			func(w *world) {
				w.edit("b", "labels", cty.MapVal(map[string]cty.Value{"of": w.attribute("a", "id"), "x": cty.StringVal("y")}))
			}, []string{`labels["x"]`},
			func(w *world) bool { return w.attribute("b", "labels").LengthInt() == 1 }},
		"deleted object": {
			func(w *world) { w.remove("a") }, nil,
			func(w *world) bool { return slices.Equal(w.names(), []string{"a", "b"}) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publish(twoThings)
			w.round(control.OutcomeApplied)
			test.edit(w)
			receipt := w.round(control.OutcomeApplied)
			if len(receipt.Drift) != 1 || !slices.Equal(receipt.Drift[0].Attributes, test.paths) || receipt.Drift[0].Decision != "corrected" {
				t.Errorf("drift in the receipt: %+v", receipt.Drift)
			}
			if receipt.Changes[0].Cause != "drift" {
				t.Errorf("cause of the change: %q", receipt.Changes[0].Cause)
			}
			if !test.check(w) {
				t.Error("the change was not corrected")
			}
			w.round(control.OutcomeConverged)
			if posts := w.slack.take(); len(posts) != 1 {
				t.Errorf("people were told %d times: %q", len(posts), posts)
			}
		})
	}
}

func TestDriftPolicy(t *testing.T) {
	t.Parallel()
	nine := cty.NumberIntVal(9)
	for mode, decision := range map[control.DriftMode]string{control.DriftObserve: "observed", control.DriftPropose: "proposed"} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.declare(w.scope(mode, 0))
			w.publish(twoThings)
			w.round(control.OutcomeApplied)
			w.edit("a", "size", nine)
			w.edit("a", "note", cty.StringVal("by hand"))
			for range 3 {
				receipt := w.round(control.OutcomeDrifted)
				if len(receipt.Drift) != 1 || receipt.Drift[0].Decision != decision || len(receipt.Drift[0].Attributes) != 2 {
					t.Errorf("drift in the receipt: %+v", receipt.Drift)
				}
			}
			if !w.attribute("a", "size").RawEquals(nine) {
				t.Error("the change was corrected")
			}
			if posts := w.slack.take(); len(posts) != 1 {
				t.Errorf("people were told %d times", len(posts))
			}
			w.edit("a", "size", cty.NumberIntVal(1))
			w.edit("b", "size", cty.NumberIntVal(2))
			w.round(control.OutcomeDrifted)
			if posts := w.slack.take(); len(posts) != 1 {
				t.Errorf("people were told %d times of the changed set", len(posts))
			}
		})
	}
	t.Run("grace", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.declare(w.scope(control.DriftEnforce, 10*time.Minute))
		w.publish(twoThings)
		w.round(control.OutcomeApplied)
		w.edit("a", "size", nine)
		for range 5 {
			w.round(control.OutcomeDrifted)
		}
		w.advance(10 * time.Minute)
		w.round(control.OutcomeApplied)
		if w.attribute("a", "size").RawEquals(nine) {
			t.Error("the change was not corrected after the grace time")
		}
	})
}

func TestDriftThatStandsIsNotBuiltOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.declare(w.scope(control.DriftObserve, 0))
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	id := w.attribute("a", "id")
	w.remove("a")
	w.round(control.OutcomeDrifted)
	if got := w.names(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("the cloud has %v", got)
	}
	if !w.attribute("b", "labels").Index(cty.StringVal("of")).RawEquals(id) {
		t.Error("what depends on the deleted object was changed")
	}
}

func TestGuardRefusesAsAWhole(t *testing.T) {
	t.Parallel()
	one := 1
	tests := map[string]struct {
		change func(*control.Scope)
		want   string
	}{
		"outside the scopes": {func(s *control.Scope) { s.Exclude = []control.Match{{Address: "cloud_thing.b"}} }, "Change outside the agent's scopes"},
		"action":             {func(s *control.Scope) { s.Actions = []control.Action{control.ActionUpdate} }, "Action not allowed by scope"},
		"limit of changes":   {func(s *control.Scope) { s.MaxChanges = &one }, "Plan exceeds a limit of its scope"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			scope := w.scope(control.DriftEnforce, 0)
			test.change(&scope)
			w.declare(scope)
			w.publish(twoThings)
			receipt := w.round(control.OutcomeRefused)
			if !strings.Contains(problems(receipt), test.want) {
				t.Errorf("problems: %s", problems(receipt))
			}
			if len(w.names()) != 0 {
				t.Error("something was applied")
			}
			for _, c := range receipt.Changes {
				if c.Result != "refused" {
					t.Errorf("change %+v", c)
				}
			}
		})
	}
}

func TestIgnoredAttributesAreNeitherReportedNorCorrected(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"cloud_thing.a.size", "cloud_thing.size", "**.size"} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			scope := w.scope(control.DriftEnforce, 0)
			scope.IgnoreAttributes = []string{pattern}
			w.declare(scope)
			w.publish(twoThings)
			w.round(control.OutcomeApplied)
			w.edit("a", "size", cty.NumberIntVal(9))
			receipt := w.round(control.OutcomeConverged)
			if len(receipt.Drift) != 0 || !w.attribute("a", "size").RawEquals(cty.NumberIntVal(9)) {
				t.Errorf("drift %+v, size %#v", receipt.Drift, w.attribute("a", "size"))
			}
			w.round(control.OutcomeConverged)
		})
	}
}

func TestLostStoreKeepsTheLastRevisionInForce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.store.set(true)
	w.edit("a", "size", cty.NumberIntVal(9))
	for range 2 {
		w.round(map[bool]control.Outcome{true: control.OutcomeApplied, false: control.OutcomeConverged}[w.attribute("a", "size").RawEquals(cty.NumberIntVal(9))])
	}
	if err := w.start(); err != nil { // a restart without the store changes nothing
		t.Fatal(err)
	}
	w.edit("a", "size", cty.NumberIntVal(8))
	w.round(control.OutcomeApplied)
	w.store.set(false)
	w.publish(strings.Replace(twoThings, "size = 1", "size = 2", 1))
	w.round(control.OutcomeApplied)
	if !w.attribute("a", "size").RawEquals(cty.NumberIntVal(2)) {
		t.Error("the agent did not catch up")
	}
	if got := len(w.receipts()); got != 5 {
		t.Errorf("%d receipts in an unbroken chain, want 5", got)
	}
}

// TestExpiryIsSaidEarly: the log says once what ends soon, while all goes on.
func TestExpiryIsSaidEarly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	log := &strings.Builder{}
	if got := w.roundLogged(log); got != control.OutcomeConverged || strings.Contains(log.String(), "expires soon") {
		t.Errorf("long before the end: outcome %s, log %s", got, log)
	}
	w.advance(repository.DefaultExpiry * 95 / 100)
	if got := w.roundLogged(log); got != control.OutcomeConverged || !strings.Contains(log.String(), "timestamp at 20") {
		t.Errorf("with a twentieth of the time left: outcome %s, log %s", got, log)
	}
	w.advance(time.Minute)
	w.agent.Round(t.Context())
	if got := strings.Count(log.String(), "expires soon"); got != 1 {
		t.Errorf("it was said %d times, want once", got)
	}
}

func TestAttackFreezeHoldsTheLastRevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.advance(20 * 365 * 24 * time.Hour)
	w.edit("a", "size", cty.NumberIntVal(9))
	receipt := w.round(control.OutcomeApplied)
	if !strings.Contains(problems(receipt), "expired") {
		t.Errorf("the expiry is not named: %s", problems(receipt))
	}
	if !w.attribute("a", "size").RawEquals(cty.NumberIntVal(1)) {
		t.Error("protection ended with the metadata")
	}
}

func TestBrokenRevisionLeavesTheRunningOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(twoThings)
	first := w.round(control.OutcomeApplied)
	w.publish("resource {")
	w.edit("a", "size", cty.NumberIntVal(9))
	receipt := w.round(control.OutcomeApplied)
	if receipt.Revision != first.Revision || !w.attribute("a", "size").RawEquals(cty.NumberIntVal(1)) {
		t.Error("the running revision is not in force any more")
	}
}

func TestEnrolmentRefusals(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prepare func(w *world)
		want    string
	}{
		"expired token": {func(w *world) {
			doc := w.agentDoc()
			doc.Join.Expires = w.clock().Add(time.Second)
			w.declare(doc)
		}, "expired"},
		"wrong token": {func(w *world) { w.writeFile("token", strings.Repeat("A", 43)+"=") }, "not the one that the agent was declared with"},
		"no token":    {func(w *world) { w.writeFile("token", "") }, "not the base64"},
		"claimed by another": {func(w *world) {
			other := newClaimant(w)
			if other != nil {
				w.t.Fatal(other)
			}
		}, "claimed by another key"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publish(twoThings)
			test.prepare(w)
			if err := w.start(); err != nil {
				t.Fatal(err)
			}
			w.advance(time.Minute)
			log := &strings.Builder{}
			if got := w.roundLogged(log); got != control.OutcomeFailed || !strings.Contains(log.String(), test.want) {
				t.Errorf("outcome %s, log %s", got, log)
			}
			if len(w.names()) != 0 {
				t.Error("something was applied")
			}
		})
	}
}

func TestSecretsStayOutOfReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const planted = "hunter2-planted"
	w.publish(fmt.Sprintf("resource \"cloud_thing\" \"a\" {\n name = \"a\"\n secret = %q\n}", planted))
	w.round(control.OutcomeApplied)
	w.edit("a", "secret", cty.StringVal(planted+"-2"))
	w.round(control.OutcomeApplied)
	for _, post := range w.slack.take() {
		if strings.Contains(post, planted) {
			t.Errorf("a message holds the secret: %s", post)
		}
	}
	if text := fmt.Sprintf("%+v", w.receipts()); strings.Contains(text, planted) {
		t.Error("a receipt holds the secret")
	}
}

// TestOwnWorkIsNoDrift makes an object whose creation shows in the one that it
// refers to, as AWS's roles list their policies.
func TestOwnWorkIsNoDrift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		resp := w.cloud.ApplyDefault(req)
		if made := resp.NewState; !made.IsNull() && made.GetAttr("name").AsString() == "b" {
			w.edit("a", "note", cty.StringVal("b refers to this"))
		}
		return resp
	}
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	receipt := w.round(control.OutcomeConverged)
	if len(receipt.Drift) != 0 {
		t.Errorf("the agent takes its own work for drift: %+v", receipt.Drift)
	}
	w.edit("a", "note", cty.StringVal("by hand"))
	w.round(control.OutcomeApplied)
	if got := w.attribute("a", "note").AsString(); got != "b refers to this" {
		t.Errorf("a manual change of what was recorded afterwards became %q", got)
	}
}

// TestBadRevisionAfterRestart restarts the agent on a revision that is no good: the
// one before stays in force and goes on being kept.
func TestBadRevisionAfterRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(twoThings)
	good := w.round(control.OutcomeApplied).Revision
	w.publish(`resource "cloud_thing" {`)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.edit("a", "size", cty.NumberIntVal(9))
	receipt := w.round(control.OutcomeApplied)
	if receipt.Revision != good || !strings.Contains(problems(receipt), "New revision not usable") {
		t.Errorf("revision %s is in force, want %s: %s", receipt.Revision, good, problems(receipt))
	}
	if !w.attribute("a", "size").RawEquals(cty.NumberIntVal(1)) {
		t.Error("the manual change was not corrected")
	}
	w.publish(twoThings + "\n# mended\n")
	if receipt := w.round(control.OutcomeConverged); receipt.Revision == good || len(receipt.Problems) != 0 {
		t.Errorf("the mended revision was not taken: %+v", receipt)
	}
}
