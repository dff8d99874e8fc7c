package control

import (
	"cmp"
	"time"
)

// FormatVersion is the version of every document in this package.
const FormatVersion = 1

// Kind names a type of declared document; it is also its folder in the store.
type Kind string

// The declared documents. Each is a TUF target of its environment's role.
const (
	KindAgent      Kind = "agents"
	KindScope      Kind = "scopes"
	KindBreakGlass Kind = "break-glass"
	KindPolicy     Kind = "policies"
)

// Agent declares one agent of an environment.
type Agent struct {
	Version     int    `json:"version"`
	Environment string `json:"environment"`
	Name        string `json:"name"`
	Channel     string `json:"channel"`
	// Shard names the part of the environment that the agent works on. Agents of one
	// shard take over from each other; see [Shard].
	Shard  string            `json:"shard,omitempty"`
	Scopes []string          `json:"scopes"`
	Labels map[string]string `json:"labels,omitempty"`
	// PollInterval is the time between rounds, before jitter.
	PollInterval Duration `json:"poll_interval"`
	// Heartbeat is how often the agent says that it is there, where another may take
	// over from it; 0 means [DefaultHeartbeat].
	Heartbeat Duration `json:"heartbeat,omitempty"`
	// Refresh bounds what is read in a round; nil means everything in every round.
	Refresh *Refresh `json:"refresh,omitempty"`
	Slack   *Slack   `json:"slack,omitempty"`
	// Recipients can open what the agent seals for the store, beside the environment's
	// agents; see [ParseRecipient]. Without any, the keys that sign for the environment can.
	Recipients []string `json:"recipients,omitempty"`
	// Signals says who may have the agent look sooner; nil means nobody.
	Signals *Signals `json:"signals,omitempty"`
	Join    Join     `json:"join"`
	// Earlier are the enrolments before, oldest first, as far as they are known. By
	// them a new machine tells the states of its predecessor from forged ones.
	Earlier []Join `json:"earlier,omitempty"`
}

// DefaultHeartbeat is how often an agent that may be followed says that it is there.
const DefaultHeartbeat = Duration(30 * time.Second)

// Period is how often the agent says that it is there.
func (a Agent) Period() time.Duration {
	return time.Duration(cmp.Or(a.Heartbeat, DefaultHeartbeat))
}

// MaxEarlier bounds the earlier enrolments that a document lists.
const MaxEarlier = 16

// Refresh bounds the reads of an agent's rounds, for APIs that allow few.
type Refresh struct {
	// Budget is the share of all objects that a round reads, above 0 and up to 1.
	Budget float64 `json:"budget"`
	// Within is the time in which every object is read, whatever the budget.
	Within Duration `json:"within"`
}

// Join is the public half of a one-time join token.
type Join struct {
	// Generation rises with every re-enrolment; a claim names the generation it answers.
	Generation int `json:"generation"`
	// PublicKey is the token's ed25519 public key, base64 (standard, padded).
	PublicKey string    `json:"public_key"`
	Expires   time.Time `json:"expires"`
}

// Action is something a scope may allow.
type Action string

// The actions of a scope. A replacement needs create and delete.
const (
	ActionCreate Action = "create"
	ActionUpdate Action = "update"
	ActionDelete Action = "delete"
)

// DriftMode says what an agent does about drift.
type DriftMode string

// The drift modes.
const (
	DriftObserve DriftMode = "observe"
	DriftPropose DriftMode = "propose"
	DriftEnforce DriftMode = "enforce"
)

// Scope says what an agent may touch.
type Scope struct {
	Version     int     `json:"version"`
	Environment string  `json:"environment"`
	Name        string  `json:"name"`
	Include     []Match `json:"include"`
	Exclude     []Match `json:"exclude,omitempty"`
	// Actions lists what is allowed; empty means all.
	Actions []Action `json:"actions,omitempty"`
	// IgnoreAttributes are patterns ADDRESS.attribute or TYPE.attribute of attributes that are not owned.
	IgnoreAttributes []string `json:"ignore_attributes,omitempty"`
	// MaxDeletes and MaxChanges bound one round's plan; nil means no limit. MaxShare
	// bounds its changes in percent of the objects that the scope includes.
	MaxDeletes *int `json:"max_deletes,omitempty"`
	MaxChanges *int `json:"max_changes,omitempty"`
	MaxShare   *int `json:"max_share,omitempty"`
	// Windows are the times in which changes are made; none means at any time.
	Windows []Window `json:"windows,omitempty"`
	Drift   Drift    `json:"drift"`
	// Approval says who approves what is proposed in the scope; nil means nobody can.
	Approval *Approval `json:"approval,omitempty"`
	// Inventories are data sources and list blocks that list what there is, so that objects that
	// nobody manages are reported.
	Inventories []Inventory `json:"inventories,omitempty"`
}

// Match selects resource instances. An empty field matches everything; all
// fields that are set must match. "*" stands for any run of characters within one
// step of an address, "**" for any number of steps.
type Match struct {
	Address string `json:"address,omitempty"`
	Type    string `json:"type,omitempty"`
	// Module is the path of a module; everything below it matches.
	Module string `json:"module,omitempty"`
	// Provider is the source of the provider, such as hashicorp/aws.
	Provider string `json:"provider,omitempty"`
	// Attributes are paths inside the object, such as tags["team"]; only they are owned.
	// Except are paths that are not owned. Both only where objects are included.
	Attributes []string `json:"attributes,omitempty"`
	Except     []string `json:"except,omitempty"`
}

// Window is a time of the week in UTC, from From until Until, which may be on the day after.
type Window struct {
	// Days are mon, tue, wed, thu, fri, sat and sun; none means all.
	Days []string `json:"days,omitempty"`
	// From and Until are of the form 22:30.
	From  string `json:"from"`
	Until string `json:"until"`
}

// Inventory is a data source or a list block of the revision that lists objects, managed or not.
type Inventory struct {
	// Data is the address, or a pattern of it, such as data.simcloud_namespace.* or list.simcloud_config.all.
	Data string `json:"data"`
	// List is the attribute that holds the objects, "" for a list block. ID is the attribute
	// of each that identifies it; those of a list block have an identity without it.
	List string `json:"list"`
	ID   string `json:"id"`
}

// Drift is a scope's policy about drift.
type Drift struct {
	Mode DriftMode `json:"mode"`
	// Grace is how long drift must have been seen before it is corrected.
	Grace Duration `json:"grace,omitempty"`
	// Rules are other policies for some attributes; the first that names an attribute counts.
	Rules []DriftRule `json:"rules,omitempty"`
	// Ignore are patterns ADDRESS.attribute or TYPE.attribute of which drift is not
	// reported. They change nothing else: a plan that touches them corrects them.
	Ignore []string `json:"ignore,omitempty"`
	// Oscillation says when correcting an attribute stops because somebody else keeps
	// changing it; nil means [DefaultOscillation].
	Oscillation *Oscillation `json:"oscillation,omitempty"`
}

// DriftRule is a policy about the drift of some attributes.
type DriftRule struct {
	// Attributes are patterns ADDRESS.attribute or TYPE.attribute.
	Attributes []string  `json:"attributes"`
	Mode       DriftMode `json:"mode"`
	Grace      Duration  `json:"grace,omitempty"`
}

// Oscillation is when two writers count as working against each other: an attribute
// was corrected Times times Within a time. Correction goes on after it was quiet
// for as long.
type Oscillation struct {
	Times  int      `json:"times"`
	Within Duration `json:"within"`
	// Resumed is when a person said to go on: corrections before it do not count.
	Resumed time.Time `json:"resumed,omitzero"`
}

// DefaultOscillation counts where a scope says nothing.
var DefaultOscillation = Oscillation{Times: 3, Within: Duration(time.Hour)}

// After says what happens to the difference when a grant ends.
type After string

// What a break-glass policy may choose for the end of a grant.
const (
	AfterRevert  After = "revert"
	AfterHold    After = "hold"
	AfterPropose After = "propose"
)

// BreakGlassPolicy says who may suspend correction, over what and for how long.
type BreakGlassPolicy struct {
	Version     int      `json:"version"`
	Environment string   `json:"environment"`
	Name        string   `json:"name"`
	Scopes      []string `json:"scopes"`
	// Approvers are public keys in OpenSSH's authorized_keys form.
	Approvers     []string `json:"approvers"`
	Approvals     int      `json:"approvals"`
	MaxDuration   Duration `json:"max_duration"`
	RequireReason bool     `json:"require_reason"`
	After         After    `json:"after"`
	// SlackUsers says which approvers people are in Slack: IDs of users, with the
	// approver's key or its [ApproverID]. Without it nobody breaks the glass in Slack.
	SlackUsers map[string]string `json:"slack_users,omitempty"`
}

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
	Previous string   `json:"previous"`
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

// GrantRequest opens a grant under a break-glass policy. It is signed by its
// opener, who must be one of the policy's approvers and counts as one approval.
type GrantRequest struct {
	Version     int      `json:"version"`
	ID          string   `json:"id"`
	Environment string   `json:"environment"`
	Policy      string   `json:"policy"`
	Targets     []string `json:"targets"`
	Reason      string   `json:"reason,omitempty"`
	// Opened and Until bound the grant; Until minus Opened is at most the policy's MaxDuration.
	Opened time.Time `json:"opened"`
	Until  time.Time `json:"until"`
	// Opener names a person, for the record.
	Opener string `json:"opener,omitempty"`
}

// GrantExtension moves the end of an open grant. It counts when as many approvers as the
// policy asks for have signed the same new end.
type GrantExtension struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	// Until is the new end, at most the policy's MaxDuration after the grant was opened.
	Until time.Time `json:"until"`
	// Time is when it was signed: what has ended is not extended.
	Time time.Time `json:"time"`
	By   string    `json:"by,omitempty"`
}

// GrantClosure ends a grant early. It is signed by any of the policy's approvers.
type GrantClosure struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Closed  time.Time `json:"closed"`
	Closer  string    `json:"closer,omitempty"`
}
