package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
	"github.com/towline/terraform-provider-towline/internal/plans/planjson"
)

// TestBuiltinFunctionsAsTerraform compares the functions of the built-in provider.
func TestBuiltinFunctionsAsTerraform(t *testing.T) {
	t.Parallel()
	const header = "terraform {\n  required_providers {\n    terraform = { source = \"terraform.io/builtin/terraform\" }\n  }\n}\nvariable \"s\" {\n  sensitive = true\n  default   = \"x\"\n}\nresource \"terraform_data\" \"u\" {}\n"
	for i, expr := range []string{
		`provider::terraform::encode_expr("a\n$${x}%%{y}\"")`,
		`provider::terraform::encode_expr([1,true,null,"a",{b=1,"c d"=2}])`,
		`provider::terraform::encode_expr({a={b=[]},"c-d"=1,"1a"=2,"if"=3})`,
		`provider::terraform::encode_expr(toset(["b","a"]))`,
		`provider::terraform::encode_expr(null)`,
		`provider::terraform::encode_expr(tomap({a=1}))`,
		`provider::terraform::encode_expr(1/3)`,
		`provider::terraform::encode_expr(terraform_data.u.id)`,
		`provider::terraform::encode_expr([terraform_data.u.id])`,
		`provider::terraform::encode_expr(tolist([]))`,
		`provider::terraform::encode_expr(tomap({}))`,
		`provider::terraform::encode_expr(tostring(null))`,
		`provider::terraform::encode_tfvars({a=1,b="x\ny",c=[1,2],d={e=null}})`,
		`provider::terraform::encode_tfvars({})`,
		`provider::terraform::encode_tfvars({"a b"=1})`,
		`provider::terraform::encode_tfvars(["a"])`,
		`provider::terraform::encode_tfvars(null)`,
		`provider::terraform::encode_tfvars(tomap({b="x",a="yy"}))`,
		`provider::terraform::encode_tfvars({a=terraform_data.u.id})`,
		`provider::terraform::encode_tfvars({longname=1,b="x"})`,
		`provider::terraform::encode_tfvars("x")`,
		`provider::terraform::decode_tfvars("a = 1\nb = [true, null]\n# c\nc={d=1}")`,
		`provider::terraform::decode_tfvars("")`,
		`provider::terraform::decode_tfvars("a {}")`,
		`provider::terraform::decode_tfvars("a = b")`,
		`provider::terraform::decode_tfvars("a = 1 a")`,
		`provider::terraform::decode_tfvars(null)`,
		`provider::terraform::decode_tfvars("a=1\na=2")`,
		`provider::terraform::decode_tfvars("a=upper(\"x\")")`,
		`provider::terraform::decode_tfvars(terraform_data.u.id)`,
		`provider::terraform::decode_tfvars("a=\"$${x}\"")`,
		`provider::terraform::nope(1)`,
		`provider::terraform::encode_expr(var.s)`,
		`provider::terraform::encode_expr(1,2)`,
		`provider::terraform::encode_expr()`,
		`provider::terraform::encode_expr(12345678901234567890.5)`,
		`provider::terraform::encode_expr(1e100)`,
		`provider::terraform::encode_expr("é\t\u0001")`,
	} {
		t.Run(fmt.Sprintf("%02d", i), func(t *testing.T) {
			t.Parallel()
			b := oracletest.New(t)
			b.Write(map[string]string{"main.tf": header + "output \"o\" {\n  value = " + expr + "\n}\n"})
			want := b.Problems("plan", "-input=false", "-out=plan.bin")
			planned := b.Plan(engine.PlanOptions{})
			if diff := cmp.Diff(want, oracletest.Summaries(planned.Diags)); diff != "" {
				t.Errorf("%s\nproblems differ (-terraform +towline):\n%s", expr, diff)
			}
			if len(want) > 0 || planned.Diags.HasErrors() {
				return
			}
			got, err := planjson.Plan(planned.Plan, planned.Config, planned.Schemas)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(outputChange(t, b.Terraform("show", "-json", "plan.bin")), outputChange(t, string(got))); diff != "" {
				t.Errorf("%s\nthe output differs (-terraform +towline):\n%s", expr, diff)
			}
		})
	}
}
