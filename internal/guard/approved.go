package guard

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Approved is a plan that may be applied. Only this package makes one; the zero
// value holds no plan and is refused by the engine.
type Approved struct {
	plan *plans.Plan
	// rules are asked before each call; nil for a plan that a person answers for.
	rules *Rules
	// grants are asked for before each call; nil means those of the rules.
	grants func() []OpenGrant
}

// Plan returns the approved plan, or nil for the zero value.
func (a Approved) Plan() *plans.Plan { return a.plan }

// Unrestricted approves a plan without any policy. It is for a person at the
// command line, who has read the plan and answers for it.
func Unrestricted(plan *plans.Plan) Approved { return Approved{plan: plan} }

// Permit is asked before every call that changes an object, with what the provider
// is about to be told. It refuses what no scope gives, whatever the plan says: of an
// object that exists, only owned attributes may differ from what they are.
func (a Approved) Permit(change *plans.Change, schema *providers.Block, prior, planned cty.Value) tfdiags.Diagnostics {
	if a.rules == nil {
		return nil
	}
	rules := a.rulesNow()
	object := ObjectOf(change.Addr, change.Provider)
	scope := ScopeOf(rules.Scopes, object)
	switch {
	case scope == nil:
		return refusal(change, "Change outside the agent's scopes", fmt.Sprintf("No scope of this agent includes %s. It was not changed.", change.Addr))
	case rules.Suspended(object):
		return refusal(change, "Change of what a grant suspends", fmt.Sprintf("A break-glass grant suspends changes of %s. It was not changed.", change.Addr))
	case change.Deposed != "":
		return nil // what is left of a replacement is this agent's own
	}
	own := rules.Ownership(object).Without(change.Overrides.Held)
	if prior.IsNull() || planned.IsNull() {
		return notHost(change, scope, own)
	}
	if diags := stray(change, scope, objchange.Strays(schema, prior, planned, own)); len(diags) > 0 {
		return diags
	}
	return suspended(change, objchange.Strays(schema, prior, planned, rules.withoutSuspended(own, scope, object)))
}

// rulesNow are the rules with the grants that are in force at this moment.
func (a Approved) rulesNow() *Rules {
	if a.grants == nil {
		return a.rules
	}
	return &Rules{Scopes: a.rules.Scopes, Grants: a.grants()}
}

// suspended refuses a change of attributes that a grant names.
func suspended(change *plans.Change, paths []string) tfdiags.Diagnostics {
	if len(paths) == 0 {
		return nil
	}
	return refusal(change, "Change of what a grant suspends",
		fmt.Sprintf("A break-glass grant suspends changes of %s of %s. Nothing was changed.", strings.Join(paths, ", "), change.Addr))
}

// notHost refuses to make or remove an object of which only attributes are owned.
func notHost(change *plans.Change, scope *control.Scope, own control.Ownership) tfdiags.Diagnostics {
	if own.Host() {
		return nil
	}
	return refusal(change, "Only attributes of the object are owned",
		fmt.Sprintf("Scope %q owns some attributes of %s, but an object is created, replaced and deleted by whoever owns it as a whole. Nothing was changed. Include the object without attributes, or leave it to its owner.", scope.Name, change.Addr))
}

// stray refuses a change of attributes that are not owned.
func stray(change *plans.Change, scope *control.Scope, paths []string) tfdiags.Diagnostics {
	if len(paths) == 0 {
		return nil
	}
	return refusal(change, "Change of attributes that are not owned",
		fmt.Sprintf("To make this change of %s the provider would also change %s, and scope %q does not own that. Nothing was changed. Let the scope own it, or set other values.", change.Addr, strings.Join(paths, ", "), scope.Name))
}
