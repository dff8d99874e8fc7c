package guard

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// Observation is the drift of one object: attributes that somebody changed, the
// whole object deleted, or another one in its place.
type Observation struct {
	Addr   addrs.ResourceInstance
	Object control.Object
	// Attributes are the owned paths that differ, sorted, as in a.b["c"].
	Attributes []string
	// Computed are paths that differ and that only the provider sets: they follow
	// from other changes, and nobody can correct them.
	Computed []string
	// Ignored are owned paths that differ and that the scope does not want to hear of.
	Ignored []string
	// Deleted: there is no object any more. Replaced: there is another one.
	Deleted, Replaced bool
	// Recorded and Real are the object before and after.
	Recorded, Real cty.Value
	schema         *providers.Block
}

// SchemaFor returns the schema of a planned object, or nil.
type SchemaFor func(change *plans.Change) *providers.Block

// Observe finds what of a plan's drift is a change that somebody made to what the
// agent owns. Objects of which only the provider's own attributes differ are not
// among it, unless their identity does.
func Observe(plan *plans.Plan, rules Rules, schemaFor SchemaFor) []Observation {
	var out []Observation
	for _, c := range plan.Drift {
		if c.Addr.Resource.Mode != addrs.Managed || c.Deposed != "" {
			continue
		}
		o := Observation{Addr: c.Addr, Object: ObjectOf(c.Addr, c.Provider), Recorded: c.Before, Real: c.After}
		scope := ScopeOf(rules.Scopes, o.Object)
		if c.Action == plans.Delete {
			if scope == nil || scope.Ownership(o.Object).Host() {
				o.Deleted = true
				out = append(out, o)
			}
			continue
		}
		if o.schema = schemaFor(c); o.schema == nil {
			continue
		}
		o.observe(scope)
		if len(o.Attributes)+len(o.Ignored) > 0 || o.Replaced {
			out = append(out, o)
		}
	}
	return out
}

// observe tells apart what differs.
func (o *Observation) observe(scope *control.Scope) {
	own := control.WholeOwnership // what no scope includes is shown, and stays as it is
	if scope != nil {
		own = scope.Ownership(o.Object)
	}
	for _, d := range objchange.Differences(o.schema, o.Recorded, o.Real) {
		identity := d.Path == "id" && o.schema.Attributes["id"].Computed
		o.Replaced = o.Replaced || identity
		switch {
		case d.Computed || identity:
			o.Computed = append(o.Computed, d.Path)
		case !d.OwnedBy(own):
		case scope != nil && names(scope.Drift.Ignore, o.Object, d.Path):
			o.Ignored = append(o.Ignored, d.Path)
		default:
			o.Attributes = append(o.Attributes, d.Path)
		}
	}
}

// names tells whether patterns of the form ADDRESS.attribute or TYPE.attribute cover a path.
func names(patterns []string, object control.Object, path string) bool {
	own := control.WholeOwnership
	own.Except, own.Type, own.Address = patterns, object.Type, object.Address
	return len(patterns) > 0 && own.Of(path) == control.OwnedNot
}

// paths are the observed paths, that of the object itself for one that is deleted or
// replaced as it was.
func (o *Observation) paths() []string {
	if o.Deleted || o.Replaced && len(o.Attributes) == 0 {
		return []string{""}
	}
	return o.Attributes
}

// Uncorrected returns those of some paths that a planned change does not bring
// back. Some cannot be: a value that the configuration leaves to the provider and
// that was null when it was recorded. change is nil if none is planned.
func (o *Observation) Uncorrected(paths []string, change *plans.Change) []string {
	if o.Deleted || o.schema == nil {
		return nil
	}
	if change == nil || change.Action == plans.NoOp || change.After.IsNull() {
		return paths
	}
	changed := objchange.Differences(o.schema, o.Real, change.After)
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return slices.ContainsFunc(changed, func(d objchange.Difference) bool { return objchange.Overlapping(d.Path, path) })
	})
}
