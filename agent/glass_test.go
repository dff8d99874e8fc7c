package agent_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/agent/slacktest"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// team are the people who may break the glass in Slack.
type team struct{ ana, ben ssh.Signer }

// breakable is a world with an app whose policy lets ana and ben break the glass in Slack,
// and one thing that differs, to be corrected after ten minutes.
func (w *world) breakable(change ...func(*control.BreakGlassPolicy)) (*slacktest.Server, team) {
	w.t.Helper()
	app := w.withApp()
	people, policy := w.slackPolicy(change...)
	w.declare(w.scope(control.DriftEnforce, 10*time.Minute), policy)
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.edit("a", "size", cty.NumberIntVal(9))
	w.round(control.OutcomeDrifted)
	listening(w.t, w.agent, app, 1)
	return app, people
}

// slackPolicy is a policy that says who ana and ben are in Slack.
func (w *world) slackPolicy(change ...func(*control.BreakGlassPolicy)) (team, control.BreakGlassPolicy) {
	w.t.Helper()
	ana, anaKey := approver(w.t)
	ben, benKey := approver(w.t)
	policy := w.policy(anaKey+" ana", control.AfterRevert)
	policy.Approvers = append(policy.Approvers, benKey+" ben")
	policy.SlackUsers = map[string]string{anaInSlack: anaKey, benInSlack: control.ApproverID(ben.PublicKey())}
	for _, c := range change {
		c(&policy)
	}
	return team{ana, ben}, policy
}

// form has a user click Break glass, and returns the form.
func form(t *testing.T, app *slacktest.Server, user string, n int) slacktest.View {
	t.Helper()
	app.Click(user, message(t, app), "Break glass")
	return app.Views(n)
}

// opened fills in a form.
func opened(reason string) map[string][]string {
	return map[string][]string{"duration": {"20m"}, "reason": {reason}}
}

// grantClicks are what an agent has recorded about grants.
func (w *world) grantClicks(agent string) []string {
	return w.keys(control.GrantClicksPrefix("prod", agent))
}

// labelled are the labels of a message's buttons.
func labelled(m slacktest.Message) []string {
	var out []string
	for _, b := range m.Buttons() {
		out = append(out, b.Label)
	}
	return out
}

func TestBreakGlassInSlack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.metrics = filepath.Join(w.dir, "agent.prom")
	app, _ := w.breakable()
	view := form(t, app, anaInSlack, 1)
	if all, chosen := view.Options("targets"); !slices.Equal(all, []string{"cloud_thing.a"}) || !slices.Equal(all, chosen) || !strings.Contains(view.Blocks, "for up to 1h") {
		t.Errorf("the form has %q, of which %q are chosen: %s", all, chosen, view.Blocks)
	}
	if bad := app.Submit(anaInSlack, view, opened("incident 7")); bad != nil {
		t.Fatalf("the form is wrong: %v", bad)
	}
	if got := answered(t, app, 1); !strings.Contains(got, "Your word is recorded. Break-glass grant 2026") || !strings.Contains(got, "is open until 2026-") || !strings.Contains(got, "leave alone cloud_thing.a") {
		t.Errorf("ana was told %q", got)
	}
	w.advance(12 * time.Minute)
	receipt := w.round(control.OutcomeDrifted)
	if got := decisions(receipt); got["cloud_thing.a"] != "held" || len(receipt.Grants) != 1 || receipt.Grants[0].User != anaInSlack || receipt.Grants[0].Opener != "ana" {
		t.Fatalf("drift %+v, grants %+v", receipt.Drift, receipt.Grants)
	}
	measured, err := os.ReadFile(w.metrics)
	if err != nil || !strings.Contains(string(measured), `towline_break_glass_grants{phase="open"} 1`) {
		t.Errorf("metrics %s, %v", measured, err)
	}
	m := message(t, app)
	if !strings.Contains(m.Blocks, "opened in Slack by \\u003c@"+anaInSlack+"\\u003e as ana, holds `cloud_thing.a` until") || !strings.Contains(m.Blocks, ": incident 7") || !slices.Equal(labelled(m), []string{"Close grant"}) {
		t.Errorf("the message has %q and says %s", labelled(m), m.Blocks)
	}

	app.Click(benInSlack, m, "Close grant")
	if got := answered(t, app, 2); !strings.Contains(got, "is closed; what differs is handled as policy fix says: revert") {
		t.Errorf("ben was told %q", got)
	}
	app.Click(benInSlack, m, "Close grant")
	if got := answered(t, app, 3); !strings.Contains(got, "Nothing was recorded. Break-glass grant") || !strings.Contains(got, "is closed since") {
		t.Errorf("ben was told %q", got)
	}
	receipt = w.round(control.OutcomeApplied)
	if len(receipt.GrantsEnded) != 1 || receipt.GrantsEnded[0].User != anaInSlack || receipt.GrantsEnded[0].Opener != "ana" {
		t.Errorf("ended %+v", receipt.GrantsEnded)
	}
	if got := w.attribute("a", "size"); !got.RawEquals(cty.NumberIntVal(1)) {
		t.Errorf("after the end a has size %#v", got)
	}
	if got := app.Everything(); !strings.Contains(got, "under policy fix, opened in Slack by") || !strings.Contains(got, "ended at") {
		t.Errorf("people were told %s", got)
	}
}

// Where the policy asks for two, another person must approve: with the button or a key, and
// nobody counts twice.
func TestBreakGlassInSlackNeedsTwo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, people := w.breakable(func(p *control.BreakGlassPolicy) { p.Approvals = 2 })
	if bad := app.Submit(anaInSlack, form(t, app, anaInSlack, 1), opened("incident 7")); bad != nil {
		t.Fatalf("the form is wrong: %v", bad)
	}
	if got := answered(t, app, 1); !strings.Contains(got, "waits. Approvals missing: 1. Another approver clicks Approve grant") {
		t.Errorf("ana was told %q", got)
	}
	receipt := w.round(control.OutcomeDrifted)
	if got := decisions(receipt); got["cloud_thing.a"] != "in-grace" || len(receipt.Grants) != 0 {
		t.Errorf("drift %+v, grants %+v", receipt.Drift, receipt.Grants)
	}
	m := message(t, app)
	if !strings.Contains(m.Blocks, "waits: approvals missing: 1") || !slices.Equal(labelled(m), []string{"Break glass", "Approve grant", "Close grant"}) {
		t.Errorf("the message has %q and says %s", labelled(m), m.Blocks)
	}
	app.Click(anaInSlack, m, "Approve grant")
	if got := answered(t, app, 2); !strings.Contains(got, "you have approved it before, or opened it") {
		t.Errorf("ana was told %q", got)
	}
	app.Click(eveInSlack, m, "Approve grant")
	if got := answered(t, app, 3); !strings.Contains(got, "You are U0EVE in Slack, and the grant's policy does not say which approver that is: see slack_users of towline_break_glass_policy fix") {
		t.Errorf("eve was told %q", got)
	}
	w.approveGrant(people.ana)
	if got := w.round(control.OutcomeDrifted); len(got.Grants) != 0 {
		t.Errorf("ana counts twice: %+v", got.Grants)
	}
	app.Click(benInSlack, m, "Approve grant")
	if got := answered(t, app, 4); !strings.Contains(got, "is open until") {
		t.Errorf("ben was told %q", got)
	}
	w.advance(10 * time.Minute)
	if got := decisions(w.round(control.OutcomeDrifted)); got["cloud_thing.a"] != "held" {
		t.Errorf("drift %v", got)
	}
	if got := labelled(message(t, app)); !slices.Equal(got, []string{"Close grant"}) {
		t.Errorf("the message has %q", got)
	}
}

// grantRecord is the only grant, as the command line sees it.
func (w *world) grantRecord() repository.GrantRecord {
	w.t.Helper()
	state, err := w.repo.Environment(w.t.Context(), "prod")
	if err != nil {
		w.t.Fatal(err)
	}
	files, err := repository.ReadGrants(w.t.Context(), w.store, state)
	if err != nil {
		w.t.Fatal(err)
	}
	records := files.Records("prod", state.Policies, w.clock())
	if len(records) != 1 || records[0].Refusal != nil {
		w.t.Fatalf("records %+v", records)
	}
	return records[0]
}

// approveGrant signs the only grant with a key, as the command line does.
func (w *world) approveGrant(signer ssh.Signer) {
	w.t.Helper()
	record := w.grantRecord()
	signed, err := control.ApproveGrant(record.Files, signer)
	if err != nil {
		w.t.Fatal(err)
	}
	w.put(control.GrantApprovalKey("prod", record.ID, control.ApproverID(signer.PublicKey())), string(signed))
}

// A grant that was opened in Slack is approved, extended and closed with keys, and one that
// was signed is approved and closed in Slack.
func TestKeysAndClicksAreOneGrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, people := w.breakable(func(p *control.BreakGlassPolicy) { p.Approvals = 2 })
	if bad := app.Submit(anaInSlack, form(t, app, anaInSlack, 1), opened("incident 7")); bad != nil {
		t.Fatalf("the form is wrong: %v", bad)
	}
	w.approveGrant(people.ben)
	record := w.grantRecord()
	if record.Grant.Phase != control.GrantOpen || record.Grant.User != anaInSlack || record.Grant.Users[record.Grant.Approvers[0]] != anaInSlack || record.Grant.Users[record.Grant.Approvers[1]] != "" {
		t.Errorf("grant %+v", record.Grant)
	}
	closure, err := control.SignGrantClosure(control.GrantClosure{Version: control.FormatVersion, ID: record.ID, Closed: w.clock().UTC()}, people.ben)
	if err != nil {
		t.Fatal(err)
	}
	w.put(control.GrantClosureKey("prod", record.ID, control.ApproverID(people.ben.PublicKey())), string(closure))
	if got := w.grantRecord().Grant; got.Ended.IsZero() {
		t.Errorf("after the closure: %+v", got)
	}
}

func TestSignedGrantIsApprovedAndClosedInSlack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, people := w.breakable(func(p *control.BreakGlassPolicy) { p.Approvals = 2 })
	w.open(people.ana, "cloud_thing.a")
	w.round(control.OutcomeDrifted)
	app.Click(benInSlack, message(t, app), "Approve grant")
	answered(t, app, 1)
	receipt := w.round(control.OutcomeDrifted)
	if len(receipt.Grants) != 1 || receipt.Grants[0].User != "" || decisions(receipt)["cloud_thing.a"] != "held" {
		t.Errorf("grants %+v", receipt.Grants)
	}
	app.Click(anaInSlack, message(t, app), "Close grant")
	answered(t, app, 2)
	if got := w.grantRecord().Grant; got.Phase != control.GrantClosed {
		t.Errorf("after the click: %+v", got)
	}
}

// Whoever is no approver in Slack opens nothing, whatever is sent or put into the store for it.
func TestAttackBreakGlassOfAStranger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, _ := w.breakable()
	m := message(t, app)
	app.Click(eveInSlack, m, "Break glass")
	if got := answered(t, app, 1); !strings.Contains(got, "Nothing was opened. You are U0EVE in Slack") || !strings.Contains(got, "slack_users of towline_break_glass_policy fix") {
		t.Errorf("eve was told %q", got)
	}
	view := form(t, app, anaInSlack, 1)
	if bad := app.Submit(eveInSlack, view, opened("mine")); !strings.Contains(bad["reason"], "You are U0EVE in Slack, and policy \"fix\" does not say which approver that is") {
		t.Errorf("eve's form: %v", bad)
	}
	abroad := app.Submission(anaInSlack, "T0ELSEWHERE", view, opened("mine"))
	app.Deliver(abroad)
	if bad := app.Reply(abroad); !strings.Contains(bad["reason"], "another workspace") {
		t.Errorf("who has ana's ID in another workspace: %v", bad)
	}
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	now := w.clock().UTC()
	request := control.GrantRequest{Version: control.FormatVersion, ID: "g9", Environment: "prod", Policy: "fix", Targets: []string{"**"}, Reason: "mine", Opened: now, Until: now.Add(time.Hour)}
	click := control.GrantClick{Version: control.FormatVersion, Environment: "prod", Relay: "a1", Verb: control.GrantOpens, Grant: "g9", Digest: control.RequestDigest(request), Request: &request,
		User: anaInSlack, Team: slacktest.Team, Channel: m.Channel, Message: m.Time, Time: now}
	for _, relay := range []string{"a1", "a2"} { // a2 is not declared
		click.Relay = relay
		forged, err := control.Sign(click, stranger)
		if err != nil {
			t.Fatal(err)
		}
		w.put(click.Key(), string(forged))
	}
	receipt := w.round(control.OutcomeDrifted)
	if len(receipt.Grants) != 0 || decisions(receipt)["cloud_thing.a"] != "in-grace" {
		t.Errorf("a stranger's grant counts: %+v", receipt.Grants)
	}
	w.advance(10 * time.Minute)
	w.round(control.OutcomeApplied)
}

// What is wrong with a form is said beside what it is about, and nothing of it is recorded.
func TestFormsThatAreWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, _ := w.breakable()
	view := form(t, app, anaInSlack, 1)
	place := func(edit func(map[string]any)) func(*slacktest.View) {
		return func(v *slacktest.View) {
			var fields map[string]any
			if err := json.Unmarshal([]byte(v.Metadata), &fields); err != nil {
				t.Fatal(err)
			}
			edit(fields)
			data, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			v.Metadata = string(data)
		}
	}
	button := func(old, with string) func(*slacktest.View) {
		return place(func(f map[string]any) { f["button"] = strings.Replace(fmt.Sprint(f["button"]), old, with, 1) })
	}
	tests := map[string]struct {
		view  func(*slacktest.View)
		with  map[string][]string
		input string
		want  string
	}{
		"no duration":          {nil, map[string][]string{"duration": {"soon"}}, "duration", `"soon" is no duration. Write one such as 30m or 1h30m.`},
		"too short":            {nil, map[string][]string{"duration": {"5s"}}, "duration", "A grant holds for at least a minute."},
		"too long":             {nil, map[string][]string{"duration": {"61m"}}, "duration", "Policy fix lets a grant hold for up to 1h."},
		"negative":             {nil, map[string][]string{"duration": {"-20m"}}, "duration", "at least a minute"},
		"beyond all bounds":    {nil, map[string][]string{"duration": {"9999999999999h"}}, "duration", "is no duration"},
		"no reason":            {nil, map[string][]string{"reason": {"  \n "}}, "reason", "Say why: it is recorded."},
		"control characters":   {nil, map[string][]string{"reason": {"\x1b[2J"}}, "reason", "must not hold control characters"},
		"no targets":           {nil, map[string][]string{"targets": {}}, "targets", "Choose at least one."},
		"garbage":              {func(v *slacktest.View) { v.Metadata = "{" }, nil, "reason", "This form cannot be read."},
		"no view":              {func(v *slacktest.View) { v.ID = "" }, nil, "reason", "This form cannot be read."},
		"another button":       {button("break-glass", "approve"), nil, "reason", "This form cannot be read."},
		"another drift":        {place(func(f map[string]any) { f["button"] = "break-glass/prod/a1/" + strings.Repeat("ab", 32) + "/1" }), nil, "reason", "This form cannot be read."},
		"another environment":  {button("/prod/", "/test/"), nil, "reason", "This button is of environment test"},
		"another agent":        {button("/a1/", "/zz/"), nil, "reason", "declares no agent zz"},
		"another policy":       {place(func(f map[string]any) { f["policy"] = "other" }), nil, "reason", `policy "other" does not say which approver that is`},
		"no receipt":           {place(func(f map[string]any) { f["epoch"] = -1 }), nil, "reason", "This form cannot be read."},
		"a receipt to come":    {place(func(f map[string]any) { f["sequence"] = 999 }), nil, "reason", "is not in the store"},
		"a receipt of before":  {place(func(f map[string]any) { f["sequence"] = 1 }), nil, "reason", "This form cannot be read."},
		"opened long ago":      {place(func(f map[string]any) { f["opened"] = w.clock().Add(-2 * time.Hour).Unix() }), nil, "reason", "opened more than an hour ago"},
		"opened at no time":    {place(func(f map[string]any) { f["opened"] = int64(-1 << 62) }), nil, "reason", "opened more than an hour ago"},
		"opened in the future": {place(func(f map[string]any) { f["opened"] = w.clock().Add(2 * time.Hour).Unix() }), nil, "reason", "opened more than an hour ago"},
	}
	for name, test := range tests {
		v := view
		if test.view != nil {
			test.view(&v)
		}
		with := opened("incident 7")
		for input, values := range test.with {
			with[input] = values
		}
		bad := app.Submit(anaInSlack, v, with)
		if !strings.Contains(bad[test.input], test.want) || len(bad) != 1 {
			t.Errorf("%s: %v, want %q", name, bad, test.want)
		}
	}
	w.store.set(true)
	if bad := app.Submit(anaInSlack, view, opened("incident 7")); !strings.Contains(bad["reason"], "the store cannot be used now") {
		t.Errorf("without the store: %v", bad)
	}
	w.store.set(false)
	if got := w.grantClicks("a1"); len(got) != 0 {
		t.Errorf("recorded %v", got)
	}
	app.Cancel(anaInSlack, view)
	if bad := app.Submit(anaInSlack, view, opened("incident 7")); bad != nil {
		t.Errorf("the form is wrong: %v", bad)
	}
	if got := w.grantClicks("a1"); len(got) != 1 {
		t.Errorf("recorded %v", got)
	}
}

// A form that Slack delivers again, or that is sent again, is one grant, and one that has
// ended stays so.
func TestFormsCountOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, _ := w.breakable()
	clicked := app.Click(anaInSlack, message(t, app), "Break glass")
	view := app.Views(1)
	app.Retry(clicked) // one click opens one form, and nobody is told that it came again
	envelope := app.Submission(anaInSlack, slacktest.Team, view, opened("incident 7"))
	app.Deliver(envelope)
	answered(t, app, 1)
	for range 3 {
		app.Retry(envelope)
	}
	if bad := app.Submit(anaInSlack, view, map[string][]string{"duration": {"1h"}, "reason": {"more"}}); bad != nil {
		t.Errorf("sent again: %v", bad)
	}
	if got := answered(t, app, 5); !strings.Contains(got, "It was recorded before. Break-glass grant") {
		t.Errorf("ana was told %q", got)
	}
	if got := w.grantClicks("a1"); len(got) != 1 {
		t.Errorf("recorded %v", got)
	}
	w.round(control.OutcomeDrifted)
	app.Click(anaInSlack, message(t, app), "Close grant")
	answered(t, app, 6)
	w.round(control.OutcomeApplied)
	app.Retry(envelope)
	if got := answered(t, app, 7); !strings.Contains(got, "is closed since") {
		t.Errorf("ana was told %q", got)
	}
	w.edit("a", "size", cty.NumberIntVal(9))
	if got := w.round(control.OutcomeApplied); len(got.Grants) != 0 {
		t.Errorf("it is open again: %+v", got.Grants)
	}
}

// Any agent of the environment with an app may receive click and form, and what it has signed
// counts for as long as it is declared so.
func TestBreakGlassAtAnotherAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, _ := w.breakable()
	second := w.partner("a2", func(doc *control.Agent) { doc.Slack = w.appDoc().Slack })
	second.round(control.OutcomeStandby)
	listening(t, second.agent, app, 2)
	w.round(control.OutcomeDrifted)
	view := form(t, app, anaInSlack, 1) // over the newest connection
	if bad := app.Submit(anaInSlack, view, opened("incident 7")); bad != nil {
		t.Fatalf("the form is wrong: %v", bad)
	}
	if got := w.grantClicks("a2"); len(got) != 1 || len(w.grantClicks("a1")) != 0 {
		t.Fatalf("the second agent has recorded %v", got)
	}
	if got := w.round(control.OutcomeDrifted); len(got.Grants) != 1 || got.Grants[0].User != anaInSlack {
		t.Errorf("grants %+v", got.Grants)
	}
	second.change = []func(*control.Agent){func(doc *control.Agent) { doc.Slack = nil }}
	w.declare(second.doc())
	if got := w.round(control.OutcomeApplied); len(got.Grants) != 0 {
		t.Errorf("the word of an agent without an app counts: %+v", got.Grants)
	}
}

// What the agent has corrected a moment ago is what people are about to change again; what
// is longer ago, or another set, is not held by an old button.
func TestBreakGlassOverWhatWasCorrected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, _ := w.breakable()
	w.declare(w.scope(control.DriftEnforce, 0))
	w.round(control.OutcomeApplied)
	w.round(control.OutcomeConverged)
	old := message(t, app)
	app.Click(anaInSlack, old, "Break glass")
	view := app.Views(1)
	if bad := app.Submit(anaInSlack, view, opened("incident 7")); bad != nil {
		t.Fatalf("the form is wrong: %v", bad)
	}
	answered(t, app, 1)
	w.edit("a", "size", cty.NumberIntVal(9))
	if got := decisions(w.round(control.OutcomeDrifted)); got["cloud_thing.a"] != "held" {
		t.Errorf("drift %v", got)
	}
	w.advance(2 * time.Hour)
	w.round(control.OutcomeApplied)
	app.Deliver(app.Envelope(anaInSlack, slacktest.Team, old, old.Buttons()[0]))
	if got := answered(t, app, 2); !strings.Contains(got, "Nothing was opened. What differs has changed since, or is gone.") || !strings.Contains(got, "towline break-glass open -environment prod") {
		t.Errorf("ana was told %q", got)
	}
}

// A form comes in time or not at all: whoever clicked is told.
func TestFormThatComesLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, _ := w.breakable()
	m := message(t, app)
	late := app.Envelope(anaInSlack, slacktest.Team, m, m.Buttons()[0])
	app.Expire(late)
	app.Deliver(late)
	if got := answered(t, app, 1); !strings.Contains(got, "Nothing was opened: Slack did not show the form: expired_trigger_id: Slack waits three seconds for the form, and it came later; click again") {
		t.Errorf("ana was told %q", got)
	}
}

// Where nothing differs any more the message goes on about the grant, until that ends.
func TestMessageOfAGrantAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, people := w.breakable()
	if bad := app.Submit(anaInSlack, form(t, app, anaInSlack, 1), opened("incident\n 7")); bad != nil {
		t.Fatalf("the form is wrong: %v", bad)
	}
	w.round(control.OutcomeDrifted)
	w.edit("a", "size", cty.NumberIntVal(1))
	w.round(control.OutcomeConverged)
	m := message(t, app)
	if !strings.Contains(m.Text, "nothing differs; break-glass grants open: 1") || !strings.Contains(m.Blocks, ": incident 7") || !slices.Equal(labelled(m), []string{"Close grant"}) {
		t.Errorf("the message has %q and says %s", labelled(m), m.Blocks)
	}
	app.Click(benInSlack, m, "Close grant")
	answered(t, app, 2)
	w.round(control.OutcomeConverged)
	if m = app.Messages()[0]; !strings.Contains(m.Text, "the drift is gone") || len(m.Buttons()) != 0 {
		t.Errorf("afterwards the message says %s", m.Blocks)
	}

	w.open(people.ana, "cloud_thing.*") // a message of its own
	w.round(control.OutcomeConverged)
	messages := app.Messages()
	m = messages[len(messages)-1]
	if !strings.Contains(m.Text, "nothing differs; break-glass grants open: 1") || !slices.Equal(labelled(m), []string{"Close grant"}) {
		t.Fatalf("the message has %q and says %s", labelled(m), m.Blocks)
	}
	app.Click(benInSlack, m, "Close grant")
	answered(t, app, 3)
	w.round(control.OutcomeConverged)
	for _, after := range app.Messages() {
		if after.Time == m.Time && (!strings.Contains(after.Text, "no break-glass grant is open any more") || len(after.Buttons()) != 0) {
			t.Errorf("afterwards the message says %s", after.Blocks)
		}
	}
}

// Without the store a grant that was opened in Slack is known at the command line of the
// agent's machine, and is closed there.
func TestGrantOfSlackIsClosedOnTheMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, people := w.breakable()
	if bad := app.Submit(anaInSlack, form(t, app, anaInSlack, 1), opened("incident 7")); bad != nil {
		t.Fatalf("the form is wrong: %v", bad)
	}
	w.round(control.OutcomeDrifted)
	w.store.set(true)
	config := w.config(filepath.Join(w.dir, "data"))
	files, err := agent.LastClicked(config)
	if err != nil || len(files) != 1 {
		t.Fatalf("the agent keeps %v, %v", files, err)
	}
	w.round(control.OutcomeDrifted)
	for id := range files {
		closure, err := control.SignGrantClosure(control.GrantClosure{Version: control.FormatVersion, ID: id, Closed: w.clock().UTC()}, people.ben)
		if err != nil {
			t.Fatal(err)
		}
		key := control.GrantClosureKey("prod", id, control.ApproverID(people.ben.PublicKey()))
		if err := repository.OpenGrantFolder(config.DataDir, "prod").Add(repository.SignedFile{Key: key, Data: closure}); err != nil {
			t.Fatal(err)
		}
	}
	w.round(control.OutcomeApplied)
	w.store.set(false)
	w.round(control.OutcomeConverged)
	if got := w.keys(control.GrantsPrefix("prod")); len(got) != 1 || !strings.Contains(got[0], "/closures/") {
		t.Errorf("uploaded %v", got)
	}
	if files, err = agent.LastClicked(config); err != nil || len(files) != 0 {
		t.Errorf("after its end the agent keeps %v, %v", files, err)
	}
}

// A grant that was opened in Slack holds without the store, also after a restart.
func TestGrantOfSlackOutlivesTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, _ := w.breakable()
	if bad := app.Submit(anaInSlack, form(t, app, anaInSlack, 1), opened("incident 7")); bad != nil {
		t.Fatalf("the form is wrong: %v", bad)
	}
	w.round(control.OutcomeDrifted)
	w.store.set(true)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.advance(12 * time.Minute)
	w.round(control.OutcomeDrifted)
	if !w.attribute("a", "size").RawEquals(cty.NumberIntVal(9)) {
		t.Error("the grant was forgotten with the store")
	}
	w.advance(12 * time.Minute)
	w.round(control.OutcomeApplied)
}

// Where a scope works by attribute, so does the form; and a policy holds only what it reaches.
func TestFormByAttributeAndPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.withApp()
	_, policy := w.slackPolicy()
	rest := policy
	rest.Name, rest.Scopes, rest.MaxDuration = "rest", []string{"rest"}, control.Duration(5*time.Minute)
	some := w.scope(control.DriftEnforce, time.Hour)
	some.Include = []control.Match{{Address: "cloud_thing.a", Except: []string{"note"}}}
	others := w.scope(control.DriftEnforce, time.Hour)
	others.Name, others.Include = "rest", []control.Match{{Address: "cloud_thing.b"}}
	doc := w.appDoc()
	doc.Scopes = []string{"all", "rest"}
	w.declare(doc, some, others, policy, rest)
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.edit("a", "size", cty.NumberIntVal(9))
	w.edit("b", "size", cty.NumberIntVal(9))
	w.round(control.OutcomeDrifted)
	listening(t, w.agent, app, 1)
	view := form(t, app, anaInSlack, 1)
	if all, chosen := view.Options("targets"); !slices.Equal(all, []string{"cloud_thing.a.size", "cloud_thing.b"}) || len(chosen) != 2 {
		t.Fatalf("the form has %q, of which %q are chosen", all, chosen)
	}
	with := opened("incident 7")
	if bad := app.Submit(anaInSlack, view, with); !strings.Contains(bad["reason"], `policy "" does not say`) {
		t.Errorf("without a policy: %v", bad)
	}
	with["policy"] = []string{"fix"}
	if bad := app.Submit(anaInSlack, view, with); !strings.Contains(bad["targets"], "Policy fix does not reach all of them. It reaches: cloud_thing.a.size") {
		t.Errorf("with what another policy reaches: %v", bad)
	}
	with["targets"] = []string{"cloud_thing.a.size"}
	if bad := app.Submit(anaInSlack, view, with); bad != nil {
		t.Fatalf("the form is wrong: %v", bad)
	}
	if got := w.grantRecord().Grant.Request; got.Policy != "fix" || !slices.Equal(got.Targets, []string{"cloud_thing.a.size"}) {
		t.Errorf("request %+v", got)
	}
	receipt := w.round(control.OutcomeDrifted)
	if got := decisions(receipt); got["cloud_thing.a"] != "held" || got["cloud_thing.b"] != "in-grace" {
		t.Errorf("drift %+v", receipt.Drift)
	}
	if got := labelled(message(t, app)); !slices.Equal(got, []string{"Break glass", "Close grant"}) {
		t.Errorf("the message has %q", got)
	}
}

// A form takes what Slack takes: a hundred objects, and names of a length.
func TestFormOfManyAndLongNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.withApp()
	_, policy := w.slackPolicy()
	w.declare(w.scope(control.DriftEnforce, time.Hour), policy)
	w.publish("resource \"cloud_thing\" \"a\" {\n for_each = toset([for i in range(120) : \"" + strings.Repeat("long", 60) + "${i}\"])\n name = each.key\n}\n")
	w.round(control.OutcomeApplied)
	for _, id := range w.cloud.IDs(thing) {
		attrs := w.cloud.Object(thing, id).AsValueMap()
		attrs["size"] = cty.NumberIntVal(9)
		w.cloud.SetObject(thing, id, cty.ObjectVal(attrs))
	}
	w.round(control.OutcomeDrifted)
	listening(t, w.agent, app, 1)
	view := form(t, app, anaInSlack, 1)
	if all, _ := view.Options("targets"); len(all) != 100 || !strings.Contains(all[0], "…") || !strings.Contains(view.Blocks, "Here are 100 of 120") {
		t.Errorf("the form has %d: %s", len(all), all[0])
	}
	if bad := app.Submit(anaInSlack, view, opened("incident 7")); bad != nil {
		t.Fatalf("the form is wrong: %v", bad)
	}
	if got := w.grantRecord().Grant.Request.Targets; len(got) != 100 || !strings.Contains(got[0], strings.Repeat("long", 60)) {
		t.Errorf("%d targets, the first is %s", len(got), got[0])
	}
}

// Nobody in Slack breaks the glass unless a policy says so, and an app whose policy says so
// no more opens no form for an old button.
func TestNobodyBreaksTheGlassInSlackUnlessDeclared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, _ := w.breakable()
	m := message(t, app)
	_, without := w.slackPolicy(func(p *control.BreakGlassPolicy) { p.SlackUsers = nil })
	w.declare(without)
	w.round(control.OutcomeDrifted)
	if got := labelled(message(t, app)); len(got) != 0 {
		t.Errorf("the message has %q", got)
	}
	app.Deliver(app.Envelope(anaInSlack, slacktest.Team, m, m.Buttons()[0]))
	if got := answered(t, app, 1); !strings.Contains(got, "No break-glass policy that reaches what differs lets anybody open a grant in Slack any more") {
		t.Errorf("ana was told %q", got)
	}
}
