package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"
)

// Approval says whose signatures what is proposed in a scope needs.
type Approval struct {
	// Approvers are public keys in OpenSSH's authorized_keys form.
	Approvers []string `json:"approvers"`
	// Approvals is how many of them must approve; 0 means one.
	Approvals int `json:"approvals,omitempty"`
	// Changes tells that what a revision changes needs approval as well, not only
	// what is proposed about drift.
	Changes bool `json:"changes,omitempty"`
	// SlackUsers says which approvers people are in Slack: IDs of users, with the
	// approver's key or its [ApproverID]. Without it nothing is approved in Slack.
	SlackUsers map[string]string `json:"slack_users,omitempty"`
}

// Needed is how many approvals there must be.
func (a Approval) Needed() int { return max(a.Approvals, 1) }

// Proposal is a plan that waits for approval, as everybody may see it: without
// values. It is signed by the agent and written once.
type Proposal struct {
	Version     int    `json:"version"`
	Environment string `json:"environment"`
	Agent       string `json:"agent"`
	// Digest stands for all that the plan was made of: revision, variables, providers,
	// and the objects that it changes as they are and as they are to be. It is keyed, so
	// that no value can be found by trying.
	Digest string `json:"digest"`
	// Plan is the SHA-256 of the sealed plan object, in hex; see [PlanKey].
	Plan     string    `json:"plan"`
	Revision string    `json:"revision"`
	Created  time.Time `json:"created"`
	// Scopes are those whose approval the plan needs.
	Scopes  []string `json:"scopes"`
	Changes []Change `json:"changes"`
}

func (Proposal) payloadType() string { return "application/vnd.towline.proposal+json" }

// Validate implements [Document].
func (p Proposal) Validate() error {
	var check checker
	check.head(p.Version, p.Environment)
	check.name("agent", p.Agent)
	check.that("digest", hexDigest(p.Digest), "must be a SHA-256 in hex")
	check.that("plan", hexDigest(p.Plan), "must be a SHA-256 in hex")
	check.time("created", p.Created)
	check.names("scopes", p.Scopes)
	return check.err()
}

// Verdict is what an approver says of a proposal.
type Verdict string

// The verdicts.
const (
	VerdictApprove Verdict = "approve"
	VerdictReject  Verdict = "reject"
)

// PlanDecision is one approver's word about one proposal. It is signed with the
// approver's SSH key and written once: it cannot be taken back, but it is about that
// very plan and no other.
type PlanDecision struct {
	Version     int     `json:"version"`
	Environment string  `json:"environment"`
	Agent       string  `json:"agent"`
	Digest      string  `json:"digest"`
	Verdict     Verdict `json:"verdict"`
	Reason      string  `json:"reason,omitempty"`
	// By names the approver for people; the key is what counts.
	By   string    `json:"by,omitempty"`
	Time time.Time `json:"time"`
}

// Validate implements [Document].
func (d PlanDecision) Validate() error {
	var check checker
	check.head(d.Version, d.Environment)
	check.name("agent", d.Agent)
	check.that("digest", hexDigest(d.Digest), "must be a SHA-256 in hex")
	check.that("verdict", d.Verdict == VerdictApprove || d.Verdict == VerdictReject, "must be approve or reject")
	check.text("reason", d.Reason)
	check.text("by", d.By)
	check.time("time", d.Time)
	return check.err()
}

// PlanNamespace is the SSH signature namespace of decisions about plans.
const PlanNamespace = "towline-plan"

// SignPlanDecision signs a decision.
func SignPlanDecision(decision PlanDecision, signer ssh.Signer) ([]byte, error) {
	return signAs(PlanNamespace, decision, signer)
}

// ProposalPhase is what became of a proposal.
type ProposalPhase string

// The phases of a proposal.
const (
	ProposalPending  ProposalPhase = "pending"  // approvals are missing
	ProposalApproved ProposalPhase = "approved" // it may be applied
	ProposalRejected ProposalPhase = "rejected" // an approver has said no
	// ProposalSuperseded: something that it was made of has changed since.
	ProposalSuperseded ProposalPhase = "superseded"
)

// Standing is what the decisions about a proposal come to.
type Standing struct {
	Phase ProposalPhase
	// Approvers are the [ApproverID]s of those who approved and count in some scope,
	// Rejector is who rejected, with Reason.
	Approvers        []string
	Rejector, Reason string
	// Missing counts the approvals that the scope with most of them still needs.
	Missing int
}

// Decisions are what was said about one proposal: what approvers have signed themselves,
// and what they clicked, as agents that may receive clicks have signed it.
type Decisions struct {
	Signed [][]byte
	Clicks []Click
}

// Decide counts the decisions about a proposal. Those of others than the approvers of
// its scopes, of another proposal, or unsigned are as if they were not there. Every
// scope needs its own number of approvals; one approver of any scope can reject. Whoever
// signs and clicks counts once.
func Decide(proposal Proposal, scopes map[string]Scope, said Decisions) Standing {
	c := count{proposal: proposal, scopes: scopes, approved: map[string]map[string]bool{}, standing: Standing{Phase: ProposalApproved}}
	for _, data := range said.Signed {
		c.signed(data)
	}
	for _, click := range said.Clicks {
		c.click(click)
	}
	return c.result()
}

// count is what the decisions about a proposal come to so far.
type count struct {
	proposal Proposal
	scopes   map[string]Scope
	// approved are those who approved, by scope.
	approved map[string]map[string]bool
	standing Standing
}

func (c *count) signed(data []byte) {
	decision, key, err := openDecision(data)
	if err != nil || decision.Digest != c.proposal.Digest || decision.Environment != c.proposal.Environment || decision.Agent != c.proposal.Agent {
		return
	}
	for _, name := range c.proposal.Scopes {
		if c.scopes[name].approvedBy(key) {
			c.say(name, ApproverID(key), decision.Verdict, decision.Reason)
		}
	}
}

func (c *count) click(click Click) {
	if click.Subject != c.proposal.Digest || click.Environment != c.proposal.Environment || click.Agent != c.proposal.Agent || click.Verb.verdict() == "" {
		return
	}
	for _, name := range c.proposal.Scopes {
		if id := c.scopes[name].by(click.User); id != "" {
			c.say(name, id, click.Verb.verdict(), "in Slack")
		}
	}
}

// say counts an approver's word in a scope.
func (c *count) say(scope, approver string, verdict Verdict, reason string) {
	if verdict == VerdictReject {
		c.standing.Phase, c.standing.Rejector, c.standing.Reason = ProposalRejected, approver, reason
		return
	}
	if c.approved[scope] == nil {
		c.approved[scope] = map[string]bool{}
	}
	c.approved[scope][approver] = true
}

func (c *count) result() Standing {
	standing, all := c.standing, map[string]bool{}
	for _, name := range c.proposal.Scopes {
		standing.Missing = max(standing.Missing, c.scopes[name].missing(c.approved[name]))
		maps.Copy(all, c.approved[name])
	}
	standing.Approvers = slices.Sorted(maps.Keys(all))
	if standing.Phase == ProposalApproved && standing.Missing > 0 {
		standing.Phase = ProposalPending
	}
	return standing
}

// ApproversIn returns the [ApproverID]s of those whose word about the proposal counts, sorted.
func (p Proposal) ApproversIn(scopes map[string]Scope) []string {
	var out []string
	for _, name := range p.Scopes {
		if approval := scopes[name].Approval; approval != nil {
			out = append(out, approverIDs(approval.Approvers)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// approvedBy tells whether a key is that of one of the scope's approvers.
func (s Scope) approvedBy(key ssh.PublicKey) bool {
	return s.Approval != nil && isListed(s.Approval.Approvers, key)
}

// missing counts the approvals that the scope still needs. A scope that names no
// approvers can have none: nothing in it is ever approved.
func (s Scope) missing(approved map[string]bool) int {
	if s.Approval == nil {
		return 1
	}
	return max(0, s.Approval.Needed()-len(approved))
}

func openDecision(data []byte) (PlanDecision, ssh.PublicKey, error) {
	payload, key, err := openAs(PlanNamespace, data)
	if err != nil {
		return PlanDecision{}, nil, fmt.Errorf("open decision: %w", err)
	}
	decision, err := Decode[PlanDecision](payload)
	return decision, key, err
}

// isListed tells whether a key is among keys in authorized_keys form.
func isListed(lines []string, key ssh.PublicKey) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		listed, err := ParseApprover(line)
		return err == nil && bytes.Equal(listed.Marshal(), key.Marshal())
	})
}

// ProposalUse is what a round made of a proposal, for its receipt.
type ProposalUse struct {
	Digest string        `json:"digest"`
	Phase  ProposalPhase `json:"phase"`
	// Approvers are the [ApproverID]s of those who approved, Missing how many more are needed.
	Approvers []string `json:"approvers,omitempty"`
	Missing   int      `json:"missing,omitempty"`
	// By is the digest of the proposal that took its place, "" if there is none any more.
	By string `json:"by,omitempty"`
}

// PlanBody is what is sealed of a proposed plan.
type PlanBody struct {
	// Text is the plan as people read it, with sensitive values hidden.
	Text string `json:"text"`
	// Plan is Terraform's plan JSON, with all values.
	Plan json.RawMessage `json:"plan"`
}
