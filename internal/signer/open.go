package signer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// What a name begins with if it is not a file's.
const (
	sshAgentScheme = "ssh-agent:"
	kmsScheme      = control.KMSScheme
)

// Notation says how keys are named, for help and documentation.
const Notation = "a file with private keys in PEM, ssh-agent:SHA256:FINGERPRINT or ssh-agent:COMMENT for an ed25519 key of the SSH agent, " +
	"awskms:///alias/NAME or awskms:///KEY-ID for an ECC_NIST_P256 key of AWS KMS"

// Environment variables that name keys, for the command line and the provider alike.
const (
	// TextEnv holds what [OpenText] reads.
	TextEnv = "TOWLINE_SIGNING_KEY"
	// NameEnv holds what [Open] takes.
	NameEnv = "TOWLINE_SIGNING_KEY_FILE"
)

// Choose opens the keys of a text, else those of a name, else those that the environment
// says. None at all is no error.
func Choose(ctx context.Context, text, name string, getenv func(string) string) (trust.Keyring, error) {
	if text == "" && name == "" {
		text, name = getenv(TextEnv), getenv(NameEnv)
	}
	switch {
	case text != "":
		return OpenText(ctx, text)
	case name != "":
		return Open(ctx, name)
	}
	return nil, nil
}

// Open returns the signers that a name stands for, as [Notation] says.
func Open(ctx context.Context, name string) (trust.Keyring, error) {
	if isReference(name) {
		return one(openReference(ctx, name))
	}
	data, err := ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("the key file cannot be read: %w", err)
	}
	return trust.ParseKeyring(data)
}

// OpenText returns the signers of a text: private keys in PEM, or names of keys that
// are not in files, one a line. No error quotes it.
func OpenText(ctx context.Context, text string) (trust.Keyring, error) {
	if !isReference(strings.TrimSpace(text)) {
		return trust.ParseKeyring([]byte(text))
	}
	var ring trust.Keyring
	for number, line := range strings.Split(strings.TrimSpace(text), "\n") {
		line = strings.TrimSpace(line)
		if !isReference(line) || number >= trust.MaxKeys {
			return nil, fmt.Errorf("line %d does not name a key of an SSH agent or of AWS KMS", number+1)
		}
		signer, err := openReference(ctx, line)
		if err != nil {
			return nil, err
		}
		ring = append(ring, signer)
	}
	return ring, nil
}

func isReference(name string) bool {
	return strings.HasPrefix(name, sshAgentScheme) || strings.HasPrefix(name, kmsScheme)
}

func openReference(ctx context.Context, name string) (trust.Signer, error) {
	if key, ok := strings.CutPrefix(name, sshAgentScheme); ok {
		return openSSHAgent(ctx, key)
	}
	return openKMS(ctx, name)
}

func one(signer trust.Signer, err error) (trust.Keyring, error) {
	if err != nil {
		return nil, err
	}
	return trust.Keyring{signer}, nil
}

// ReadFile reads a file with keys. No error quotes what is in it.
func ReadFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, trust.MaxKeyring+1))
	if err != nil {
		return nil, errors.New("the file cannot be read")
	}
	if len(data) > trust.MaxKeyring {
		return nil, fmt.Errorf("it is larger than %d bytes", trust.MaxKeyring)
	}
	return data, nil
}
