package engine_test

import (
	"context"
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

const checkWithData = `
resource "fake_thing" "a" { name = "a" }
check "c" {
  data "fake_data" "d" { of = "x" }
  assert {
    condition     = data.fake_data.d.result == "good"
    error_message = "it is ${data.fake_data.d.result}"
  }
}
`

// A check's data is read after all else, while planning and while applying, and
// nothing of it is an error.
func TestCheckReadsItsData(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		result string // "" fails the read
		status states.CheckStatus
		want   []string
	}{
		"holds":        {"good", states.CheckPass, nil},
		"fails":        {"bad", states.CheckFail, []string{"Check block assertion failed"}},
		"not readable": {"", states.CheckFail, []string{"No such thing"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, fake := newFakeBench(t)
			var order []string
			fake.DataHook = func(_ context.Context, req providers.ReadDataSourceRequest) providers.ReadDataSourceResponse {
				order = append(order, "read")
				if test.result == "" {
					return providers.ReadDataSourceResponse{Diagnostics: tfdiags.New(tfdiags.Error, "No such thing", "It is not there.")}
				}
				return providers.ReadDataSourceResponse{State: cty.ObjectVal(map[string]cty.Value{"of": cty.StringVal("x"), "result": cty.StringVal(test.result)})}
			}
			fake.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
				order = append(order, "create")
				return fake.ApplyDefault(req)
			}
			b.write(map[string]string{"main.tf": checkWithData})
			plan, diags := b.plan(engine.PlanOptions{})
			if got := warnings(diags); diags.HasErrors() || !slices.Equal(got, test.want) {
				t.Errorf("planning warns of %q, want %q (%v)", got, test.want, diags.Err())
			}
			if plan.Changes[0].Reason != plans.ReadBecauseCheckNested || plan.OnlyChecks() {
				t.Errorf("first change %+v", plan.Changes[0])
			}
			diags = b.applyPlan(plan)
			if got := warnings(diags); diags.HasErrors() || !slices.Equal(got, test.want) {
				t.Errorf("applying warns of %q, want %q (%v)", got, test.want, diags.Err())
			}
			if want := []string{"read", "create", "read"}; !slices.Equal(order, want) {
				t.Errorf("order of calls %q, want %q", order, want)
			}
			again, _ := b.plan(engine.PlanOptions{})
			if !again.Applyable() || !again.OnlyChecks() || again.Checks[0].Status != test.status {
				t.Errorf("the next plan: applyable %v, only checks %v, %+v", again.Applyable(), again.OnlyChecks(), again.Checks)
			}
		})
	}
}

func warnings(diags tfdiags.Diagnostics) []string {
	var out []string
	for _, d := range diags {
		if d.Severity == tfdiags.Warning {
			out = append(out, d.Summary)
		}
	}
	return out
}

// What is declared inside a check block is not seen outside.
func TestCheckDataIsScoped(t *testing.T) {
	t.Parallel()
	b, _ := newFakeBench(t)
	b.write(map[string]string{"main.tf": checkWithData + `output "x" { value = data.fake_data.d.result }`})
	_, diags := b.plan(engine.PlanOptions{})
	if got := errorSummaries(diags); !slices.Equal(got, []string{"Reference to scoped resource"}) {
		t.Errorf("got %q", got)
	}
}
