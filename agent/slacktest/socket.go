package slacktest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// socket is one connection of Socket Mode.
type socket struct {
	conn *websocket.Conn
	mu   sync.Mutex
}

func (s *socket) write(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conn.WriteMessage(websocket.TextMessage, data) // a connection that has ended is what some tests want
}

// ping says every few seconds that the connection is there.
func (s *socket) ping(ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case <-time.After(5 * time.Second):
			_ = s.conn.WriteControl(websocket.PingMessage, []byte("ping"), time.Now().Add(time.Second))
		}
	}
}

// open hands out the address of a connection, good for one time.
func (s *Server) open(*http.Request) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	ticket := fmt.Sprintf("planted-ticket-%d", s.number)
	s.tickets[ticket] = true
	return map[string]any{"ok": true, "url": "ws" + strings.TrimPrefix(s.http.URL, "http") + "/link/?ticket=" + ticket}
}

// link takes a connection and greets. Slack pings, and so does this.
func (s *Server) link(w http.ResponseWriter, r *http.Request) {
	ticket := r.FormValue("ticket")
	s.mu.Lock()
	good := s.tickets[ticket] && !s.down
	delete(s.tickets, ticket)
	s.mu.Unlock()
	if !good {
		http.Error(w, "no such ticket", http.StatusUnauthorized)
		return
	}
	conn, err := (&websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	link := &socket{conn: conn}
	link.write(encode(map[string]any{
		"type": "hello", "num_connections": 1, "connection_info": map[string]any{"app_id": "A0TOWLINE"},
		"debug_info": map[string]any{"host": "applink-1", "approximate_connection_time": 3600},
	}))
	s.mu.Lock()
	s.sockets = append(s.sockets, link)
	s.links++
	s.mu.Unlock()
	s.read(link)
}

// read takes acknowledgements until the connection ends.
func (s *Server) read(link *socket) {
	defer s.forget(link)
	ended := make(chan struct{})
	defer close(ended)
	go link.ping(ended)
	for {
		_, data, err := link.conn.ReadMessage()
		if err != nil {
			return
		}
		var ack struct {
			EnvelopeID string `json:"envelope_id"`
			Payload    json.RawMessage
		}
		if json.Unmarshal(data, &ack) != nil || len(data) >= 20<<10 {
			continue // Slack drops it without a word
		}
		s.mu.Lock()
		s.acked[ack.EnvelopeID]++
		s.replies[ack.EnvelopeID] = ack.Payload
		s.mu.Unlock()
	}
}

func (s *Server) forget(link *socket) {
	_ = link.conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.sockets {
		if other == link {
			s.sockets = append(s.sockets[:i], s.sockets[i+1:]...)
			return
		}
	}
}

// Connected waits until there are some number of connections.
func (s *Server) Connected(n int) {
	s.t.Helper()
	s.wait(fmt.Sprintf("%d connections", n), func() bool { return len(s.sockets) == n })
}

// Disconnect asks every connection to be opened anew, for a reason such as "warning" or
// "refresh_requested". Nothing more is sent over the old ones.
func (s *Server) Disconnect(reason string) {
	s.each(true, func(link *socket) {
		link.write(encode(map[string]any{"type": "disconnect", "reason": reason, "debug_info": map[string]any{"host": "applink-1"}}))
	})
}

// Drop ends every connection without a word.
func (s *Server) Drop() { s.each(true, func(link *socket) { _ = link.conn.Close() }) }

// each does something with every connection, which may be its last.
func (s *Server) each(last bool, do func(*socket)) {
	s.mu.Lock()
	links := append([]*socket(nil), s.sockets...)
	if last {
		s.sockets = nil
	}
	s.mu.Unlock()
	for _, link := range links {
		do(link)
	}
}

// Click has a user click the button with a label of a message, and waits until it was
// acknowledged, as Slack does. It returns the envelope.
func (s *Server) Click(user string, m Message, label string) Envelope {
	s.t.Helper()
	for _, b := range m.Buttons() {
		if b.Label == label {
			e := s.Envelope(user, Team, m, b)
			s.Deliver(e)
			return e
		}
	}
	s.t.Fatalf("the message %s has no button %q: %s", m.Time, label, m.Blocks)
	return Envelope{}
}

// Envelope is what Slack sends of a click.
type Envelope struct {
	ID      string
	Payload map[string]any
	// attempt counts the retries.
	attempt int
}

// Envelope makes that of a click by a user of a team.
func (s *Server) Envelope(user, team string, m Message, b Button) Envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	trigger := fmt.Sprintf("%d.2.3", s.number)
	s.triggers[trigger] = time.Now()
	return Envelope{ID: fmt.Sprintf("envelope-%d", s.number), Payload: map[string]any{
		"type": "block_actions", "api_app_id": "A0TOWLINE", "trigger_id": trigger, "response_url": s.http.URL + "/response",
		"team": map[string]any{"id": Team, "domain": "towline"}, "user": map[string]any{"id": user, "username": "somebody", "name": "somebody", "team_id": team},
		"channel": map[string]any{"id": m.Channel, "name": "drift"}, "message": map[string]any{"type": "message", "ts": m.Time, "text": m.Text},
		"container": map[string]any{"type": "message", "message_ts": m.Time, "channel_id": m.Channel, "is_ephemeral": false},
		"actions":   []any{map[string]any{"type": "button", "action_id": b.ActionID, "block_id": "b", "value": b.Value, "action_ts": m.Time, "text": map[string]any{"type": "plain_text", "text": b.Label}}},
	}}
}

// Deliver sends an envelope over one of the connections, the newest, and waits for its
// acknowledgement. It fails the test where none comes within three seconds.
func (s *Server) Deliver(e Envelope) {
	s.t.Helper()
	s.wait("a connection", func() bool { return len(s.sockets) > 0 })
	message := map[string]any{"type": "interactive", "envelope_id": e.ID, "accepts_response_payload": e.Payload["type"] == "view_submission", "payload": e.Payload}
	if e.attempt > 0 {
		message["retry_attempt"], message["retry_reason"] = e.attempt, "timeout"
	}
	s.mu.Lock()
	link, before := s.sockets[len(s.sockets)-1], s.acked[e.ID]
	s.mu.Unlock()
	sent := time.Now()
	link.write(encode(message))
	s.wait("an acknowledgement", func() bool { return s.acked[e.ID] > before })
	if took := time.Since(sent); took > 3*time.Second {
		s.t.Errorf("the acknowledgement took %s, and Slack waits three seconds", took)
	}
}

// Retry sends an envelope once more, as Slack does where it has seen no acknowledgement.
func (s *Server) Retry(e Envelope) {
	s.t.Helper()
	e.attempt++
	s.Deliver(e)
}

// Send sends anything over every connection.
func (s *Server) Send(data string) { s.each(false, func(link *socket) { link.write([]byte(data)) }) }

func encode(v any) []byte {
	data, _ := json.Marshal(v) // what is encoded here always encodes
	return data
}
