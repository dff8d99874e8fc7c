package engine

import (
	"context"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// stillHeld returns those of the drifted attributes that are to stay as they are for
// which the configuration asks for what is recorded. Whether it does is the
// provider's to say: it is asked what it would change if nothing had drifted. What it
// would change is what somebody asks for anew, and that is not held back.
func (c *changePlanner) stillHeld(ctx context.Context, overrides plans.Overrides) []string {
	asIf := *c
	asIf.prior, asIf.own = overrides.Recorded, control.WholeOwnership
	if overrides.Owned != nil {
		asIf.own = *overrides.Owned
	}
	answer, diags := asIf.propose(ctx, asIf.prior, asIf.keepIgnored(c.config), c.object.Private)
	if diags.HasErrors() {
		return overrides.Held // the question is asked again for the real object, and answered with the same
	}
	asked := objchange.Differences(c.inst.object.schema.Block, overrides.Recorded, answer.planned)
	var held []string
	for _, path := range overrides.Held {
		about := func(d objchange.Difference) bool { return !d.Computed && objchange.Overlapping(d.Path, path) }
		if !slices.ContainsFunc(asked, about) {
			held = append(held, path)
		}
	}
	return held
}

// shown is what others see of a changed object's value. As long as nothing about it
// changes, that is what was recorded: nothing is built on drift that stands.
func shown(change *plans.Change, val cty.Value) cty.Value {
	if change != nil && change.Action == plans.NoOp && len(change.Overrides.Held) > 0 {
		return change.Overrides.Recorded
	}
	return val
}

// Rerecord returns the record of an object in which some paths have what another
// record says: drift that stands is found again as long as the record says what was
// last right.
func Rerecord(schema *providers.Block, now, recorded *states.Object, paths []string) (*states.Object, error) {
	is, was := now.Decoded(), recorded.Decoded()
	if is == nil || was == nil || now.SchemaVersion != recorded.SchemaVersion {
		return now, nil
	}
	val := objchange.Take(schema, is.Value, was.Value, paths)
	return newObject(&providers.ResourceSchema{Version: now.SchemaVersion, Block: schema}, val, nil, objectMeta{
		sensitive: now.Sensitive, private: now.Private, dependencies: now.Dependencies, tainted: now.Tainted, createFirst: now.CreateBeforeDestroy,
	})
}
