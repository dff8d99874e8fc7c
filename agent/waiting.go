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

// lastRevision is the one that was applied last, nil if none was.
func (r *round) lastRevision() (*loaded, error) {
	a := r.agent
	digest := a.memory.Revision
	if digest == "" || digest == r.revision.digest {
		return nil, nil
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
