package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
	"github.com/towline/terraform-provider-towline/internal/plans/planjson"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// faultyObject declares a fault_object with something of everything.
func faultyObject(fault, more string) string {
	return fmt.Sprintf("%sresource \"fault_object\" \"o\" {\n  name   = \"n\"\n  fault  = %q\n  items  = [{ key = \"k\" }]\n  labels = [\"l\"]\n  disk {\n    size = 1\n  }\n  tag {\n    key = \"t\"\n  }\n  %s\n}\n",
		oracletest.RequiredProviders, fault, more)
}

// TestFaultsAsTerraform has a provider break each rule in turn. Problems and the
// state that is left must be those of terraform.
func TestFaultsAsTerraform(t *testing.T) {
	t.Parallel()
	create := []string{
		"renamed@plan", "unset@plan", "unknown-name@plan", "null-object@plan", "unknown-object@plan", "secret@plan", "unknown@plan", "drift@plan",
		"items@plan", "more-items@plan", "no-items@plan", "labels@plan", "more-labels@plan", "disks@plan", "more-disks@plan", "no-disks@plan", "null-disks@plan", "tags@plan", "more-tags@plan", "no-tags@plan",
		"legacy-renamed@plan", "legacy-null-disks@plan", "legacy-null-object@plan", "fail@plan", "warn@plan", "partial@plan", "absent@plan", "json@plan",
		"replace-nothing@plan", "replace-name@plan", "replace-all@plan",
		"fail@validate", "warn@validate",
		"renamed@apply", "unset@apply", "unknown@apply", "null-object@apply", "unknown-object@apply", "secret@apply", "absent@apply",
		"items@apply", "more-items@apply", "no-items@apply", "labels@apply", "more-labels@apply", "disks@apply", "more-disks@apply", "no-disks@apply", "null-disks@apply", "tags@apply", "more-tags@apply", "no-tags@apply",
		"legacy-renamed@apply", "legacy-unknown@apply", "legacy-null-disks@apply", "fail@apply", "partial@apply", "warn@apply", "private@apply",
		"error@plan", "error@apply", "error@validate", "panic@plan", "panic@apply", "exit@apply",
	}
	for _, fault := range create {
		t.Run("create "+fault, func(t *testing.T) {
			t.Parallel()
			b := oracletest.NewFault(t)
			compareFault(t, b, faultyObject(fault, ""), engine.PlanOptions{})
		})
	}
	change := []string{
		"renamed@plan", "unset@plan", "null-object@plan", "secret@plan", "unknown@plan", "drift@plan", "items@plan", "no-disks@plan", "tags@plan",
		"legacy-renamed@plan", "replace-nothing@plan", "replace-deep@plan", "replace-same@plan", "replace-name@plan", "replace-size@plan", "replace-secret@plan", "replace-all@plan",
		"renamed@apply", "unset@apply", "unknown@apply", "null-object@apply", "unknown-object@apply", "secret@apply", "drift@apply", "items@apply", "tags@apply", "fail@apply", "partial@apply", "absent@apply", "legacy-drift@apply", "legacy-null-object@apply",
		"error@apply", "panic@apply",
	}
	for _, fault := range change {
		t.Run("update "+fault, func(t *testing.T) {
			t.Parallel()
			b := oracletest.NewFault(t)
			b.Begin(applied(t))
			compareFault(t, b, faultyObject(fault, "size = 5\n  secret = \"b\""), engine.PlanOptions{})
		})
	}
	recorded := []string{
		"renamed@read", "unset@read", "unknown@read", "null-object@read", "unknown-object@read", "secret@read", "absent@read", "items@read", "more-disks@read", "null-disks@read", "fail@read", "warn@read", "json@read",
		"renamed@upgrade", "unknown@upgrade", "null-object@upgrade", "secret@upgrade", "absent@upgrade", "fail@upgrade", "warn@upgrade",
		"private@apply", "error@read", "error@upgrade", "panic@read", "exit@upgrade",
	}
	for _, fault := range recorded {
		t.Run("recorded "+fault, func(t *testing.T) {
			t.Parallel()
			b := oracletest.NewFault(t)
			b.Write(map[string]string{"main.tf": faultyObject(fault, "")})
			b.Terraform("apply", "-input=false", "-auto-approve")
			compareFault(t, b, faultyObject(fault, ""), engine.PlanOptions{})
		})
	}
	for _, fault := range []string{"object@destroy", "fail@destroy", "partial@destroy", "warn@destroy", "error@destroy", "panic@destroy", "object@plan-destroy", "error@plan-destroy"} {
		t.Run("destroy "+fault, func(t *testing.T) {
			t.Parallel()
			b := oracletest.NewFault(t)
			b.Write(map[string]string{"main.tf": faultyObject(fault, "")})
			b.Terraform("apply", "-input=false", "-auto-approve")
			compareFault(t, b, faultyObject(fault, ""), engine.PlanOptions{Mode: plans.DestroyMode}, "-destroy")
		})
	}
	for _, id := range []string{"fine", "null", "unknown", "secret", "gone", "none", "two", "refused", "other-type"} {
		t.Run("import "+id, func(t *testing.T) {
			t.Parallel()
			b := oracletest.NewFault(t)
			compareFault(t, b, faultyObject("none", "")+fmt.Sprintf("import {\n  to = fault_object.o\n  id = %q\n}\n", id), engine.PlanOptions{})
		})
	}
	t.Run("final plan", func(t *testing.T) {
		t.Parallel()
		b := oracletest.NewFault(t)
		compareFault(t, b, faultyObject("final@plan", "pin = terraform_data.d.id")+"resource \"terraform_data\" \"d\" {}\n", engine.PlanOptions{})
	})
}

// appliedOnce is the state of an object without a fault, which terraform makes once for all
// tests that change it.
var appliedOnce struct {
	sync.Once
	state []byte
}

func applied(t *testing.T) []byte {
	t.Helper()
	appliedOnce.Do(func() {
		b := oracletest.NewFault(t)
		b.Write(map[string]string{"main.tf": faultyObject("none", "secret = \"a\"")})
		b.Terraform("apply", "-input=false", "-auto-approve")
		appliedOnce.state = b.StateFile()
	})
	if appliedOnce.state == nil {
		t.Fatal("the object to be changed was not made")
	}
	return appliedOnce.state
}

// ownAnswers are the problems of faults of which terraform makes something else,
// by test: it takes an object of another type as one of the right type, and plans
// nothing as something for a provider of the old kind.
var ownAnswers = map[string][]string{
	"create legacy-null-object@plan": {"error: Provider produced invalid plan"},
	"import other-type":              {"error: Invalid resource type"},
}

// lost are faults after which terraform forgets an object that is there.
var lost = map[string]bool{"create secret@apply": true, "update secret@apply": true}

// compareFault has both sides apply a configuration from the same state.
func compareFault(t *testing.T, b *oracletest.Bench, config string, opts engine.PlanOptions, args ...string) {
	t.Helper()
	b.Write(map[string]string{"main.tf": config})
	got, state := b.ApplyProblems(opts)
	want := b.Problems(append([]string{"apply", "-input=false", "-auto-approve"}, args...)...)
	_, name, _ := strings.Cut(t.Name(), "/")
	name = strings.ReplaceAll(name, "_", " ")
	if own := ownAnswers[name]; own != nil {
		if !slices.Equal(got, own) {
			t.Errorf("got %q, want %q", got, own)
		}
		return
	}
	if diff := cmp.Diff(comparable(want), comparable(got)); diff != "" {
		t.Errorf("problems differ (-terraform +towline):\n%s", diff)
	}
	if lost[name] {
		if len(objects(t, b, state)) == 0 {
			t.Error("the object is not recorded")
		}
		return
	}
	if diff := cmp.Diff(objects(t, b, b.State()), objects(t, b, state)); diff != "" {
		t.Errorf("states differ (-terraform +towline):\n%s", diff)
	}
}

// comparable leaves out of a list of problems what differs on purpose: Towline says
// apart that the outcome of a call is not known, and asks once to validate what
// terraform has validated several times. Of a provider that has ended, terraform
// says what it notices first.
func comparable(problems []string) []string {
	var out []string
	for _, p := range problems {
		switch {
		case p == "error: Change with unknown outcome", strings.HasPrefix(p, "warning: ") && slices.Contains(out, p):
		case p == "error: Request cancelled":
			out = append(out, "error: Plugin did not respond")
		default:
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// objects is the document of a state's objects, without ids that terraform makes up.
func objects(t *testing.T, b *oracletest.Bench, state *states.State) map[string]any {
	t.Helper()
	data, err := planjson.State(state, b.Schemas())
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	values, _ := doc["values"].(map[string]any)
	root, _ := values["root_module"].(map[string]any)
	list, _ := root["resources"].([]any)
	out := map[string]any{}
	for _, r := range list {
		resource, _ := r.(map[string]any)
		if address := fmt.Sprint(resource["address"]); strings.HasPrefix(address, "fault_") {
			out[address+fmt.Sprint(resource["deposed_key"])] = resource
		}
	}
	return out
}
