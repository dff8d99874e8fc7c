package control

import (
	"crypto/ed25519"
	"fmt"
)

// StateRecord says whose a state in the store is. It is signed by the agent's key
// and stands in the object's first line; the state itself follows. So a state is
// believed or not as a whole, and whoever can only write to the store cannot make
// an agent forget its objects or take up others.
type StateRecord struct {
	Version     int    `json:"version"`
	Environment string `json:"environment"`
	Shard       string `json:"shard,omitempty"`
	Agent       string `json:"agent"`
	Epoch       int64  `json:"epoch"`
	Serial      uint64 `json:"serial"`
	// Digest is the SHA-256 of the bytes that follow, in hex.
	Digest string `json:"digest"`
	// Sealed tells that what follows is sealed to recipients; early versions did not seal.
	Sealed bool `json:"sealed,omitempty"`
}

func (StateRecord) payloadType() string { return "application/vnd.towline.state+json" }

// Validate implements [Document].
func (s StateRecord) Validate() error {
	var check checker
	check.head(s.Version, s.Environment)
	check.optionalName("shard", s.Shard)
	check.name("agent", s.Agent)
	check.that("epoch", s.Epoch >= 1, "must be at least 1")
	check.that("serial", s.Serial >= 1, "must be at least 1")
	check.that("digest", hexDigest(s.Digest), "must be a SHA-256 in hex")
	return check.err()
}

// MaxStateRecord bounds the first line of a state object, in bytes.
const MaxStateRecord = MaxHead

// SignState returns the object that holds a state. It sets the record's digest.
func SignState(record StateRecord, state []byte, key ed25519.PrivateKey) ([]byte, error) {
	record.Digest = bodyDigest(state)
	return signBody(record, state, key)
}

// OpenState returns the state in an object, which the key must have signed.
func OpenState(object []byte, key ed25519.PublicKey) (StateRecord, []byte, error) {
	record, state, err := openBody(object, key, func(r StateRecord) string { return r.Digest })
	if err != nil {
		return StateRecord{}, nil, fmt.Errorf("open state: %w", err)
	}
	return record, state, nil
}
