package control

import (
	"crypto/ed25519"
	"fmt"
)

// JournalRecord says whose a batch of journal entries in the store is, and where it
// belongs. It is signed by the agent's key and stands in the object's first line.
type JournalRecord struct {
	Version     int    `json:"version"`
	Environment string `json:"environment"`
	Shard       string `json:"shard,omitempty"`
	Agent       string `json:"agent"`
	Epoch       int64  `json:"epoch"`
	Sequence    int64  `json:"sequence"`
	// After is the sequence of the batch before it in the epoch, 0 for the first: what
	// is between them is not of the journal.
	After int64 `json:"after"`
	// Serial is that of the state to which the entries are to be added.
	Serial uint64 `json:"serial"`
	// Digest is the SHA-256 of the bytes that follow, in hex.
	Digest string `json:"digest"`
	// Sealed tells that what follows is sealed to recipients.
	Sealed bool `json:"sealed,omitempty"`
}

func (JournalRecord) payloadType() string { return "application/vnd.towline.journal+json" }

// Validate implements [Document].
func (j JournalRecord) Validate() error {
	var check checker
	check.head(j.Version, j.Environment)
	check.optionalName("shard", j.Shard)
	check.name("agent", j.Agent)
	check.that("epoch", j.Epoch >= 1, "must be at least 1")
	check.that("sequence", j.Sequence >= 1, "must be at least 1")
	check.that("after", j.After >= 0 && j.After < j.Sequence, "must be before the sequence")
	check.that("digest", hexDigest(j.Digest), "must be a SHA-256 in hex")
	return check.err()
}

// SignJournal returns the object that holds a batch of entries. It sets the record's digest.
func SignJournal(record JournalRecord, entries []byte, key ed25519.PrivateKey) ([]byte, error) {
	record.Digest = bodyDigest(entries)
	return signBody(record, entries, key)
}

// OpenJournal returns the entries in an object, which the key must have signed.
func OpenJournal(object []byte, key ed25519.PublicKey) (JournalRecord, []byte, error) {
	record, entries, err := openBody(object, key, func(r JournalRecord) string { return r.Digest })
	if err != nil {
		return JournalRecord{}, nil, fmt.Errorf("open journal: %w", err)
	}
	return record, entries, nil
}
