package provider

import (
	"context"
	"errors"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
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
	reports, err := repository.OpenReports(ctx, store, r.declared)
	switch {
	case errors.Is(err, repository.ErrNotEnrolled):
		return nil
	case errors.Is(err, repository.ErrNotBelieved):
		r.doubts = append(r.doubts, err)
		return nil
	case err != nil:
		return err
	}
	r.enrolled = true
	beat, err := reports.Heartbeat(ctx)
	switch {
	case errors.Is(err, repository.ErrNotFound):
	case errors.Is(err, repository.ErrNotBelieved):
		r.doubts = append(r.doubts, err)
	case err != nil:
		return err
	default:
		r.heartbeat = &beat
	}
	return nil
}
