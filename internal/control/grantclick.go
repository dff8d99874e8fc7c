package control

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"time"
)

// GrantVerb is what somebody says of a grant in Slack.
type GrantVerb string

// The verbs about grants.
const (
	GrantOpens    GrantVerb = "open"
	GrantApproves GrantVerb = "approve"
	GrantCloses   GrantVerb = "close"
)

var grantVerbs = []GrantVerb{GrantOpens, GrantApproves, GrantCloses}

// GrantClick is what somebody did about a grant in Slack, in the words of the agent that
// received it, which signs it and writes it once. It counts where the grant's policy says
// which approver the user is.
type GrantClick struct {
	Version     int    `json:"version"`
	Environment string `json:"environment"`
	// Relay is the agent that received it.
	Relay string    `json:"relay"`
	Verb  GrantVerb `json:"verb"`
	// Grant is the ID of the grant, Digest the [RequestDigest] of what was asked for.
	Grant  string `json:"grant"`
	Digest string `json:"digest"`
	// Request is what is asked for, of open only.
	Request *GrantRequest `json:"request,omitempty"`
	// User and Team are who it was, Channel and Message where.
	User    string    `json:"user"`
	Team    string    `json:"team"`
	Channel string    `json:"channel"`
	Message string    `json:"message"`
	Time    time.Time `json:"time"`
}

func (GrantClick) payloadType() string { return "application/vnd.towline.grant-click+json" }

// Validate implements [Document].
func (c GrantClick) Validate() error {
	var check checker
	check.head(c.Version, c.Environment)
	check.name("relay", c.Relay)
	check.that("verb", slices.Contains(grantVerbs, c.Verb), "must be open, approve or close")
	check.name("grant", c.Grant)
	check.that("digest", hexDigest(c.Digest), "must be a SHA-256 in hex")
	check.that("request", (c.Verb == GrantOpens) == (c.Request != nil), "must be there of open and only there")
	if c.Request != nil {
		err := c.Request.Validate()
		check.that("request", err == nil, "must be valid: %v", err)
		check.that("request", c.Request.ID == c.Grant && c.Request.Environment == c.Environment, "must be of grant %s in the same environment", c.Grant)
		check.that("digest", err != nil || RequestDigest(*c.Request) == c.Digest, "must be that of the request")
	}
	check.that("user", slackUser.MatchString(c.User), "must be the ID of a Slack user")
	for field, value := range map[string]string{"team": c.Team, "channel": c.Channel, "message": c.Message} {
		check.text(field, value)
	}
	check.time("time", c.Time)
	return check.err()
}

// RequestDigest names exactly what a valid request asks for, as a SHA-256 in hex.
func RequestDigest(request GrantRequest) string {
	data, err := Encode(request)
	if err != nil {
		return ""
	}
	return requestDigest(data)
}

func requestDigest(payload []byte) string {
	sum := sha256.Sum256(payload)
	return hex.EncodeToString(sum[:])
}

// GrantClicksPrefix begins the keys of what an agent received about grants.
func GrantClicksPrefix(environment, relay string) string {
	return AgentPrefix(environment, relay) + "grants/"
}

// Key is created once, by the agent that received it.
func (c GrantClick) Key() string {
	return GrantClicksPrefix(c.Environment, c.Relay) + c.Grant + "/" + string(c.Verb) + "-" + c.User + documentSuffix
}

// ParseGrantClickKey returns the grant and the user of a key; ok is false for any other key.
func ParseGrantClickKey(key string) (grant, user string, ok bool) {
	name, found := strings.CutSuffix(path.Base(key), documentSuffix)
	verb, user, cut := strings.Cut(name, "-")
	grant = path.Base(path.Dir(key))
	ok = found && cut && slices.Contains(grantVerbs, GrantVerb(verb)) && slackUser.MatchString(user) && ValidateName(grant) == nil
	return grant, user, ok
}

// SlackApprover is the [ApproverID] of the approver that a Slack user is, "" if none.
func (p BreakGlassPolicy) SlackApprover(user string) string {
	return slackApprover(p.SlackUsers, p.Approvers, user)
}

// SlackUserIDs are the Slack users who are approvers, sorted.
func (p BreakGlassPolicy) SlackUserIDs() []string {
	var out []string
	for user := range p.SlackUsers {
		if p.SlackApprover(user) != "" {
			out = append(out, user)
		}
	}
	slices.Sort(out)
	return out
}

// ApproverComment is the comment of the key of one of the policy's approvers, by
// [ApproverID]; "" if there is none.
func (p BreakGlassPolicy) ApproverComment(approver string) string {
	return commentOf(p.Approvers, approver)
}

// ByOpening orders clicks that open grants: the first is the one to which a name belongs, of
// two that were received of one form.
func ByOpening(a, b GrantClick) int {
	return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Relay, b.Relay), cmp.Compare(a.User, b.User))
}
