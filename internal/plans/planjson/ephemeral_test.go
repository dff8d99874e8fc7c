package planjson_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

// TestEphemeralAsTerraform compares plans and states of what must not be kept.
func TestEphemeralAsTerraform(t *testing.T) {
	t.Parallel()
	const variables = "variable \"e\" {\n  ephemeral = true\n  default   = \"x\"\n}\nvariable \"r\" {\n  ephemeral = true\n}\nvariable \"s\" {\n  sensitive = true\n  default   = \"hush\"\n}\n"
	const token = "ephemeral \"fault_token\" \"t\" {\n  name = \"a\"\n}\n"
	object := func(body string) string {
		return "resource \"fault_object\" \"o\" {\n  name = \"n\"\n  " + body + "\n}\n"
	}
	thing := func(body string) string { return "resource \"v5_thing\" \"o\" {\n  name = \"n\"\n  " + body + "\n}\n" }
	given := engine.PlanOptions{Variables: map[string]cty.Value{"r": cty.StringVal("given")}}
	args := []string{"-var=r=given"}
	tests := map[string][]step{
		"variables": {{config: variables + "output \"o\" {\n  value = ephemeralasnull({ a = var.e, b = var.r })\n}\nresource \"terraform_data\" \"d\" {\n  input = ephemeralasnull(var.e) == null ? 1 : 2\n}\n"}},
		"module": {{
			config: variables + "module \"m\" {\n  source = \"./m\"\n  v = var.e\n}\n",
			files:  map[string]string{"m/m.tf": "variable \"v\" {\n  ephemeral = true\n}\noutput \"o\" {\n  value       = var.v\n  ephemeral   = true\n  description = \"q\"\n}\n"},
		}},
		"token unused":   {{config: variables + token}},
		"token":          {{config: variables + token + object("secret = ephemeral.fault_token.t.token")}, {config: variables + token + object("secret = ephemeral.fault_token.t.token\n  size = 5")}},
		"token unknown":  {{config: variables + "resource \"terraform_data\" \"d\" {}\nephemeral \"fault_token\" \"t\" {\n  name = terraform_data.d.id\n}\n" + object("secret = ephemeral.fault_token.t.token")}},
		"write-only":     {{config: variables + object("secret = var.s")}, {config: variables + object("secret = \"other\"")}, {config: variables + object("secret = var.e\n  pin = var.s")}},
		"write-only v5":  {{config: variables + v5 + thing("secret = var.s")}, {config: variables + v5 + thing("secret = var.s\n  note = \"x\"")}},
		"tokens by each": {{config: variables + "ephemeral \"fault_token\" \"t\" {\n  for_each = toset([\"a\", \"b\"])\n  name     = each.key\n}\n" + object("secret = ephemeral.fault_token.t[\"b\"].token")}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := range steps {
				steps[i].config = oracletest.RequiredProviders + steps[i].config
				steps[i].args, steps[i].opts = args, given
				steps[i].again = args
			}
			run(t, oracletest.NewFault(t), steps)
		})
	}
}

const v5 = "provider \"v5\" {\n  endpoint = \"e\"\n}\n"
