package trust

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/theupdateframework/go-tuf/v2/metadata"
)

// PublicKey is a public key: ed25519, or ECDSA on the curve P-256, which services
// that keep keys offer. Values can be compared; the zero value is no key.
type PublicKey struct {
	// raw is an ed25519 key itself, or the DER form (PKIX) of an ECDSA key.
	raw string
}

// String returns the key in base64, as configuration holds it.
func (k PublicKey) String() string { return base64.StdEncoding.EncodeToString([]byte(k.raw)) }

// ID returns the key's TUF key ID. Any key has one.
func (k PublicKey) ID() string {
	id, err := k.tuf().ID()
	if err != nil { // the canonical form of three strings always exists
		return ""
	}
	return id
}

// public is the key as the standard library has it, nil for no key.
func (k PublicKey) public() crypto.PublicKey {
	if len(k.raw) == ed25519.PublicKeySize {
		return ed25519.PublicKey(k.raw)
	}
	if key, err := x509.ParsePKIXPublicKey([]byte(k.raw)); err == nil {
		return key
	}
	return nil
}

func (k PublicKey) tuf() *metadata.Key {
	key, err := metadata.KeyFromPublicKey(k.public())
	if err != nil { // it fails for other types only
		return &metadata.Key{}
	}
	return key
}

// SignsTheSameTwice tells whether the same message always gets the same signature, so
// that secrets can be derived from one: ed25519 does, ECDSA does not.
func (k PublicKey) SignsTheSameTwice() bool { return len(k.raw) == ed25519.PublicKeySize }

// Ed25519 returns the key itself if it is of that kind.
func (k PublicKey) Ed25519() (key ed25519.PublicKey, ok bool) {
	key, ok = k.public().(ed25519.PublicKey)
	return key, ok
}

// Verify tells whether signature is this key's over message.
func (k PublicKey) Verify(message, signature []byte) bool {
	switch key := k.public().(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, signature)
	case *ecdsa.PublicKey:
		digest := sha256.Sum256(message)
		return ecdsa.VerifyASN1(key, digest[:], signature)
	}
	return false
}

// ParsePublicKey reads a key in base64 or in PEM (PKIX, "PUBLIC KEY"). In base64 it is
// an ed25519 key itself or the DER form of a key, as services that keep keys give it.
func ParsePublicKey(text string) (PublicKey, error) {
	text = strings.TrimSpace(text)
	if block, rest := pem.Decode([]byte(text)); block != nil {
		if block.Type != "PUBLIC KEY" || len(strings.TrimSpace(string(rest))) > 0 {
			return PublicKey{}, fmt.Errorf("read public key: the PEM text must hold one PUBLIC KEY, not %q", block.Type)
		}
		return PublicKeyFromDER(block.Bytes)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err == nil && len(raw) == ed25519.PublicKeySize {
		return PublicKey{string(raw)}, nil
	}
	if key, derErr := PublicKeyFromDER(raw); err == nil && derErr == nil {
		return key, nil
	}
	return PublicKey{}, errors.New("read public key: it must be an ed25519 key, or an ECDSA key of the curve P-256, in base64 or in PEM")
}

// PublicKeyFromDER reads a key in DER (PKIX).
func PublicKeyFromDER(der []byte) (PublicKey, error) {
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return PublicKey{}, fmt.Errorf("read public key: %w", err)
	}
	return PublicKeyFrom(parsed)
}

// PublicKeyFrom takes a key as the standard library has it.
func PublicKeyFrom(key crypto.PublicKey) (PublicKey, error) {
	switch key := key.(type) {
	case ed25519.PublicKey:
		return PublicKey{string(key)}, nil
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return PublicKey{}, errors.New("read public key: an ECDSA key must be of the curve P-256")
		}
		der, err := x509.MarshalPKIXPublicKey(key)
		return PublicKey{string(der)}, err
	}
	return PublicKey{}, fmt.Errorf("read public key: it must be an ed25519 key or an ECDSA key of the curve P-256, not %T", key)
}

// publicOf reads a key of signed metadata.
func publicOf(key *metadata.Key) (PublicKey, error) {
	if key.Type == metadata.KeyTypeEd25519 {
		raw, err := hex.DecodeString(key.Value.PublicKey)
		if err != nil || len(raw) != ed25519.PublicKeySize {
			return PublicKey{}, errors.New("not an ed25519 key")
		}
		return PublicKey{string(raw)}, nil
	}
	if key.Type != metadata.KeyTypeECDSA_SHA2_P256 && key.Type != metadata.KeyTypeECDSA_SHA2_P256_COMPAT || key.Scheme != metadata.KeySchemeECDSA_SHA2_P256 {
		return PublicKey{}, errors.New("neither an ed25519 key nor an ECDSA key of the curve P-256")
	}
	block, _ := pem.Decode([]byte(key.Value.PublicKey))
	if block == nil {
		return PublicKey{}, errors.New("the ECDSA key is not in PEM")
	}
	return PublicKeyFromDER(block.Bytes)
}
