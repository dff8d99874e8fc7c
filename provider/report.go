package provider

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// report is what is known of an agent.
type report struct {
	declared control.Agent
	// published is the current revision of the agent's channel, "" if there is none.
	published string
	enrolled  bool
	// heartbeat is the last verified word of the agent, nil without one.
	heartbeat *control.Heartbeat
	// doubts are why something that is there was not believed.
	doubts []error
}

// listen fills in what the agent itself has written. What cannot be verified is a
// doubt; only a store that does not answer is an error.
func (r *report) listen(ctx context.Context, store objstore.Store) error {
	environment, name := r.declared.Environment, r.declared.Name
	claim, err := get(ctx, store, control.ClaimKey(environment, name, r.declared.Join.Generation))
	if err != nil || claim == nil {
		return err
	}
	_, key, err := control.OpenClaim(r.declared, claim.Data, claim.Modified)
	if err != nil {
		r.doubts = append(r.doubts, err)
		return nil
	}
	r.enrolled = true
	beat, err := get(ctx, store, control.HeartbeatKey(environment, name))
	if err != nil || beat == nil {
		return err
	}
	if err := r.believe(beat.Data, key); err != nil {
		r.doubts = append(r.doubts, err)
	}
	return nil
}

func (r *report) believe(data []byte, key ed25519.PublicKey) error {
	beat, err := control.Open[control.Heartbeat](data, key)
	if err != nil {
		return fmt.Errorf("heartbeat: %w", err)
	}
	if beat.Environment != r.declared.Environment || beat.Agent != r.declared.Name {
		return fmt.Errorf("heartbeat: it is of %s/%s", beat.Environment, beat.Agent)
	}
	r.heartbeat = &beat
	return nil
}

// get reads an object that may be absent.
func get(ctx context.Context, store objstore.Store, key string) (*objstore.Object, error) {
	object, err := store.Get(ctx, key, control.MaxDocument)
	switch {
	case errors.Is(err, objstore.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}
	return &object, nil
}
