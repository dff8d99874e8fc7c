package signer

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// PersonNotation says how the keys of people are named, for help and documentation.
const PersonNotation = "a file with a private key, OpenSSH's or ed25519 in PEM, or ssh-agent:SHA256:FINGERPRINT or ssh-agent:COMMENT for a key of the SSH agent"

// Person returns the key of a person that an SSH agent holds; ok is false if the name
// is not of such a key, but of a file.
func Person(ctx context.Context, name string) (person ssh.Signer, ok bool, err error) {
	held, ok := strings.CutPrefix(name, sshAgentScheme)
	if !ok {
		return nil, false, nil
	}
	socket, key, err := findInAgent(ctx, held)
	if err != nil {
		return nil, true, err
	}
	public, err := ssh.ParsePublicKey(key.Marshal())
	if err != nil {
		return nil, true, fmt.Errorf("read the SSH agent's key: %w", err)
	}
	return personKey{socket, public}, true, nil
}

// personKey signs with a key that an SSH agent holds. It asks RSA keys for SHA-512, as
// signatures of files have to be.
type personKey struct {
	socket string
	key    ssh.PublicKey
}

// PublicKey implements [ssh.Signer].
func (k personKey) PublicKey() ssh.PublicKey { return k.key }

// Sign implements [ssh.Signer].
func (k personKey) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	return k.SignWithAlgorithm(rand, data, "")
}

// SignWithAlgorithm implements [ssh.AlgorithmSigner].
func (k personKey) SignWithAlgorithm(_ io.Reader, data []byte, _ string) (signature *ssh.Signature, err error) {
	var flags agent.SignatureFlags
	if k.key.Type() == ssh.KeyAlgoRSA {
		flags = agent.SignatureFlagRsaSha512
	}
	err = withAgent(context.Background(), k.socket, func(client agent.ExtendedAgent) (err error) {
		signature, err = client.SignWithFlags(k.key, data, flags)
		return err
	})
	return signature, err
}

// findInAgent finds the one key that has this fingerprint or comment.
func findInAgent(ctx context.Context, name string) (socket string, key *agent.Key, err error) {
	socket = os.Getenv(socketEnv)
	if socket == "" {
		return "", nil, fmt.Errorf("no SSH agent is running: %s is not set", socketEnv)
	}
	var held []*agent.Key
	err = withAgent(ctx, socket, func(client agent.ExtendedAgent) (err error) {
		held, err = client.List()
		return err
	})
	if err != nil {
		return "", nil, err
	}
	var found []*agent.Key
	var all []string
	for _, key := range held {
		fingerprint := ssh.FingerprintSHA256(key)
		all = append(all, fmt.Sprintf("%s %s %q", fingerprint, key.Type(), key.Comment))
		if name == fingerprint || name == key.Comment {
			found = append(found, key)
		}
	}
	if len(found) != 1 {
		return "", nil, fmt.Errorf("the SSH agent holds %d keys of this name; it holds: %s", len(found), strings.Join(append(all, "no more"), ", "))
	}
	return socket, found[0], nil
}
