package signer

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/towline/terraform-provider-towline/internal/trust"
)

const socketEnv = "SSH_AUTH_SOCK"

// agentTimeout leaves a person time to touch a token or to confirm.
const agentTimeout = 2 * time.Minute

// sshKey is a key that an SSH agent holds.
type sshKey struct {
	socket string
	key    ssh.PublicKey
	public trust.PublicKey
}

// openSSHAgent finds the one ed25519 key that has this fingerprint or comment.
func openSSHAgent(ctx context.Context, name string) (trust.Signer, error) {
	socket, key, err := findInAgent(ctx, name)
	if err != nil {
		return nil, err
	}
	return newSSHKey(socket, key)
}

func newSSHKey(socket string, held *agent.Key) (trust.Signer, error) {
	parsed, err := ssh.ParsePublicKey(held.Marshal())
	if err != nil {
		return nil, fmt.Errorf("read the SSH agent's key: %w", err)
	}
	withCrypto, ok := parsed.(ssh.CryptoPublicKey)
	if !ok {
		return nil, fmt.Errorf("the SSH agent's key is of type %s; only ssh-ed25519 is of use", held.Type())
	}
	raw, ok := withCrypto.CryptoPublicKey().(ed25519.PublicKey)
	if !ok || parsed.Type() != ssh.KeyAlgoED25519 {
		return nil, fmt.Errorf("the SSH agent's key is of type %s; only ssh-ed25519 is of use", held.Type())
	}
	public, err := trust.PublicKeyFrom(raw)
	return sshKey{socket, parsed, public}, err
}

// Public implements [trust.Signer].
func (k sshKey) Public() trust.PublicKey { return k.public }

// Sign implements [trust.Signer]. An agent's ed25519 signature is over the bytes themselves.
func (k sshKey) Sign(message []byte) ([]byte, error) {
	var signature *ssh.Signature
	err := withAgent(context.Background(), k.socket, func(client agent.ExtendedAgent) (err error) {
		signature, err = client.Sign(k.key, message)
		return err
	})
	if err != nil {
		return nil, err
	}
	if signature.Format != ssh.KeyAlgoED25519 {
		return nil, errors.New("the SSH agent signed in another format than asked for")
	}
	return signature.Blob, nil
}

// withAgent talks to the agent over a connection of its own.
func withAgent(ctx context.Context, socket string, do func(agent.ExtendedAgent) error) error {
	ctx, cancel := context.WithTimeout(ctx, agentTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("reach the SSH agent: %w", err)
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return fmt.Errorf("reach the SSH agent: %w", err)
	}
	if err := do(agent.NewClient(conn)); err != nil {
		return fmt.Errorf("ask the SSH agent: %w", err)
	}
	return nil
}
