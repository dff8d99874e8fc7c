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

// After says what happens to the difference when a grant ends, within a scope's drift policy: revert
// corrects at once where the scope enforces, and is as if there had been no grant elsewhere.
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
