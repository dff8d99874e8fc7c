package objchange_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

const rounds = 400

// eachCase runs check on random schemas with a matching prior object.
func eachCase(t *testing.T, check func(t *testing.T, g generator, schema *providers.Block, prior cty.Value)) {
	t.Helper()
	for seed := range uint64(rounds) {
		g := newGenerator(seed)
		schema := g.block(2)
		if err := schema.InternalValidate(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		prior := cty.NullVal(schema.ImpliedType())
		if g.IntN(4) > 0 {
			prior = g.object(schema, how{})
		}
		check(t, g, schema, prior)
		if t.Failed() {
			t.Fatalf("seed %d: prior %#v", seed, prior)
		}
	}
}

func TestProposedNewIsConfigWhereNothingIsLeftOut(t *testing.T) {
	t.Parallel()
	eachCase(t, func(t *testing.T, g generator, schema *providers.Block, prior cty.Value) {
		config := g.object(schema, how{full: true})
		if got := objchange.ProposedNew(schema, prior, config); !got.RawEquals(config) {
			t.Errorf("got  %#v\nwant %#v", got, config)
		}
	})
}

func TestProposedNewConformsAndIsAValidPlan(t *testing.T) {
	t.Parallel()
	eachCase(t, func(t *testing.T, g generator, schema *providers.Block, prior cty.Value) {
		config := g.object(schema, how{config: true, unknown: true})
		proposed := objchange.ProposedNew(schema, prior, config)
		if problems := proposed.Type().TestConformance(schema.ImpliedType()); len(problems) > 0 {
			t.Errorf("proposed value does not conform: %v", problems)
		}
		for _, err := range objchange.AssertPlanValid(schema, prior, config, proposed) {
			t.Errorf("proposed: %v", err)
		}
		again := objchange.ProposedNew(schema, prior, config)
		if !proposed.RawEquals(again) {
			t.Errorf("not repeatable:\n%#v\n%#v", proposed, again)
		}
	})
}

func TestPlannedUnknownIsValidAndEveryCompletionCompatible(t *testing.T) {
	t.Parallel()
	eachCase(t, func(t *testing.T, g generator, schema *providers.Block, prior cty.Value) {
		config := g.object(schema, how{config: true, unknown: true})
		planned := objchange.PlannedUnknownObject(schema, config)
		for _, err := range objchange.AssertPlanValid(schema, prior, config, planned) {
			t.Errorf("planned: %v", err)
		}
		actual := g.complete(planned)
		for _, err := range objchange.AssertObjectCompatible(schema, planned, actual) {
			t.Errorf("actual: %v\nplanned %#v\nactual  %#v", err, planned, actual)
		}
		for _, err := range objchange.AssertObjectCompatible(schema, actual, actual) {
			t.Errorf("known: %v", err)
		}
	})
}

// What a provider may plan at all is arbitrary; whatever it is, checking it
// must end in errors and never in a failure of ours.
func TestChecksSurviveArbitraryAnswers(t *testing.T) {
	t.Parallel()
	refused := 0
	eachCase(t, func(t *testing.T, g generator, schema *providers.Block, prior cty.Value) {
		config := g.object(schema, how{config: true, unknown: true})
		answer := spoil(g, g.object(schema, how{unknown: true}))
		if len(objchange.AssertPlanValid(schema, prior, config, answer)) > 0 {
			refused++
		}
		objchange.AssertObjectCompatible(schema, config, answer)
		objchange.AssertObjectCompatible(schema, answer, config)
		normal := objchange.NormalizeObjectFromLegacySDK(answer, schema)
		objchange.ProposedNew(schema, g.complete(normal), config)
		if again := objchange.NormalizeObjectFromLegacySDK(normal, schema); !again.RawEquals(normal) {
			t.Errorf("normalizing twice changes the value:\n%#v\n%#v", normal, again)
		}
	})
	if refused < rounds/2 {
		t.Errorf("only %d of %d arbitrary plans were refused", refused, rounds)
	}
}

// spoil replaces random parts by null or unknown, whatever the schema says.
func spoil(g generator, v cty.Value) cty.Value {
	out, err := cty.Transform(v, func(path cty.Path, v cty.Value) (cty.Value, error) {
		switch g.IntN(12) {
		case 0:
			return cty.NullVal(v.Type()), nil
		case 1:
			return cty.UnknownVal(v.Type()), nil
		}
		return v, nil
	})
	if err != nil {
		panic(err)
	}
	return out
}

func TestAnyChangedLeafIsReported(t *testing.T) {
	t.Parallel()
	schema := &providers.Block{
		Attributes: map[string]*providers.Attribute{"s": {Type: cty.String, Optional: true}, "l": {Type: cty.List(cty.Number), Optional: true}},
		BlockTypes: map[string]*providers.NestedBlock{
			"list": {Nesting: providers.NestingList, Block: providers.Block{Attributes: map[string]*providers.Attribute{"s": {Type: cty.String, Optional: true}}}},
			"set":  {Nesting: providers.NestingSet, Block: providers.Block{Attributes: map[string]*providers.Attribute{"s": {Type: cty.String, Optional: true}}}},
		},
	}
	obj := func(s string) cty.Value { return cty.ObjectVal(map[string]cty.Value{"s": cty.StringVal(s)}) }
	planned := cty.ObjectVal(map[string]cty.Value{
		"s": cty.StringVal("x"), "l": cty.ListVal([]cty.Value{cty.NumberIntVal(1), cty.NumberIntVal(2)}),
		"list": cty.ListVal([]cty.Value{obj("a")}), "set": cty.SetVal([]cty.Value{obj("a"), obj("b")}),
	})
	leaves := 0
	if err := cty.Walk(planned, func(path cty.Path, v cty.Value) (bool, error) {
		if !v.Type().IsPrimitiveType() {
			return true, nil
		}
		leaves++
		actual, err := cty.Transform(planned, func(p cty.Path, v cty.Value) (cty.Value, error) {
			switch {
			case !p.Equals(path):
				return v, nil
			case v.Type() == cty.Number:
				return cty.NumberIntVal(9), nil
			default:
				return cty.StringVal("changed"), nil
			}
		})
		if err != nil {
			return false, err
		}
		if len(objchange.AssertObjectCompatible(schema, planned, actual)) == 0 {
			t.Errorf("a change at %#v was not noticed", path)
		}
		if len(objchange.AssertPlanValid(schema, cty.NullVal(planned.Type()), planned, actual)) == 0 && path[0] != (cty.GetAttrStep{Name: "set"}) {
			t.Errorf("a plan that differs from the configuration at %#v was not noticed", path)
		}
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	if leaves != 6 {
		t.Fatalf("walked %d leaves, want 6", leaves)
	}
}
