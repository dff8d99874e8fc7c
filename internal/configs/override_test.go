package configs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
)

func TestOverrideFiles(t *testing.T) {
	t.Parallel()
	config, diags := load(t, map[string]string{
		"main.tf": `
terraform {
  required_version = "< 1.0" # which refuses unless it is replaced
  required_providers {
    aws    = { source = "hashicorp/aws", version = "1.0" }
    random = { source = "hashicorp/random", version = "2.0" }
  }
}
variable "v" {
  type    = string
  default = "base"
}
locals {
  a = 1
}
locals {
  b = 2
}
resource "aws_thing" "a" {
  count = 1
  name  = "base"
  lifecycle {
    create_before_destroy = true
    prevent_destroy       = true
  }
}
provider "aws" {
  alias  = "west"
  region = "base"
}
`,
		"b_override.tf": "variable \"v\" {\n  default = \"b\"\n}\n",
		"a_override.tf": "variable \"v\" {\n  default = \"a\"\n}\n",
		"override.tf": `
terraform {
  required_version = ">= 1.1"
  required_providers {
    aws = { source = "example/aws" }
  }
}
locals {
  b = 3
}
resource "aws_thing" "a" {
  count = 2
  lifecycle {
    prevent_destroy = false
  }
}
provider "aws" {
  region = "of the default configuration"
}
`,
	})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	m := config.Module
	if got := m.Variables["v"].Default; !got.RawEquals(cty.StringVal("b")) {
		t.Errorf("the default is %#v, the last file in order should win", got)
	}
	number := func(name string) cty.Value { v, _ := m.Locals[name].Expr.Value(nil); return v }
	if !number("a").RawEquals(cty.NumberIntVal(1)) || !number("b").RawEquals(cty.NumberIntVal(3)) {
		t.Errorf("locals are %#v, %#v", number("a"), number("b"))
	}
	r := m.Resources[addrs.Resource{Mode: addrs.Managed, Type: "aws_thing", Name: "a"}]
	if count, _ := r.Count.Value(nil); !count.RawEquals(cty.NumberIntVal(2)) || !r.Lifecycle.CreateBeforeDestroy || r.Lifecycle.PreventDestroy {
		t.Errorf("count is %#v, lifecycle %+v", count, r.Lifecycle)
	}
	if aws, random := m.RequiredProviders["aws"], m.RequiredProviders["random"]; aws.Source.Namespace != "example" || aws.Constraints != "" || random.Constraints != "2.0" {
		t.Errorf("required providers are %+v, %+v", aws, random)
	}
	if len(m.ProviderConfigs) != 2 {
		t.Errorf("there are %d provider configurations, want the default one and west", len(m.ProviderConfigs))
	}
}

func TestOverrideMistakes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ base, over, want string }{
		"resource":      {"", "resource \"a_b\" \"c\" {}", "Missing resource to override"},
		"data source":   {"", "data \"a_b\" \"c\" {}", "Missing data resource to override"},
		"variable":      {"", "variable \"a\" {}", "Missing base variable declaration to override"},
		"output":        {"", "output \"a\" {\n  value = 1\n}", "Missing base output definition to override"},
		"local":         {"locals {\n  b = 1\n}", "locals {\n  a = 1\n}", "Missing base local value definition to override"},
		"module":        {"", "module \"a\" {\n  source = \"./m\"\n}", "Missing module call to override"},
		"provider":      {"provider \"a\" {}", "provider \"a\" {\n  alias = \"x\"\n}", "Missing base provider configuration for override"},
		"moved":         {"", "moved {\n  from = a_b.c\n  to = a_b.d\n}", "Cannot override 'moved' blocks"},
		"import":        {"", "import {\n  to = a_b.c\n  id = \"x\"\n}", "Cannot override 'import' blocks"},
		"dependencies":  {"resource \"a_b\" \"c\" {}", "resource \"a_b\" \"c\" {\n  depends_on = [a_b.d]\n}", "Unsupported override"},
		"wrong default": {"variable \"a\" {\n  type = string\n}", "variable \"a\" {\n  default = [1]\n}", "Invalid default value for variable"},
		"no value":      {"output \"a\" {}", "output \"a\" {\n  sensitive = true\n}", "Missing required argument"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := load(t, map[string]string{"main.tf": test.base, "x_override.tf": test.over})
			if diff := cmp.Diff([]string{test.want}, summaries(diags)); diff != "" {
				t.Errorf("problems differ:\n%s", diff)
			}
		})
	}
}
