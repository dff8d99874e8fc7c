package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/providers/providerstest"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

const listOfThings = "list \"cloud_thing\" \"all\" {\n  provider         = cloud\n  include_resource = true\n}\n"

// listingWorld is a world whose scope has a list block as its inventory.
func listingWorld(t *testing.T, inventory control.Inventory) *world {
	t.Helper()
	w := newWorld(t)
	schema := thingSchema()
	schema.Lists = providers.SchemaMap{thing: {Block: &providers.Block{}}}
	w.cloud, w.query = providerstest.New(schema), listOfThings
	inventory.Data = "list.cloud_thing.*"
	w.declareScope(control.DriftEnforce, func(s *control.Scope) { s.Inventories = []control.Inventory{inventory} })
	return w
}

// stranger makes an object that nobody manages, or changes it.
func (w *world) stranger(size int64) {
	_, object := w.find("a")
	attrs := object.AsValueMap()
	attrs["id"], attrs["name"], attrs["size"] = cty.StringVal("stranger"), cty.StringVal("s"), cty.NumberIntVal(size)
	w.cloud.SetObject(thing, "stranger", cty.ObjectVal(attrs))
}

// TestListedObjectsAreReported: what a list block lists and the agent does not manage
// stands in receipts as what a data source lists does.
func TestListedObjectsAreReported(t *testing.T) {
	t.Parallel()
	w := listingWorld(t, control.Inventory{})
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	if receipt := w.round(control.OutcomeConverged); len(receipt.Unmanaged) != 0 {
		t.Errorf("its own objects are unmanaged: %+v", receipt.Unmanaged)
	}
	w.slack.take()
	w.stranger(1)
	first := w.round(control.OutcomeConverged)
	if len(first.Unmanaged) != 1 || first.Unmanaged[0].ID != "stranger" || first.Unmanaged[0].Inventory != "list.cloud_thing.all" || !first.Unmanaged[0].Since.Equal(first.Started) {
		t.Fatalf("unmanaged %+v", first.Unmanaged)
	}
	if again := w.round(control.OutcomeConverged); len(again.Unmanaged) != 1 || again.Unmanaged[0] != first.Unmanaged[0] {
		t.Errorf("unmanaged %+v, before %+v", again.Unmanaged, first.Unmanaged)
	}
	if posts := w.slack.take(); len(posts) != 1 || !strings.Contains(posts[0], "stranger") {
		t.Errorf("people were told %q", posts)
	}
	w.stranger(2)
	changed := w.round(control.OutcomeConverged)
	if len(changed.Unmanaged) != 1 || changed.Unmanaged[0].Digest == first.Unmanaged[0].Digest || !changed.Unmanaged[0].Since.Equal(changed.Started) {
		t.Errorf("after a change: %+v", changed.Unmanaged)
	}
	w.cloud.SetObject(thing, "stranger", cty.NilVal)
	if gone := w.round(control.OutcomeConverged); len(gone.Unmanaged) != 0 {
		t.Errorf("after it went: %+v", gone.Unmanaged)
	}
}

// TestListingThatFailsIsNoNews: what was known before stands, with a problem beside it,
// and everything else goes on.
func TestListingThatFailsIsNoNews(t *testing.T) {
	t.Parallel()
	w := listingWorld(t, control.Inventory{})
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.stranger(1)
	before := w.round(control.OutcomeConverged)
	w.cloud.ListHook = func(context.Context, providers.ListResourcesRequest) providers.ListResourcesResponse {
		return providers.ListResourcesResponse{Diagnostics: tfdiags.New(tfdiags.Error, "Access denied", "The token may not list.")}
	}
	w.edit("a", "size", cty.NumberIntVal(9))
	receipt := w.round(control.OutcomeApplied)
	if len(receipt.Unmanaged) != 1 || receipt.Unmanaged[0] != before.Unmanaged[0] {
		t.Errorf("unmanaged %+v, before %+v", receipt.Unmanaged, before.Unmanaged)
	}
	if !strings.Contains(problems(receipt), "Access denied") {
		t.Errorf("problems: %s", problems(receipt))
	}
}

// TestListedObjectsAreToldApart: by the attributes of their identity that owned objects
// have as well, or by the one that an inventory names.
func TestListedObjectsAreToldApart(t *testing.T) {
	t.Parallel()
	text := cty.StringVal
	type vals = map[string]cty.Value
	tests := map[string]struct {
		inventory control.Inventory
		required  []string
		// own and other are how an object of the agent's, named a, and another one are identified.
		own, other vals
		want       string
		problem    string
	}{
		"by name":                     {required: []string{"name"}, own: vals{"name": text("a")}, other: vals{"name": text("b2")}, want: "b2"},
		"by name, elsewhere":          {required: []string{"name"}, own: vals{"name": text("a"), "account": text("1")}, other: vals{"name": text("b2"), "account": text("1")}, want: "account=1,name=b2"},
		"by a number":                 {required: []string{"size"}, own: vals{"size": cty.NumberIntVal(1), "name": text("a")}, other: vals{"size": cty.NumberIntVal(7), "name": text("a")}, want: "name=a,size=7"},
		"what is optional differs":    {required: []string{"name"}, own: vals{"name": text("a"), "size": cty.NumberIntVal(1)}, other: vals{"name": text("a"), "size": cty.NumberIntVal(7)}, want: "name=a,size=7"},
		"by what is nowhere":          {required: []string{"arn"}, own: vals{"arn": text("a")}, other: vals{"arn": text("b2")}, problem: "Inventory cannot be compared"},
		"by what is joined":           {inventory: control.Inventory{ID: "account/name"}, required: []string{"name"}, own: vals{"name": text("a"), "account": text("1")}, other: vals{"name": text("b2"), "account": text("1")}, want: "1/b2"},
		"by what the inventory names": {inventory: control.Inventory{ID: "key"}, required: []string{"key"}, own: vals{"key": text("ID")}, other: vals{"key": text("b2")}, want: "b2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := listingWorld(t, test.inventory)
			w.cloud.ListHook = func(context.Context, providers.ListResourcesRequest) providers.ListResourcesResponse {
				resp := providers.ListResourcesResponse{RequiredIdentity: test.required}
				for _, id := range w.cloud.IDs(thing) { // there is one once it is made
					own := test.own
					if own["key"] != cty.NilVal {
						own = vals{"key": text(id)}
					}
					resp.Listed = append(resp.Listed, providers.ListedResource{Identity: cty.ObjectVal(own)}, providers.ListedResource{Identity: cty.ObjectVal(test.other)})
				}
				return resp
			}
			w.publish("resource \"cloud_thing\" \"a\" {\n  name = \"a\"\n  size = 1\n}\n")
			w.round(control.OutcomeApplied)
			receipt := w.round(control.OutcomeConverged)
			var got []string
			for _, item := range receipt.Unmanaged {
				got = append(got, item.ID)
			}
			if strings.Join(got, " ") != test.want || !strings.Contains(problems(receipt), test.problem) {
				t.Errorf("unmanaged %q, want %q; problems: %s", got, test.want, problems(receipt))
			}
		})
	}
}
