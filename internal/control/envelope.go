package control

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// ErrSignature is wrapped by every error about a signature that does not hold.
var ErrSignature = errors.New("signature does not hold")

// Report is a document that an agent signs with an ed25519 key, in a DSSE envelope.
type Report interface {
	Claim | Heartbeat | Receipt | StateRecord | JournalRecord | Proposal | Click | GrantClick
	Document
	payloadType() string
}

func (Claim) payloadType() string     { return "application/vnd.towline.claim+json" }
func (Heartbeat) payloadType() string { return "application/vnd.towline.heartbeat+json" }
func (Receipt) payloadType() string   { return "application/vnd.towline.receipt+json" }

// Sign encodes a report and signs it with every key.
func Sign[R Report](report R, keys ...ed25519.PrivateKey) ([]byte, error) {
	payload, err := Encode(report)
	if err != nil {
		return nil, err
	}
	signers := make([]dsse.Signer, len(keys))
	for i, key := range keys {
		signers[i] = signer{key}
	}
	envelopes, err := dsse.NewEnvelopeSigner(signers...)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	envelope, err := envelopes.SignPayload(context.Background(), report.payloadType(), payload)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return json.Marshal(envelope)
}

// Open returns the report in a signed envelope. Every one of the keys must have signed it.
func Open[R Report](data []byte, keys ...ed25519.PublicKey) (R, error) {
	var none R
	payload, err := openEnvelope(data, none.payloadType(), keys)
	if err != nil {
		return none, err
	}
	return Decode[R](payload)
}

func openEnvelope(data []byte, payloadType string, keys []ed25519.PublicKey) ([]byte, error) {
	var envelope dsse.Envelope
	if err := decodeStrict(data, &envelope); err != nil {
		return nil, fmt.Errorf("open envelope: %w", err)
	}
	if envelope.PayloadType != payloadType {
		return nil, fmt.Errorf("open envelope: %w: it holds %.80q, not %q", ErrSignature, envelope.PayloadType, payloadType)
	}
	if len(keys) == 0 || len(envelope.Signatures) > 2*len(keys) {
		return nil, fmt.Errorf("open envelope: %w: %d signatures for %d keys", ErrSignature, len(envelope.Signatures), len(keys))
	}
	for _, key := range keys {
		verifier, err := dsse.NewEnvelopeVerifier(verifier{key})
		if err != nil {
			return nil, fmt.Errorf("open envelope: %w", err)
		}
		if _, err := verifier.Verify(context.Background(), &envelope); err != nil {
			return nil, fmt.Errorf("open envelope: %w: %w", ErrSignature, err)
		}
	}
	return envelope.DecodeB64Payload()
}

// signer and verifier lend ed25519 keys to package dsse.
type signer struct{ key ed25519.PrivateKey }

// Sign implements dsse.Signer.
func (s signer) Sign(_ context.Context, data []byte) ([]byte, error) {
	if len(s.key) != ed25519.PrivateKeySize {
		return nil, errors.New("the private key has a wrong size")
	}
	return ed25519.Sign(s.key, data), nil
}

// KeyID implements dsse.Signer.
func (s signer) KeyID() (string, error) {
	if len(s.key) != ed25519.PrivateKeySize {
		return "", errors.New("the private key has a wrong size")
	}
	public, _ := s.key.Public().(ed25519.PublicKey) // a private key's other half has no other type
	return KeyID(public), nil
}

type verifier struct{ key ed25519.PublicKey }

// Verify implements dsse.Verifier.
func (v verifier) Verify(_ context.Context, data, sig []byte) error {
	if len(v.key) != ed25519.PublicKeySize || !ed25519.Verify(v.key, data, sig) {
		return ErrSignature
	}
	return nil
}

// KeyID implements dsse.Verifier.
func (v verifier) KeyID() (string, error) { return KeyID(v.key), nil }

// Public implements dsse.Verifier.
func (v verifier) Public() crypto.PublicKey { return v.key }

// KeyID is a short name of a key for people: the first 16 hex digits of its SHA-256.
func KeyID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

// SignClaim signs a claim with the join token's key and the agent's own: the
// second shows that the claimant holds the key it binds.
func SignClaim(claim Claim, token, agent ed25519.PrivateKey) ([]byte, error) {
	return Sign(claim, token, agent)
}

// OpenEarlierClaim is [OpenClaim] for an enrolment of the agent before the present
// one. What its key signed is the past's word: it must not be obeyed any more.
func OpenEarlierClaim(declared Agent, generation int, data []byte, created time.Time) (Claim, ed25519.PublicKey, error) {
	for _, join := range declared.Earlier {
		if join.Generation == generation {
			declared.Join = join
			return OpenClaim(declared, data, created)
		}
	}
	return Claim{}, nil, fmt.Errorf("open claim: %w: agent %s/%s does not declare an earlier generation %d", ErrSignature, declared.Environment, declared.Name, generation)
}

// OpenClaim returns the claim in data, and the agent's key, if it answers the
// declared enrolment. created is the store's time of the claim's creation: the
// claim's own time is what the claimant says.
func OpenClaim(declared Agent, data []byte, created time.Time) (Claim, ed25519.PublicKey, error) {
	token, err := decodeKey(declared.Join.PublicKey)
	if err != nil {
		return Claim{}, nil, fmt.Errorf("open claim: %w", err)
	}
	claim, err := Open[Claim](data, token)
	if err != nil {
		return Claim{}, nil, fmt.Errorf("open claim: %w", err)
	}
	key, err := decodeKey(claim.AgentKey)
	if err != nil {
		return Claim{}, nil, fmt.Errorf("open claim: %w", err)
	}
	if _, err := Open[Claim](data, token, key); err != nil {
		return Claim{}, nil, fmt.Errorf("open claim: the claimant does not hold the key it claims: %w", err)
	}
	switch {
	case claim.Environment != declared.Environment || claim.Agent != declared.Name:
		err = fmt.Errorf("it is for agent %s/%s, not %s/%s", claim.Environment, claim.Agent, declared.Environment, declared.Name)
	case claim.Generation != declared.Join.Generation:
		err = fmt.Errorf("it answers generation %d of the enrolment, not %d", claim.Generation, declared.Join.Generation)
	case created.After(declared.Join.Expires):
		err = fmt.Errorf("the join token expired at %s, before the claim was made", declared.Join.Expires.Format(time.RFC3339))
	}
	if err != nil {
		return Claim{}, nil, fmt.Errorf("open claim: %w", err)
	}
	return claim, key, nil
}
