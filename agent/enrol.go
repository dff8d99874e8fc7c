package agent

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/probe"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// Enrolment refusals, named.
var (
	// ErrTokenExpired: the join token's time is over.
	ErrTokenExpired = errors.New("the join token has expired")
	// ErrTokenWrong: the join token is not the declared one.
	ErrTokenWrong = errors.New("the join token is not the one that the agent was declared with")
	// ErrClaimed: another machine used the join token first.
	ErrClaimed = errors.New("the enrolment was claimed by another key")
)

// loadKey reads the agent's own key, or makes it. It never leaves the machine.
func loadKey(dataDir string) (trust.Key, error) {
	path := filepath.Join(dataDir, "agent.key")
	data, err := os.ReadFile(path)
	if err == nil {
		return trust.ParseKey(data)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return trust.Key{}, fmt.Errorf("read the agent's key: %w", err)
	}
	key, err := trust.GenerateKey()
	if err != nil {
		return trust.Key{}, err
	}
	pem, err := key.PEM()
	if err != nil {
		return trust.Key{}, err
	}
	return key, writeFile(path, pem)
}

// enrol makes sure that the store holds this agent's claim. It is idempotent:
// once the claim is there, the join token is not read any more.
func (a *Agent) enrol(ctx context.Context, declared control.Agent) error {
	key := control.ClaimKey(a.config.Environment, a.config.Agent, declared.Join.Generation)
	existing, err := a.store.Get(ctx, key, control.MaxDocument)
	switch {
	case err == nil:
		if err := a.checkClaim(declared, existing); err != nil {
			return err
		}
		return a.proveStore(ctx, key, existing.Data)
	case !errors.Is(err, objstore.ErrNotExist):
		return fmt.Errorf("read claim: %w", err)
	}
	now := a.now()
	if now.After(declared.Join.Expires) {
		return fmt.Errorf("%w at %s; raise join_token_version of towline_agent and apply", ErrTokenExpired, declared.Join.Expires.Format(time.RFC3339))
	}
	token, err := a.joinToken(ctx, declared)
	if err != nil {
		return err
	}
	hostname, _ := os.Hostname() // for people only
	claim := control.Claim{
		Version: control.FormatVersion, Environment: a.config.Environment, Agent: a.config.Agent, Generation: declared.Join.Generation,
		AgentKey: a.publicKey(), Time: now.UTC(), Hostname: hostname,
	}
	signed, err := control.SignClaim(claim, token, a.private)
	if err != nil {
		return fmt.Errorf("sign claim: %w", err)
	}
	_, err = a.store.PutIfAbsent(ctx, key, signed)
	if errors.Is(err, objstore.ErrExist) {
		if existing, err = a.store.Get(ctx, key, control.MaxDocument); err != nil {
			return fmt.Errorf("read claim: %w", err)
		}
		return a.checkClaim(declared, existing)
	}
	if err != nil {
		return fmt.Errorf("write claim: %w", err)
	}
	a.log.Info("enrolled", "environment", a.config.Environment, "agent", a.config.Agent, "generation", declared.Join.Generation)
	return a.proveStore(ctx, key, signed)
}

// proveStore finds out, once in the life of a process, whether the store honours
// conditions: the lease rests on it. The claim that is there is created once more.
func (a *Agent) proveStore(ctx context.Context, key string, claim []byte) error {
	if a.proved {
		return nil
	}
	err := probe.Honours(ctx, a.store, key, claim)
	if err != nil && !errors.Is(err, probe.ErrIgnoresConditions) {
		a.log.Warn("it is not known yet whether the store honours conditions", "error", err)
		return nil
	}
	a.proved = err == nil
	return err
}

// checkClaim tells whether a claim in the store is this agent's own.
func (a *Agent) checkClaim(declared control.Agent, object objstore.Object) error {
	claim, _, err := control.OpenClaim(declared, object.Data, object.Modified)
	if err != nil {
		return fmt.Errorf("the claim in the store does not hold: %w", err)
	}
	if claim.AgentKey != a.publicKey() {
		return fmt.Errorf("%w (host %q, at %s). If that was not you, raise join_token_version of towline_agent and apply at once; if this machine was rebuilt, do the same", ErrClaimed, claim.Hostname, claim.Time.Format(time.RFC3339))
	}
	return nil
}

// joinToken reads the token and compares it with the declared public half.
func (a *Agent) joinToken(ctx context.Context, declared control.Agent) (ed25519.PrivateKey, error) {
	if a.config.JoinToken == nil {
		return nil, errors.New("the agent is not enrolled yet and its configuration has no join_token block")
	}
	ref := secretRef{file: a.config.JoinToken.File, env: a.config.JoinToken.Env, ssmParameter: a.config.JoinToken.SSMParameter, secretsManager: a.config.JoinToken.SecretsManager}
	text, err := ref.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the join token: %w; put it there (towline_agent writes it to join_token_file), or raise join_token_version of towline_agent for another", err)
	}
	a.secrets.learn(text)
	seed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, errors.New("read the join token: it is not the base64 of an ed25519 seed")
	}
	token := ed25519.NewKeyFromSeed(seed)
	public, _ := token.Public().(ed25519.PublicKey)
	if control.EncodeKey(public) != declared.Join.PublicKey {
		return nil, fmt.Errorf("%w (generation %d)", ErrTokenWrong, declared.Join.Generation)
	}
	return token, nil
}

func (a *Agent) publicKey() string {
	public, _ := a.private.Public().(ed25519.PublicKey)
	return control.EncodeKey(public)
}
