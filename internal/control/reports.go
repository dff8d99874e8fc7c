package control

import (
	"slices"
	"time"
)

// Claim binds an agent's own key to its enrolment. It is signed by the join token's key.
type Claim struct {
	Version     int    `json:"version"`
	Environment string `json:"environment"`
	Agent       string `json:"agent"`
	Generation  int    `json:"generation"`
	// AgentKey is the agent's ed25519 public key, base64.
	AgentKey string    `json:"agent_key"`
	Time     time.Time `json:"time"`
	Hostname string    `json:"hostname,omitempty"`
}

// Heartbeat is an agent's latest word, overwritten in place and signed by the agent's key.
type Heartbeat struct {
	Version      int       `json:"version"`
	Environment  string    `json:"environment"`
	Agent        string    `json:"agent"`
	Time         time.Time `json:"time"`
	AgentVersion string    `json:"agent_version"`
	Epoch        int64     `json:"epoch"`
	// Sequence is the number of the last receipt.
	Sequence int64  `json:"sequence"`
	Channel  string `json:"channel"`
	// Revision is the digest of the revision in force, "" before the first and where another
	// agent has worked since, as long as this one has not found out.
	Revision string `json:"revision"`
	// Outcome of the last round; see [Outcome].
	Outcome Outcome `json:"outcome"`
	// Converged is the time of the last round that ended with real objects equal to the revision.
	Converged time.Time `json:"converged,omitzero"`
	// Drift counts drifted attributes that still stand.
	Drift int `json:"drift"`
	// Objects counts the objects the agent manages.
	Objects int `json:"objects"`
	// Proposal is the digest of the plan that waits for approval, "" if none does.
	Proposal string `json:"proposal,omitempty"`
	// OpenGrants counts break-glass grants in force.
	OpenGrants int `json:"open_grants,omitempty"`
	// Message says in one sentence why the outcome is not converged.
	Message string `json:"message,omitempty"`
	// Round is when the last round ended, of which the fields before tell. An agent that may be
	// followed gives its word between rounds too, so that Time says only that it is there.
	Round time.Time `json:"round,omitzero"`
	// NextRound is when the agent means to report again.
	NextRound time.Time `json:"next_round,omitzero"`
	// Tenure is the agent's word to those who may take over from it; nil if it holds no lease.
	Tenure *Tenure `json:"tenure,omitempty"`
}

// Reported is when the agent last reported a round.
func (h Heartbeat) Reported() time.Time {
	if h.Round.IsZero() {
		return h.Time
	}
	return h.Round
}

// Tenure is a holder's word that it changes nothing under an epoch of the lease
// unless it has said so again within its period, and a little more. A period of 0
// promises nothing.
type Tenure struct {
	Epoch  int64    `json:"epoch"`
	Period Duration `json:"period"`
}

// Outcome is how a round ended.
type Outcome string

// The outcomes of a round.
const (
	OutcomeConverged Outcome = "converged" // real objects equal the revision
	OutcomeApplied   Outcome = "applied"   // changes were made, all succeeded
	OutcomeDrifted   Outcome = "drifted"   // drift stands: observed, proposed, in grace or under a grant
	OutcomeRefused   Outcome = "refused"   // the guard refused the plan; nothing was applied
	OutcomePending   Outcome = "pending"   // the revision's changes wait for approval; the one before is kept
	OutcomeFailed    Outcome = "failed"    // a step failed; the message says which
	OutcomeStandby   Outcome = "standby"   // another agent works, and this one takes over if it ends; no receipt says so
)

// Receipt is the record of one round, create-only, signed by the agent's key and chained.
type Receipt struct {
	Version     int       `json:"version"`
	Environment string    `json:"environment"`
	Agent       string    `json:"agent"`
	Epoch       int64     `json:"epoch"`
	Sequence    int64     `json:"sequence"`
	Started     time.Time `json:"started"`
	Finished    time.Time `json:"finished"`
	// Previous is the SHA-256 of the previous receipt's signed bytes, hex; "" for the first.
	Previous string `json:"previous"`
	Channel  string `json:"channel"`
	// Revision is the one that the round was about, or without any the one in force.
	Revision string   `json:"revision"`
	Outcome  Outcome  `json:"outcome"`
	Message  string   `json:"message,omitempty"`
	Changes  []Change `json:"changes,omitempty"`
	// Drift lists the drift set of the round; DriftSet is its identity, "" if empty.
	Drift    []DriftItem `json:"drift,omitempty"`
	DriftSet string      `json:"drift_set,omitempty"`
	// Unmanaged are objects beside the agent's own that inventories list and nobody manages.
	Unmanaged []UnmanagedItem `json:"unmanaged,omitempty"`
	Grants    []GrantUse      `json:"grants,omitempty"`
	// GrantsEnded are the grants that ended since the round before, with what came of them.
	GrantsEnded []GrantEnd `json:"grants_ended,omitempty"`
	// Holds are the drift sets whose correction waits because a person said so.
	Holds []HoldUse `json:"holds,omitempty"`
	// Proposals are the plans that wait for approval, that were approved or that are no
	// more since the round before.
	Proposals []ProposalUse `json:"proposals,omitempty"`
	// Policies are what Rego policies said about the round's plan.
	Policies []PolicyFinding `json:"policies,omitempty"`
	// Serial is the state's serial after the round.
	Serial uint64 `json:"serial"`
	// Problems are the summaries and details of the round's diagnostics, secrets removed.
	Problems []Problem `json:"problems,omitempty"`
}

// Change is one applied, refused or failed change of a resource instance. It holds no values.
type Change struct {
	Address string   `json:"address"`
	Actions []Action `json:"actions"`
	// Attributes are the names of the attributes that changed.
	Attributes []string `json:"attributes,omitempty"`
	// Result is "applied", "failed", "refused" or "held".
	Result string `json:"result"`
	// Cause is "revision", "drift", or "recovered" for a change by a process that
	// died before it could report it.
	Cause string `json:"cause"`
}

// DriftItem is the drift of one resource instance. It holds no values.
type DriftItem struct {
	Address string `json:"address"`
	// Attributes are paths inside the object; empty if the object was deleted.
	Attributes []string `json:"attributes,omitempty"`
	Deleted    bool     `json:"deleted,omitempty"`
	// Replaced tells that another object is in the place of the recorded one.
	Replaced bool `json:"replaced,omitempty"`
	// Computed are attributes that differ as well and that only the provider sets.
	Computed []string `json:"computed,omitempty"`
	// Decision is "observed", "proposed", "in-grace", "corrected", "held" (by a grant or a person),
	// "stopped" (another writer keeps changing it), "accepted" (another object, as it
	// should be) or "failed".
	Decision string    `json:"decision"`
	Since    time.Time `json:"since"`
	// Digest stands for the real values of the attributes. It is keyed by the agent:
	// equal values have equal digests, and nobody else can try values.
	Digest string `json:"digest,omitempty"`
	// Grant is the break-glass grant that holds them, "" if none does.
	Grant string `json:"grant,omitempty"`
}

// UnmanagedItem is an object that nobody manages. It holds no values.
type UnmanagedItem struct {
	// Inventory is the address of the data source or list block that lists the object under ID.
	Inventory string    `json:"inventory"`
	ID        string    `json:"id"`
	Since     time.Time `json:"since"`
	// Digest stands for what the inventory says of the object; it changes with that.
	Digest string `json:"digest"`
}

// GrantUse says that a grant was in force during a round.
type GrantUse struct {
	ID     string    `json:"id"`
	Policy string    `json:"policy"`
	Until  time.Time `json:"until"`
	// Opener names who opened it, User is who that is in Slack if it was opened there.
	Opener string `json:"opener,omitempty"`
	User   string `json:"user,omitempty"`
	// Held lists the addresses that were not corrected because of the grant.
	Held []string `json:"held,omitempty"`
	// Changed is what was seen to differ since the grant was opened.
	Changed []GrantChange `json:"changed,omitempty"`
}

// GrantEnd says that a grant ended, and what became of what had changed meanwhile.
type GrantEnd struct {
	ID     string `json:"id"`
	Policy string `json:"policy"`
	// Opener names who opened it, User is who that is in Slack if it was opened there.
	Opener string `json:"opener,omitempty"`
	User   string `json:"user,omitempty"`
	// Ended is when, by the agent's clock or the closure's.
	Ended time.Time `json:"ended"`
	// After is what the policy chooses for the end.
	After   After         `json:"after"`
	Changed []GrantChange `json:"changed,omitempty"`
}

// GrantChange is what differed of one object while a grant was open. It holds no values.
type GrantChange struct {
	Address string `json:"address"`
	// Attributes are paths inside the object; none if it was deleted or replaced.
	Attributes []string `json:"attributes,omitempty"`
	Deleted    bool     `json:"deleted,omitempty"`
	Replaced   bool     `json:"replaced,omitempty"`
	// Since is when the first of them was seen.
	Since time.Time `json:"since"`
	// Result, of a grant that ended, is "corrected", [GrantGone], or a decision about drift.
	Result string `json:"result,omitempty"`
}

// GrantGone says of what differed while a grant was open that it did not any more at the
// end: it was changed back by hand, or the revision asks for it.
const GrantGone = "gone"

// HoldUse says that a person's word kept drift from being corrected in a round.
type HoldUse struct {
	// Subject is the occurrence of the drift set; see [Occurrence].
	Subject string `json:"subject"`
	// User is the Slack user whose word it is.
	User string `json:"user"`
	// Held lists the addresses that were not corrected because of it.
	Held []string `json:"held,omitempty"`
}

// Problem is a diagnostic in a receipt.
type Problem struct {
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Detail   string `json:"detail,omitempty"`
	Address  string `json:"address,omitempty"`
}

var outcomes = []Outcome{OutcomeConverged, OutcomeApplied, OutcomeDrifted, OutcomeRefused, OutcomePending, OutcomeFailed, OutcomeStandby}

// Validate implements [Document].
func (c Claim) Validate() error {
	var check checker
	check.head(c.Version, c.Environment)
	check.name("agent", c.Agent)
	check.that("generation", c.Generation >= 1, "must be at least 1")
	check.ed25519Key("agent_key", c.AgentKey)
	check.time("time", c.Time)
	check.text("hostname", c.Hostname)
	return check.err()
}

// Validate implements [Document].
func (h Heartbeat) Validate() error {
	var check checker
	check.head(h.Version, h.Environment)
	check.name("agent", h.Agent)
	check.time("time", h.Time)
	check.that("epoch", h.Epoch >= 0, "must not be negative")
	check.that("sequence", h.Sequence >= 0, "must not be negative")
	check.name("channel", h.Channel)
	check.that("outcome", slices.Contains(outcomes, h.Outcome), "is not known")
	if h.Tenure != nil {
		check.that("tenure.epoch", h.Tenure.Epoch >= 1, "must be at least 1")
		check.that("tenure.period", h.Tenure.Period >= 0 && h.Tenure.Period <= Duration(time.Hour), "must be between 0s and 1h")
	}
	return check.err()
}

// Validate implements [Document].
func (r Receipt) Validate() error {
	var check checker
	check.head(r.Version, r.Environment)
	check.name("agent", r.Agent)
	check.that("epoch", r.Epoch >= 1, "must be at least 1")
	check.that("sequence", r.Sequence >= 1, "must be at least 1")
	check.time("started", r.Started)
	check.time("finished", r.Finished)
	check.that("previous", r.Previous == "" || hexDigest(r.Previous), "must be empty or a SHA-256 in hex")
	check.that("previous", (r.Previous == "") == (r.Sequence == 1), "must be empty in the first receipt and only there")
	check.name("channel", r.Channel)
	check.that("outcome", slices.Contains(outcomes, r.Outcome) && r.Outcome != OutcomeStandby, "is not known")
	check.that("drift_set", r.DriftSet == DriftSet(r.Drift), "must be the identity of the listed drift")
	return check.err()
}
