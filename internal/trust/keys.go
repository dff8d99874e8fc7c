package trust

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/theupdateframework/go-tuf/v2/metadata"
)

// PublicKey is an ed25519 public key. Values can be compared.
type PublicKey [ed25519.PublicKeySize]byte

// String returns the key in base64, as configuration holds it.
func (k PublicKey) String() string { return base64.StdEncoding.EncodeToString(k[:]) }

// ID returns the key's TUF key ID. Any key has one.
func (k PublicKey) ID() string {
	id, err := k.tuf().ID()
	if err != nil { // the canonical form of three strings always exists
		return ""
	}
	return id
}

func (k PublicKey) tuf() *metadata.Key {
	key, err := metadata.KeyFromPublicKey(ed25519.PublicKey(k[:]))
	if err != nil { // it fails for other types only
		return &metadata.Key{}
	}
	return key
}

// ParsePublicKey reads a key in base64 or in PEM (PKIX, "PUBLIC KEY").
func ParsePublicKey(text string) (PublicKey, error) {
	text = strings.TrimSpace(text)
	if block, rest := pem.Decode([]byte(text)); block != nil {
		return parsePublicPEM(block, rest)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return PublicKey{}, errors.New("read public key: it must be an ed25519 key in base64 (44 characters) or in PEM")
	}
	return PublicKey(raw), nil
}

func parsePublicPEM(block *pem.Block, rest []byte) (PublicKey, error) {
	if block.Type != "PUBLIC KEY" || len(strings.TrimSpace(string(rest))) > 0 {
		return PublicKey{}, fmt.Errorf("read public key: the PEM text must hold one PUBLIC KEY, not %q", block.Type)
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return PublicKey{}, fmt.Errorf("read public key: %w", err)
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return PublicKey{}, fmt.Errorf("read public key: it must be an ed25519 key, not %T", parsed)
	}
	return PublicKey(key), nil
}

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
	var public PublicKey
	if len(k.private) == ed25519.PrivateKeySize {
		copy(public[:], k.private[ed25519.SeedSize:])
	}
	return public
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
