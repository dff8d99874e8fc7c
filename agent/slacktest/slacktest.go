// Package slacktest is Slack as an app sees it, on this machine, for tests: the methods of
// the Web API that agents use, with the answers that Slack documents, and Socket Mode, with
// its envelopes, acknowledgements, retries and disconnects.
//
// It is not for anything but tests. Start with [New].
package slacktest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// What the workspace of every server has.
const (
	BotToken = "xoxb-0000000000-planted-bot-token"
	AppToken = "xapp-1-A000000000-planted-app-token"
	Team     = "T0TOWLINE"
	// Channel is the one that the bot is in, ChannelName its name.
	Channel, ChannelName = "C0DRIFT", "#drift"
)

// Message is a message in a channel as it is now.
type Message struct {
	Channel, Time string
	// Thread is the time of the message that it answers, "" if none.
	Thread string
	Text   string
	// Blocks are its blocks in JSON.
	Blocks string
	// Edits counts how often it was edited.
	Edits int
}

// Button is a button of a message.
type Button struct{ ActionID, Value, Label string }

// Answer is a message that only one user sees.
type Answer struct{ User, Text string }

// Server is Slack. It is safe for concurrent use.
type Server struct {
	t    testing.TB
	http *httptest.Server

	mu       sync.Mutex
	messages []*Message
	answers  []Answer
	calls    map[string]int
	down     bool
	number   int
	// sockets are the connections of Socket Mode; acked are the envelopes acknowledged.
	sockets []*socket
	links   int
	acked   map[string]int
	// replies are what came with acknowledgements.
	replies map[string]json.RawMessage
	// tickets open a connection each.
	tickets map[string]bool
	// triggers are when users did something that lets a form be opened once.
	triggers map[string]time.Time
	views    []View
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, calls: map[string]int{}, acked: map[string]int{}, replies: map[string]json.RawMessage{}, tickets: map[string]bool{}, triggers: map[string]time.Time{}}
	mux := http.NewServeMux()
	for method, answer := range map[string]func(*http.Request) any{
		"auth.test": s.authTest, "chat.postMessage": s.postMessage, "chat.update": s.update, "chat.postEphemeral": s.postEphemeral,
		"apps.connections.open": s.open, "views.open": s.openView,
	} {
		mux.HandleFunc("/api/"+method, s.method(method, answer))
	}
	mux.HandleFunc("/link/", s.link)
	s.http = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.Drop()
		s.http.Close()
	})
	return s
}

// URL is the base of the Web API.
func (s *Server) URL() string { return s.http.URL + "/api/" }

// failure is what Slack answers where a method fails.
func failure(problem string) any { return map[string]any{"ok": false, "error": problem} }

// method answers calls of one method, with tokens checked as Slack checks them.
func (s *Server) method(name string, answer func(*http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.calls[name]++
		down := s.down
		s.mu.Unlock()
		if down {
			http.Error(w, "upstream is away", http.StatusServiceUnavailable)
			return
		}
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if token == "" {
			token = r.FormValue("token")
		}
		wanted := BotToken
		if name == "apps.connections.open" {
			wanted = AppToken
		}
		reply := failure("invalid_auth")
		if token == wanted {
			reply = answer(r)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(reply)
	}
}

func (s *Server) authTest(*http.Request) any {
	return map[string]any{"ok": true, "team": "towline", "user": "towline", "team_id": Team, "user_id": "U0BOT", "bot_id": "B0BOT"}
}

func (s *Server) postMessage(r *http.Request) any {
	channel, problem := s.channel(r)
	if problem != "" {
		return failure(problem)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	m := &Message{Channel: channel, Time: fmt.Sprintf("1767323045.%06d", s.number), Thread: r.FormValue("thread_ts"), Text: r.FormValue("text"), Blocks: r.FormValue("blocks")}
	s.messages = append(s.messages, m)
	return map[string]any{"ok": true, "channel": channel, "ts": m.Time}
}

// channel is the one that a call names, or why it cannot be had.
func (s *Server) channel(r *http.Request) (channel, problem string) {
	if channel = r.FormValue("channel"); channel == ChannelName {
		channel = Channel
	}
	var blocks []json.RawMessage
	text := r.FormValue("blocks")
	switch {
	case channel != Channel:
		return "", "channel_not_found"
	case text != "" && (json.Unmarshal([]byte(text), &blocks) != nil || len(blocks) > 50):
		return "", "invalid_blocks"
	case r.FormValue("text") == "" && text == "":
		return "", "no_text"
	}
	for _, block := range blocks {
		var section struct{ Text struct{ Text string } }
		if json.Unmarshal(block, &section) == nil && len(section.Text.Text) > 3000 {
			return "", "invalid_blocks"
		}
	}
	return channel, ""
}

func (s *Server) update(r *http.Request) any {
	channel, problem := s.channel(r)
	if problem != "" {
		return failure(problem)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.Channel == channel && m.Time == r.FormValue("ts") {
			m.Text, m.Blocks, m.Edits = r.FormValue("text"), r.FormValue("blocks"), m.Edits+1
			return map[string]any{"ok": true, "channel": channel, "ts": m.Time, "text": m.Text}
		}
	}
	return failure("message_not_found")
}

func (s *Server) postEphemeral(r *http.Request) any {
	if _, problem := s.channel(r); problem != "" {
		return failure(problem)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, Answer{r.FormValue("user"), r.FormValue("text")})
	return map[string]any{"ok": true, "message_ts": "1767323045.999999"}
}

// SetDown takes Slack away, or gives it back. Connections that are open stay.
func (s *Server) SetDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// Calls is how often a method was called.
func (s *Server) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// Links is how many connections there have been.
func (s *Server) Links() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links
}

// Linked waits until there is one connection, which is none of the first n.
func (s *Server) Linked(n int) {
	s.t.Helper()
	s.wait("a new connection", func() bool { return s.links > n && len(s.sockets) == 1 })
}

// Messages are those that answer no other, as they are now.
func (s *Server) Messages() []Message { return s.pick(func(m *Message) bool { return m.Thread == "" }) }

// Replies are those that answer a message.
func (s *Server) Replies(to Message) []Message {
	return s.pick(func(m *Message) bool { return m.Thread == to.Time })
}

func (s *Server) pick(wanted func(*Message) bool) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	for _, m := range s.messages {
		if wanted(m) {
			out = append(out, *m)
		}
	}
	return out
}

// Delete takes a message away, as a person does.
func (s *Server) Delete(m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.messages {
		if other.Time == m.Time {
			s.messages = append(s.messages[:i], s.messages[i+1:]...)
			return
		}
	}
}

// Everything is all that was ever given to the server to show, as one text.
func (s *Server) Everything() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, _ := json.Marshal([]any{s.messages, s.answers, s.views}) // texts always encode
	return string(text)
}

// Answers waits until there are some number of answers that one user alone sees.
func (s *Server) Answers(n int) []Answer {
	s.t.Helper()
	s.wait("answers", func() bool { return len(s.answers) >= n })
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Answer(nil), s.answers...)
}

// Buttons are the buttons of a message.
func (m Message) Buttons() []Button {
	var blocks []struct {
		Elements []struct {
			ActionID string `json:"action_id"`
			Value    string
			Text     struct{ Text string }
		}
	}
	_ = json.Unmarshal([]byte(m.Blocks), &blocks) // sections have no elements
	var out []Button
	for _, b := range blocks {
		for _, e := range b.Elements {
			out = append(out, Button{e.ActionID, e.Value, e.Text.Text})
		}
	}
	return out
}

// patience is how long tests wait for what should happen at once.
const patience = 20 * time.Second

// wait waits for something to become true; done is called with the lock held.
func (s *Server) wait(what string, done func() bool) {
	s.t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		ok := done()
		s.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(until) {
			s.t.Fatalf("waited %s for %s", patience, what)
		}
	}
}
