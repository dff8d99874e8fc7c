package agent_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/providers/providerstest"
)

// TestUnmanagedObjectsAreReported: what a data source lists and the agent does not
// manage stands in receipts, people hear of it once, and again when it changes or goes.
func TestUnmanagedObjectsAreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	schema := thingSchema()
	list := cty.List(cty.Object(map[string]cty.Type{"id": cty.String, "size": cty.Number}))
	schema.DataSources = providers.SchemaMap{"cloud_things": {Block: &providers.Block{Attributes: map[string]*providers.Attribute{"all": {Type: list, Computed: true}}}}}
	w.cloud = providerstest.New(schema)
	w.cloud.DataHook = func(_ context.Context, _ providers.ReadDataSourceRequest) providers.ReadDataSourceResponse {
		var out []cty.Value
		for _, id := range w.cloud.IDs(thing) {
			out = append(out, cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(id), "size": w.cloud.Object(thing, id).GetAttr("size")}))
		}
		all := cty.ListValEmpty(list.ElementType())
		if len(out) > 0 {
			all = cty.ListVal(out)
		}
		return providers.ReadDataSourceResponse{State: cty.ObjectVal(map[string]cty.Value{"all": all})}
	}
	w.declareScope(control.DriftEnforce, func(s *control.Scope) {
		s.Inventories = []control.Inventory{{Data: "data.cloud_things.*", List: "all", ID: "id"}}
	})
	w.publish(twoThings + "data \"cloud_things\" \"all\" {}\n")
	w.round(control.OutcomeApplied)
	if receipt := w.round(control.OutcomeConverged); len(receipt.Unmanaged) != 0 {
		t.Errorf("its own objects are unmanaged: %+v", receipt.Unmanaged)
	}
	w.slack.take()

	_, object := w.find("a")
	stranger := func(size int64) {
		attrs := object.AsValueMap()
		attrs["id"], attrs["name"], attrs["size"] = cty.StringVal("stranger"), cty.StringVal("s"), cty.NumberIntVal(size)
		w.cloud.SetObject(thing, "stranger", cty.ObjectVal(attrs))
	}
	stranger(1)
	first := w.round(control.OutcomeConverged)
	if len(first.Unmanaged) != 1 || first.Unmanaged[0].ID != "stranger" || first.Unmanaged[0].Inventory != "data.cloud_things.all" || !first.Unmanaged[0].Since.Equal(first.Started) {
		t.Fatalf("unmanaged %+v", first.Unmanaged)
	}
	again := w.round(control.OutcomeConverged)
	if len(again.Unmanaged) != 1 || again.Unmanaged[0] != first.Unmanaged[0] {
		t.Errorf("unmanaged %+v, before %+v", again.Unmanaged, first.Unmanaged)
	}
	if posts := w.slack.take(); len(posts) != 1 || !strings.Contains(posts[0], "stranger") {
		t.Errorf("people were told %q", posts)
	}
	stranger(2)
	changed := w.round(control.OutcomeConverged)
	if len(changed.Unmanaged) != 1 || changed.Unmanaged[0].Digest == first.Unmanaged[0].Digest || !changed.Unmanaged[0].Since.Equal(changed.Started) {
		t.Errorf("after a change: %+v", changed.Unmanaged)
	}
	w.cloud.SetObject(thing, "stranger", cty.NilVal)
	if gone := w.round(control.OutcomeConverged); len(gone.Unmanaged) != 0 {
		t.Errorf("after it went: %+v", gone.Unmanaged)
	}
	if posts := w.slack.take(); len(posts) != 2 {
		t.Errorf("people were told %q", posts)
	}
}

// TestChangesAreMadeInWindows: outside of them nothing is, and inside all of it.
func TestChangesAreMadeInWindows(t *testing.T) {
	t.Parallel()
	w := newWorld(t) // its day begins at 03:04
	w.declareScope(control.DriftEnforce, func(s *control.Scope) {
		s.Windows = []control.Window{{From: "04:00", Until: "05:00"}}
	})
	w.publish(twoThings)
	receipt := w.round(control.OutcomeRefused)
	if !strings.Contains(problems(receipt), "Change outside the scope's times") || len(w.names()) != 0 {
		t.Errorf("problems: %s", problems(receipt))
	}
	w.advance(time.Hour)
	w.round(control.OutcomeApplied)
	w.edit("a", "size", cty.NumberIntVal(9))
	w.advance(time.Hour)
	w.round(control.OutcomeRefused)
	if !w.attribute("a", "size").RawEquals(cty.NumberIntVal(9)) {
		t.Error("drift was corrected outside of the windows")
	}
}
