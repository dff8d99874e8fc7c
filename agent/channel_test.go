package agent_test

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack/slacktest"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/agent/slacktest"
	"github.com/towline/terraform-provider-towline/internal/control"
)

// withApp gives the world's agent a Slack app, beside no webhook.
func (w *world) withApp() *slacktest.Server {
	w.t.Helper()
	app := slacktest.New(w.t)
	w.appAt(app.URL())
	return app
}

// appAt gives the world's agent an app of a Slack at an address.
func (w *world) appAt(url string) {
	w.t.Helper()
	w.slackURL = url
	w.writeFile("bot-token", slacktest.BotToken+"\n")
	w.writeFile("app-token", slacktest.AppToken+"\n")
	w.declare(w.appDoc())
}

// appDoc is the agent with its app.
func (w *world) appDoc() control.Agent {
	doc := w.agentDoc()
	doc.Slack = &control.Slack{Channel: slacktest.ChannelName, BotTokenFile: filepath.Join(w.dir, "bot-token"), AppTokenFile: filepath.Join(w.dir, "app-token")}
	return doc
}

// message is the only one in the channel.
func message(t *testing.T, app *slacktest.Server) slacktest.Message {
	t.Helper()
	messages := app.Messages()
	if len(messages) != 1 {
		t.Fatalf("%d messages, want one: %+v", len(messages), messages)
	}
	return messages[0]
}

// The test server of Slack's library takes what the agent posts, and knows what it edits.
func TestMessagesAtTheServerOfSlacksLibrary(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var edits []url.Values
	server := slackgo.NewTestServer(func(c slackgo.Customize) {
		c.Handle("/chat.update", func(w http.ResponseWriter, r *http.Request) { // the one method that it lacks
			mu.Lock()
			defer mu.Unlock()
			_ = r.ParseForm()
			edits = append(edits, r.PostForm)
			_, _ = fmt.Fprintf(w, `{"ok": true, "channel": %q, "ts": %q}`, r.PostForm.Get("channel"), r.PostForm.Get("ts"))
		})
	})
	server.Start()
	t.Cleanup(server.Stop)
	w := newWorld(t)
	w.appAt(server.GetAPIURL())
	w.made(w.scope(control.DriftObserve, 0))
	w.resize("a", 9)
	w.round(control.OutcomeDrifted)
	w.round(control.OutcomeDrifted)
	w.resize("a", 1)
	w.round(control.OutcomeConverged)
	mu.Lock()
	defer mu.Unlock()
	if len(edits) != 1 || edits[0].Get("ts") == "" || edits[0].Get("channel") != slacktest.ChannelName || !strings.Contains(edits[0].Get("text"), "the drift is gone") {
		t.Errorf("edits %v", edits)
	}
}

func TestOneMessageForADriftSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.withApp()
	w.made(w.scope(control.DriftObserve, 0))
	if got := app.Messages(); len(got) != 0 {
		t.Fatalf("nothing differs, and people are told %+v", got)
	}
	w.resize("a", 9)
	w.round(control.OutcomeDrifted)
	first := message(t, app)
	if !strings.Contains(first.Blocks, "cloud_thing.a") || !strings.Contains(first.Blocks, "size") || len(first.Buttons()) != 0 {
		t.Errorf("the message says %s", first.Blocks)
	}
	w.round(control.OutcomeDrifted)
	w.resize("a", 10) // another value, the same names
	w.round(control.OutcomeDrifted)
	if again := message(t, app); again.Edits != 0 || len(app.Replies(again)) != 0 {
		t.Errorf("nothing new, and there are %d edits and replies %+v", again.Edits, app.Replies(again))
	}
	w.resize("a", 1)
	w.round(control.OutcomeConverged)
	last := message(t, app)
	if last.Edits != 1 || !strings.Contains(last.Text, "the drift is gone") || !strings.Contains(last.Blocks, "cloud_thing.a") || len(app.Replies(last)) != 1 {
		t.Errorf("afterwards: %+v, replies %+v", last, app.Replies(last))
	}
	w.round(control.OutcomeConverged)
	if got := message(t, app); got.Edits != 1 {
		t.Errorf("it is edited again: %+v", got)
	}
}

// What no message names yet is news; what goes away is not.
func TestMoreDriftIsAnotherMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.withApp()
	w.made(w.scope(control.DriftObserve, 0))
	w.resize("a", 9)
	w.round(control.OutcomeDrifted)
	w.resize("b", 9)
	w.round(control.OutcomeDrifted)
	messages := app.Messages()
	if len(messages) != 2 || !strings.Contains(messages[0].Text, "goes on in a newer message") || !strings.Contains(messages[1].Blocks, "cloud_thing.b") {
		t.Fatalf("messages %+v", messages)
	}
	w.edit("b", "size", cty.NullVal(cty.Number))
	w.round(control.OutcomeDrifted)
	messages = app.Messages()
	if len(messages) != 2 || messages[1].Edits != 1 || strings.Contains(messages[1].Blocks, "cloud_thing.b") {
		t.Errorf("one of two is gone: %+v", messages)
	}
}

func TestDeletedMessageIsPostedAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.withApp()
	w.made(w.scope(control.DriftEnforce, time.Hour))
	w.resize("a", 9)
	w.resize("b", 9)
	w.round(control.OutcomeDrifted)
	app.Delete(message(t, app))
	w.edit("b", "size", cty.NullVal(cty.Number))
	w.round(control.OutcomeDrifted)
	anew := message(t, app)
	if !strings.Contains(anew.Blocks, "cloud_thing.a") || strings.Contains(anew.Blocks, "cloud_thing.b") {
		t.Errorf("it says %s", anew.Blocks)
	}
	app.Delete(anew)
	w.resize("a", 1)
	w.round(control.OutcomeConverged)
	if got := app.Messages(); len(got) != 0 {
		t.Errorf("of a deleted message the end is told: %+v", got)
	}
}

// A message is known over a restart, and one that was lost is one message more, not many.
func TestMessageOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.withApp()
	w.made(w.scope(control.DriftObserve, 0))
	w.resize("a", 9)
	w.round(control.OutcomeDrifted)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.round(control.OutcomeDrifted)
	message(t, app)
	w.stop()
	w.erase("memory.json")
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		w.round(control.OutcomeDrifted)
	}
	if got := len(app.Messages()); got != 2 {
		t.Errorf("without its memory the agent has left %d messages, want 2", got)
	}
}

// While Slack is away rounds go on, and afterwards people are told once how things are.
func TestSlackIsAwayForRounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.withApp()
	w.made(w.scope(control.DriftObserve, 0))
	app.SetDown(true)
	for i := range 4 {
		w.edit([]string{"a", "b"}[i%2], "size", cty.NumberIntVal(int64(20+i)))
		w.round(control.OutcomeDrifted)
	}
	app.SetDown(false)
	for range 3 {
		w.round(control.OutcomeDrifted)
	}
	got := message(t, app)
	if got.Edits != 0 || !strings.Contains(got.Blocks, "cloud_thing.a") || !strings.Contains(got.Blocks, "cloud_thing.b") {
		t.Errorf("afterwards: %+v", got)
	}
	app.SetDown(true)
	w.resize("a", 1)
	w.edit("b", "size", cty.NullVal(cty.Number))
	for range 3 {
		w.round(control.OutcomeConverged)
	}
	app.SetDown(false)
	w.round(control.OutcomeConverged)
	if got := message(t, app); got.Edits != 1 || !strings.Contains(got.Text, "gone") {
		t.Errorf("the end: %+v", got)
	}
}

// The thread of one message has an end, however often its drift changes.
func TestThreadHasAnEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.withApp()
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	observed := func(i int) control.Scope {
		scope := w.scope(control.DriftObserve, 0)
		if i%2 == 1 {
			scope = w.scope(control.DriftEnforce, time.Hour)
		}
		return scope
	}
	w.declare(observed(0))
	w.resize("a", 9)
	for i := range 30 {
		w.declare(observed(i))
		w.round(control.OutcomeDrifted)
	}
	m := message(t, app)
	replies := app.Replies(m)
	if m.Edits != 29 || len(replies) != 20 || !strings.Contains(replies[19].Text, "towline receipts") {
		t.Errorf("%d edits, %d replies, the last of which says %q", m.Edits, len(replies), replies[len(replies)-1].Text)
	}
}

// Names that others have chosen mention nobody, and a long list is counted.
func TestNamesMeanNothingToSlack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.withApp()
	w.declare(w.scope(control.DriftObserve, 0))
	config := "resource \"cloud_thing\" \"a\" {\n for_each = toset([\"<!channel>`x\", \"" + strings.Repeat("long", 500) + "\"])\n name = each.key\n}\n" +
		"resource \"cloud_thing\" \"b\" {\n count = 40\n name = \"b${count.index}\"\n}\n"
	w.publish(config)
	w.round(control.OutcomeApplied)
	for _, id := range w.cloud.IDs(thing) {
		attrs := w.cloud.Object(thing, id).AsValueMap()
		attrs["labels"] = cty.MapVal(map[string]cty.Value{"<!everyone>": cty.StringVal("hidden")})
		w.cloud.SetObject(thing, id, cty.ObjectVal(attrs))
	}
	w.round(control.OutcomeDrifted)
	m := message(t, app)
	for _, bad := range []string{"<!", `\u003c!`, "hidden", "`x"} {
		if strings.Contains(m.Blocks+m.Text, bad) {
			t.Errorf("the message has %q: %s", bad, m.Blocks)
		}
	}
	if !strings.Contains(m.Blocks, "&lt;!channel&gt;") && !strings.Contains(m.Blocks, `\u0026lt;!channel\u0026gt;`) || !strings.Contains(m.Blocks, "and 22 more") {
		t.Errorf("the message says %s", m.Blocks)
	}
}

// What stands in the place of a token and is none goes nowhere, and people are told why
// nothing comes.
func TestTokensOfSlack(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ token, want string }{
		"none":     {"hunter2-of-something-else", "does not begin with xoxb-"},
		"another":  {"xoxb-another-token-of-nobody", "invalid_auth: the token is not valid"},
		"no place": {"", "does not begin with xoxb-"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			app := w.withApp()
			log := w.logged()
			w.made(w.scope(control.DriftObserve, 0))
			w.writeFile("bot-token", test.token)
			w.resize("a", 9)
			w.round(control.OutcomeDrifted)
			if text := log.String(); !strings.Contains(text, test.want) || test.token != "" && strings.Contains(text, test.token) {
				t.Errorf("the log says %s", text)
			}
			if name == "none" && app.Calls("chat.postMessage") > 0 {
				t.Error("what is no token was sent to Slack")
			}
			w.writeFile("bot-token", slacktest.BotToken)
			w.round(control.OutcomeDrifted)
			message(t, app)
		})
	}
}

func TestChannelThatTheBotDoesNotSee(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.withApp()
	log := w.logged()
	doc := w.appDoc()
	doc.Slack.Channel = "#elsewhere"
	w.made(doc, w.scope(control.DriftObserve, 0))
	w.resize("a", 9)
	w.round(control.OutcomeDrifted)
	if !strings.Contains(log.String(), "invite the bot") {
		t.Errorf("the log says %s", log)
	}
	w.declare(w.appDoc())
	w.round(control.OutcomeDrifted)
	if m := message(t, app); m.Channel != slacktest.Channel {
		t.Errorf("it is in %s", m.Channel)
	}
}
