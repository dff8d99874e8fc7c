package render

import (
	"github.com/towline/terraform-provider-towline/internal/plans"
)

// drift prints the objects that were found changed, if that matters for the
// plan, and tells whether it printed any. haveChanges tells whether the plan
// holds changes.
func (p *printer) drift(plan *plans.Plan, schemas Schemas, haveChanges bool) bool {
	if plan.Mode != plans.RefreshOnlyMode && !haveChanges {
		return false
	}
	var drifted []planned
	for _, c := range plan.Drift {
		entry := planned{change: c, diff: compareChange(c, schemas)}
		if plan.Mode == plans.RefreshOnlyMode || entry.diff.action != plans.NoOp {
			drifted = append(drifted, entry)
		}
	}
	if len(drifted) == 0 {
		return false
	}
	p.line("\n" + p.paint.color(cyan, "Note:") + p.paint.color(bold, " Objects have changed outside of Terraform") + "\n")
	p.sentence("Terraform detected the following changes made outside of Terraform since the last \"terraform apply\" which may have affected this plan:")
	for _, c := range drifted {
		if c.visible() {
			p.line("\n" + p.changeText(c, true))
		}
	}
	p.line("\n")
	if plan.Mode == plans.RefreshOnlyMode {
		p.sentence("This is a refresh-only plan, so Terraform will not take any actions to undo these. If you were expecting these changes then you can apply this plan to record the updated values in the Terraform state without changing any remote objects.")
	} else {
		p.sentence("Unless you have made equivalent changes to your configuration, or ignored the relevant attributes using ignore_changes, the following plan may include actions to undo or respond to these changes.")
	}
	return true
}
