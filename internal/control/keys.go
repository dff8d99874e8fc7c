package control

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"
)

// Numbers in keys have a fixed width, so that the order of keys is their order.
const numberWidth = 12

func number(n int64) string { return fmt.Sprintf("%0*d", numberWidth, n) }

// MetadataKey is the key of a file of the repository's signed metadata.
func MetadataKey(file string) string { return "tuf/" + file }

// Prefixes of the repository's own parts.
const (
	MetadataPrefix = "tuf/"
	TargetsPrefix  = "targets/"
	PackagesPrefix = "packages/"
)

// PackagePartKey is the key of a part of a provider's package; sha256 is that of its
// content, in hex.
func PackagePartKey(sha256 string) string { return PackagesPrefix + sha256 }

// ContentKey is the key under which a target's content lies; sha256 is in hex.
func ContentKey(target, sha256 string) string {
	folder, name := path.Split(target)
	return TargetsPrefix + folder + sha256 + "." + name
}

// EnvironmentPrefix begins every key that the agents of an environment write.
func EnvironmentPrefix(environment string) string { return "environments/" + environment + "/" }

// AgentsPrefix begins every key that the agents of an environment write, each for itself.
func AgentsPrefix(environment string) string { return EnvironmentPrefix(environment) + "agents/" }

// AgentPrefix begins every key that one agent writes for itself; what it writes for its
// shard is under keys of [Shard].
func AgentPrefix(environment, agent string) string { return AgentsPrefix(environment) + agent + "/" }

// ClaimKey is created once, by the first boot of an agent's generation.
func ClaimKey(environment, agent string, generation int) string {
	if generation <= 1 {
		return AgentPrefix(environment, agent) + "claim.json"
	}
	return AgentPrefix(environment, agent) + "claim-" + strconv.Itoa(generation) + ".json"
}

// HeartbeatKey is overwritten by the agent.
func HeartbeatKey(environment, agent string) string {
	return AgentPrefix(environment, agent) + "heartbeat.json"
}

// ReceiptPrefix begins the keys of an agent's receipts.
func ReceiptPrefix(environment, agent string) string {
	return AgentPrefix(environment, agent) + "receipts/"
}

// ReceiptKey is created once, by the agent.
func ReceiptKey(environment, agent string, epoch, sequence int64) string {
	return ReceiptPrefix(environment, agent) + number(epoch) + "-" + number(sequence) + documentSuffix
}

// ParseReceiptKey is the reverse of [ReceiptKey]; ok is false for any other key.
func ParseReceiptKey(key string) (epoch, sequence int64, ok bool) {
	name, found := strings.CutSuffix(path.Base(key), documentSuffix)
	if !found {
		return 0, 0, false
	}
	return parsePair(name)
}

// PlanKey is created once; digest is the SHA-256 of the stored bytes, in hex.
func PlanKey(environment, agent, digest string) string {
	return AgentPrefix(environment, agent) + "plans/" + digest
}

// ProposalPrefix begins the keys of an agent's proposals.
func ProposalPrefix(environment, agent string) string {
	return AgentPrefix(environment, agent) + "proposals/"
}

// ProposalKey is created once, by the agent; digest is the proposal's.
func ProposalKey(environment, agent, digest string) string {
	return ProposalPrefix(environment, agent) + digest + documentSuffix
}

// DecisionPrefix begins the keys of the decisions about a proposal.
func DecisionPrefix(environment, digest string) string {
	return EnvironmentPrefix(environment) + "decisions/" + digest + "/"
}

// DecisionKey is created once, by the approver; approver is from [ApproverID].
func DecisionKey(environment, digest, approver string) string {
	return DecisionPrefix(environment, digest) + approver + documentSuffix
}

// SharedPrefix begins the keys under which agents are given what opens sealed objects.
func SharedPrefix(environment string) string { return EnvironmentPrefix(environment) + "keys/" }

// SharedKey is overwritten by whoever gives one agent the key of one sealed object;
// digest is the SHA-256 of what is sealed, in hex, and keyID names the agent's key.
func SharedKey(environment, digest, keyID string) string {
	return SharedPrefix(environment) + digest + "/" + keyID
}

// GrantsPrefix begins the keys of an environment's grants.
func GrantsPrefix(environment string) string { return EnvironmentPrefix(environment) + "grants/" }

// GrantPrefix begins the keys of one grant.
func GrantPrefix(environment, id string) string { return GrantsPrefix(environment) + id + "/" }

// GrantRequestKey is created once, by the opener.
func GrantRequestKey(environment, id string) string {
	return GrantPrefix(environment, id) + grantRequestFile
}

// GrantApprovalKey is created once, by the approver; approver is from [ApproverID].
func GrantApprovalKey(environment, id, approver string) string {
	return GrantPrefix(environment, id) + grantApprovals + "/" + approver + documentSuffix
}

// GrantExtensionKey is created once, by the approver, for one new end; approver is from
// [ApproverID].
func GrantExtensionKey(environment, id string, until time.Time, approver string) string {
	return GrantPrefix(environment, id) + grantExtensions + "/" + number(until.Unix()) + "-" + approver + documentSuffix
}

// GrantClosureKey is created once, by the closer; closer is from [ApproverID].
func GrantClosureKey(environment, id, closer string) string {
	return GrantPrefix(environment, id) + grantClosures + "/" + closer + documentSuffix
}

func parsePair(name string) (first, second int64, ok bool) {
	before, after, found := strings.Cut(name, "-")
	if !found {
		return 0, 0, false
	}
	first, firstOK := parseNumber(before)
	second, secondOK := parseNumber(after)
	return first, second, firstOK && secondOK
}

// parseNumber accepts only what number writes.
func parseNumber(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0 && number(n) == text
}
