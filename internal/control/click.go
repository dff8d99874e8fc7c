package control

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// ClickVerb is what a button asks for.
type ClickVerb string

// The verbs of buttons.
const (
	ClickApprove ClickVerb = "approve" // of a plan
	ClickReject  ClickVerb = "reject"
	ClickHold    ClickVerb = "hold" // of drift that would be corrected
	ClickRelease ClickVerb = "release"
)

// verdict is what a click says of a plan; "" if it is about something else.
func (v ClickVerb) verdict() Verdict {
	switch v {
	case ClickApprove:
		return VerdictApprove
	case ClickReject:
		return VerdictReject
	}
	return ""
}

// Click is what somebody did with a button of an agent's message in Slack, in the words
// of the agent that received it, which signs it and writes it once. It counts where
// a policy says which approver the user is.
type Click struct {
	Version     int    `json:"version"`
	Environment string `json:"environment"`
	// Agent is the one whose message it was, Relay the one that received the click.
	Agent string    `json:"agent"`
	Relay string    `json:"relay"`
	Verb  ClickVerb `json:"verb"`
	// Subject is the digest of a proposal, or of a drift set its [Occurrence].
	Subject string `json:"subject"`
	// Number counts what was said of one drift set by hold and release, from 1; 0 of plans.
	Number int `json:"number,omitempty"`
	// User and Team are who clicked, Channel and Message where.
	User    string    `json:"user"`
	Team    string    `json:"team"`
	Channel string    `json:"channel"`
	Message string    `json:"message"`
	Time    time.Time `json:"time"`
}

func (Click) payloadType() string { return "application/vnd.towline.click+json" }

// MaxHolds bounds how often one drift set is held and released.
const MaxHolds = 50

// Validate implements [Document].
func (c Click) Validate() error {
	var check checker
	check.head(c.Version, c.Environment)
	check.name("agent", c.Agent)
	check.name("relay", c.Relay)
	plan := c.Verb.verdict() != ""
	check.that("verb", plan || c.Verb == ClickHold || c.Verb == ClickRelease, "must be approve, reject, hold or release")
	check.that("subject", hexDigest(c.Subject), "must be a SHA-256 in hex")
	check.that("number", plan == (c.Number == 0) && c.Number >= 0 && c.Number <= MaxHolds, "must be between 1 and %d, and 0 of plans", MaxHolds)
	check.that("user", slackUser.MatchString(c.User), "must be the ID of a Slack user")
	for field, value := range map[string]string{"team": c.Team, "channel": c.Channel, "message": c.Message} {
		check.text(field, value)
	}
	check.time("time", c.Time)
	return check.err()
}

// ClickPrefix begins the keys of the clicks about one subject that an agent received.
func ClickPrefix(environment, relay, subject string) string {
	return AgentPrefix(environment, relay) + "clicks/" + subject + "/"
}

// Key is created once, by the agent that received the click.
func (c Click) Key() string {
	return ClickPrefix(c.Environment, c.Relay, c.Subject) + number(int64(c.Number)) + "-" + c.User + documentSuffix
}

// ParseClickKey returns the number and the user of a click's key; ok is false for any other key.
func ParseClickKey(key string) (n int, user string, ok bool) {
	name, found := strings.CutSuffix(path.Base(key), documentSuffix)
	first, user, cut := strings.Cut(name, "-")
	parsed, isNumber := parseNumber(first)
	ok = found && cut && isNumber && parsed <= MaxHolds && slackUser.MatchString(user)
	return int(parsed), user, ok
}

// by is the approver of a scope that a Slack user is, "" if none.
func (s Scope) by(user string) string {
	if s.Approval == nil {
		return ""
	}
	return slackApprover(s.Approval.SlackUsers, s.Approval.Approvers, user)
}

// SlackUser is the Slack user that a scope takes for an approver, by [ApproverID]; ""
// if there is none.
func (s Scope) SlackUser(approver string) string {
	if s.Approval == nil {
		return ""
	}
	for _, user := range SlackUsersOf(map[string]Scope{"": s}, []string{""}) {
		if s.by(user) == approver {
			return user
		}
	}
	return ""
}

// ApprovedInSlack tells whether a Slack user is an approver of any of some scopes.
func ApprovedInSlack(scopes map[string]Scope, names []string, user string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return scopes[name].by(user) != "" })
}

// SlackUsersOf are the Slack users that are approvers of any of some scopes, sorted.
func SlackUsersOf(scopes map[string]Scope, names []string) []string {
	var out []string
	for _, name := range names {
		if approval := scopes[name].Approval; approval != nil {
			for user := range approval.SlackUsers {
				if scopes[name].by(user) != "" {
					out = append(out, user)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Hold is what was said last about the correction of drift.
type Hold struct {
	// Subject is the occurrence of the drift set.
	Subject string
	// On tells that it waits, by the word of User, who counts in some scopes only.
	On   bool
	User string
	// Next is the number that the next word has.
	Next int
}

// HoldOf judges the clicks about drift of an agent: the last one of a user with a word in
// any of its scopes counts, and of two with one number a hold. The numbers of all others
// stay used: people leave a policy and come back to it, and what was clicked before
// somebody else's word must not come after it.
func HoldOf(agent Agent, subject string, scopes map[string]Scope, clicks []Click) Hold {
	hold := Hold{Subject: subject, Next: 1}
	sorted := slices.SortedFunc(slices.Values(clicks), func(a, b Click) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.User, b.User))
	})
	counted := 0
	for _, c := range sorted {
		if c.Agent != agent.Name || c.Subject != subject || c.Verb.verdict() != "" {
			continue
		}
		hold.Next = c.Number + 1
		if c.Number > counted && ApprovedInSlack(scopes, agent.Scopes, c.User) {
			counted, hold.On, hold.User = c.Number, c.Verb == ClickHold, c.User
		}
	}
	return hold
}

// MayHold tells whether a Slack user has a word about what is in a scope.
func (s Scope) MayHold(user string) bool { return s.by(user) != "" }

// String names what was clicked for people.
func (c Click) String() string {
	return fmt.Sprintf("%s of %.12s by %s", c.Verb, c.Subject, c.User)
}
