package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// keepLast goes on with the revision that was applied last while the newest waits for
// approval: what drifts from it is corrected as its scopes say. What would need approval
// itself waits too. Everything is read once more, because the newest revision may have
// moved objects, or brought other providers. before is the memory of drift that the
// round began with.
func (r *round) keepLast(ctx context.Context, before guard.Memory, pending error) error {
	a := r.agent
	last, err := r.lastRevision()
	if err != nil {
		pending = fmt.Errorf("%w; drift is not corrected meanwhile: %w", pending, err)
		r.warn("Last revision not usable", fmt.Sprintf("Revision %s waits for approval, and the one before, %s, cannot be kept meanwhile: %s. Drift is not corrected.", short(r.revision.digest), short(a.memory.Revision), err))
	}
	if last == nil || err != nil {
		return pending
	}
	r.waits, r.proposed = pending.Error(), r.changes
	r.revision, r.changes = last, nil
	a.memory.Drift = before
	if err := r.readVariables(ctx); err != nil {
		return err
	}
	plan, err := r.planRevision(ctx)
	r.diags = once(r.diags)
	if err != nil {
		return fmt.Errorf("keep revision %s while another waits for approval: %w", short(last.digest), err)
	}
	wanted, err := r.findWaiting(ctx, plan)
	if err != nil {
		return err
	}
	if wanted != nil && wanted.revised { // nobody has approved of this either
		r.changes = r.proposed
		return pending
	}
	return nil
}

// lastRevision is the one that was applied last, nil if none was. It is not gone back to
// from one that was begun since.
func (r *round) lastRevision() (*loaded, error) {
	a := r.agent
	digest := a.memory.Revision
	if digest == "" || digest == r.revision.digest {
		return nil, nil
	}
	if err := a.superseded(); err != nil {
		return nil, err
	}
	if a.last != nil && a.last.digest == digest {
		return a.last, nil
	}
	a.dropLast()
	last, err := a.openRevision(digest)
	if err != nil {
		return nil, err
	}
	a.last = last
	return last, nil
}

// superseded says why the revision that was applied last is not the one in force, nil if it is.
func (a *Agent) superseded() error {
	switch a.memory.Begun {
	case a.memory.Revision:
		return nil
	case "":
		return fmt.Errorf("another agent has worked since this one applied revision %s, and which revision it began is not known here, so that nothing is changed before a newer revision can be used", short(a.memory.Revision))
	default:
		return fmt.Errorf("the changes of revision %s were begun after revision %s was applied, so that nothing is changed before the newest revision can be used", short(a.memory.Begun), short(a.memory.Revision))
	}
}

// concludeWaiting says that the newest revision waits, beside what was done for the one
// in force.
func (r *round) concludeWaiting() {
	if r.waits == "" {
		r.agent.dropLast()
		return
	}
	if r.outcome != control.OutcomeFailed {
		r.outcome = control.OutcomePending
	}
	r.message = firstLine(strings.TrimSuffix(r.waits+"; "+r.message, "; "))
	r.changes = append(r.changes, r.proposed...)
}

// once leaves out problems that are told already.
func once(diags tfdiags.Diagnostics) tfdiags.Diagnostics {
	type problem struct {
		severity                 tfdiags.Severity
		summary, detail, address string
	}
	seen := map[problem]bool{}
	var out tfdiags.Diagnostics
	for _, d := range diags {
		key := problem{d.Severity, d.Summary, d.Detail, d.Address}
		if !seen[key] {
			seen[key] = true
			out = append(out, d)
		}
	}
	return out
}
