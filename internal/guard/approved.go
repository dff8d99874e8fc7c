package guard

import "github.com/towline/terraform-provider-towline/internal/plans"

// Approved is a plan that may be applied. Only this package makes one; the zero
// value holds no plan and is refused by the engine.
type Approved struct{ plan *plans.Plan }

// Plan returns the approved plan, or nil for the zero value.
func (a Approved) Plan() *plans.Plan { return a.plan }

// Unrestricted approves a plan without any policy. It is for a person at the
// command line, who has read the plan and answers for it.
func Unrestricted(plan *plans.Plan) Approved { return Approved{plan} }
