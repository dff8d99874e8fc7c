package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/towline/terraform-provider-towline/internal/policy"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const planJSON = `{
  "format_version": "1.2",
  "variables": {"password": {"value": "hunter2-hunter2"}, "region": {"value": "north-1"}},
  "configuration": {"root_module": {"variables": {"password": {"sensitive": true}, "region": {}}}},
  "resource_changes": [
    {"address": "simcloud_dns_record.web", "type": "simcloud_dns_record",
     "change": {"actions": ["create"], "before": null, "after": {"name": "web", "token": "s3cr3t-token", "ttl": 5},
                "before_sensitive": false, "after_sensitive": {"token": true}}},
    {"address": "simcloud_secret.db", "type": "simcloud_secret",
     "change": {"actions": ["delete"], "before": {"name": "db", "lines": ["first \"line\"", "x"]}, "after": null,
                "before_sensitive": {"lines": [true, true]}, "after_sensitive": false}}
  ]
}`

func plan(t *testing.T) any {
	t.Helper()
	var out any
	if err := json.Unmarshal([]byte(planJSON), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// In the syntax from before Rego 1.0, as most policies of today are.
const older = `package main

deny[msg] {
  r := input.resource_changes[_]
  r.change.actions[_] == "delete"
  msg := sprintf("%s is deleted", [r.address])
}

warn_ttl[msg] {
  r := input.resource_changes[_]
  r.change.after.ttl < 60
  msg := {"msg": sprintf("%s lives shortly", [r.address]), "details": {"ttl": r.change.after.ttl}}
}
`

const newer = `package terraform.names

import rego.v1

violation contains msg if {
	some r in input.resource_changes
	not startswith(r.change.after.name, "prod-")
	msg := sprintf("%s has no prefix", [r.address])
}

deny_all if count(input.resource_changes) > 100
`

func TestEvaluate(t *testing.T) {
	t.Parallel()
	window := now.Add(time.Hour)
	tests := map[string]struct {
		source policy.Source
		want   []policy.Finding
	}{
		"older syntax, messages and objects": {
			policy.Source{Name: "revision", Files: map[string][]byte{"a.rego": []byte(older)}},
			[]policy.Finding{
				{Source: "revision", Rule: "main.deny", Message: "simcloud_secret.db is deleted", Denies: true},
				{Source: "revision", Rule: "main.warn_ttl", Message: "simcloud_dns_record.web lives shortly"},
			},
		},
		"newer syntax, in another package": {
			policy.Source{Name: "names", Files: map[string][]byte{"a.rego": []byte(newer)}},
			[]policy.Finding{{Source: "names", Rule: "terraform.names.violation", Message: "simcloud_dns_record.web has no prefix", Denies: true}},
		},
		"a window in which denials warn": {
			policy.Source{Name: "revision", Files: map[string][]byte{"a.rego": []byte(older)}, WarnUntil: window},
			[]policy.Finding{
				{Source: "revision", Rule: "main.deny", Message: "simcloud_secret.db is deleted", Until: window},
				{Source: "revision", Rule: "main.warn_ttl", Message: "simcloud_dns_record.web lives shortly"},
			},
		},
		"a window that is over": {
			policy.Source{Name: "r", Files: map[string][]byte{"a.rego": []byte("package main\ndeny contains \"no\" if true")}, WarnUntil: now},
			[]policy.Finding{{Source: "r", Rule: "main.deny", Message: "no", Denies: true}},
		},
		"an exception": {
			policy.Source{Name: "r", Files: map[string][]byte{"a.rego": []byte(`package main
deny_deletes[msg] { input.resource_changes[_].change.actions[_] == "delete"; msg := "deleted" }
deny_other[msg] { input.format_version == "1.2"; msg := "old" }
exception[rules] { rules := ["deletes"] }
`)}},
			[]policy.Finding{{Source: "r", Rule: "main.deny_other", Message: "old", Denies: true}},
		},
		"libraries and data": {
			policy.Source{Name: "r", Data: map[string]any{"limits": map[string]any{"changes": 1}}, Files: map[string][]byte{
				"lib/count.rego": []byte("package lib.count\nimport rego.v1\nmany if count(input.resource_changes) > data.limits.changes"),
				"main.rego":      []byte("package main\nimport data.lib.count\ndeny[\"too many\"] { count.many }"),
				"main_test.rego": []byte("package main\ntest_it { this is not even rego }"),
			}},
			[]policy.Finding{{Source: "r", Rule: "main.deny", Message: "too many", Denies: true}},
		},
		"rules that hold, and others": {
			policy.Source{Name: "r", Files: map[string][]byte{"a.rego": []byte("package main\nimport rego.v1\ndeny if true\nwarn := false\ndenyish contains \"x\" if true\nhelper := 1")}},
			[]policy.Finding{{Source: "r", Rule: "main.deny", Message: "the rule holds", Denies: true}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, diags := policy.Compile(t.Context(), []policy.Source{test.source})
			if err := diags.Err(); err != nil {
				t.Fatal(err)
			}
			got, err := set.Evaluate(t.Context(), plan(t), now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInvalidPolicies(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ rego, want string }{
		"syntax":          {"package main\ndeny[msg] {", "a.rego, line 2"},
		"unknown name":    {"package main\nimport rego.v1\ndeny contains x if x := undefined_thing(1)", "undefined_thing"},
		"network":         {"package main\nimport rego.v1\ndeny contains x if x := http.send({\"url\": \"http://x\", \"method\": \"get\"}).body", "http.send"},
		"the environment": {"package main\nimport rego.v1\ndeny contains x if x := opa.runtime().env.HOME", "opa.runtime"},
		"a schema's file": {"package main\nimport rego.v1\ndeny contains x if [_, x] := json.verify_schema({\"$ref\": \"file:///etc/passwd\"})", "json.verify_schema"},
		"a schema's host": {"package main\nimport rego.v1\ndeny contains x if [_, x] := json.match_schema({}, {\"$ref\": \"http://169.254.169.254/\"})", "json.match_schema"},
		"too much":        {"package main\n" + strings.Repeat("#", policy.MaxSource), "more than"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := policy.Compile(t.Context(), []policy.Source{{Name: "revision", Files: map[string][]byte{"a.rego": []byte(test.rego)}}})
			if err := diags.Err(); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "Invalid policy") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// A policy that does not end is ended.
func TestEndlessPolicy(t *testing.T) {
	t.Parallel()
	const endless = "package main\nimport rego.v1\ndeny contains x if { some a in numbers.range(1, 20000); some b in numbers.range(1, 20000); a * b == 0 - 1; x := \"x\" }"
	set, diags := policy.Compile(t.Context(), []policy.Source{{Name: "r", Files: map[string][]byte{"a.rego": []byte(endless)}}})
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := set.Evaluate(ctx, plan(t), now)
		done <- err
	}()
	cancel()
	if err := <-done; err == nil || (!strings.Contains(err.Error(), "did not end in time") && !errors.Is(err, context.Canceled)) {
		t.Errorf("got %v", err)
	}
}

// What is sensitive in the plan is in no message.
func TestRedact(t *testing.T) {
	t.Parallel()
	const telling = `package main
deny[msg] { msg := sprintf("whole: %v", [input.resource_changes]) }
deny_variable[msg] { msg := sprintf("%s in %s", [input.variables.password.value, input.variables.region.value]) }
`
	set, diags := policy.Compile(t.Context(), []policy.Source{{Name: "r", Files: map[string][]byte{"a.rego": []byte(telling)}}})
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	findings, err := set.Evaluate(t.Context(), plan(t), now)
	if err != nil || len(findings) != 2 {
		t.Fatalf("got %v, %v", findings, err)
	}
	for _, f := range findings {
		for _, secret := range []string{"hunter2", "s3cr3t", "first"} {
			if strings.Contains(f.Message, secret) {
				t.Errorf("%q shows %q", f.Message, secret)
			}
		}
	}
	if want := "(sensitive value) in north-1"; findings[1].Message != want {
		t.Errorf("got %q, want %q", findings[1].Message, want)
	}
}

// Data that JSON cannot hold is a mistake of whoever wrote it.
func TestDataThatIsNoJSON(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{"a key that is no text": map[any]any{1: "x"}, "no number": math.NaN(), "endless": math.Inf(1)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := policy.Source{Name: "revision", Files: map[string][]byte{"a.rego": []byte(older)}, Data: map[string]any{"x": []any{value}}}
			_, diags := policy.Compile(t.Context(), []policy.Source{source})
			if err := diags.Err(); err == nil || !strings.Contains(err.Error(), "Invalid policy") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A secret at the place where a long message is cut leaves no beginning behind, and what
// only data sources, outputs or defaults of variables hold is hidden as well.
func TestRedactEverywhere(t *testing.T) {
	t.Parallel()
	const document = `{
  "variables": {"long": {"value": "hunter2-hunter2-hunter2"}},
  "configuration": {"root_module": {
    "variables": {"long": {"sensitive": true}},
    "module_calls": {"m": {"module": {"variables": {"inner": {"sensitive": true, "default": "inner-default"}}}}}}},
  "prior_state": {"values": {
    "outputs": {"o": {"sensitive": true, "value": "from-an-output"}},
    "root_module": {
      "resources": [{"values": {"token": "from-data"}, "sensitive_values": {"token": true}}],
      "child_modules": [{"resources": [{"values": {"token": "from-module"}, "sensitive_values": {"token": true}}]}]}}},
  "planned_values": {"root_module": {"resources": [{"values": {"token": "planned-one"}, "sensitive_values": {"token": true}}]}}
}`
	const telling = `package main
deny_list[msg] { msg := sprintf("%v", [input.prior_state]) }
deny_planned[msg] { msg := sprintf("%v", [input.planned_values]) }
deny_default[msg] { msg := sprintf("%v", [input.configuration]) }
`
	var plan any
	if err := json.Unmarshal([]byte(document), &plan); err != nil {
		t.Fatal(err)
	}
	cut := `deny_cut[msg] { msg := sprintf("%s%s", ["` + strings.Repeat("y", 990) + `", input.variables.long.value]) }`
	set, diags := policy.Compile(t.Context(), []policy.Source{{Name: "r", Files: map[string][]byte{"a.rego": []byte(telling + cut)}}})
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	findings, err := set.Evaluate(t.Context(), plan, now)
	if err != nil || len(findings) != 4 {
		t.Fatalf("got %v, %v", findings, err)
	}
	for _, f := range findings {
		for _, secret := range []string{"hunter", "inner-default", "from-", "planned-one"} {
			if strings.Contains(f.Message, secret) {
				t.Errorf("%q shows %q", f.Message, secret)
			}
		}
		if len(f.Message) > 1100 {
			t.Errorf("a message has %d bytes", len(f.Message))
		}
	}
}
