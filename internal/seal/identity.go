package seal

import (
	"bytes"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"
)

// MaxIdentities bounds the text of a file with identities, in bytes.
const MaxIdentities = 64 << 10

// RecipientOf is the recipient that an ed25519 private key's holder is.
func RecipientOf(key ed25519.PublicKey) (string, error) {
	public, err := ssh.NewPublicKey(key)
	if err != nil {
		return "", fmt.Errorf("make recipient: %w", err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public))), nil
}

// IdentityOf opens what is sealed to a key's [RecipientOf].
func IdentityOf(key ed25519.PrivateKey) (age.Identity, error) {
	identity, err := agessh.NewEd25519Identity(key)
	if err != nil {
		return nil, errors.New("make identity: not an ed25519 private key")
	}
	return identity, nil
}

// ParseIdentities reads age identities (AGE-SECRET-KEY-1…, one a line) or private keys
// in PEM: ed25519 keys as Towline signs with, or as ssh-keygen writes without a
// passphrase. No error quotes them.
func ParseIdentities(text []byte) ([]age.Identity, error) {
	if len(text) > MaxIdentities {
		return nil, fmt.Errorf("read identities: more than %d bytes", MaxIdentities)
	}
	if !bytes.Contains(text, []byte("-----BEGIN")) {
		identities, err := age.ParseIdentities(bytes.NewReader(text))
		if err != nil {
			return nil, errors.New("read identities: neither age identities (AGE-SECRET-KEY-1…), one a line, nor private keys in PEM")
		}
		return identities, nil
	}
	var identities []age.Identity
	for len(bytes.TrimSpace(text)) > 0 {
		block, rest := pem.Decode(text)
		if block == nil {
			return nil, errors.New("read identities: something that is no private key in PEM follows")
		}
		identity, err := pemIdentity(block)
		if err != nil {
			return nil, err
		}
		identities, text = append(identities, identity), rest
	}
	return identities, nil
}

func pemIdentity(block *pem.Block) (age.Identity, error) {
	raw, err := ssh.ParseRawPrivateKey(pem.EncodeToMemory(block))
	var encrypted *ssh.PassphraseMissingError
	if errors.As(err, &encrypted) {
		return nil, errors.New("read identities: the private key has a passphrase, which nobody can type in here; write a copy without one with: ssh-keygen -p")
	}
	switch key := raw.(type) {
	case ed25519.PrivateKey:
		return IdentityOf(key)
	case *ed25519.PrivateKey:
		return IdentityOf(*key)
	}
	return nil, errors.New("read identities: a private key must be an ed25519 key, in PEM as Towline or ssh-keygen writes it")
}
