package control

import (
	"fmt"
	"path"
)

// Shard is a part of an environment that one agent at a time works on: it has a lease,
// states and a journal of its own. Without a name it is that of the agents that name none.
type Shard struct{ Environment, Name string }

// ShardOf is the shard that an agent works on.
func (a Agent) ShardOf() Shard { return Shard{a.Environment, a.Shard} }

func (s Shard) prefix() string {
	if s.Name == "" {
		return EnvironmentPrefix(s.Environment)
	}
	return EnvironmentPrefix(s.Environment) + "shards/" + s.Name + "/"
}

// String names the shard for people.
func (s Shard) String() string {
	if s.Name == "" {
		return s.Environment
	}
	return s.Environment + ", shard " + s.Name
}

// LeasePrefix begins the keys of the shard's lease.
func (s Shard) LeasePrefix() string { return s.prefix() + "lease/" }

// LeaseKey is created once, by the holder of the epoch.
func (s Shard) LeaseKey(epoch int64) string { return s.LeasePrefix() + number(epoch) }

// ParseLeaseKey returns the epoch of a lease key; ok is false for any other key.
func ParseLeaseKey(key string) (epoch int64, ok bool) { return parseNumber(path.Base(key)) }

// StatePrefix begins the keys of the shard's states.
func (s Shard) StatePrefix() string { return s.prefix() + "state/" }

// StateKey is created once, by the holder of the epoch.
func (s Shard) StateKey(epoch int64, serial uint64) string {
	return s.StatePrefix() + number(epoch) + "-" + fmt.Sprintf("%0*d", numberWidth, serial)
}

// ParseStateKey is the reverse of [Shard.StateKey]; ok is false for any other key.
func ParseStateKey(key string) (epoch int64, serial uint64, ok bool) {
	epoch, second, ok := parsePair(path.Base(key))
	return epoch, uint64(second), ok //nolint:gosec // parsePair gives no negative number
}

// JournalPrefix begins the keys of the shard's journal.
func (s Shard) JournalPrefix() string { return s.prefix() + "journal/" }

// JournalKey is created once, by the holder of the epoch.
func (s Shard) JournalKey(epoch, sequence int64) string {
	return s.JournalPrefix() + number(epoch) + "-" + number(sequence)
}

// ParseJournalKey is the reverse of [Shard.JournalKey]; ok is false for any other key.
func ParseJournalKey(key string) (epoch, sequence int64, ok bool) { return parsePair(path.Base(key)) }
