package guard

import (
	"fmt"
	"slices"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Check approves a plan if everything in it is inside the scopes, uses only
// their actions and stays within their limits. Otherwise it refuses the plan as
// a whole and says why; nothing of it may be applied then.
func Check(plan *plans.Plan, scopes []control.Scope) (Approved, tfdiags.Diagnostics) {
	if plan.Errored {
		return Approved{}, tfdiags.New(tfdiags.Error, "Plan is incomplete", "A plan with errors is not applied. The errors are reported with it.")
	}
	var diags tfdiags.Diagnostics
	deletes, changes := map[string]int{}, map[string]int{}
	for _, c := range plan.Changes {
		actions := askedOf(c)
		if len(actions) == 0 {
			continue
		}
		scope := ScopeOf(scopes, c.Addr)
		if scope == nil || (c.Moved() && ScopeOf(scopes, c.PrevAddr) == nil) {
			diags = append(diags, refusal(c, "Change outside the agent's scopes",
				fmt.Sprintf("The revision asks to %s %s, but no scope of this agent includes it. Nothing was applied. Take it out of the revision, or let a scope include it.", verbs(actions), c.Addr))...)
			continue
		}
		for _, action := range actions {
			if len(scope.Actions) > 0 && !slices.Contains(scope.Actions, action) {
				diags = append(diags, refusal(c, "Action not allowed by scope",
					fmt.Sprintf("The plan wants to %s %s, but scope %q allows %v only. Nothing was applied.", verbs(actions), c.Addr, scope.Name, scope.Actions))...)
				break
			}
		}
		changes[scope.Name]++
		if slices.Contains(actions, control.ActionDelete) {
			deletes[scope.Name]++
		}
	}
	for i := range scopes {
		diags = append(diags, overLimit(scopes[i].Name, "deletes", deletes[scopes[i].Name], scopes[i].MaxDeletes)...)
		diags = append(diags, overLimit(scopes[i].Name, "changes", changes[scopes[i].Name], scopes[i].MaxChanges)...)
	}
	if diags.HasErrors() {
		return Approved{}, diags
	}
	return Approved{plan}, nil
}

// askedOf returns what a change asks of a scope: its action, and for an object that
// is only renamed or adopted the right to update it.
func askedOf(c *plans.Change) []control.Action {
	actions := ActionsOf(c.Action)
	if len(actions) == 0 && (c.Moved() || c.Importing != "") {
		return []control.Action{control.ActionUpdate}
	}
	return actions
}

// ScopeOf returns the first scope that includes an instance, or nil.
func ScopeOf(scopes []control.Scope, addr addrs.ResourceInstance) *control.Scope {
	for i := range scopes {
		if InScope(scopes[i], addr) {
			return &scopes[i]
		}
	}
	return nil
}

// ActionsOf returns what a planned action asks of a scope; nothing for actions that change no object.
func ActionsOf(action plans.Action) []control.Action {
	switch action {
	case plans.Create:
		return []control.Action{control.ActionCreate}
	case plans.Update:
		return []control.Action{control.ActionUpdate}
	case plans.Delete, plans.Forget: // an object that is forgotten is kept by nobody
		return []control.Action{control.ActionDelete}
	case plans.DeleteThenCreate:
		return []control.Action{control.ActionDelete, control.ActionCreate}
	case plans.CreateThenDelete:
		return []control.Action{control.ActionCreate, control.ActionDelete}
	default:
		return nil
	}
}

func verbs(actions []control.Action) string {
	if len(actions) == 2 {
		return "replace"
	}
	return string(actions[0])
}

func refusal(c *plans.Change, summary, detail string) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, summary, detail).WithAddress(c.Addr.String())
}

func overLimit(scope, what string, got int, limit *int) tfdiags.Diagnostics {
	if limit == nil || got <= *limit {
		return nil
	}
	return tfdiags.New(tfdiags.Error, "Plan exceeds a limit of its scope",
		fmt.Sprintf("The plan has %d %s in scope %q, which allows %d a round. Nothing was applied. If so many are meant, raise max_%s for the time being.", got, what, scope, *limit, what))
}
