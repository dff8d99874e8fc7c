package plugin_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// The AWS provider is the largest there is: two SDKs behind one protocol 5 server, and 1,500 types.
func TestAWSProvider(t *testing.T) {
	t.Parallel()
	p := start(t, plugintest.AWS(t))
	schema, diags := p.Schema(t.Context())
	mustPass(t, diags)
	if n := len(schema.ResourceTypes.Names()); n < 1500 {
		t.Errorf("%d resource types, want 1,500 or more", n)
	}
	if !schema.Capabilities.SchemaOptional || schema.Functions["arn_parse"] == nil {
		t.Errorf("capabilities %+v, functions %v", schema.Capabilities, schema.Functions)
	}
	if names := schema.Lists.Names(); len(names) > 0 { // docs/internals/differences.md says so
		t.Errorf("this version has list resources: %q", names)
	}
	bucket := schema.ResourceTypes.Get("aws_s3_bucket")
	if bucket.Invalid != nil || bucket.Block.Attributes["bucket"] == nil {
		t.Fatalf("aws_s3_bucket: %+v", bucket)
	}
	empty := bucket.Block.EmptyValue()
	mustPass(t, p.ValidateResourceConfig(t.Context(), "aws_s3_bucket", empty))

	arn, err := p.CallFunction(t.Context(), "arn_parse", []cty.Value{cty.StringVal("arn:aws:iam::444455556666:role/example")})
	if err != nil {
		t.Fatal(err)
	}
	if got := arn.GetAttr("account_id").AsString(); got != "444455556666" {
		t.Errorf("account_id = %s", got)
	}

	configure(t, p, map[string]cty.Value{
		"region": cty.StringVal("eu-west-1"), "access_key": cty.StringVal("x"), "secret_key": cty.StringVal("y"),
		"skip_credentials_validation": cty.True, "skip_requesting_account_id": cty.True, "skip_metadata_api_check": cty.StringVal("true"),
	})
	resp := p.PlanResourceChange(t.Context(), providers.PlanResourceChangeRequest{
		TypeName: "aws_s3_bucket", PriorState: cty.NullVal(empty.Type()), Config: empty, ProposedNewState: empty,
	})
	mustPass(t, resp.Diagnostics)
	if !resp.LegacyTypeSystem || resp.PlannedState.GetAttr("arn").IsKnown() {
		t.Errorf("legacy %v, planned %#v", resp.LegacyTypeSystem, resp.PlannedState)
	}
}

func TestAllAWSSchemasDecode(t *testing.T) {
	t.Parallel()
	schema, diags := start(t, plugintest.AWS(t)).Schema(t.Context())
	mustPass(t, diags)
	for _, set := range []providers.SchemaSet{schema.ResourceTypes, schema.DataSources, schema.Ephemerals} {
		for _, name := range set.Names() {
			if got := set.Get(name); got == nil || got.Invalid != nil {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}
