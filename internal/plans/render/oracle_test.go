package render_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
	"github.com/towline/terraform-provider-towline/internal/plans/render"
)

// step is one configuration that both sides plan and print, and terraform applies.
type step struct {
	config  string
	files   map[string]string
	destroy bool
	refresh bool
	replace string
	// planOnly leaves the plan unapplied.
	planOnly bool
}

func (s step) args() []string {
	args := []string{"plan", "-input=false", "-out=plan.bin"}
	if s.destroy {
		args = append(args, "-destroy")
	}
	if s.refresh {
		args = append(args, "-refresh-only")
	}
	if s.replace != "" {
		args = append(args, "-replace="+s.replace)
	}
	return args
}

func (s step) options(t *testing.T) engine.PlanOptions {
	t.Helper()
	opts := engine.PlanOptions{}
	if s.destroy {
		opts.Mode = plans.DestroyMode
	}
	if s.refresh {
		opts.Mode = plans.RefreshOnlyMode
	}
	if s.replace != "" {
		opts.ForceReplace = append(opts.ForceReplace, parseAddr(t, s.replace))
	}
	return opts
}

// withoutProse drops the sentences, which are each program's own, and keeps what
// is said of objects: a line of prose begins in the first column and is not one
// of the headings that both share.
func withoutProse(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if isProse(line) {
			continue
		}
		out.WriteString(line)
	}
	return blankRuns.ReplaceAllString(out.String(), "\n\n")
}

// ownName lets each program speak of itself.
func ownName(text string) string {
	return strings.ReplaceAll(text, "managed by Terraform", "managed by Towline")
}

var blankRuns = regexp.MustCompile(`\n{3,}`)

func isProse(line string) bool {
	for _, heading := range []string{"Plan:", "No changes.", "Changes to Outputs:", "Outputs:", "Planning failed."} {
		if strings.HasPrefix(line, heading) {
			return strings.HasPrefix(line, "Planning failed.")
		}
	}
	first := line[0]
	letter := first >= 'A' && first <= 'Z' || first >= 'a' && first <= 'z'
	return letter && !strings.Contains(line, " = ")
}

// run plans, prints and compares every step.
func run(t *testing.T, b *oracletest.Bench, steps []step) {
	t.Helper()
	for i, s := range steps {
		files := map[string]string{"main.tf": s.config}
		for name, content := range s.files {
			files[name] = content
		}
		b.Write(files)
		b.Init()
		b.Terraform(s.args()...)
		want := b.Terraform("show", "-no-color", "plan.bin")
		planned := b.Plan(s.options(t))
		if planned.Diags.HasErrors() {
			t.Fatalf("step %d: %v", i, planned.Diags.Err())
		}
		var got strings.Builder
		if err := render.Plan(&got, planned.Plan, render.SchemasOf(planned.Schemas), render.Options{}); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if diff := cmp.Diff(withoutProse(ownName(want)), withoutProse(got.String())); diff != "" {
			t.Errorf("step %d: plan differs (-terraform +towline):\n%s\nwhole:\n%s", i, diff, got.String())
		}
		if s.planOnly {
			continue
		}
		b.Terraform("apply", "-input=false", "-auto-approve", "plan.bin")
		compareState(t, b, i)
	}
}

func compareState(t *testing.T, b *oracletest.Bench, i int) {
	t.Helper()
	want := b.Terraform("show", "-no-color")
	var got strings.Builder
	if err := render.State(&got, b.State(), render.SchemasOf(b.Schemas()), render.Options{}); err != nil {
		t.Fatalf("step %d: %v", i, err)
	}
	if diff := cmp.Diff(withoutProse(want), withoutProse(got.String())); diff != "" {
		t.Errorf("step %d: state differs (-terraform +towline):\n%s", i, diff)
	}
	got.Reset()
	if outputs := b.State().Outputs; len(outputs) > 0 {
		if err := render.Outputs(&got, outputs, render.Options{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b.Terraform("output", "-no-color"), got.String()); diff != "" {
			t.Errorf("step %d: outputs differ (-terraform +towline):\n%s", i, diff)
		}
	}
}
