package engine_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/provisioners"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// saying is a provisioner that says its text, and fails if it is told to.
type saying struct {
	mu   sync.Mutex
	said []string
	// each is called with every text, while the provisioner runs.
	each func(text string)
}

func (*saying) Schema() *providers.Block {
	return &providers.Block{Attributes: map[string]*providers.Attribute{
		"text": {Type: cty.String, Required: true}, "fail": {Type: cty.Bool, Optional: true},
	}}
}

func (*saying) Validate(cty.Value) tfdiags.Diagnostics { return nil }

func (s *saying) Run(_ context.Context, req provisioners.Request) tfdiags.Diagnostics {
	text := req.Config.GetAttr("text").AsString()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, text)
	req.Output(text)
	if s.each != nil {
		s.each(text)
	}
	if fail := req.Config.GetAttr("fail"); !fail.IsNull() && fail.True() {
		return tfdiags.New(tfdiags.Error, "say provisioner error", "It failed after "+text+".")
	}
	return nil
}

func newProvisionBench(t *testing.T) (*bench, *saying) {
	say := &saying{}
	log := &callLog{}
	b := &bench{t: t, dir: t.TempDir(), state: states.New(), log: log, engine: engine.New(engine.Options{Hook: log, Provisioners: map[string]provisioners.Provisioner{"say": say}})}
	t.Cleanup(func() { _ = b.engine.Close() })
	return b, say
}

func TestProvisioners(t *testing.T) {
	t.Parallel()
	const before = `resource "terraform_data" "z" { input = "z" }
resource "terraform_data" "a" {
  input = "in"
  provisioner "say" { text = "made ${self.input} after ${terraform_data.z.input} as ${terraform_data.a.input}" }
  provisioner "say" {
    text       = "stumbles"
    fail       = true
    on_failure = continue
  }
  provisioner "say" { text = "second" }
  provisioner "say" {
    when = destroy
    text = "gone ${self.input}"
  }
}`
	tests := map[string]struct {
		// steps are configurations applied one after the other.
		steps []string
		mode  plans.Mode
		// said is what the last step says; wrong are the summaries of its errors.
		said, wrong []string
		tainted     bool
	}{
		"creation":  {steps: []string{before}, said: []string{"made in after z as in", "stumbles", "second"}},
		"no change": {steps: []string{before, before}},
		"update":    {steps: []string{before, strings.ReplaceAll(before, `"in"`, `"other"`)}},
		"failure": {steps: []string{`resource "terraform_data" "a" {
  provisioner "say" {
    text = "no"
    fail = true
  }
  provisioner "say" { text = "never" }
}`}, said: []string{"no"}, wrong: []string{"say provisioner error"}, tainted: true},
		"destruction": {steps: []string{before, before}, mode: plans.DestroyMode, said: []string{"gone in"}},
		"destruction fails": {steps: []string{`resource "terraform_data" "a" {
  count = 2
  provisioner "say" {
    when = destroy
    text = "gone ${count.index}"
    fail = true
  }
}`, `resource "terraform_data" "a" {
  count = 1
  provisioner "say" {
    when = destroy
    text = "gone ${count.index}"
    fail = true
  }
}`}, said: []string{"gone 1"}, wrong: []string{"say provisioner error"}},
		"each.key": {steps: []string{`resource "terraform_data" "a" {
  for_each = toset(["x"])
  provisioner "say" {
    when = destroy
    text = "gone ${each.key}"
  }
}`, `resource "terraform_data" "a" {
  for_each = toset([])
  provisioner "say" {
    when = destroy
    text = "gone ${each.key}"
  }
}`}, said: []string{"gone x"}},
		"block gone": {steps: []string{before, ``}},
		"removed block": {steps: []string{before, `removed {
  from = terraform_data.a
  provisioner "say" {
    when = destroy
    text = "removed ${self.input}"
  }
}`}, said: []string{"removed in"}},
		"replacement": {steps: []string{strings.Replace(before, `input = "in"`, `triggers_replace = 1
input = "in"`, 1), strings.Replace(before, `input = "in"`, `triggers_replace = 2
input = "in"`, 1)}, said: []string{"gone in", "made in after z as in", "stumbles", "second"}},
		"created first": {steps: []string{strings.Replace(before, `input = "in"`, `triggers_replace = 1
input = "in"
lifecycle { create_before_destroy = true }`, 1), strings.Replace(before, `input = "in"`, `triggers_replace = 2
input = "in"
lifecycle { create_before_destroy = true }`, 1)}, said: []string{"made in after z as in", "stumbles", "second"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, say := newProvisionBench(t)
			var diags tfdiags.Diagnostics
			for i, step := range test.steps {
				say.said = nil
				b.write(map[string]string{"main.tf": step})
				opts := engine.PlanOptions{}
				if i == len(test.steps)-1 {
					opts.Mode = test.mode
				}
				plan, planDiags := b.plan(opts)
				if planDiags.HasErrors() {
					t.Fatal(planDiags.Err())
				}
				diags = b.applyPlan(plan)
			}
			if !slices.Equal(say.said, test.said) {
				t.Errorf("said %q, want %q", say.said, test.said)
			}
			if got := errorSummaries(diags); !slices.Equal(got, test.wrong) {
				t.Errorf("problems %q, want %q", got, test.wrong)
			}
			if obj := b.state.Object(instanceAddr(t, "terraform_data.a")); test.tainted && (obj == nil || !obj.Tainted) {
				t.Error("the object is not tainted")
			}
		})
	}
}

// An end in the middle of a provisioner leaves the object tainted, not as if done.
func TestProvisionerCutOff(t *testing.T) {
	t.Parallel()
	b, say := newProvisionBench(t)
	b.write(map[string]string{"main.tf": `resource "terraform_data" "a" {
  provisioner "say" { text = "hello" }
}`})
	plan, diags := b.plan(engine.PlanOptions{})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	rec := &lastResult{}
	var during journal.Result
	say.each = func(string) { during = rec.last() }
	state, diags := b.engine.Apply(t.Context(), b.load(), guard.Unrestricted(plan), engine.ApplyOptions{Recorder: rec})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	if during.Object == nil || !during.Object.Tainted {
		t.Errorf("while the provisioner runs %+v is recorded, want a tainted object", during)
	}
	if got := rec.last(); got.Object == nil || got.Object.Tainted {
		t.Errorf("at the end %+v is recorded, want an object that is not tainted", got)
	}
	if obj := state.Object(instanceAddr(t, "terraform_data.a")); obj == nil || obj.Tainted {
		t.Errorf("at the end the state holds %+v, want an object that is not tainted", obj)
	}
}

// lastResult is a recorder that keeps the last result only.
type lastResult struct {
	mu     sync.Mutex
	result journal.Result
}

func (*lastResult) Begin(journal.Intent) (uint64, error) { return 1, nil }

func (r *lastResult) End(result journal.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result = result
	return nil
}

func (r *lastResult) last() journal.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.result
}

func errorSummaries(diags tfdiags.Diagnostics) []string {
	var out []string
	for _, d := range diags {
		if d.Severity == tfdiags.Error {
			out = append(out, d.Summary)
		}
	}
	return out
}

func block(inside string) string { return "resource \"terraform_data\" \"a\" {\n" + inside + "\n}\n" }

func TestProvisionerMistakes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ source, want string }{
		"type":              {block(`provisioner "zork" {}`), "Missing required provisioner plugin"},
		"argument":          {block(`provisioner "say" { nope = 1 }`), "Missing required argument, Unsupported argument"},
		"attribute of self": {block(`provisioner "say" { text = self.nope }`), "Unsupported attribute"},
		"all of its kind":   {"resource \"terraform_data\" \"a\" {\n  count = 2\n  provisioner \"say\" { text = terraform_data.a[0].id }\n}", "Self-referential block"},
		"connection":        {"resource \"terraform_data\" \"a\" {\n  provisioner \"say\" { text = \"x\" }\n  connection { hots = 1 }\n}", "Missing required argument, Unsupported argument"},
		"undeclared":        {block(`provisioner "say" { text = var.nope }`), "Reference to undeclared input variable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := newProvisionBench(t)
			b.write(map[string]string{"main.tf": test.source})
			_, diags := b.plan(engine.PlanOptions{})
			got := errorSummaries(diags)
			slices.Sort(got)
			if strings.Join(got, ", ") != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Whoever gives an engine no provisioners runs no configuration that has some.
func TestProvisionersNotAllowed(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.write(map[string]string{"main.tf": block(`provisioner "local-exec" { command = "true" }`)})
	_, diags := b.plan(engine.PlanOptions{})
	if got := errorSummaries(diags); !slices.Equal(got, []string{"Provisioners are not allowed here"}) {
		t.Errorf("got %q", got)
	}
}
