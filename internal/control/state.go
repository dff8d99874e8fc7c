package control

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// StateRecord says whose a state in the store is. It is signed by the agent's key
// and stands in the object's first line; the state itself follows. So a state is
// believed or not as a whole, and whoever can only write to the store cannot make
// an agent forget its objects or take up others.
type StateRecord struct {
	Version     int    `json:"version"`
	Environment string `json:"environment"`
	Agent       string `json:"agent"`
	Epoch       int64  `json:"epoch"`
	Serial      uint64 `json:"serial"`
	// Digest is the SHA-256 of the state's bytes, in hex.
	Digest string `json:"digest"`
}

func (StateRecord) payloadType() string { return "application/vnd.towline.state+json" }

// Validate implements [Document].
func (s StateRecord) Validate() error {
	var check checker
	check.head(s.Version, s.Environment)
	check.name("agent", s.Agent)
	check.that("epoch", s.Epoch >= 1, "must be at least 1")
	check.that("serial", s.Serial >= 1, "must be at least 1")
	check.that("digest", hexDigest(s.Digest), "must be a SHA-256 in hex")
	return check.err()
}

// MaxStateRecord bounds the first line of a state object, in bytes.
const MaxStateRecord = 8 << 10

// SignState returns the object that holds a state. It sets the record's digest.
func SignState(record StateRecord, state []byte, key ed25519.PrivateKey) ([]byte, error) {
	record.Digest = stateDigest(state)
	head, err := Sign(record, key)
	if err != nil {
		return nil, err
	}
	return append(append(head, '\n'), state...), nil
}

// OpenState returns the state in an object, which the key must have signed.
func OpenState(object []byte, key ed25519.PublicKey) (StateRecord, []byte, error) {
	head, _, found := bytes.Cut(object[:min(len(object), MaxStateRecord)], []byte("\n"))
	if !found {
		return StateRecord{}, nil, fmt.Errorf("open state: %w: it does not begin with a signed line", ErrMalformed)
	}
	record, err := Open[StateRecord](head, key)
	if err != nil {
		return StateRecord{}, nil, fmt.Errorf("open state: %w", err)
	}
	state := object[len(head)+1:]
	if stateDigest(state) != record.Digest {
		return StateRecord{}, nil, fmt.Errorf("open state: %w: the state is not the one that was signed", ErrSignature)
	}
	return record, state, nil
}

func stateDigest(state []byte) string {
	sum := sha256.Sum256(state)
	return hex.EncodeToString(sum[:])
}
