package engine_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

func metaBlock(provider, body string) string {
	return "terraform {\n  provider_meta \"" + provider + "\" {\n    " + body + "\n  }\n}\n"
}

// TestProviderMetaAsTerraform compares what is said of provider_meta blocks.
func TestProviderMetaAsTerraform(t *testing.T) {
	t.Parallel()
	const object = "resource \"fault_object\" \"o\" {\n  name = \"x\"\n}\n"
	tests := map[string]string{
		"constant":       metaBlock("fault", `module = "a"`) + object,
		"twice":          metaBlock("fault", `module = "a"`) + metaBlock("fault", `module = "b"`) + object,
		"no attribute":   metaBlock("fault", `nope = 1`) + object,
		"reference":      metaBlock("fault", `module = path.module`) + object,
		"variable":       metaBlock("fault", `module = var.x`) + "variable \"x\" {\n  default = 1\n}\n" + object,
		"wrong type":     metaBlock("fault", `module = []`) + object,
		"wrong, unused":  metaBlock("fault", `module = []`),
		"not listened":   metaBlock("v5", `module = "a"`) + "provider \"v5\" {\n  endpoint = \"e\"\n}\nresource \"v5_thing\" \"t\" {\n  name = \"x\"\n}\n",
		"of no provider": metaBlock("nope", `module = "a"`) + object,
	}
	for name, config := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := oracletest.NewFault(t)
			b.Write(map[string]string{"main.tf": oracletest.RequiredProviders + config})
			if diff := cmp.Diff(b.Problems("plan", "-input=false"), b.PlanProblems(engine.PlanOptions{})); diff != "" {
				t.Errorf("the plan's problems differ (-terraform +towline):\n%s", diff)
			}
			if diff := cmp.Diff(b.Problems("validate"), b.ValidateProblems()); diff != "" {
				t.Errorf("the problems of the validation differ (-terraform +towline):\n%s", diff)
			}
		})
	}
}

// Every call about an object tells the provider what the object's own module wants it to know.
func TestProviderMetaIsSentWithEveryCall(t *testing.T) {
	t.Parallel()
	cloud := ephemeralCloud()
	cloud.SchemaValue.ProviderMeta = &providers.Block{Attributes: map[string]*providers.Attribute{"module": {Type: cty.String, Optional: true}}}
	cloud.SchemaValue.Capabilities.PlanDestroy = true
	cloud.DataHook = func(_ context.Context, req providers.ReadDataSourceRequest) providers.ReadDataSourceResponse {
		vals := req.Config.AsValueMap()
		vals["id"] = cty.StringVal("d")
		return providers.ReadDataSourceResponse{State: cty.ObjectVal(vals)}
	}
	b := newBench(t, source{"cloud": func() providers.Interface { return cloud }})
	module := func(name string) string {
		return "terraform {\n  required_providers {\n    cloud = { source = \"towline/cloud\" }\n  }\n  provider_meta \"cloud\" {\n    module = \"" + name + "\"\n  }\n}\nresource \"cloud_thing\" \"x\" {\n  name = \"" + name + "\"\n}\ndata \"cloud_thing\" \"d\" {\n  name = \"" + name + "\"\n}\n"
	}
	b.write(map[string]string{"main.tf": module("root") + "module \"m\" {\n  source = \"./m\"\n}\n", "m/m.tf": module("child")})
	b.mustApply(engine.PlanOptions{})
	b.mustApply(engine.PlanOptions{})
	b.mustApply(engine.PlanOptions{Mode: plans.DestroyMode})
	seen := map[string]bool{}
	for _, call := range cloud.Calls() {
		switch req := call.Request.(type) {
		case providers.ReadResourceRequest:
			seen[call.Method] = true
			wantMeta(t, call.Method, req.ProviderMeta, req.PriorState)
		case providers.PlanResourceChangeRequest:
			seen[call.Method] = true
			wantMeta(t, call.Method, req.ProviderMeta, req.PriorState, req.Config)
		case providers.ApplyResourceChangeRequest:
			seen[call.Method] = true
			wantMeta(t, call.Method, req.ProviderMeta, req.PriorState, req.PlannedState)
		case providers.ReadDataSourceRequest:
			seen[call.Method] = true
			wantMeta(t, call.Method, req.ProviderMeta, req.Config)
		}
	}
	if len(seen) != 4 {
		t.Errorf("only %v were called", seen)
	}
}

// wantMeta checks that a call tells of the module after which the object is named.
func wantMeta(t *testing.T, method string, meta cty.Value, objects ...cty.Value) {
	t.Helper()
	name := ""
	for _, obj := range objects {
		if !obj.IsNull() {
			name = obj.GetAttr("name").AsString()
		}
	}
	if meta == cty.NilVal || meta.GetAttr("module").AsString() != name {
		t.Errorf("%s of the object of %s tells of %#v", method, name, meta)
	}
}
