package guard

import (
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objchange"
)

// Rules are what an agent is bound by in a round.
type Rules struct {
	Scopes []control.Scope
	// Grants are those in force. They take away from what the agent may do, and
	// never add to it.
	Grants []OpenGrant
}

// ObjectOf names an instance to scopes. Without a provider it is in no scope that
// names one.
func ObjectOf(addr addrs.ResourceInstance, provider addrs.ProviderConfig) control.Object {
	object := control.Object{Address: addr.String(), Type: addr.Resource.Type}
	if provider.Provider != (addrs.Provider{}) {
		object.Provider = provider.Provider.String()
	}
	return object
}

// ScopeOf returns the first scope that includes an object, or nil.
func ScopeOf(scopes []control.Scope, object control.Object) *control.Scope {
	for i := range scopes {
		if scopes[i].Includes(object) {
			return &scopes[i]
		}
	}
	return nil
}

// Ownership answers which attributes of an object may be planned, applied and
// reported as drift: those that its scope gives. This is the one rule for all three.
func (r *Rules) Ownership(object control.Object) control.Ownership {
	scope := ScopeOf(r.Scopes, object)
	if scope == nil {
		return control.Ownership{}
	}
	return scope.Ownership(object)
}

// Planned is the ownership to plan with: what is owned, without the attributes that
// a grant suspends. An object outside of all scopes is planned as it is declared, so
// that the plan shows what was asked for, and is refused then.
func (r *Rules) Planned(object control.Object) *control.Ownership {
	if len(r.Grants) == 0 && !slices.ContainsFunc(r.Scopes, func(s control.Scope) bool { return s.TellsAttributesApart() }) {
		return nil
	}
	scope := ScopeOf(r.Scopes, object)
	if scope == nil {
		return nil
	}
	own := r.withoutSuspended(scope.Ownership(object), scope, object)
	if own.Entire() {
		return nil
	}
	return &own
}

// withoutSuspended is an ownership without the attributes that grants suspend.
func (r *Rules) withoutSuspended(own control.Ownership, scope *control.Scope, object control.Object) control.Ownership {
	for _, g := range r.Grants {
		own = own.Without(g.attributes(scope, object))
	}
	return own
}

// Suspended tells whether a grant holds an object as a whole.
func (r *Rules) Suspended(object control.Object) bool {
	if len(r.Grants) == 0 {
		return false
	}
	scope := ScopeOf(r.Scopes, object)
	return slices.ContainsFunc(r.Grants, func(g OpenGrant) bool { return g.Covers(scope, object) })
}

// covering returns the grant that holds an attribute of an object, or nil. The path
// of the object itself is "".
func (r *Rules) covering(scope *control.Scope, object control.Object, path string) *OpenGrant {
	for i := range r.Grants {
		if r.Grants[i].Covers(scope, object) || path != "" && r.Grants[i].coversPath(scope, object, path) {
			return &r.Grants[i]
		}
	}
	return nil
}

// Covers tells whether a grant suspends correction of an object as a whole.
func (g OpenGrant) Covers(scope *control.Scope, object control.Object) bool {
	return g.applies(scope) && slices.ContainsFunc(g.Targets, func(target string) bool {
		return control.MatchAddress(target, object.Address)
	})
}

// applies tells whether a grant has any effect in a scope.
func (g OpenGrant) applies(scope *control.Scope) bool {
	return scope != nil && slices.Contains(g.Scopes, scope.Name)
}

// attributes lists the patterns of an object's attributes that a grant's targets name.
func (g OpenGrant) attributes(scope *control.Scope, object control.Object) []string {
	if !g.applies(scope) {
		return nil
	}
	var out []string
	for _, target := range g.Targets {
		steps := control.SplitSteps(target)
		for i := 1; i < len(steps); i++ {
			if control.MatchAddress(strings.Join(steps[:i], "."), object.Address) {
				out = append(out, strings.Join(steps[i:], "."))
			}
		}
	}
	return out
}

func (g OpenGrant) coversPath(scope *control.Scope, object control.Object, path string) bool {
	attributes := g.attributes(scope, object)
	return !control.WholeOwnership.Without(attributes).Covers(path) ||
		slices.ContainsFunc(attributes, func(attribute string) bool { return objchange.Overlapping(attribute, path) })
}
