package control

import (
	"fmt"
	"path"
	"strconv"
	"strings"
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

// AgentPrefix begins every key that one agent writes, but for lease and state.
func AgentPrefix(environment, agent string) string {
	return EnvironmentPrefix(environment) + "agents/" + agent + "/"
}

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

// LeasePrefix begins the keys of an environment's lease.
func LeasePrefix(environment string) string { return EnvironmentPrefix(environment) + "lease/" }

// LeaseKey is created once, by the holder of the epoch.
func LeaseKey(environment string, epoch int64) string {
	return LeasePrefix(environment) + number(epoch)
}

// ParseLeaseKey returns the epoch of a lease key; ok is false for any other key.
func ParseLeaseKey(key string) (epoch int64, ok bool) { return parseNumber(path.Base(key)) }

// StatePrefix begins the keys of an environment's states.
func StatePrefix(environment string) string { return EnvironmentPrefix(environment) + "state/" }

// StateKey is created once, by the holder of the epoch.
func StateKey(environment string, epoch int64, serial uint64) string {
	return StatePrefix(environment) + number(epoch) + "-" + fmt.Sprintf("%0*d", numberWidth, serial)
}

// ParseStateKey is the reverse of [StateKey]; ok is false for any other key.
func ParseStateKey(key string) (epoch int64, serial uint64, ok bool) {
	epoch, second, ok := parsePair(path.Base(key))
	return epoch, uint64(second), ok
}

// GrantsPrefix begins the keys of an environment's grants.
func GrantsPrefix(environment string) string { return EnvironmentPrefix(environment) + "grants/" }

// GrantPrefix begins the keys of one grant.
func GrantPrefix(environment, id string) string { return GrantsPrefix(environment) + id + "/" }

// GrantRequestKey is created once, by the opener.
func GrantRequestKey(environment, id string) string {
	return GrantPrefix(environment, id) + "request.json"
}

// GrantApprovalKey is created once, by the approver; approver is from [ApproverID].
func GrantApprovalKey(environment, id, approver string) string {
	return GrantPrefix(environment, id) + "approvals/" + approver + documentSuffix
}

// GrantClosureKey is created once, by the closer; closer is from [ApproverID].
func GrantClosureKey(environment, id, closer string) string {
	return GrantPrefix(environment, id) + "closures/" + closer + documentSuffix
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
