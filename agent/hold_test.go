package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/agent/slacktest"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// holdable is a world with an app and two things that differ, in their grace time.
func (w *world) holdable() (*slacktest.Server, string) {
	w.t.Helper()
	_, anaKey := approver(w.t)
	app := w.withApp()
	w.made(w.heldBy(anaKey, map[string]string{anaInSlack: anaKey}))
	w.resize("a", 9)
	w.resize("b", 9)
	w.round(control.OutcomeDrifted)
	listening(w.t, w.agent, app, 1)
	return app, anaKey
}

// heldBy is a scope that corrects after ten minutes, with an approver.
func (w *world) heldBy(key string, users map[string]string) control.Scope {
	scope := w.scope(control.DriftEnforce, 10*time.Minute)
	scope.Approval = &control.Approval{Approvers: []string{key}, SlackUsers: users}
	return scope
}

// decisions are what a receipt says of each object.
func decisions(r control.Receipt) map[string]string {
	out := map[string]string{}
	for _, item := range r.Drift {
		out[item.Address] = item.Decision
	}
	return out
}

func TestHoldKeepsDriftUntilItChangesOrIsReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, _ := w.holdable()
	first := message(t, app)
	app.Click(anaInSlack, first, "Hold")
	if got := answered(t, app, 1); !strings.Contains(got, "Your word is recorded") {
		t.Errorf("ana was told %q", got)
	}
	app.Click(anaInSlack, first, "Hold")
	if got := answered(t, app, 2); !strings.Contains(got, "Somebody has done that already") {
		t.Errorf("ana was told %q", got)
	}
	for range 3 {
		w.advance(time.Hour)
		receipt := w.round(control.OutcomeDrifted)
		if got := decisions(receipt); got["cloud_thing.a"] != "held" || got["cloud_thing.b"] != "held" {
			t.Fatalf("drift %+v", receipt.Drift)
		}
		if len(receipt.Holds) != 1 || receipt.Holds[0].User != anaInSlack || !slices.Equal(receipt.Holds[0].Held, []string{"cloud_thing.a", "cloud_thing.b"}) {
			t.Errorf("holds %+v", receipt.Holds)
		}
	}
	if m := message(t, app); !strings.Contains(m.Blocks, "by the word of \\u003c@"+anaInSlack) || len(m.Buttons()) != 1 {
		t.Errorf("the message says %s", m.Blocks)
	}

	w.resize("b", 10) // what was held was another value
	receipt := w.round(control.OutcomeDrifted)
	if got := decisions(receipt); got["cloud_thing.a"] != "held" || got["cloud_thing.b"] != "corrected" {
		t.Errorf("drift %+v", receipt.Drift)
	}
	w.round(control.OutcomeDrifted)
	if err := w.start(); err != nil { // a word outlives the process
		t.Fatal(err)
	}
	w.round(control.OutcomeDrifted)
	listening(t, w.agent, app, 2)
	app.Click(anaInSlack, message(t, app), "Release")
	if got := answered(t, app, 3); !strings.Contains(got, "corrected again") {
		t.Errorf("ana was told %q", got)
	}
	w.round(control.OutcomeApplied)
	if got := w.attribute("a", "size"); !got.RawEquals(cty.NumberIntVal(1)) {
		t.Errorf("after the release a has size %#v", got)
	}
}

// A word is about what differed then: the same once more is not held by it.
func TestAttackHoldOfLastTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, _ := w.holdable()
	old := message(t, app)
	app.Click(anaInSlack, old, "Hold")
	answered(t, app, 1)
	w.round(control.OutcomeDrifted)
	w.resize("a", 1)
	w.edit("b", "size", cty.NullVal(cty.Number))
	w.round(control.OutcomeConverged)
	w.resize("a", 9)
	w.resize("b", 9)
	w.round(control.OutcomeDrifted)
	receipt := w.round(control.OutcomeDrifted)
	if got := decisions(receipt); got["cloud_thing.a"] != "in-grace" || len(receipt.Holds) != 0 {
		t.Errorf("drift %+v, holds %+v", receipt.Drift, receipt.Holds)
	}
	app.Deliver(app.Envelope(anaInSlack, slacktest.Team, old, old.Buttons()[0]))
	if got := answered(t, app, 2); !strings.Contains(got, "What differs has changed since") {
		t.Errorf("ana was told %q", got)
	}
	w.advance(10 * time.Minute)
	w.round(control.OutcomeApplied)
}

// Who is no approver of the scope holds nothing, and whoever is none any more no longer does.
func TestAttackHoldOfAStranger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, key := w.holdable()
	app.Click(eveInSlack, message(t, app), "Hold")
	if got := answered(t, app, 1); !strings.Contains(got, "no scope of the agent says which approver that is") {
		t.Errorf("eve was told %q", got)
	}
	if got := decisions(w.round(control.OutcomeDrifted)); got["cloud_thing.a"] != "in-grace" {
		t.Errorf("drift %+v", got)
	}
	app.Click(anaInSlack, message(t, app), "Hold")
	answered(t, app, 2)
	w.advance(time.Hour)
	w.round(control.OutcomeDrifted)
	w.declare(w.heldBy(key, nil))
	w.round(control.OutcomeApplied)
}

// What was clicked by somebody who is no approver any more counts no longer, and its number
// stays used: who comes back takes nothing back that was said meanwhile. Many clicks of
// others hide nobody's.
func TestHoldOfSomebodyWhoLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, anaKey := approver(t)
	_, benKey := approver(t)
	app := w.withApp()
	both, benOnly := w.heldBy(anaKey, map[string]string{anaInSlack: anaKey, benInSlack: benKey}), w.heldBy(benKey, map[string]string{benInSlack: benKey})
	both.Approval.Approvers = []string{anaKey, benKey}
	w.made(both)
	w.resize("a", 9)
	w.round(control.OutcomeDrifted)
	listening(t, w.agent, app, 1)
	held := func() bool {
		t.Helper()
		return decisions(w.round(control.OutcomeDrifted))["cloud_thing.a"] == "held"
	}
	says := func(user, button string, n int) {
		t.Helper()
		app.Click(user, message(t, app), button)
		if got := answered(t, app, n); !strings.Contains(got, "Your word is recorded") {
			t.Fatalf("%s was told %q", user, got)
		}
	}
	for i, button := range []string{"Hold", "Release", "Hold", "Release"} {
		says([]string{benInSlack, anaInSlack}[min(i, 1)], button, i+1) // all but the first are Ana's
		if held() != (button == "Hold") {
			t.Errorf("%s, number %d, does not count", button, i+1)
		}
	}
	var subject string
	for _, key := range w.keys(control.AgentPrefix("prod", "a1") + "clicks/") {
		subject = strings.Split(key, "/")[5]
	}
	for i := range 2 * repository.MaxDoubtful {
		w.put(control.ClickPrefix("prod", "a1", subject)+fmt.Sprintf("%012d-U%dEVE.json", 1+i%40, i), "{}")
	}
	w.declare(benOnly)
	if !held() {
		t.Error("without Ana, Ben's hold is what was said last")
	}
	says(benInSlack, "Release", 5)
	if held() {
		t.Error("Ben's release does not count")
	}
	says(benInSlack, "Hold", 6)
	w.declare(both)
	if !held() {
		t.Error("Ana's release of before counts after Ben's hold")
	}
}
