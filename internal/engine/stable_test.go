package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/providers/providerstest"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// roundsConfig uses values in every way in which one can reach another.
const roundsConfig = `
variable "name" { type = string }
variable "names" { type = map(string) }
variable "n" { type = number }
locals {
  joined = join(",", values(var.names))
  text   = file("${path.module}/text")
  nested = { inner = [for k, v in var.names : "${k}=${v}"] }
}
data "fake_data" "d" { of = "fixed" }
data "fake_data" "e" { of = local.joined }
resource "fake_thing" "name" { name = var.name }
resource "fake_thing" "joined" { name = local.joined }
resource "fake_thing" "text" { name = local.text }
resource "fake_thing" "fixed" { name = "fixed" }
resource "fake_thing" "data" { name = data.fake_data.d.result }
resource "fake_thing" "counted" {
  count = var.n
  name  = "c${count.index}-${fake_thing.name.name}"
}
resource "fake_thing" "each" {
  for_each = var.names
  name     = "${each.key}-${each.value}"
}
resource "fake_thing" "one" { name = fake_thing.counted[0].name }
resource "fake_thing" "all" { name = join("", fake_thing.counted[*].name) }
resource "fake_thing" "some" { name = join("", [for k, t in fake_thing.each : t.name]) }
module "m" {
  source   = "./m"
  for_each = var.names
  given    = "${each.value}!"
  fixed    = "same"
}
resource "fake_thing" "outputs" { name = join("", [for k, m in module.m : m.out]) }
resource "fake_thing" "conditioned" {
  name = "x"
  lifecycle {
    precondition {
      condition     = var.name != "forbidden"
      error_message = "no"
    }
  }
}
output "all" { value = local.nested }
`

const roundsModule = `
variable "given" { type = string }
variable "fixed" { type = string }
resource "fake_thing" "given" { name = var.given }
resource "fake_thing" "fixed" { name = var.fixed }
output "out" { value = "${fake_thing.given.name}${fake_thing.fixed.name}" }
`

// world is what plans depend on, besides the configuration: it changes at random.
type world struct {
	random    *rand.Rand
	dir       string
	variables map[string]cty.Value
	answer    string // of data sources
	zone      string // of the object named fixed, as somebody has set it; "" for nobody
	gone      bool   // objects named same
	private   string // what the provider keeps beside the object named text, if it says anything new
}

// newWorld returns a world that a fake provider shows.
func newWorld(seed uint64, dir string, fake *providerstest.Provider) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 1)), dir: dir, answer: "a", variables: map[string]cty.Value{
		"name": cty.StringVal("n"), "n": cty.NumberIntVal(2),
		"names": cty.MapVal(map[string]cty.Value{"x": cty.StringVal("1"), "y": cty.StringVal("2")}),
	}}
	fake.DataHook = func(_ context.Context, req providers.ReadDataSourceRequest) providers.ReadDataSourceResponse {
		state := req.Config.AsValueMap()
		state["result"] = cty.StringVal(w.answer)
		return providers.ReadDataSourceResponse{State: cty.ObjectVal(state)}
	}
	fake.ReadHook = func(_ context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
		resp := fake.ReadDefault(req)
		if attrs := resp.NewState.AsValueMap(); w.zone != "" && attrs["name"].AsString() == "fixed" {
			attrs["zone"] = cty.StringVal(w.zone)
			resp.NewState, resp.Unchanged, resp.Encoded = cty.ObjectVal(attrs), false, nil
		}
		switch name := req.PriorState.GetAttr("name").AsString(); {
		case w.gone && name == "same":
			resp.NewState, resp.Unchanged, resp.Encoded = cty.NullVal(req.PriorState.Type()), false, nil
		case w.private != "" && name == "text":
			resp.Private = []byte(w.private)
		}
		return resp
	}
	return w
}

// change changes one thing, or nothing.
func (w *world) change(t *testing.T) {
	t.Helper()
	few := func(prefix string) cty.Value { return cty.StringVal(fmt.Sprintf("%s%d", prefix, w.random.IntN(2))) }
	w.variables = maps.Clone(w.variables)
	switch w.random.IntN(11) {
	case 0:
		w.variables["name"] = few("n")
	case 1:
		w.variables["n"] = cty.NumberIntVal(int64(1 + w.random.IntN(3)))
	case 2:
		names := map[string]cty.Value{"x": few("")}
		if w.random.IntN(2) == 0 {
			names["y"] = cty.StringVal("2")
		}
		w.variables["names"] = cty.MapVal(names)
	case 3:
		w.answer = fmt.Sprint(w.random.IntN(3))
	case 4:
		if err := os.WriteFile(filepath.Join(w.dir, "text"), []byte(few("").AsString()), 0o600); err != nil {
			t.Fatal(err)
		}
	case 5:
		w.zone = few("zone").AsString()
	case 6:
		w.gone = !w.gone
	case 7:
		w.private = few("private").AsString()
	}
}

// An engine that remembers its last plan plans the same as one that knows nothing,
// whatever has changed in between.
func TestWarmPlansAreAsFreshOnes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			warm, fake := newFakeBench(t)
			warm.write(map[string]string{"main.tf": roundsConfig, "m/main.tf": roundsModule, "text": "text"})
			config := warm.load()
			w := newWorld(seed, warm.dir, fake)
			for range 25 {
				w.change(t)
				opts := engine.PlanOptions{Variables: w.variables, BaseDir: warm.dir}
				plan, diags := warm.engine.Plan(t.Context(), config, warm.state, opts)
				if diags.HasErrors() {
					t.Fatal(diags.Err())
				}
				differ(t, "a warm plan", told(t, plan), told(t, freshPlan(t, fake, config, warm.state, opts)))
				switch w.random.IntN(3) {
				case 0:
					if diags := warm.applyConfig(config, plan); diags.HasErrors() {
						t.Fatal(diags.Err())
					}
				case 1:
					warm.state = plan.Prior
				}
			}
		})
	}
}

// freshPlan is the plan of an engine that knows nothing yet.
func freshPlan(t *testing.T, fake *providerstest.Provider, config *configs.Config, state *states.State, opts engine.PlanOptions) *plans.Plan {
	t.Helper()
	e := engine.New(engine.Options{Providers: source{"fake": func() providers.Interface { return fake }}})
	defer func() { _ = e.Close() }()
	plan, diags := e.Plan(t.Context(), config, state, opts)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return plan
}

// differ fails the test if two plans are told differently, with the lines that only one has.
func differ(t *testing.T, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	without := func(lines, others []string) []string {
		return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
	}
	t.Fatalf("%s differs:\ngot  %q\nwant %q", what, without(got, want), without(want, got))
}

// told is all that a plan says, as text, and the record with it. What is unknown has
// no text of its own.
func told(t *testing.T, plan *plans.Plan) []string {
	t.Helper()
	var record bytes.Buffer
	if err := states.Write(&record, plan.Prior); err != nil {
		t.Fatal(err)
	}
	out := append(strings.Split(record.String(), "\n"), fmt.Sprintf("%s %v %v %v %#v %#v", plan.Mode, plan.Complete, plan.Errored, plan.ModuleOutputs, plan.Variables, plan.Relevant))
	for _, c := range plan.Changes {
		out = append(out, fmt.Sprintf("%s %s %s %#v %#v %v", c.Action, c.Addr, c.Reason, c.Before, c.After, c.Dependencies))
		out = append(out, fmt.Sprintf("%s %q %v %v %v %+v", c.PrevAddr, c.Private, c.RequiredReplace, c.BeforeSensitive, c.AfterSensitive, c.Overrides))
	}
	for _, c := range plan.Drift {
		out = append(out, fmt.Sprintf("drift %s %s %#v %#v", c.Action, c.Addr, c.Before, c.After))
	}
	for _, o := range plan.Outputs {
		out = append(out, fmt.Sprintf("output %s %v %#v %#v", o.Name, o.Action, o.Before, o.After))
	}
	for _, check := range plan.Checks {
		out = append(out, fmt.Sprintf("check %+v", check))
	}
	return out
}
