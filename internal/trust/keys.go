package trust

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Signer signs with one key. The key may lie outside the process.
type Signer interface {
	Public() PublicKey
	Sign(message []byte) ([]byte, error)
}

// Key is a [Signer] with an ed25519 private key in memory. It prints as its public
// half only.
type Key struct{ private ed25519.PrivateKey }

var _ Signer = Key{}

// GenerateKey makes a new key.
func GenerateKey() (Key, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("generate key: %w", err)
	}
	return Key{private}, nil
}

// ParseKey reads a private key in PEM (PKCS8, "PRIVATE KEY"). The error never quotes it.
func ParseKey(text []byte) (Key, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" || len(strings.TrimSpace(string(rest))) > 0 {
		return Key{}, errors.New("read signing key: it must be one PRIVATE KEY in PEM (PKCS8), as openssl genpkey -algorithm ed25519 writes it")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return Key{}, errors.New("read signing key: the PEM text holds no PKCS8 private key")
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return Key{}, fmt.Errorf("read signing key: it must be an ed25519 key, not %T", parsed)
	}
	return Key{private}, nil
}

// maxKeyring is more than any threshold that people can keep up.
const maxKeyring = 64

// MaxKeyring bounds the text of a keyring, in bytes; one key takes about 120.
const MaxKeyring = 64 << 10

// ParseKeyring reads private keys in PEM that follow one another, at least one.
// The error never quotes them.
func ParseKeyring(text []byte) (Keyring, error) {
	var ring Keyring
	for len(strings.TrimSpace(string(text))) > 0 {
		block, rest := pem.Decode(text)
		if block == nil || len(ring) == maxKeyring {
			return nil, errors.New("it must be private keys in PEM (PKCS8) and nothing else")
		}
		key, err := ParseKey(pem.EncodeToMemory(block))
		if err != nil {
			return nil, err
		}
		ring, text = append(ring, key), rest
	}
	if len(ring) == 0 {
		return nil, errors.New("it holds no key")
	}
	return ring, nil
}

// PEM returns the private key as [ParseKey] reads it. Keep it in a file of mode 0600.
func (k Key) PEM() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	if err != nil {
		return nil, fmt.Errorf("write signing key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// Public implements [Signer].
func (k Key) Public() PublicKey {
	if len(k.private) != ed25519.PrivateKeySize {
		return PublicKey{}
	}
	return PublicKey{string(k.private[ed25519.SeedSize:])}
}

// Sign implements [Signer].
func (k Key) Sign(message []byte) ([]byte, error) {
	if len(k.private) != ed25519.PrivateKeySize {
		return nil, errors.New("sign: the key is empty")
	}
	return ed25519.Sign(k.private, message), nil
}

// Ed25519 returns the private key itself, for signatures outside the repository's metadata.
func (k Key) Ed25519() ed25519.PrivateKey { return k.private }

// Format keeps the private key out of every text, whatever the verb.
func (k Key) Format(state fmt.State, _ rune) { fmt.Fprintf(state, "signing key of %s", k.Public()) }

// MarshalText keeps the private key out of JSON and logs.
func (k Key) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%v", k), nil }

// Keyring is the keys that a publisher holds.
type Keyring []Signer

// Public returns the public halves.
func (r Keyring) Public() []PublicKey {
	keys := make([]PublicKey, len(r))
	for i, signer := range r {
		keys[i] = signer.Public()
	}
	return keys
}

// among returns the signers whose key is one of keys, each key once.
func (r Keyring) among(keys []PublicKey) []Signer {
	var found []Signer
	var seen []PublicKey
	for _, signer := range r {
		key := signer.Public()
		if slices.Contains(keys, key) && !slices.Contains(seen, key) {
			found, seen = append(found, signer), append(seen, key)
		}
	}
	return found
}
