package provider

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// issue names one issue of a join token: a token is the same whenever it is asked
// for, and another for any other issue.
type issue struct {
	// fingerprint is the repository's.
	fingerprint string
	agent       control.Ref
	generation  int
	expires     time.Time
}

// joinToken derives the token of an issue from the signing key. It is not stored
// anywhere: ephemeral values are made again in every phase of Terraform, and a run
// that failed half-way must be able to hand out the same token once more. Whoever
// has the signing key could declare an agent with any token, so that deriving
// tokens from it gives away nothing. The key is used through a signature, which
// ed25519 makes the same every time, so that it may lie outside the process; what
// is signed begins as no metadata does.
func joinToken(signer trust.Signer, i issue) (ed25519.PrivateKey, error) {
	info := fmt.Sprintf("towline join token 1\n%s\n%s\n%d\n%s", i.fingerprint, i.agent, i.generation, i.expires.UTC().Format(time.RFC3339))
	secret, err := signer.Sign([]byte(info))
	if err != nil {
		return nil, fmt.Errorf("deriving the join token: %w", err)
	}
	seed, err := hkdf.Key(sha256.New, secret, nil, info, ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("deriving the join token: %w", err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// tokenText is how a token reaches an agent: its ed25519 seed in base64.
func tokenText(token ed25519.PrivateKey) string {
	return base64.StdEncoding.EncodeToString(token.Seed())
}

// writeTokenFile puts the token where an agent on this machine will look for it.
func writeTokenFile(path string, token ed25519.PrivateKey) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".join-token-*") // readable by its owner only
	if err != nil {
		return fmt.Errorf("writing the join token: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing the join token: %w", errors.Join(err, os.Remove(temporary.Name())))
		}
	}()
	_, err = temporary.WriteString(tokenText(token) + "\n")
	if err := errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

// removeTokenFile removes the file if it still holds the token, and leaves
// anything else that has taken its place.
func removeTokenFile(path string, token ed25519.PrivateKey) error {
	const longer = 1024 // than any token
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > longer {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.TrimSpace(string(text)) != tokenText(token) {
		return err
	}
	return os.Remove(path)
}
