package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// noDeletes is written as policies for conftest are.
const noDeletes = `package main

deny[msg] {
  r := input.resource_changes[_]
  r.change.actions[_] == "delete"
  msg := sprintf("%s must stay", [r.address])
}

warn[msg] {
  r := input.resource_changes[_]
  is_string(r.change.after.secret)
  msg := sprintf("%s has the secret %s", [r.address, r.change.after.secret])
}
`

func declaredPolicy(change func(*control.Policy)) control.Policy {
	p := control.Policy{Version: control.FormatVersion, Environment: "prod", Name: "deletions", Modules: map[string]string{"deletions.rego": noDeletes}}
	change(&p)
	return p
}

const oneThing = "resource \"cloud_thing\" \"a\" {\n name = \"a\"\n}\n"

func TestPolicies(t *testing.T) {
	t.Parallel()
	denied := control.PolicyFinding{Policy: "deletions", Rule: "main.deny", Message: "cloud_thing.b must stay", Decision: control.EnforceDeny}
	ofRevision, warned := denied, denied
	ofRevision.Policy = "revision"
	warned.Decision = control.EnforceWarn
	tests := map[string]struct {
		declared *control.Policy
		files    map[string]string
		outcome  control.Outcome
		want     control.PolicyFinding
		problem  string
	}{
		"declared":        {new(declaredPolicy(func(*control.Policy) {})), nil, control.OutcomeRefused, denied, "Plan denied by policy"},
		"in the revision": {nil, map[string]string{"policy/deletions.rego": noDeletes}, control.OutcomeRefused, ofRevision, "Plan denied by policy"},
		"only warns":      {new(declaredPolicy(func(p *control.Policy) { p.Enforcement = control.EnforceWarn })), nil, control.OutcomeApplied, warned, "Policy warns of the plan"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publish(twoThings)
			w.round(control.OutcomeApplied)
			if test.declared != nil {
				w.declare(*test.declared)
			}
			files := map[string]string{"main.tf": oneThing}
			for name, content := range test.files {
				files[name] = content
			}
			w.publishFiles(files)
			receipt := w.round(test.outcome)
			if diff := cmp.Diff([]control.PolicyFinding{test.want}, receipt.Policies); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(problems(receipt), test.problem) || !strings.Contains(problems(receipt), "cloud_thing.b must stay") {
				t.Errorf("problems: %s", problems(receipt))
			}
			if kept := len(w.names()) == 2; kept != (test.outcome == control.OutcomeRefused) {
				t.Errorf("the cloud has %v", w.names())
			}
		})
	}
}

// In its window a denial warns and says from when on it denies; then it denies.
func TestPolicyWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	until := w.clock().Add(time.Hour)
	w.declare(declaredPolicy(func(p *control.Policy) { p.WarnUntil = until }))
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.publish(oneThing)
	receipt := w.round(control.OutcomeApplied)
	if len(receipt.Policies) != 1 || receipt.Policies[0].Decision != control.EnforceWarn || !receipt.Policies[0].DeniesFrom.Equal(until) {
		t.Errorf("got %+v", receipt.Policies)
	}
	w.advance(2 * time.Hour)
	w.publish("")
	receipt = w.round(control.OutcomeRefused)
	if len(receipt.Policies) != 1 || receipt.Policies[0].Decision != control.EnforceDeny {
		t.Errorf("got %+v", receipt.Policies)
	}
}

// A policy may put any value into its words, and the sensitive ones go no further.
func TestPolicyMessagesHideSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const planted = "hunter2-planted"
	w.declare(declaredPolicy(func(*control.Policy) {}))
	w.publish("resource \"cloud_thing\" \"a\" {\n name = \"a\"\n secret = \"" + planted + "\"\n}")
	receipt := w.round(control.OutcomeApplied)
	if len(receipt.Policies) != 1 || receipt.Policies[0].Message != "cloud_thing.a has the secret (sensitive value)" {
		t.Errorf("got %+v", receipt.Policies)
	}
	if strings.Contains(problems(receipt), planted) {
		t.Errorf("problems: %s", problems(receipt))
	}
}

// Drift that a policy would not have is corrected only if the policy allows it.
func TestPoliciesAreAskedAboutCorrections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(oneThing)
	w.round(control.OutcomeApplied)
	w.declare(declaredPolicy(func(p *control.Policy) {
		p.Modules = map[string]string{"a.rego": "package main\nimport rego.v1\ndeny contains \"frozen\" if input.resource_changes[_].change.actions[_] != \"no-op\""}
	}))
	if receipt := w.round(control.OutcomeConverged); len(receipt.Policies) != 0 {
		t.Errorf("got %+v", receipt.Policies)
	}
	w.edit("a", "size", cty.NumberIntVal(99))
	if receipt := w.round(control.OutcomeRefused); len(receipt.Policies) != 1 {
		t.Errorf("got %+v", receipt.Policies)
	}
}

// A revision whose policies are no good does not take the place of the one in force.
func TestBrokenPoliciesOfARevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.publishFiles(map[string]string{"main.tf": oneThing, "policy/a.rego": "package main\ndeny[msg] {"})
	receipt := w.round(control.OutcomeConverged)
	if !strings.Contains(problems(receipt), "a.rego, line 2") || len(w.names()) != 2 {
		t.Errorf("the cloud has %v, problems: %s", w.names(), problems(receipt))
	}
}

// The plan's document tells of everything that is declared, objects of the language's own
// provider and resources without instances too.
func TestDocumentsOfBuiltInObjects(t *testing.T) {
	t.Parallel()
	const more = "resource \"terraform_data\" \"x\" {\n input = 1\n}\nresource \"terraform_data\" \"none\" {\n count = 0\n}\n"
	for name, config := range map[string]string{"with an instance": oneThing + more, "without any": oneThing + more[strings.Index(more, "}\n")+2:]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ana, anaKey := approver(t)
			w.declare(w.approvable(true, 1, anaKey), declaredPolicy(func(*control.Policy) {}))
			w.publish(config)
			receipt := w.round(control.OutcomePending)
			if strings.Contains(problems(receipt), "Proposal not published") {
				t.Errorf("problems: %s", problems(receipt))
			}
			w.decide(ana, proposal(t, receipt, control.ProposalPending), control.VerdictApprove)
			w.round(control.OutcomeApplied)
		})
	}
}

// What was said of a plan that changes nothing holds no longer than its window.
func TestPolicyWindowOfAQuietPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(oneThing)
	w.round(control.OutcomeApplied)
	w.declare(declaredPolicy(func(p *control.Policy) {
		p.Modules = map[string]string{"a.rego": "package main\nimport rego.v1\ndeny contains \"never\" if true"}
		p.WarnUntil = w.clock().Add(time.Hour)
	}))
	if got := w.round(control.OutcomeConverged).Policies; len(got) != 1 || got[0].Decision != control.EnforceWarn {
		t.Errorf("in the window: %+v", got)
	}
	w.advance(2 * time.Hour)
	if got := w.round(control.OutcomeRefused).Policies; len(got) != 1 || got[0].Decision != control.EnforceDeny || !got[0].DeniesFrom.IsZero() {
		t.Errorf("after it: %+v", got)
	}
}

// worldPolicy speaks of the plan's drift and of what is planned, and tells the time at
// which it was asked.
const worldPolicy = `package main
import rego.v1
warn contains sprintf("%s drifted", [d.address]) if some d in input.resource_drift
warn contains sprintf("asked at %d", [time.now_ns()])
deny contains sprintf("%s is too large", [r.address]) if {
  some r in input.planned_values.root_module.resources
  r.values.size > 50
}
`

// What was said of a plan that changes nothing is said again while the plan is the same,
// and no longer: drift that only stands changes what policies see.
func TestPoliciesSeeDriftThatStands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.declare(w.scope(control.DriftObserve, 0), declaredPolicy(func(p *control.Policy) { p.Modules = map[string]string{"a.rego": worldPolicy} }))
	w.publish(oneThing)
	w.round(control.OutcomeApplied)
	w.round(control.OutcomeConverged)
	says := func(receipt control.Receipt) string {
		var out []string
		for _, f := range receipt.Policies {
			out = append(out, f.Message)
		}
		return strings.Join(out, ", ")
	}
	first := says(w.round(control.OutcomeConverged))
	if again := says(w.round(control.OutcomeConverged)); again != first || !strings.HasPrefix(first, "asked at ") {
		t.Errorf("nothing has changed, and policies say %q after %q", again, first)
	}
	w.resize("a", 9)
	if got := says(w.round(control.OutcomeDrifted)); !strings.Contains(got, "cloud_thing.a drifted") {
		t.Errorf("after drift policies say %q", got)
	}
	w.resize("a", 99)
	for range 2 {
		if got := says(w.round(control.OutcomeRefused)); !strings.Contains(got, "cloud_thing.a is too large") {
			t.Errorf("after more drift policies say %q", got)
		}
	}
	w.resize("a", 9)
	if got := says(w.round(control.OutcomeDrifted)); !strings.Contains(got, "cloud_thing.a drifted") || strings.Contains(got, "too large") {
		t.Errorf("after the world was put right policies say %q", got)
	}
}
