package agent_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/agent/slacktest"
	"github.com/towline/terraform-provider-towline/internal/control"
)

// The people of the tests in Slack.
const (
	anaInSlack = "U0ANA"
	benInSlack = "U0BEN"
	eveInSlack = "U0EVE"
)

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// listening has an agent take clicks until the test ends.
func listening(t *testing.T, a *agent.Agent, app *slacktest.Server, connections int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.Listen(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	app.Connected(connections)
}

// clickable is a world with an app whose drift waits for approval, the message about it,
// and the plan's digest.
func (w *world) clickable(approvals int, users map[string]string, keys ...string) (*slacktest.Server, slacktest.Message, string) {
	w.t.Helper()
	app := w.withApp()
	scope := w.approvable(false, approvals, keys...)
	scope.Approval.SlackUsers = users
	w.made(scope)
	w.resize("a", 9)
	digest := proposal(w.t, w.round(control.OutcomeDrifted), control.ProposalPending)
	listening(w.t, w.agent, app, 1)
	return app, message(w.t, app), digest
}

// answered is what the newest of some number of answers says.
func answered(t *testing.T, app *slacktest.Server, n int) string {
	t.Helper()
	answers := app.Answers(n)
	return answers[len(answers)-1].Text
}

func TestClickApproves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, anaKey := approver(t)
	_, benKey := approver(t)
	app, m, digest := w.clickable(2, map[string]string{anaInSlack: anaKey, benInSlack: benKey}, anaKey, benKey)

	app.Click(anaInSlack, m, "Approve")
	if got := answered(t, app, 1); !strings.Contains(got, "is recorded") || !strings.Contains(got, "Approvals missing: 1") {
		t.Errorf("ana was told %q", got)
	}
	proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending)
	if m = message(t, app); !strings.Contains(m.Blocks, "approval by \\u003c@"+anaInSlack) || len(app.Replies(m)) != 1 {
		t.Errorf("the message says %s", m.Blocks)
	}
	app.Click(benInSlack, m, "Approve")
	if got := answered(t, app, 2); !strings.Contains(got, "has all approvals") {
		t.Errorf("ben was told %q", got)
	}
	receipt := w.round(control.OutcomeApplied)
	if got := proposal(t, receipt, control.ProposalApproved); got != digest || len(receipt.Proposals[0].Approvers) != 2 {
		t.Errorf("proposals %+v", receipt.Proposals)
	}
	if got := w.attribute("a", "size"); got.RawEquals(cty.NumberIntVal(9)) {
		t.Error("the approved correction was not made")
	}
	if m = message(t, app); !strings.Contains(m.Blocks, "was approved by") || len(m.Buttons()) != 0 {
		t.Errorf("afterwards the message says %s", m.Blocks)
	}
	for _, a := range app.Answers(2) {
		if a.User != anaInSlack && a.User != benInSlack {
			t.Errorf("%s was told %q", a.User, a.Text)
		}
	}
}

func TestClickRejects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, anaKey := approver(t)
	app, m, digest := w.clickable(1, map[string]string{anaInSlack: anaKey}, anaKey)
	app.Click(anaInSlack, m, "Reject")
	if got := answered(t, app, 1); !strings.Contains(got, "It is rejected") {
		t.Errorf("ana was told %q", got)
	}
	app.Click(anaInSlack, m, "Approve")
	if got := answered(t, app, 2); !strings.Contains(got, "You have said reject of plan "+digest[:12]+" before, and a decision cannot be taken back") {
		t.Errorf("ana was told %q", got)
	}
	proposal(t, w.round(control.OutcomeDrifted), control.ProposalRejected)
	if m = message(t, app); !strings.Contains(m.Blocks, "was rejected by") || len(m.Buttons()) != 0 {
		t.Errorf("the message says %s", m.Blocks)
	}
	if got := w.attribute("a", "size"); !got.RawEquals(cty.NumberIntVal(9)) {
		t.Error("a rejected correction was made")
	}
}

// Without a policy that says so nobody in Slack is an approver, and there are no buttons.
func TestNobodyIsAnApproverInSlackUnlessDeclared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, anaKey := approver(t)
	app, m, digest := w.clickable(1, nil, anaKey)
	if len(m.Buttons()) != 0 || !strings.Contains(m.Blocks, "towline plans approve") {
		t.Fatalf("the message says %s", m.Blocks)
	}
	app.Deliver(app.Envelope(anaInSlack, slacktest.Team, m, slacktest.Button{ActionID: "towline-approve-0", Value: "approve/prod/a1/" + digest + "/0"}))
	if got := answered(t, app, 1); !strings.Contains(got, "Nothing was recorded. You are U0ANA in Slack, and no scope of plan") || !strings.Contains(got, "slack_users") {
		t.Errorf("ana was told %q", got)
	}
	proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending)
}

// Whoever is no approver in Slack decides nothing, whatever is put into the store for it.
func TestAttackClickOfAStranger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, anaKey := approver(t)
	app, m, digest := w.clickable(1, map[string]string{anaInSlack: anaKey}, anaKey)
	app.Click(eveInSlack, m, "Approve")
	if got := answered(t, app, 1); !strings.Contains(got, "Nothing was recorded. You are U0EVE") {
		t.Errorf("eve was told %q", got)
	}
	abroad := app.Envelope(anaInSlack, "T0ELSEWHERE", m, m.Buttons()[0])
	app.Deliver(abroad)
	if got := answered(t, app, 2); !strings.Contains(got, "another workspace") {
		t.Errorf("who has ana's ID in another workspace was told %q", got)
	}
	click := control.Click{Version: control.FormatVersion, Environment: "prod", Agent: "a1", Relay: "a1", Verb: control.ClickApprove, Subject: digest,
		User: anaInSlack, Team: slacktest.Team, Channel: m.Channel, Message: m.Time, Time: w.clock().UTC()}
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := control.Sign(click, stranger)
	if err != nil {
		t.Fatal(err)
	}
	w.put(click.Key(), string(forged))
	click.Relay = "a2" // an agent that is not declared
	forged, err = control.Sign(click, stranger)
	if err != nil {
		t.Fatal(err)
	}
	w.put(click.Key(), string(forged))
	proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending)
	if got := w.attribute("a", "size"); !got.RawEquals(cty.NumberIntVal(9)) {
		t.Error("a stranger's approval counted")
	}
}

// One person counts once: clicking twice, by Slack's retries, and by signing as well.
func TestAttackClicksCountOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana, anaKey := approver(t)
	_, benKey := approver(t)
	app, m, digest := w.clickable(2, map[string]string{anaInSlack: anaKey, "U0ANATWO": control.ApproverID(ana.PublicKey())}, anaKey, benKey)
	envelope := app.Click(anaInSlack, m, "Approve")
	for range 3 {
		app.Retry(envelope)
	}
	app.Click(anaInSlack, m, "Approve")
	app.Click("U0ANATWO", m, "Approve")
	if got := answered(t, app, 6); !strings.Contains(got, "Approvals missing: 1") {
		t.Errorf("ana was told %q", got)
	}
	w.decide(ana, digest, control.VerdictApprove)
	receipt := w.round(control.OutcomeDrifted)
	proposal(t, receipt, control.ProposalPending)
	if use := receipt.Proposals[0]; len(use.Approvers) != 1 || use.Missing != 1 {
		t.Errorf("it counts as %+v", use)
	}
}

func TestClickOnASupersededPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, anaKey := approver(t)
	app, old, first := w.clickable(1, map[string]string{anaInSlack: anaKey}, anaKey)
	w.resize("a", 10)
	second := proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending)
	app.Click(anaInSlack, old, "Approve")
	if got := answered(t, app, 1); !strings.Contains(got, "Plan "+first[:12]+" is superseded") || !strings.Contains(got, "plan "+second[:12]+" waits in its place") {
		t.Errorf("ana was told %q", got)
	}
	if got := w.keys(control.AgentPrefix("prod", "a1") + "clicks/"); len(got) != 0 {
		t.Errorf("it was recorded: %v", got)
	}
	proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending)
	app.Click(anaInSlack, message(t, app), "Approve")
	answered(t, app, 2)
	proposal(t, w.round(control.OutcomeApplied), control.ProposalApproved)
}

// Connections end, by Slack's word and without it, and clicks come again.
func TestConnectionsComeBack(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*slacktest.Server){
		"warning":           func(s *slacktest.Server) { s.Disconnect("warning") },
		"refresh requested": func(s *slacktest.Server) { s.Disconnect("refresh_requested") },
		"dropped":           (*slacktest.Server).Drop,
		"away for a while": func(s *slacktest.Server) {
			s.SetDown(true)
			s.Drop()
			time.Sleep(time.Second)
			s.SetDown(false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, anaKey := approver(t)
			app, m, _ := w.clickable(1, map[string]string{anaInSlack: anaKey}, anaKey)
			before := app.Links()
			end(app)
			app.Linked(before)
			app.Click(anaInSlack, m, "Approve")
			answered(t, app, 1)
			proposal(t, w.round(control.OutcomeApplied), control.ProposalApproved)
		})
	}
}

// A Slack that ends every connection at once is not asked again and again without a pause.
func TestConnectionsThatEndAtOnceArePaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, anaKey := approver(t)
	app, _, _ := w.clickable(1, map[string]string{anaInSlack: anaKey}, anaKey)
	before := app.Calls("apps.connections.open")
	for until := time.Now().Add(4 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		app.Drop()
	}
	if got := app.Calls("apps.connections.open") - before; got > 5 {
		t.Errorf("%d connections were opened in four seconds", got)
	}
}

// Whatever comes over the connection, the agent goes on taking clicks, and nothing of it
// is believed.
func TestAttackHostileEnvelopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, anaKey := approver(t)
	app, m, digest := w.clickable(1, map[string]string{anaInSlack: anaKey}, anaKey)
	for _, garbage := range []string{
		"", "{", "null", "[]", `"x"`, `{"type":"nonsense","envelope_id":"x"}`, `{"type":"interactive"}`, `{"type":"interactive","envelope_id":"x"}`,
		`{"type":"interactive","envelope_id":"x","payload":null}`, `{"type":"interactive","envelope_id":"x","payload":[1]}`,
		`{"type":"interactive","envelope_id":"x","payload":{"type":"block_actions","actions":null}}`,
		`{"type":"interactive","envelope_id":"x","payload":{"type":"block_actions","actions":[null,{"type":"button","action_id":"towline-approve-0"}]}}`,
		`{"type":"interactive","envelope_id":"x","payload":{"type":"view_submission","view":{"state":{"values":{"a":{"b":null}}}}}}`,
		`{"type":"interactive","envelope_id":"x","payload":{"type":"view_submission","view":{"id":"V1","callback_id":"towline-break-glass"}}}`,
		`{"type":"interactive","envelope_id":"x","payload":{"type":"view_submission","view":{"id":"V1","callback_id":"towline-break-glass","private_metadata":"{}","state":{"values":null}}}}`,
		`{"type":"interactive","envelope_id":"x","payload":{"type":"view_submission","view":{"id":"V1","callback_id":"towline-break-glass","private_metadata":"` + strings.Repeat("[", 1<<17) + `","state":{"values":{"targets":{"targets":{"selected_options":[{}]}}}}}}}`,
		`{"type":"interactive","envelope_id":"x","payload":{"type":"view_closed","view":{"id":"V1","callback_id":"towline-break-glass"}}}`,
		`{"type":"events_api","envelope_id":"x","payload":{"type":"event_callback","event":{"type":"message"}}}`,
		`{"type":"slash_commands","envelope_id":"x","payload":{"command":"/towline"}}`,
		`{"type":"interactive","envelope_id":"x","payload":{"type":"block_actions","user":{"id":"` + strings.Repeat("U", 1<<19) + `"}}}`,
	} {
		app.Send(garbage)
	}
	linked := app.Links()
	app.Send(`{"type":"interactive","payload":"` + strings.Repeat("x", 2<<20) + `"}`) // more than is read
	app.Linked(linked)
	for _, value := range []string{
		"", "approve", "approve/prod/a1/" + digest, "approve/prod/a1/" + digest + "/1", "approve/prod/a1/" + digest + "/x", "approve/prod/a1/" + digest + "/0/", "approve/prod/../" + digest + "/0",
		"destroy/prod/a1/" + digest + "/0", "approve/prod/a1/" + strings.Repeat("a", 63) + "/0", "approve/prod/a1/" + strings.Repeat("../", 21) + "a/0", "hold/prod/a1/" + digest + "/-1", "hold/prod/a1/" + digest + "/99999999999999999999",
		"break-glass/prod/a1/" + digest + "/0", "break-glass/prod/a1/" + digest + "/-7", "approve-grant/prod/a1/" + digest + "/1", "close-grant/prod/a1/x/0",
	} {
		app.Deliver(app.Envelope(anaInSlack, slacktest.Team, m, slacktest.Button{ActionID: "towline-approve-0", Value: value}))
	}
	app.Deliver(app.Envelope(anaInSlack, slacktest.Team, m, slacktest.Button{ActionID: "deploy", Value: "approve/prod/a1/" + digest + "/0"})) // another program's
	app.Deliver(app.Envelope("nobody\x00", slacktest.Team, m, m.Buttons()[0]))
	if got := len(w.keys(control.AgentPrefix("prod", "a1") + "clicks/")); got != 0 {
		t.Errorf("%d clicks were recorded", got)
	}
	other := strings.Repeat("ab", 32)
	for n, want := range map[string]string{
		"approve/prod/a1/" + other + "/0": "is superseded", "approve/prod/zz/" + digest + "/0": "declares no agent zz",
		"approve/test/a1/" + digest + "/0": "This button is of environment test", "hold/prod/a1/" + other + "/1": "What differs has changed since",
		"approve-grant/prod/a1/" + other + "/0": "The grant of this button is not there any more", "close-grant/test/a1/" + other + "/0": "This button is of environment test",
		"break-glass/test/a1/" + other + "/7": "This button is of environment test",
	} {
		before := len(app.Answers(0))
		app.Deliver(app.Envelope(anaInSlack, slacktest.Team, m, slacktest.Button{ActionID: "towline-approve-0", Value: n}))
		if got := answered(t, app, before+1); !strings.Contains(got, "Nothing was recorded") || !strings.Contains(got, want) {
			t.Errorf("%s was answered %q", n, got)
		}
	}
	if !strings.Contains(answered(t, app, 4), "Nothing was recorded") {
		t.Error("an address of nothing was obeyed")
	}
	proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending)
	before := len(app.Answers(0))
	app.Click(anaInSlack, m, "Approve")
	answered(t, app, before+1)
	proposal(t, w.round(control.OutcomeApplied), control.ProposalApproved)
}

// Without the store a click is not recorded, and whoever clicked knows.
func TestClickWithoutTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, anaKey := approver(t)
	app, m, digest := w.clickable(1, map[string]string{anaInSlack: anaKey}, anaKey)
	w.store.set(true)
	app.Click(anaInSlack, m, "Approve")
	if got := answered(t, app, 1); !strings.Contains(got, "the store cannot be used now") || !strings.Contains(got, "towline plans approve -environment prod -key KEY "+digest[:12]) {
		t.Errorf("ana was told %q", got)
	}
	w.store.set(false)
	app.Click(anaInSlack, m, "Approve")
	answered(t, app, 2)
	proposal(t, w.round(control.OutcomeApplied), control.ProposalApproved)
}

// Tokens, and addresses of connections, are in no log and no receipt.
func TestAttackTokensOfSlackStaySecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	log := w.logged()
	_, anaKey := approver(t)
	app, m, _ := w.clickable(1, map[string]string{anaInSlack: anaKey}, anaKey)
	app.Click(anaInSlack, m, "Approve")
	answered(t, app, 1)
	app.SetDown(true)
	app.Drop()
	w.resize("b", 9)
	w.round(control.OutcomeDrifted)
	time.Sleep(2 * time.Second) // for a connection that fails
	told := log.String() + app.Everything()
	for _, data := range w.everything() {
		told += string(data)
	}
	for _, secret := range []string{slacktest.BotToken, slacktest.AppToken, "planted-ticket"} {
		if strings.Contains(told, secret) {
			t.Errorf("%s was told", secret)
		}
	}
	if !strings.Contains(log.String(), "verb=approve") {
		t.Errorf("the log does not tell of the click: %s", log)
	}
}

// relayed is a clickable world with a second agent, which stands by and receives the clicks.
func (w *world) relayed() (app *slacktest.Server, second *partner) {
	w.t.Helper()
	_, anaKey := approver(w.t)
	app, _, _ = w.clickable(1, map[string]string{anaInSlack: anaKey}, anaKey)
	second = w.partner("a2", func(doc *control.Agent) { doc.Slack = w.appDoc().Slack })
	second.round(control.OutcomeStandby)
	listening(w.t, second.agent, app, 2)
	w.round(control.OutcomeDrifted)
	app.Click(anaInSlack, message(w.t, app), "Approve") // over the newest connection
	if got := answered(w.t, app, 1); !strings.Contains(got, "has all approvals") {
		w.t.Errorf("ana was told %q", got)
	}
	if got := w.keys(control.AgentPrefix("prod", "a2") + "clicks/"); len(got) != 1 {
		w.t.Fatalf("the second agent has recorded %v", got)
	}
	return app, second
}

func TestClickAtAnotherAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, _ := w.relayed()
	proposal(t, w.round(control.OutcomeApplied), control.ProposalApproved)
	if m := message(t, app); !strings.Contains(m.Blocks, "was approved by \\u003c@"+anaInSlack) {
		t.Errorf("the message says %s", m.Blocks)
	}
}

// What an agent has signed about clicks counts as long as it is declared with an app.
func TestAttackRelayThatIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, second := w.relayed()
	second.change = []func(*control.Agent){func(doc *control.Agent) { doc.Slack = nil }}
	w.declare(second.doc())
	proposal(t, w.round(control.OutcomeDrifted), control.ProposalPending)
	if got := w.attribute("a", "size"); !got.RawEquals(cty.NumberIntVal(9)) {
		t.Error("the word of an agent without an app counted")
	}
}

// A click has the agent do its next round at once.
func TestClickWakesTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.withApp()
	_, anaKey := approver(t)
	scope := w.approvable(false, 1, anaKey)
	scope.Approval.SlackUsers = map[string]string{anaInSlack: anaKey}
	w.made(scope)
	w.resize("a", 9)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	a := w.agent
	go func() {
		defer close(ended)
		a.Run(ctx)
	}()
	app.Connected(1)
	for until := time.Now().Add(20 * time.Second); len(app.Messages()) == 0 && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	app.Click(anaInSlack, message(t, app), "Approve")
	for until := time.Now().Add(20 * time.Second); w.attribute("a", "size").RawEquals(cty.NumberIntVal(9)); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Error("the plan was not carried out before the next round was due")
			break
		}
	}
	cancel()
	<-ended
}

// What a revision changes is approved in Slack as drift is, and the message says what came of it.
func TestRevisionIsApprovedInSlack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.withApp()
	_, anaKey := approver(t)
	scope := w.approvable(true, 1, anaKey)
	scope.Approval.SlackUsers = map[string]string{anaInSlack: anaKey}
	w.declare(scope)
	w.publish(twoThings)
	w.round(control.OutcomePending)
	w.round(control.OutcomePending)
	listening(t, w.agent, app, 1)
	m := message(t, app)
	if !strings.Contains(m.Text, "needs approval") || !strings.Contains(m.Blocks, "cloud_thing.a`: to create") || m.Edits != 0 {
		t.Fatalf("the message says %s", m.Blocks)
	}
	app.Click(anaInSlack, m, "Approve")
	answered(t, app, 1)
	proposal(t, w.round(control.OutcomeApplied), control.ProposalApproved)
	if m = message(t, app); !strings.Contains(m.Blocks, "was approved by") {
		t.Errorf("afterwards the message says %s", m.Blocks)
	}
	w.round(control.OutcomeConverged)

	w.publish(strings.Replace(twoThings, "size = 1", "size = 2", 1))
	w.round(control.OutcomePending)
	messages := app.Messages()
	if len(messages) != 2 {
		t.Fatalf("the next revision is no message of its own: %+v", messages)
	}
	w.publish(twoThings + "# as it was\n")
	w.round(control.OutcomeConverged)
	if messages = app.Messages(); len(messages) != 2 || !strings.Contains(messages[1].Text, "nothing waits for approval any more") || len(messages[1].Buttons()) != 0 {
		t.Errorf("the plan is gone: %+v", messages[1:])
	}
}

// An agent that is not declared any more takes no clicks.
func TestAgentThatWasRemovedTakesNoClicks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, anaKey := approver(t)
	app, _, _ := w.clickable(1, map[string]string{anaInSlack: anaKey}, anaKey)
	if _, err := w.repo.RemoveDocuments(t.Context(), w.signing(), w.agentDoc().Ref()); err != nil {
		t.Fatal(err)
	}
	w.round(control.OutcomeFailed)
	app.Connected(0)
	w.declare(w.appDoc())
	w.round(control.OutcomeDrifted)
	app.Connected(1)
}
