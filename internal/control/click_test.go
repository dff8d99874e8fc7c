package control

import (
	"strings"
	"testing"
	"time"
)

const (
	anaInSlack = "U0ANA"
	benInSlack = "U0BEN"
)

// clicked is what a user clicked.
func clicked(user string, verb ClickVerb, number int) Click {
	return Click{Version: FormatVersion, Environment: "prod", Agent: "a1", Relay: "a2", Verb: verb, Subject: strings.Repeat("a", 64), Number: number,
		User: user, Team: "T0", Channel: "C0", Message: "1.2", Time: time.Unix(0, 0).UTC()}
}

// inSlack are scopes in which ana, and in some ben, is an approver in Slack.
func inSlack(t *testing.T) map[string]Scope {
	t.Helper()
	anaKey, benKey := approverLine(t, "ada"), approverLine(t, "bob")
	both := []string{anaKey, benKey}
	return map[string]Scope{
		"one":  {Name: "one", Approval: &Approval{Approvers: both, SlackUsers: map[string]string{anaInSlack: anaKey, benInSlack: benKey}}},
		"two":  {Name: "two", Approval: &Approval{Approvers: both, Approvals: 2, SlackUsers: map[string]string{anaInSlack: anaKey, benInSlack: benKey}}},
		"some": {Name: "some", Approval: &Approval{Approvers: both, SlackUsers: map[string]string{benInSlack: benKey}}},
		"none": {Name: "none", Approval: &Approval{Approvers: both}},
		"free": {Name: "free"},
	}
}

// A click counts in the scopes that say which approver the user is, and in no other.
func TestClicksCountByScope(t *testing.T) {
	t.Parallel()
	scopes := inSlack(t)
	approve, reject := ClickApprove, ClickReject
	other := clicked(anaInSlack, approve, 0)
	other.Agent = "a3"
	tests := map[string]struct {
		scopes  []string
		clicks  []Click
		phase   ProposalPhase
		missing int
	}{
		"one of one":              {[]string{"one"}, []Click{clicked(anaInSlack, approve, 0)}, ProposalApproved, 0},
		"one of two":              {[]string{"two"}, []Click{clicked(anaInSlack, approve, 0), clicked(anaInSlack, approve, 0)}, ProposalPending, 1},
		"two of two":              {[]string{"two"}, []Click{clicked(anaInSlack, approve, 0), clicked(benInSlack, approve, 0)}, ProposalApproved, 0},
		"in one scope of two":     {[]string{"one", "some"}, []Click{clicked(anaInSlack, approve, 0)}, ProposalPending, 1},
		"in both":                 {[]string{"one", "some"}, []Click{clicked(benInSlack, approve, 0)}, ProposalApproved, 0},
		"where nobody is":         {[]string{"none"}, []Click{clicked(anaInSlack, approve, 0)}, ProposalPending, 1},
		"without approvers":       {[]string{"free"}, []Click{clicked(anaInSlack, approve, 0)}, ProposalPending, 1},
		"rejected":                {[]string{"one"}, []Click{clicked(anaInSlack, approve, 0), clicked(benInSlack, reject, 0)}, ProposalRejected, 0},
		"rejected by a stranger":  {[]string{"some"}, []Click{clicked(benInSlack, approve, 0), clicked(anaInSlack, reject, 0)}, ProposalApproved, 0},
		"of another agent":        {[]string{"one"}, []Click{other}, ProposalPending, 1},
		"about something else":    {[]string{"one"}, []Click{clicked(anaInSlack, ClickHold, 1)}, ProposalPending, 1},
		"of a scope that is gone": {[]string{"gone"}, []Click{clicked(anaInSlack, approve, 0)}, ProposalPending, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proposal := Proposal{Environment: "prod", Agent: "a1", Digest: strings.Repeat("a", 64), Scopes: test.scopes}
			got := Decide(proposal, scopes, Decisions{Clicks: test.clicks})
			if got.Phase != test.phase || got.Missing != test.missing {
				t.Errorf("got %+v, want %s with %d missing", got, test.phase, test.missing)
			}
		})
	}
}

func TestHoldIsWhatWasSaidLast(t *testing.T) {
	t.Parallel()
	scopes := inSlack(t)
	hold, release := ClickHold, ClickRelease
	tests := map[string]struct {
		clicks []Click
		on     bool
		user   string
		next   int
	}{
		"nothing":               {nil, false, "", 1},
		"held":                  {[]Click{clicked(anaInSlack, hold, 1)}, true, anaInSlack, 2},
		"held twice at once":    {[]Click{clicked(benInSlack, hold, 1), clicked(anaInSlack, hold, 1)}, true, anaInSlack, 2},
		"released by another":   {[]Click{clicked(benInSlack, release, 2), clicked(anaInSlack, hold, 1)}, false, benInSlack, 3},
		"held again":            {[]Click{clicked(anaInSlack, hold, 1), clicked(benInSlack, release, 2), clicked(benInSlack, hold, 3)}, true, benInSlack, 4},
		"by a stranger":         {[]Click{clicked("U0EVE", hold, 1)}, false, "", 2},
		"with a gap before":     {[]Click{clicked(anaInSlack, hold, 2)}, true, anaInSlack, 3},
		"both at once":          {[]Click{clicked(anaInSlack, release, 1), clicked(benInSlack, hold, 1)}, true, benInSlack, 2},
		"released without hold": {[]Click{clicked(anaInSlack, release, 1)}, false, anaInSlack, 2},
		"after one who left":    {[]Click{clicked("U0EVE", hold, 1), clicked(benInSlack, release, 2), clicked(benInSlack, hold, 3)}, true, benInSlack, 4},
		"about a plan":          {[]Click{clicked(anaInSlack, ClickApprove, 0)}, false, "", 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := HoldOf(Agent{Name: "a1", Scopes: []string{"one"}}, strings.Repeat("a", 64), scopes, test.clicks)
			if got.On != test.on || got.User != test.user || got.Next != test.next {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// Somebody leaves the policy: no word of those who stay, clicked before, comes after their
// next one; nor does one of those who come back.
func TestHoldIsNotUndoneByAnOldRelease(t *testing.T) {
	t.Parallel()
	agent, subject := Agent{Name: "a1", Scopes: []string{"some"}}, strings.Repeat("a", 64)
	scopes := inSlack(t) // in "some" only ben is an approver
	clicks := []Click{clicked(anaInSlack, ClickHold, 1), clicked(benInSlack, ClickRelease, 2), clicked(anaInSlack, ClickHold, 3), clicked(anaInSlack, ClickRelease, 4)}
	for range 2 {
		now := HoldOf(agent, subject, scopes, clicks)
		if now.On {
			t.Fatalf("it is held by those who have no word: %+v", now)
		}
		clicks = append(clicks, clicked(benInSlack, ClickHold, now.Next))
		if held := HoldOf(agent, subject, scopes, clicks); !held.On || held.User != benInSlack {
			t.Errorf("the hold that was just clicked is off: %+v", held)
		}
		if back := HoldOf(Agent{Name: "a1", Scopes: []string{"one"}}, subject, scopes, clicks); !back.On {
			t.Errorf("who comes back undoes it: %+v", back)
		}
		now = HoldOf(agent, subject, scopes, clicks)
		clicks = append(clicks, clicked(benInSlack, ClickRelease, now.Next))
	}
}

func TestClickKeys(t *testing.T) {
	t.Parallel()
	c := clicked(anaInSlack, ClickHold, 7)
	if want := "environments/prod/agents/a2/clicks/" + c.Subject + "/000000000007-U0ANA.json"; c.Key() != want {
		t.Errorf("the key is %s, want %s", c.Key(), want)
	}
	if n, user, ok := ParseClickKey(c.Key()); n != 7 || user != anaInSlack || !ok {
		t.Errorf("%s is read as %d, %s, %v", c.Key(), n, user, ok)
	}
	for _, name := range []string{"", "x", "000000000007-U0ANA", "7-U0ANA.json", "000000000007-.json", "000000000007-ana.json", "000000000051-U0ANA.json", "000000000007-U0ANA.json.json"} {
		if _, _, ok := ParseClickKey("clicks/" + name); ok {
			t.Errorf("%q is taken for a click's key", name)
		}
	}
}

func TestClicksThatAreNone(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Click){
		"verb must be approve, reject, hold or release": func(c *Click) { c.Verb, c.Number = "destroy", 1 },
		"subject must be a SHA-256 in hex":              func(c *Click) { c.Subject = "../../x" },
		"number must be between 1 and 50":               func(c *Click) { c.Verb, c.Number = ClickHold, 51 },
		"number must be":                                func(c *Click) { c.Number = 1 },
		"user must be the ID of a Slack user":           func(c *Click) { c.User = "ana" },
		"channel must not hold control characters":      func(c *Click) { c.Channel = "\x1b" },
		"relay must not be empty":                       func(c *Click) { c.Relay = "" },
	} {
		c := clicked(anaInSlack, ClickApprove, 0)
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
