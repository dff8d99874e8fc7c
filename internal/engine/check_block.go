package engine

import (
	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// evalCheck evaluates the assertions of a check block. One that does not hold is
// a warning; one that cannot be evaluated is an error.
func (mi *moduleInst) evalCheck(o *object) tfdiags.Diagnostics {
	if failures := mi.nestedFailures(o); len(failures) > 0 {
		mi.walk.checks.note(o, mi, addrs.NoKey, failures)
		return nil // there is nothing to judge
	}
	hclCtx, diags := mi.evalContext(o.refs, evalOptions{})
	if diags.HasErrors() {
		return diags
	}
	var outcomes []outcome
	for _, rule := range o.check.Asserts {
		result, moreDiags := checkRule(rule, assertionFailed, hclCtx)
		outcomes = append(outcomes, result)
		switch {
		case mi.walk.validating() && result.status != states.CheckError:
			moreDiags = nil // as for the conditions of resources
		case result.status == states.CheckFail:
			moreDiags = moreDiags.Warnings()
		case result.status == states.CheckUnknown:
			warning := tfdiags.Diagnostic{
				Severity: tfdiags.Warning, Summary: "Check block assertion known after apply", Subject: rule.Condition.Range().Ptr(),
				Detail:     "The condition needs values that are not known yet. It is evaluated when this plan is applied.",
				Expression: rule.Condition, EvalContext: hclCtx,
			}
			moreDiags = append(moreDiags, warning)
		}
		diags = append(diags, moreDiags...)
	}
	mi.walk.checks.note(o, mi, addrs.NoKey, outcomes)
	return diags
}

// assertionFailed is the summary of a warning about a check block.
const assertionFailed = "Check block assertion failed"
