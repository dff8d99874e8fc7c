package control

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestRefusalsOfDocuments has each rule about what people declare broken once, and looks at
// what they are told.
func TestRefusalsOfDocuments(t *testing.T) {
	t.Parallel()
	agent := func(edit func(*Agent)) Document { return change(validAgent(), edit) }
	scope := func(edit func(*Scope)) Document { return change(validScope(), edit) }
	policy := func(edit func(*BreakGlassPolicy)) Document { return change(validPolicy(t), edit) }
	many := func(text string) []string { return strings.Split(strings.Repeat(text+" ", maxEntries), " ") }
	negative, hundred := -1, 101
	mapped := func(user, approver string) *Approval {
		return &Approval{Approvers: []string{approverLine(t, "ada")}, SlackUsers: map[string]string{user: approver}}
	}
	tests := map[string]Document{
		"name must not be empty":                                   agent(func(a *Agent) { a.Name = "" }),
		"name must have at most 63 characters":                     agent(func(a *Agent) { a.Name = strings.Repeat("a", 64) }),
		"name must not begin or end with a dash":                   agent(func(a *Agent) { a.Name = "eu-" }),
		"name must have only lower-case letters, digits":           agent(func(a *Agent) { a.Name = "EU" }),
		"shard must have only lower-case letters, digits":          agent(func(a *Agent) { a.Shard = "a/b" }),
		"version is 2, but this program knows 1; upgrade it":       agent(func(a *Agent) { a.Version = 2 }),
		"scopes must have between 1 and 1000 entries":              agent(func(a *Agent) { a.Scopes = nil }),
		`scopes[1] must not repeat "a"`:                            agent(func(a *Agent) { a.Scopes = []string{"a", "a"} }),
		"labels[a] must have at most 2000 characters":              agent(func(a *Agent) { a.Labels = map[string]string{"a": strings.Repeat("x", maxText+1)} }),
		"labels[a] must not hold control characters":               agent(func(a *Agent) { a.Labels = map[string]string{"a": "\x1b[2J"} }),
		"poll_interval must be between 1s and a year":              agent(func(a *Agent) { a.PollInterval = 1 }),
		"heartbeat must be between 1s and 1h":                      agent(func(a *Agent) { a.Heartbeat = Duration(2 * time.Hour) }),
		"refresh.budget must be above 0 and at most 1":             agent(func(a *Agent) { a.Refresh = &Refresh{Budget: 2, Within: Duration(time.Hour)} }),
		"refresh.within must be at least the time between rounds":  agent(func(a *Agent) { a.Refresh = &Refresh{Budget: 1, Within: 1} }),
		"recipients[0] is no recipient: ":                          agent(func(a *Agent) { a.Recipients = []string{"me"} }),
		"recipients must have at most 64 entries":                  agent(func(a *Agent) { a.Recipients = many("age1")[:MaxRecipients+1] }),
		"slack must have exactly one of webhook_env, webhook_file": agent(func(a *Agent) { a.Slack = &Slack{} }),
		"slack must have a channel where it has tokens":            agent(func(a *Agent) { a.Slack = &Slack{WebhookEnv: "A", BotTokenEnv: "B"} }),
		"slack must have at most one of webhook_env, webhook_file": agent(func(a *Agent) {
			a.Slack = &Slack{WebhookEnv: "A", WebhookFile: "b", Channel: "#c", BotTokenEnv: "B", AppTokenEnv: "C"}
		}),
		"slack must have exactly one of bot_token_env, bot_token":   agent(func(a *Agent) { a.Slack = &Slack{Channel: "#c", AppTokenEnv: "C"} }),
		"slack must have exactly one of app_token_env, app_token":   agent(func(a *Agent) { a.Slack = &Slack{Channel: "#c", BotTokenEnv: "B", AppTokenEnv: "C", AppTokenFile: "d"} }),
		"slack.channel must not hold control characters":            agent(func(a *Agent) { a.Slack = &Slack{Channel: "\x1b", BotTokenEnv: "B", AppTokenEnv: "C"} }),
		"join.generation must be at least 1":                        agent(func(a *Agent) { a.Join.Generation = 0 }),
		"join.public_key must be an ed25519 public key in base64":   agent(func(a *Agent) { a.Join.PublicKey = "AAAA" }),
		"join.expires must be a time in UTC":                        agent(func(a *Agent) { a.Join.Expires = time.Time{} }),
		"join.expires must be in a year that can be written with":   agent(func(a *Agent) { a.Join.Expires = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }),
		"earlier[0] must be of a generation after the entry":        agent(func(a *Agent) { a.Earlier = []Join{a.Join} }),
		"include must have at least one entry; write \"**\" as":     scope(func(s *Scope) { s.Include = nil }),
		"include[0] must have an address, a type, a module or a":    scope(func(s *Scope) { s.Include = []Match{{}} }),
		"include[0].module must be the path of a module, such as":   scope(func(s *Scope) { s.Include[0].Module = "network" }),
		"include[0].provider must be the source of a provider":      scope(func(s *Scope) { s.Include[0].Provider = "aws" }),
		"include[0].attributes[0] must be the path of an":           scope(func(s *Scope) { s.Include[0].Attributes = []string{".tags"} }),
		"exclude[0] must not name attributes; write them under":     scope(func(s *Scope) { s.Exclude = []Match{{Type: "a", Except: []string{"b"}}} }),
		"actions[0] must be create, update or delete":               scope(func(s *Scope) { s.Actions = []Action{"destroy"} }),
		"ignore_attributes[0] must have the form ADDRESS":           scope(func(s *Scope) { s.IgnoreAttributes = []string{"tags"} }),
		"ignore_attributes must have at most 1000 entries":          scope(func(s *Scope) { s.IgnoreAttributes = many("a.b") }),
		"max_deletes must not be negative":                          scope(func(s *Scope) { s.MaxDeletes = &negative }),
		"max_changes must not be negative":                          scope(func(s *Scope) { s.MaxChanges = &negative }),
		"max_share must be between 0 and 100":                       scope(func(s *Scope) { s.MaxShare = &hundred }),
		"windows[0].days must have mon, tue, wed, thu, fri":         scope(func(s *Scope) { s.Windows = []Window{{Days: []string{"monday"}, From: "22:00", Until: "23:00"}} }),
		"windows[0].from must be a time such as 22:30":              scope(func(s *Scope) { s.Windows = []Window{{From: "24:00", Until: "23:00"}} }),
		"windows[0].until must be a time such as 04:00":             scope(func(s *Scope) { s.Windows = []Window{{From: "22:00", Until: "4 am"}} }),
		"windows[0] must have an end that differs from its":         scope(func(s *Scope) { s.Windows = []Window{{From: "22:00", Until: "22:00"}} }),
		"drift.mode must be observe, propose or enforce":            scope(func(s *Scope) { s.Drift.Mode = "ignore" }),
		"drift.grace must be between 0s and a year":                 scope(func(s *Scope) { s.Drift.Grace = -1 }),
		"drift.rules[0].attributes must have at least one entry":    scope(func(s *Scope) { s.Drift.Rules = []DriftRule{{Mode: DriftEnforce}} }),
		"drift.rules[0].mode must be observe, propose or enforce":   scope(func(s *Scope) { s.Drift.Rules = []DriftRule{{Attributes: []string{"a.b"}}} }),
		"drift.oscillation.times must be between 1 and 100":         scope(func(s *Scope) { s.Drift.Oscillation = &Oscillation{Within: Duration(time.Hour)} }),
		"drift.oscillation.within must be between 1s and a year":    scope(func(s *Scope) { s.Drift.Oscillation = &Oscillation{Times: 1} }),
		"approval.approvals must not be more than there are":        scope(func(s *Scope) { s.Approval = &Approval{} }),
		"approval.approvers[0] must be a public key such as":        scope(func(s *Scope) { s.Approval = &Approval{Approvers: []string{"ada"}} }),
		"approval.slack_users[@ada] must be named by the ID of a":   scope(func(s *Scope) { s.Approval = mapped("@ada", approverLine(t, "ada")) }),
		"approval.slack_users[U0ADA] must be one of the approvers":  scope(func(s *Scope) { s.Approval = mapped("U0ADA", approverLine(t, "bob")) }),
		"inventories[0].data must be the address of a data source":  scope(func(s *Scope) { s.Inventories = []Inventory{{Data: "all", List: "ids"}} }),
		"inventories[0].list must be left out for a list block":     scope(func(s *Scope) { s.Inventories = []Inventory{{Data: "list.a.b", List: "ids"}} }),
		"inventories[0].list must name the attribute that lists":    scope(func(s *Scope) { s.Inventories = []Inventory{{Data: "data.a.b"}} }),
		"approvers[1] must not repeat a key: one person would":      policy(func(p *BreakGlassPolicy) { p.Approvers[1] = p.Approvers[0] + " again" }),
		"approvals must be at least 1":                              policy(func(p *BreakGlassPolicy) { p.Approvals = 0 }),
		"approvals must not be more than there are approvers":       policy(func(p *BreakGlassPolicy) { p.Approvals = 4 }),
		"max_duration must be between 1m and 31 days":               policy(func(p *BreakGlassPolicy) { p.MaxDuration = 1 }),
		"after must be revert, hold or propose":                     policy(func(p *BreakGlassPolicy) { p.After = "" }),
		"slack_users[@ada] must be named by the ID of a Slack":      policy(func(p *BreakGlassPolicy) { p.SlackUsers = map[string]string{"@ada": p.Approvers[0]} }),
		"slack_users[U0EVE] must be one of the approvers: a key as": policy(func(p *BreakGlassPolicy) { p.SlackUsers = map[string]string{"U0EVE": approverLine(t, "eve")} }),
		"targets must have between 1 and 1000 entries":              change(validRequest(), func(g *GrantRequest) { g.Targets = nil }),
		"targets[0] must not be empty":                              change(validRequest(), func(g *GrantRequest) { g.Targets = []string{""} }),
		"until must be after opened":                                change(validRequest(), func(g *GrantRequest) { g.Until = g.Opened }),
	}
	for want, doc := range tests {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if err := doc.Validate(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Validate: %v; want %q", err, want)
			}
		})
	}
}

// TestRefusalsOfGrants looks at what is said of a grant that a policy does not allow.
func TestRefusalsOfGrants(t *testing.T) {
	t.Parallel()
	edit := func(e func(*GrantRequest)) []byte { return signRequest(t, change(validRequest(), e), "ada") }
	for want, request := range map[string][]byte{
		"that opened it is not one of the policy's approvers":                             signRequest(t, validRequest(), "mallory"),
		"it asks for 1h1m0s, more than the policy's 1h0m0s":                               edit(func(g *GrantRequest) { g.Until = noon.Add(61 * time.Minute) }),
		"the policy asks for a reason and it gives none":                                  edit(func(g *GrantRequest) { g.Reason = "" }),
		"it is for policy prod/weekend, not prod/on-call":                                 edit(func(g *GrantRequest) { g.Policy = "weekend" }),
		"it was opened at 2026-03-01T13:00:00Z, which is still to come; check the clocks": edit(func(g *GrantRequest) { g.Opened, g.Until = noon.Add(time.Hour), noon.Add(2*time.Hour) }),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, err := VerifyGrant(validPolicy(t), GrantFiles{Request: request}, noon)
			if !errors.Is(err, ErrGrantRefused) || !strings.Contains(err.Error(), want) {
				t.Errorf("VerifyGrant: %v; want %q", err, want)
			}
		})
	}
}

// TestRefusalsOfGrantsInSlack looks at what is said of the same, asked for in Slack.
func TestRefusalsOfGrantsInSlack(t *testing.T) {
	t.Parallel()
	for want, edit := range map[string]func(*GrantClick, *GrantRequest){
		"the Slack user U0EVE who opened it is not one of the policy's approvers; see its slack_users": func(c *GrantClick, _ *GrantRequest) { c.User = "U0EVE" },
		"it asks for 1h1m0s, more than the policy's 1h0m0s":                                            func(_ *GrantClick, r *GrantRequest) { r.Until = noon.Add(61 * time.Minute) },
		"the policy asks for a reason and it gives none":                                               func(_ *GrantClick, r *GrantRequest) { r.Reason = "" },
		"it is for policy prod/weekend, not prod/on-call":                                              func(_ *GrantClick, r *GrantRequest) { r.Policy = "weekend" },
		"which is still to come; check the clocks":                                                     func(_ *GrantClick, r *GrantRequest) { r.Opened, r.Until = noon.Add(time.Hour), noon.Add(2*time.Hour) },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			click, request := openedInSlack(anaInSlack), validRequest()
			edit(&click, &request)
			click.Request = &request
			_, err := VerifyGrant(slackPolicy(t), GrantFiles{Opening: &click}, noon)
			if !errors.Is(err, ErrGrantRefused) || !strings.Contains(err.Error(), want) {
				t.Errorf("VerifyGrant: %v; want %q", err, want)
			}
		})
	}
}
