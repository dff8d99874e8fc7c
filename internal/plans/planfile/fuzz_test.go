package planfile

import (
	"bytes"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// FuzzDecode reads whatever calls itself a plan: it is refused, or what is read is
// written and read again as the same.
func FuzzDecode(f *testing.F) {
	full, err := encode(Saved{Plan: examplePlan(), ConfigDigest: "d", Lineage: "l", Serial: 7})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"mode":"normal","variables":{"a":{"value":"WyJzdHJpbmciLCJvWEU9Il0="}},"previous_state":{"version":4},"prior_state":{"version":4}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		saved, err := decode(data)
		if err != nil {
			return
		}
		first, err := encode(saved)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := decode(first)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		second, err := encode(again)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("read again it is another plan\n%s\n%s", first, second)
		}
	})
}

func examplePlan() *plans.Plan {
	addr := addrs.ResourceInstance{Resource: addrs.Resource{Mode: addrs.Managed, Type: "a_b", Name: "c"}, Key: addrs.StringKey("k")}
	object := cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String).RefineNotNull(), "n": cty.NumberFloatVal(1.5), "s": cty.SetVal([]cty.Value{cty.True})})
	provider := addrs.ProviderConfig{Provider: addrs.DefaultProvider("a")}
	return &plans.Plan{
		Mode: plans.NormalMode, Created: time.Unix(1e9, 0).UTC(), Complete: true, Previous: states.New(), Prior: states.New(),
		Variables: map[string]plans.Variable{"v": {Value: cty.StringVal("x")}, "e": {Ephemeral: true}},
		Changes: []*plans.Change{{
			Addr: addr, PrevAddr: addr, Provider: provider, Action: plans.Create, Before: cty.NullVal(object.Type()), After: object,
			AfterSensitive: []cty.Path{cty.GetAttrPath("id")}, RequiredReplace: []cty.Path{cty.GetAttrPath("s")}, Dependencies: []string{"a_b.d"},
		}},
		Outputs: []*plans.OutputChange{{Name: "o", Action: plans.Update, Before: cty.Zero, After: cty.DynamicVal}},
	}
}
