package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/engine"
)

// TestImportBlocksAdoptObjects imports what is there, plans it as any other
// object, and makes nothing twice.
func TestImportBlocksAdoptObjects(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "a" { name = "a" }
resource "fake_thing" "b" { name = "b" }
`})
	b.mustApply(engine.PlanOptions{})
	ids := fake.IDs(thing)
	idOf := func(addr string) string {
		return b.state.Object(instanceAddr(t, addr)).Decoded().Value.GetAttr("id").AsString()
	}
	config := `
resource "fake_thing" "x" {
  for_each = { same = "a", other = "new" }
  name     = each.value
}
resource "fake_thing" "user" { name = fake_thing.x["same"].id }
import {
  for_each = { same = "` + idOf("fake_thing.a") + `", other = "` + idOf("fake_thing.b") + `" }
  to       = fake_thing.x[each.key]
  id       = each.value
}
`
	newState, _ := newFakeBench(t)
	b.state = newState.state // as if nothing had been recorded
	b.write(map[string]string{"main.tf": config})
	plan := b.mustPlan(engine.PlanOptions{})
	b.wantActions(plan, "create fake_thing.user", `update fake_thing.x["other"]`)
	if got := plan.Count(); got.Import != 2 || got.Add != 1 || got.Change != 1 {
		t.Errorf("counts are %+v", got)
	}
	b.log.take()
	b.mustApply(engine.PlanOptions{})
	calls := b.log.take()
	slices.Sort(calls)
	if want := []string{"create fake_thing.user", `update fake_thing.x["other"]`}; !slices.Equal(calls, want) {
		t.Errorf("got %q, want %q", calls, want)
	}
	if got := len(fake.IDs(thing)); got != len(ids)+1 {
		t.Errorf("the cloud has %d objects", got)
	}
	fake.ResetCalls()
	if plan := b.mustPlan(engine.PlanOptions{}); plan.Applyable() || plan.Count().Import != 0 {
		t.Error("what is managed already is imported again")
	}
	if got := fake.Calls("ImportResourceState"); len(got) > 0 {
		t.Errorf("the provider was asked %d times for what is recorded", len(got))
	}
}

// TestImportOnlyIsApplied records objects that need no change.
func TestImportOnlyIsApplied(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": `resource "fake_thing" "a" { name = "a" }`})
	b.mustApply(engine.PlanOptions{})
	id := fake.IDs(thing)[0]
	empty, _ := newFakeBench(t)
	b.state = empty.state
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "a" { name = "a" }
import {
  to = fake_thing.a
  id = "` + id + `"
}
`})
	plan := b.mustPlan(engine.PlanOptions{})
	b.wantActions(plan)
	if !plan.Applyable() {
		t.Error("a plan that only imports is worth an apply")
	}
	b.mustApply(engine.PlanOptions{})
	if b.state.Count() != 1 || len(fake.IDs(thing)) != 1 {
		t.Errorf("the state has %d objects and the cloud %d", b.state.Count(), len(fake.IDs(thing)))
	}
}

// TestImportMistakes says what is wrong and makes no object instead.
func TestImportMistakes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ config, want string }{
		"no such object":  {"resource \"fake_thing\" \"a\" { name = \"a\" }\nimport {\n  to = fake_thing.a\n  id = \"nope\"\n}", "No such object"},
		"no such address": {"import {\n  to = fake_thing.a\n  id = \"x\"\n}", "Configuration for import target does not exist"},
		"sensitive id":    {"resource \"fake_thing\" \"a\" { name = \"a\" }\nimport {\n  to = fake_thing.a\n  id = sensitive(\"s3cret\")\n}", "Invalid import id argument"},
		"needs itself":    {"resource \"fake_thing\" \"a\" { name = \"a\" }\nimport {\n  to = fake_thing.a\n  id = fake_thing.a.id\n}", "Cycle"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := newFakeBench(t)
			b.write(map[string]string{"main.tf": test.config})
			plan, diags := b.plan(engine.PlanOptions{})
			if !diags.HasErrors() || !strings.Contains(diags.Err().Error(), test.want) || strings.Contains(diags.Err().Error(), "s3cret") {
				t.Errorf("got %v, want %s", diags.Err(), test.want)
			}
			b.wantActions(plan)
		})
	}
}
