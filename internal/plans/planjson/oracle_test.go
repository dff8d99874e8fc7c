package planjson_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
	"github.com/towline/terraform-provider-towline/internal/plans/planfile"
	"github.com/towline/terraform-provider-towline/internal/plans/planjson"
)

// step is one configuration that both sides plan, and terraform applies.
type step struct {
	config  string
	files   map[string]string
	args    []string
	opts    engine.PlanOptions
	errored bool
	// again are arguments of the apply.
	again []string
}

// run compares the documents of every step's plan and of the state after it.
func run(t *testing.T, b *oracletest.Bench, steps []step) {
	t.Helper()
	for i, s := range steps {
		files := map[string]string{"main.tf": s.config}
		for name, content := range s.files {
			files[name] = content
		}
		b.Write(files)
		b.Init()
		_, stderr, code := b.Run(append([]string{"plan", "-input=false", "-out=plan.bin"}, s.args...)...)
		planned := b.Plan(s.opts)
		if failed := code != 0; failed != s.errored || planned.Diags.HasErrors() != s.errored {
			t.Fatalf("step %d: terraform failed: %v (%s), the engine: %v", i, failed, stderr, planned.Diags.Err())
		}
		got, err := planjson.Plan(planned.Plan, planned.Config, planned.Schemas)
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		compare(t, i, b.Terraform("show", "-json", "plan.bin"), got)
		compareKept(t, planned, got)
		if s.errored {
			continue
		}
		b.Terraform(slices.Concat([]string{"apply", "-input=false"}, s.again, []string{"plan.bin"})...)
		if got, err = planjson.State(b.State(), b.Schemas()); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		compare(t, i, b.Terraform("show", "-json"), got)
	}
}

// compareKept writes the plan to a file, and compares the document of what is read.
func compareKept(t *testing.T, planned oracletest.Planned, want []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan")
	if err := planfile.Write(path, planfile.Saved{Plan: planned.Plan}); err != nil {
		t.Fatal(err)
	}
	saved, err := planfile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(planned.Plan.Relevant, saved.Plan.Relevant, cmp.Comparer(cty.Path.Equals), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("relevant attributes differ (-kept +read):\n%s", diff)
	}
	got, err := planjson.Plan(saved.Plan, planned.Config, planned.Schemas)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the document of a plan that was kept differs (-kept +read):\n%s", diff)
	}
}

// compare compares two documents, all but the time and what has no order.
func compare(t *testing.T, i int, want string, got []byte) {
	t.Helper()
	if diff := cmp.Diff(normal(t, []byte(want)), normal(t, got)); diff != "" {
		t.Errorf("step %d: JSON differs (-terraform +towline):\n%s", i, diff)
	}
}

func normal(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	delete(doc, "timestamp")
	if relevant, ok := doc["relevant_attributes"].([]any); ok {
		slices.SortFunc(relevant, func(a, b any) int { return strings.Compare(text(a), text(b)) })
	}
	return doc
}

func text(v any) string {
	data, _ := json.Marshal(v) //nolint:errchkjson // v was decoded from JSON
	return string(data)
}

func destroy() engine.PlanOptions { return engine.PlanOptions{Mode: plans.DestroyMode} }

func replace(t *testing.T, text string) engine.PlanOptions {
	t.Helper()
	addr, diags := addrs.ParseResourceInstance(text)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return engine.PlanOptions{ForceReplace: []addrs.ResourceInstance{addr}}
}

func target(t *testing.T, text string) engine.PlanOptions { return targets(t, text) }

func targets(t *testing.T, texts ...string) engine.PlanOptions {
	t.Helper()
	var opts engine.PlanOptions
	for _, text := range texts {
		addr, diags := addrs.ParseTarget(text)
		if diags.HasErrors() {
			t.Fatal(diags.Err())
		}
		opts.Targets = append(opts.Targets, addr)
	}
	return opts
}
