package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"filippo.io/age"

	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/seal"
)

// sealing is who can open what leaves this machine, and what this machine can open.
type sealing struct {
	identities []age.Identity
	// recipients can open what is sealed from now on; refusal says why there are none.
	recipients []string
	refusal    error
	// claims are the keys of enrolments that were seen in the store and believed: they never change.
	claims map[string]ed25519.PublicKey
}

// errUnsettled: no round has got so far as to know who may open what is sealed.
var errUnsettled = errors.New("it is not known yet who may open what leaves this machine")

// openSealing reads what this machine can open with: its own key and the identities
// that its configuration names.
func (a *Agent) openSealing() error {
	own, err := seal.IdentityOf(a.private)
	if err != nil {
		return err
	}
	a.sealing = sealing{identities: []age.Identity{own}, refusal: errUnsettled, claims: map[string]ed25519.PublicKey{}}
	for _, path := range a.config.Identities {
		text, err := bounds.ReadFile(path, seal.MaxIdentities)
		if err != nil {
			return fmt.Errorf("read identities: %w", err)
		}
		more, err := seal.ParseIdentities(text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		a.sealing.identities = append(a.sealing.identities, more...)
	}
	return nil
}

// chooseRecipients says who can open what is sealed from now on. An agent that could
// only seal to itself goes on with its work, but nothing with values leaves the machine.
func (r *round) chooseRecipients(ctx context.Context) {
	a := r.agent
	recipients, err := a.recipients(ctx, r.declared, r.self)
	if err == nil {
		a.sealing.recipients, a.sealing.refusal = recipients, nil
		return
	}
	a.sealing.recipients, a.sealing.refusal = nil, err
	r.warn("State cannot leave this machine", err.Error())
}

// recipients are this agent, the environment's other agents, which can take up what it
// leaves, and those that were declared; if none was, those who declare for the environment.
func (a *Agent) recipients(ctx context.Context, declared *repository.State, self control.Agent) ([]string, error) {
	public, _ := a.private.Public().(ed25519.PublicKey)
	keys := []ed25519.PublicKey{public}
	for _, name := range slices.Sorted(maps.Keys(declared.Agents)) {
		agent := declared.Agents[name]
		if key, ok := a.enrolledKey(ctx, agent, agent.Join); ok && !key.Equal(public) {
			keys = append(keys, key)
		}
	}
	if len(self.Recipients) == 0 {
		for _, key := range declared.Keys {
			if key, ok := key.Ed25519(); ok {
				keys = append(keys, key)
			}
		}
	}
	recipients, err := recipientsOf(keys)
	if err != nil {
		return nil, err
	}
	if recipients = append(recipients, self.Recipients...); len(recipients) < 2 {
		return nil, fmt.Errorf("only this machine could open it, so that its loss would be that of the state: environment %s has no other agent, declares no recipients, and the keys that sign for it are not ed25519. Set recipients of towline_agent to age keys (age1…), SSH keys (ssh-ed25519 …) or keys of AWS KMS (awskms:ARN) and apply", a.config.Environment)
	}
	return recipients, nil
}

func recipientsOf(keys []ed25519.PublicKey) ([]string, error) {
	var recipients []string
	for _, key := range keys {
		recipient, err := seal.RecipientOf(key)
		if err != nil {
			return nil, err
		}
		recipients = append(recipients, recipient)
	}
	return recipients, nil
}

// enrolledKey is the key that a declared enrolment's claim binds; ok is false if there is
// no claim that holds, or none can be read now.
func (a *Agent) enrolledKey(ctx context.Context, agent control.Agent, join control.Join) (key ed25519.PublicKey, ok bool) {
	name := control.ClaimKey(agent.Environment, agent.Name, join.Generation)
	if key, ok := a.sealing.claims[name+join.PublicKey]; ok {
		return key, true
	}
	object, err := a.store.Get(ctx, name, control.MaxDocument)
	if err != nil {
		return nil, false
	}
	agent.Join = join
	if _, key, err = control.OpenClaim(agent, object.Data, object.Modified); err != nil {
		return nil, false
	}
	a.sealing.claims[name+join.PublicKey] = key
	return key, true
}

// sealed encrypts what is about to leave this machine.
func (a *Agent) sealed(ctx context.Context, kind seal.Kind, data []byte) ([]byte, error) {
	if a.sealing.refusal != nil {
		return nil, a.sealing.refusal
	}
	return seal.Seal(ctx, a.subject(kind), a.sealing.recipients, data)
}

func (a *Agent) subject(kind seal.Kind) seal.Subject {
	return seal.Subject{Environment: a.config.Environment, Kind: kind}
}

// sealedFor identifies to whom things are sealed now; "" if to nobody.
func (a *Agent) sealedFor() string {
	if a.sealing.refusal != nil {
		return ""
	}
	sorted := slices.Sorted(slices.Values(a.sealing.recipients))
	return digestOf(fmt.Appendf(nil, "%q", sorted))
}

// unsealed decrypts what an agent of the environment has sealed, which must have been
// found signed before. limit bounds what comes out, in bytes. An error wraps
// [seal.ErrNoKey] if somebody has to give this machine the key.
func (a *Agent) unsealed(ctx context.Context, kind seal.Kind, sealed []byte, limit int64) ([]byte, error) {
	data, err := seal.Open(ctx, a.subject(kind), a.sealing.identities, sealed, limit)
	if !errors.Is(err, seal.ErrNoKey) {
		return data, err
	}
	public, _ := a.private.Public().(ed25519.PublicKey)
	shared, getErr := a.store.Get(ctx, control.SharedKey(a.config.Environment, digestOf(sealed), control.KeyID(public)), seal.MaxShared)
	switch {
	case errors.Is(getErr, objstore.ErrNotExist) || errors.Is(getErr, objstore.ErrTooLarge):
		return nil, a.askForKey(err)
	case getErr != nil:
		return nil, fmt.Errorf("look for a key to the sealed %s: %w", kind, getErr)
	}
	data, sharedErr := seal.OpenShared(ctx, a.subject(kind), a.sealing.identities, sealed, shared.Data, limit)
	if sharedErr != nil {
		return nil, a.askForKey(fmt.Errorf("%w; nor does the key that was given to it: %w", err, sharedErr))
	}
	return data, nil
}

// askForKey says how this machine can be given what opens a sealed thing.
func (a *Agent) askForKey(err error) error {
	hostname, _ := os.Hostname() // for people only
	return fmt.Errorf("this machine (%s) is not among those it was sealed to, as after a machine was replaced: %w. Nothing is done until it can be read. Whoever holds the key of a recipient runs: towline state rewrap -repository %s -environment %s -key FILE; or set identities in the agent's configuration to files with such a key", hostname, err, a.config.Store, a.config.Environment)
}
