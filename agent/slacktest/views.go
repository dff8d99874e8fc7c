package slacktest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// View is a form that was opened for a user.
type View struct {
	ID, CallbackID, Metadata string
	// Blocks are its blocks in JSON.
	Blocks string
	hash   string
	inputs []input
}

// input is an input of a form.
type input struct {
	BlockID string `json:"block_id"`
	Type    string
	Label   text
	Element struct {
		Type           string
		ActionID       string `json:"action_id"`
		InitialValue   string `json:"initial_value"`
		MaxLength      int    `json:"max_length"`
		Options        []option
		InitialOption  *option  `json:"initial_option"`
		InitialOptions []option `json:"initial_options"`
	}
}

type option struct {
	Text  text   `json:"text"`
	Value string `json:"value"`
}

type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// triggerLife is for how long a form can be opened after what a user did.
const triggerLife = 3 * time.Second

// openView opens a form, with the bounds that Slack documents.
func (s *Server) openView(r *http.Request) any {
	var call struct {
		TriggerID string `json:"trigger_id"`
		View      struct {
			Type, Title, Submit any
			CallbackID          string `json:"callback_id"`
			PrivateMetadata     string `json:"private_metadata"`
			Blocks              json.RawMessage
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		return failure("invalid_arguments")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.triggers[call.TriggerID]
	switch {
	case !known:
		return failure("invalid_trigger_id")
	case at.IsZero():
		return failure("exchanged_trigger_id")
	case time.Since(at) > triggerLife:
		return failure("expired_trigger_id")
	}
	s.number++
	v := View{ID: fmt.Sprintf("V%d", s.number), CallbackID: call.View.CallbackID, Metadata: call.View.PrivateMetadata, Blocks: string(call.View.Blocks), hash: fmt.Sprintf("%d.x", s.number)}
	if problem := v.check(call.View.Type, call.View.Title, call.View.Submit); problem != "" {
		return map[string]any{"ok": false, "error": "invalid_arguments", "response_metadata": map[string]any{"messages": []string{problem}}}
	}
	s.triggers[call.TriggerID] = time.Time{}
	s.views = append(s.views, v)
	return map[string]any{"ok": true, "view": map[string]any{"id": v.ID, "type": "modal", "callback_id": v.CallbackID, "hash": v.hash}}
}

// check takes a view apart, and says what Slack would not take of it.
func (v *View) check(kind, title, submit any) string {
	var blocks []input
	if json.Unmarshal([]byte(v.Blocks), &blocks) != nil || len(blocks) == 0 || len(blocks) > 100 {
		return "[ERROR] blocks"
	}
	seen := map[string]bool{}
	for _, b := range blocks {
		if b.Type == "input" {
			v.inputs = append(v.inputs, b)
			if problem := b.check(); problem != "" || seen[b.BlockID] {
				return "[ERROR] input " + b.BlockID + ": " + problem
			}
			seen[b.BlockID] = true
		}
	}
	switch {
	case kind != "modal":
		return "[ERROR] type"
	case !plainWithin(title, 24):
		return "[ERROR] title"
	case len(v.inputs) > 0 && !plainWithin(submit, 24):
		return "[ERROR] submit"
	case len(v.Metadata) > 3000 || len(v.CallbackID) > 255:
		return "[ERROR] private_metadata or callback_id"
	}
	return ""
}

func plainWithin(object any, limit int) bool {
	fields, _ := object.(map[string]any)
	content, _ := fields["text"].(string)
	return fields["type"] == "plain_text" && content != "" && len([]rune(content)) <= limit
}

func (b input) check() string {
	e := b.Element
	options := map[option]bool{}
	for _, o := range e.Options {
		if o.Text.Text == "" || len([]rune(o.Text.Text)) > 75 || o.Value == "" || len(o.Value) > 150 {
			return "option " + o.Text.Text
		}
		options[o] = true
	}
	initial := e.InitialOptions
	if e.InitialOption != nil {
		initial = append(initial, *e.InitialOption)
	}
	for _, o := range initial {
		if !options[o] {
			return "initial option " + o.Text.Text
		}
	}
	switch {
	case b.BlockID == "" || e.ActionID == "" || b.Label.Text == "" || b.Label.Type != "plain_text":
		return "block_id, action_id or label"
	case e.Type == "plain_text_input" && e.MaxLength <= 3000:
		return ""
	case (e.Type == "static_select" || e.Type == "multi_static_select") && len(e.Options) > 0 && len(e.Options) <= 100:
		return ""
	}
	return "element " + e.Type
}

// Expire has a click be longer ago than a form can be opened after.
func (s *Server) Expire(e Envelope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	trigger, _ := e.Payload["trigger_id"].(string)
	s.triggers[trigger] = time.Now().Add(-2 * triggerLife)
}

// Views waits until some number of forms were opened, and returns the newest.
func (s *Server) Views(n int) View {
	s.t.Helper()
	s.wait(strconv.Itoa(n)+" forms", func() bool { return len(s.views) >= n })
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.views[n-1]
}

// Options are the texts of what can be chosen in an input of a form, Chosen those that are
// chosen at first.
func (v View) Options(block string) (all, chosen []string) {
	for _, b := range v.inputs {
		if b.BlockID != block {
			continue
		}
		for _, o := range b.Element.Options {
			all = append(all, o.Text.Text)
		}
		for _, o := range b.Element.InitialOptions {
			chosen = append(chosen, o.Text.Text)
		}
	}
	return all, chosen
}

// Submission is what Slack sends of a form that a user has filled in: a text for each input,
// and texts of options for one of which several may be chosen. What is not named stays as it was.
func (s *Server) Submission(user, team string, v View, with map[string][]string) Envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	values := map[string]any{}
	for _, b := range v.inputs {
		given, ok := with[b.BlockID]
		values[b.BlockID] = map[string]any{b.Element.ActionID: b.value(given, ok)}
	}
	return Envelope{ID: fmt.Sprintf("envelope-%d", s.number), Payload: map[string]any{
		"type": "view_submission", "api_app_id": "A0TOWLINE", "trigger_id": fmt.Sprintf("%d.2.3", s.number), "team": map[string]any{"id": Team, "domain": "towline"},
		"user": map[string]any{"id": user, "username": "somebody", "name": "somebody", "team_id": team}, "response_urls": []any{},
		"view": map[string]any{
			"id": v.ID, "team_id": Team, "type": "modal", "callback_id": v.CallbackID, "private_metadata": v.Metadata, "hash": v.hash,
			"blocks": json.RawMessage(v.Blocks), "state": map[string]any{"values": values}, "root_view_id": v.ID,
		},
	}}
}

func (b input) value(given []string, ok bool) map[string]any {
	e := b.Element
	out := map[string]any{"type": e.Type}
	chosen := e.InitialOptions
	if ok {
		chosen = nil
		for _, o := range e.Options {
			for _, text := range given {
				if o.Text.Text == text {
					chosen = append(chosen, o)
				}
			}
		}
	}
	switch e.Type {
	case "plain_text_input":
		out["value"] = e.InitialValue
		if ok {
			out["value"] = given[0]
		}
	case "static_select":
		out["selected_option"] = e.InitialOption
		if len(chosen) > 0 {
			out["selected_option"] = chosen[0]
		}
	default:
		out["selected_options"] = chosen
	}
	return out
}

// Submit has a user send a form, and returns what is wrong with it, by input; nothing closes it.
func (s *Server) Submit(user string, v View, with map[string][]string) map[string]string {
	s.t.Helper()
	e := s.Submission(user, Team, v, with)
	s.Deliver(e)
	return s.Reply(e)
}

// Reply is what was acknowledged of a form: what is wrong with it, by input. Slack shows it
// only where it is about an input that there is.
func (s *Server) Reply(e Envelope) map[string]string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var reply struct {
		ResponseAction string `json:"response_action"`
		Errors         map[string]string
	}
	payload := s.replies[e.ID]
	if len(payload) == 0 || string(payload) == "null" {
		return nil
	}
	if json.Unmarshal(payload, &reply) != nil || reply.ResponseAction != "errors" || len(reply.Errors) == 0 {
		s.t.Errorf("a form was acknowledged with %s", payload)
	}
	return reply.Errors
}

// Cancel has a user close a form without sending it.
func (s *Server) Cancel(user string, v View) {
	s.t.Helper()
	e := s.Submission(user, Team, v, nil)
	e.Payload["type"], e.Payload["is_cleared"] = "view_closed", false
	s.Deliver(e)
}
