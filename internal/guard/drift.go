package guard

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// Observation is the drift of one object: attributes that somebody changed, or
// the whole object deleted.
type Observation struct {
	Addr addrs.ResourceInstance
	// Attributes are the paths that differ, sorted, as in a.b["c"].
	Attributes []string
	Deleted    bool
	// Recorded and Real are the object before and after.
	Recorded, Real cty.Value
	// Ignored are differing attributes that the scope tells to leave alone.
	Ignored []string
}

// SchemaFor returns the schema of a planned object, or nil.
type SchemaFor func(change *plans.Change) *providers.Block

// Observe finds what of a plan's drift is a change that somebody made.
// Attributes that only the provider sets are not: they follow other changes, and
// nobody can correct them. Attributes that a scope ignores are kept apart.
func Observe(plan *plans.Plan, scopes []control.Scope, schemaFor SchemaFor) []Observation {
	var out []Observation
	for _, c := range plan.Drift {
		if c.Addr.Resource.Mode != addrs.Managed {
			continue
		}
		o := Observation{Addr: c.Addr, Recorded: c.Before, Real: c.After}
		if c.Action == plans.Delete {
			o.Deleted = true
			out = append(out, o)
			continue
		}
		scope := ScopeOf(scopes, c.Addr)
		for _, path := range changedPaths(schemaFor(c), c.Before, c.After) {
			if scope != nil && ignores(scope.IgnoreAttributes, c.Addr, path) {
				o.Ignored = append(o.Ignored, path)
			} else {
				o.Attributes = append(o.Attributes, path)
			}
		}
		if len(o.Attributes)+len(o.Ignored) > 0 {
			out = append(out, o)
		}
	}
	return out
}

// changedPaths lists the settable attributes that differ: by name at the top
// level, with the key behind it for elements of maps.
func changedPaths(schema *providers.Block, before, after cty.Value) []string {
	var out []string
	for name := range before.Type().AttributeTypes() {
		was, is := before.GetAttr(name), after.GetAttr(name)
		if was.RawEquals(is) {
			continue
		}
		if schema != nil {
			if attr := schema.Attributes[name]; attr != nil && attr.Computed && !attr.Optional {
				continue
			}
		}
		out = append(out, elementPaths(name, was, is)...)
	}
	slices.Sort(out)
	return out
}

// elementPaths names the elements of a map that differ, or else the attribute as a whole.
func elementPaths(name string, was, is cty.Value) []string {
	if !was.Type().IsMapType() || was.IsNull() || is.IsNull() {
		return []string{name}
	}
	keys := map[string]bool{}
	before, after := was.AsValueMap(), is.AsValueMap()
	for _, elems := range []map[string]cty.Value{before, after} {
		for key := range elems {
			a, okA := before[key]
			b, okB := after[key]
			if okA != okB || !a.RawEquals(b) {
				keys[key] = true
			}
		}
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, fmt.Sprintf("%s[%q]", name, key))
	}
	return out
}

// ignores tells whether patterns of the form ADDRESS.attribute or TYPE.attribute cover a path.
func ignores(patterns []string, addr addrs.ResourceInstance, path string) bool {
	for _, pattern := range patterns {
		for _, prefix := range []string{addr.String(), addr.Resource.Type} {
			// The attribute alone covers its elements; so does any step above it.
			for part := path; part != ""; part = parentPath(part) {
				if MatchAddress(pattern, prefix+"."+part) {
					return true
				}
			}
		}
	}
	return false
}

// parentPath takes the last step off a path; "" if there is none above.
func parentPath(path string) string {
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}

// IgnoredPaths returns the attributes of an instance that its scope leaves
// alone, for the planner: what is ignored in drift is ignored in changes too.
func IgnoredPaths(scopes []control.Scope, addr addrs.ResourceInstance, schema *providers.Block) []cty.Path {
	scope := ScopeOf(scopes, addr)
	if scope == nil || len(scope.IgnoreAttributes) == 0 {
		return nil
	}
	var out []cty.Path
	for _, pattern := range scope.IgnoreAttributes {
		attr, key := lastAttribute(pattern)
		for _, name := range attributeNames(schema) {
			if !matchText(attr, name) || !ignores([]string{pattern}, addr, name+key) {
				continue
			}
			path := cty.GetAttrPath(name)
			if key != "" {
				path = path.IndexString(strings.Trim(key, `[]"`))
			}
			out = append(out, path)
		}
	}
	return out
}

// lastAttribute returns the attribute of a pattern and the key behind it, if any.
func lastAttribute(pattern string) (name, key string) {
	steps := splitSteps(pattern)
	name = steps[len(steps)-1]
	if i := strings.IndexByte(name, '['); i >= 0 {
		name, key = name[:i], name[i:]
	}
	return name, key
}

func attributeNames(schema *providers.Block) []string {
	names := slices.Collect(maps.Keys(schema.Attributes))
	names = append(names, slices.Collect(maps.Keys(schema.BlockTypes))...)
	slices.Sort(names)
	return names
}

// Decision is what happens to drift.
type Decision string

// The decisions, as they stand in receipts.
const (
	Observed  Decision = "observed"
	Proposed  Decision = "proposed"
	InGrace   Decision = "in-grace"
	Corrected Decision = "corrected"
	Held      Decision = "held"
	Failed    Decision = "failed"
)

// Remembered is what is known of an object's drift from earlier rounds.
type Remembered struct {
	// Since is when the drift was first seen.
	Since time.Time `json:"since"`
	// Attributes are those seen so far, to notice that more were changed.
	Attributes []string `json:"attributes,omitempty"`
	// Grant is the ID of the last grant that held the drift, After its policy's choice for the end.
	Grant string        `json:"grant,omitempty"`
	After control.After `json:"after,omitempty"`
}

// Memory is the drift that stands, by address. The agent keeps it between rounds.
type Memory map[string]Remembered

// OpenGrant is a grant in force.
type OpenGrant struct {
	ID      string
	Policy  string
	Targets []string
	Until   time.Time
	After   control.After
	// Scopes are those of the policy; a grant has no effect outside them.
	Scopes []string
}

// Covers tells whether a grant suspends correction of an instance.
func (g OpenGrant) Covers(scope *control.Scope, addr addrs.ResourceInstance) bool {
	if scope == nil || !slices.Contains(g.Scopes, scope.Name) {
		return false
	}
	return slices.ContainsFunc(g.Targets, func(target string) bool {
		return MatchAddress(target, addr.String()) || coversAttribute(target, addr)
	})
}

// coversAttribute tells whether a target names an attribute of an instance. The
// whole object is held then: a provider cannot correct one attribute and leave another.
func coversAttribute(target string, addr addrs.ResourceInstance) bool {
	steps := splitSteps(target)
	return len(steps) > 1 && MatchAddress(strings.Join(steps[:len(steps)-1], "."), addr.String())
}

// Judged is the decision about one observation.
type Judged struct {
	Observation
	Decision Decision
	Since    time.Time
	// Grant is the grant that holds the object, or "".
	Grant string
}

// Judge decides about drift and returns what to remember for the next round.
func Judge(observed []Observation, scopes []control.Scope, grants []OpenGrant, memory Memory, now time.Time) ([]Judged, Memory) {
	var out []Judged
	next := Memory{}
	for _, o := range observed {
		if len(o.Attributes) == 0 && !o.Deleted {
			continue
		}
		key := o.Addr.String()
		known, ok := memory[key]
		if !ok {
			known = Remembered{Since: now}
		}
		if known.Since.After(now) {
			known.Since = now // the clock was set back, and the grace time must not last until it has caught up
		}
		known.Attributes = o.Attributes
		j := Judged{Observation: o, Since: known.Since}
		scope := ScopeOf(scopes, o.Addr)
		if grant := covering(grants, scope, o.Addr); grant != nil {
			known.Grant, known.After = grant.ID, grant.After
			j.Decision, j.Grant = Held, grant.ID
		} else {
			j.Decision = decide(scope, known, now)
		}
		next[key] = known
		out = append(out, j)
	}
	return out, next
}

func covering(grants []OpenGrant, scope *control.Scope, addr addrs.ResourceInstance) *OpenGrant {
	for i := range grants {
		if grants[i].Covers(scope, addr) {
			return &grants[i]
		}
	}
	return nil
}

// decide applies a scope's policy, or what the last grant's policy chose for its end.
func decide(scope *control.Scope, known Remembered, now time.Time) Decision {
	switch {
	case scope == nil:
		return Observed
	case known.After == control.AfterRevert:
		return Corrected
	case known.After == control.AfterHold:
		return Held
	case known.After == control.AfterPropose:
		return Proposed
	case scope.Drift.Mode == control.DriftPropose:
		return Proposed
	case scope.Drift.Mode != control.DriftEnforce:
		return Observed
	case now.Sub(known.Since) < time.Duration(scope.Drift.Grace):
		return InGrace
	default:
		return Corrected
	}
}

// Restored returns the recorded object if the drift is to be corrected: its
// values come back also where the configuration leaves them to the provider.
func (j Judged) Restored() cty.Value {
	if j.Decision != Corrected || j.Deleted {
		return cty.NilVal
	}
	return j.Recorded
}

// Uncorrected returns the drifted attributes that a planned change does not
// bring back. Some cannot be: a value that the configuration leaves to the
// provider and that was null when it was recorded. change is nil if none is planned.
func (j Judged) Uncorrected(change *plans.Change) []string {
	if j.Decision != Corrected || j.Deleted {
		return nil
	}
	var out []string
	for _, path := range j.Attributes {
		name, _, _ := strings.Cut(path, "[")
		if change == nil || change.After.IsNull() {
			out = append(out, path)
			continue
		}
		planned := change.After.GetAttr(name)
		if change.Action == plans.NoOp || planned.RawEquals(j.Real.GetAttr(name)) {
			out = append(out, path)
		}
	}
	return out
}
