package engine_test

import (
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// TestLifecycleNamesWhatThereIs: a name that is not there would be ignored in silence.
func TestLifecycleNamesWhatThereIs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ lifecycle, want string }{
		"ignored attribute":          {`ignore_changes = [tags["x"], strategy.surge]`, ""},
		"ignored nothing":            {`ignore_changes = [nope]`, "Unsupported attribute"},
		"ignored below nothing":      {`ignore_changes = [strategy.nope]`, "Unsupported attribute"},
		"ignored computed":           {`ignore_changes = [id]`, "Redundant ignore_changes element"},
		"triggered by resource":      {`replace_triggered_by = [fake_thing.b, fake_thing.b.tags["x"]]`, ""},
		"triggered by data":          {`replace_triggered_by = [data.fake_data.d]`, "Invalid reference in replace_triggered_by expression"},
		"triggered by what is wrong": {`replace_triggered_by = [fake_thing.nope]`, "Reference to undeclared resource"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := newFakeBench(t)
			b.write(map[string]string{"main.tf": "data \"fake_data\" \"d\" {\n}\nresource \"fake_thing\" \"b\" {\n}\nresource \"fake_thing\" \"a\" {\n  count = 1\n  lifecycle {\n    " + test.lifecycle + "\n  }\n}\n"})
			_, diags := b.plan(engine.PlanOptions{})
			var got []string
			for _, d := range diags {
				got = append(got, d.Summary)
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("got %q, want %q: %v", got, test.want, diags)
			}
			if warned := test.want == "Redundant ignore_changes element"; len(diags) == 1 && (diags[0].Severity == tfdiags.Warning) != warned {
				t.Errorf("severity %s", diags[0].Severity)
			}
		})
	}
}
