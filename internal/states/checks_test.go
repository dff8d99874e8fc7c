package states_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/towline/terraform-provider-towline/internal/states"
)

// recorded is check_results as the terraform binary wrote them.
const recorded = `[{"object_kind":"output","config_addr":"module.m.output.o","status":"pass","objects":[{"object_addr":"module.m[0].output.o","status":"pass"},{"object_addr":"module.m[1].output.o","status":"pass"}]},{"object_kind":"var","config_addr":"module.m.var.v","status":"unknown","objects":null},{"object_kind":"output","config_addr":"output.o","status":"fail","objects":[{"object_addr":"output.o","status":"fail","failure_messages":["no"]}]},{"object_kind":"resource","config_addr":"terraform_data.a","status":"pass","objects":[{"object_addr":"terraform_data.a[\"x\"]","status":"pass"}]}]`

func TestCheckResultsRoundTrip(t *testing.T) {
	t.Parallel()
	results, err := states.DecodeChecks([]byte(recorded))
	if err != nil {
		t.Fatal(err)
	}
	states.SortChecks(results)
	got, err := states.EncodeChecks(results)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(recorded, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInvalidCheckResults(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"no list":          `{}`,
		"resource address": `[{"object_kind":"resource","config_addr":"a.b.c.d","status":"pass"}]`,
		"instance address": `[{"object_kind":"resource","config_addr":"a.b","status":"pass","objects":[{"object_addr":"a"}]}]`,
		"module address":   `[{"object_kind":"output","config_addr":"module.output.o","status":"pass"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if results, err := states.DecodeChecks([]byte(raw)); err == nil {
				t.Errorf("taken as %+v", results)
			}
		})
	}
}
