package guard

import (
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Circumstances are what a plan is checked with beside the rules.
type Circumstances struct {
	Now time.Time
	// Where returns the block that declares an instance, or nil.
	Where func(addrs.ResourceInstance) *hcl.Range
	// Schema returns the schema of an instance's type, or nil.
	Schema func(addrs.ResourceInstance) *providers.Block
	// Grants returns those in force at the moment of a call, which may have been opened
	// since the plan was made; nil means those of the rules.
	Grants func() []OpenGrant
	// Recorded is the record as it was before anything was read, nil if there is none.
	Recorded *states.State
}

// Check approves a plan if everything in it is inside the scopes, uses only
// their actions and stays within their limits. Otherwise it refuses the plan as
// a whole and says why; nothing of it may be applied then.
func Check(plan *plans.Plan, rules Rules, with Circumstances) (Approved, tfdiags.Diagnostics) {
	if plan.Errored {
		return Approved{}, tfdiags.New(tfdiags.Error, "Plan is incomplete", "A plan with errors is not applied. The errors are reported with it.")
	}
	c := checker{rules: rules, with: with, counts: map[string]*counts{}}
	for _, change := range plan.Changes {
		if change.Addr.Resource.Mode == addrs.Managed {
			c.change(change)
		}
	}
	c.limits()
	c.shares()
	if c.diags.HasErrors() {
		return Approved{}, c.diags
	}
	return Approved{plan: plan, rules: &rules, grants: with.Grants}, nil
}

// checker goes through the changes of a plan.
type checker struct {
	rules  Rules
	with   Circumstances
	counts map[string]*counts
	diags  tfdiags.Diagnostics
}

// counts are what a plan has in one scope.
type counts struct{ objects, changes, deletes int }

func (c *checker) count(scope *control.Scope) *counts {
	n := c.counts[scope.Name]
	if n == nil {
		n = &counts{}
		c.counts[scope.Name] = n
	}
	return n
}

func (c *checker) change(change *plans.Change) {
	object := ObjectOf(change.Addr, change.Provider)
	scope := ScopeOf(c.rules.Scopes, object)
	if scope != nil && change.Deposed == "" && !change.Before.IsNull() {
		c.count(scope).objects++
	}
	actions := AskedOf(change)
	if len(actions) == 0 {
		return
	}
	if scope == nil || (change.Moved() && ScopeOf(c.rules.Scopes, ObjectOf(change.PrevAddr, change.Provider)) == nil) {
		c.refuse(change, "Change outside the agent's scopes",
			fmt.Sprintf("The revision asks to %s %s, but no scope of this agent includes it. Nothing was applied. Take it out of the revision, or let a scope include it.", verbs(actions), change.Addr))
		return
	}
	n := c.count(scope)
	n.changes++
	if slices.Contains(actions, control.ActionDelete) {
		n.deletes++
	}
	c.allowed(change, scope, actions)
	c.owned(change, scope, object)
}

// allowed checks what a scope allows at all, and now.
func (c *checker) allowed(change *plans.Change, scope *control.Scope, actions []control.Action) {
	for _, action := range actions {
		if len(scope.Actions) > 0 && !slices.Contains(scope.Actions, action) {
			c.refuse(change, "Action not allowed by scope",
				fmt.Sprintf("The plan wants to %s %s, but scope %q allows %v only. Nothing was applied.", verbs(actions), change.Addr, scope.Name, scope.Actions))
			break
		}
	}
	if !scope.Open(c.with.Now) {
		c.refuse(change, "Change outside the scope's times",
			fmt.Sprintf("The plan wants to %s %s, but scope %q allows changes in its windows only, and it is %s. Nothing was applied; it is planned again in every round.", verbs(actions), change.Addr, scope.Name, c.with.Now.UTC().Format("Mon 15:04 MST")))
	}
}

// owned checks that nothing changes that belongs to somebody else.
func (c *checker) owned(change *plans.Change, scope *control.Scope, object control.Object) {
	own := c.rules.Ownership(object).Without(change.Overrides.Held)
	if change.Deposed != "" {
		return
	}
	switch change.Action {
	case plans.Create, plans.Delete, plans.DeleteThenCreate, plans.CreateThenDelete:
		c.add(change, notHost(change, scope, own))
	}
	if change.Action != plans.Update || c.with.Schema == nil {
		return
	}
	if schema := c.with.Schema(change.Addr); schema != nil {
		c.add(change, stray(change, scope, objchange.Strays(schema, change.Before, change.After, own)))
	}
}

// limits compares what was counted with what scopes allow in one round.
func (c *checker) limits() {
	for i := range c.rules.Scopes {
		scope := &c.rules.Scopes[i]
		n := c.count(scope)
		c.limit(scope.Name, "deletes", n.deletes, scope.MaxDeletes)
		c.limit(scope.Name, "changes", n.changes, scope.MaxChanges)
	}
}

// shares compares what was counted with what scopes have and had: whatever somebody
// removed by hand still counts among a scope's objects, or the fewer are left, the
// fewer could be made again.
func (c *checker) shares() {
	recorded := c.recorded()
	for i := range c.rules.Scopes {
		scope := &c.rules.Scopes[i]
		n := c.count(scope)
		objects := max(n.objects, recorded[scope.Name])
		// A scope without objects yet has nothing to lose.
		if scope.MaxShare != nil && objects > 0 && n.changes*100 > *scope.MaxShare*objects {
			c.diags = append(c.diags, tfdiags.New(tfdiags.Error, "Plan exceeds a limit of its scope",
				fmt.Sprintf("The plan changes %d of %d objects in scope %q, which allows %d percent a round. Nothing was applied. If so many are meant, raise max_share for the time being.", n.changes, objects, scope.Name, *scope.MaxShare))...)
		}
	}
}

// recorded counts the objects that the record has in each scope, if a limit needs it.
func (c *checker) recorded() map[string]int {
	if c.with.Recorded == nil || !slices.ContainsFunc(c.rules.Scopes, func(s control.Scope) bool { return s.MaxShare != nil }) {
		return nil
	}
	out := map[string]int{}
	c.with.Recorded.Each(func(addr addrs.ResourceInstance, r *states.Resource, inst *states.Instance) {
		if addr.Resource.Mode != addrs.Managed || inst.Current == nil {
			return
		}
		if scope := ScopeOf(c.rules.Scopes, ObjectOf(addr, r.Provider)); scope != nil {
			out[scope.Name]++
		}
	})
	return out
}

func (c *checker) limit(scope, what string, got int, limit *int) {
	if limit == nil || got <= *limit {
		return
	}
	c.diags = append(c.diags, tfdiags.New(tfdiags.Error, "Plan exceeds a limit of its scope",
		fmt.Sprintf("The plan has %d %s in scope %q, which allows %d a round. Nothing was applied. If so many are meant, raise max_%s for the time being.", got, what, scope, *limit, what))...)
}

func (c *checker) refuse(change *plans.Change, summary, detail string) {
	c.add(change, refusal(change, summary, detail))
}

// add keeps a refusal, with the block that asks for the change.
func (c *checker) add(change *plans.Change, diags tfdiags.Diagnostics) {
	if c.with.Where != nil && len(diags) > 0 {
		if at := c.with.Where(change.Addr); at != nil {
			diags = diags.WithSubject(*at)
		}
	}
	c.diags = append(c.diags, diags...)
}

// AskedOf returns what a change asks of a scope: its action, and for an object that
// is only renamed or adopted the right to update it. A plan without any such change is quiet.
func AskedOf(c *plans.Change) []control.Action {
	actions := ActionsOf(c.Action)
	if len(actions) == 0 && (c.Moved() || c.Importing != "") {
		return []control.Action{control.ActionUpdate}
	}
	return actions
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
