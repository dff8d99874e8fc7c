package lang_test

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
	"github.com/towline/terraform-provider-towline/internal/plans/planjson"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// prelude declares what the expressions may use.
const prelude = `
resource "terraform_data" "u" {}
locals {
  unknown  = terraform_data.u.id
  unknowns = tolist(split(",", local.unknown))
  sens     = sensitive("hush")
  sensmap  = { plain = "p", secret = sensitive("hush") }
  nulltext = tostring(null)
  nulllist = tolist(null)
  template = "Hello, $${name}!"
  broken   = "Hello, $${name"
}
`

// expressions reads testdata/functions.txt.
func expressions(t *testing.T) []string {
	t.Helper()
	f, err := os.Open("testdata/functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []string
	for scanner := bufio.NewScanner(f); scanner.Scan(); {
		if line := scanner.Text(); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// testFiles are the files that functions read.
func testFiles(t *testing.T) map[string]string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	cipher, err := rsa.EncryptPKCS1v15( //nolint:staticcheck // it is what rsadecrypt decrypts
		rand.Reader, &key.PublicKey, []byte("message"))
	if err != nil {
		t.Fatal(err)
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return map[string]string{
		"key.pem": string(pem.EncodeToMemory(block)), "cipher.txt": base64.StdEncoding.EncodeToString(cipher),
		"hello.txt": "hello\n", "binary.bin": "\xff\xfe", "sub/a.txt": "a", "sub/deep/b.tftpl": "b",
		"t.tftpl": "Hello ${name}:%{ for x in list } ${upper(x)}%{ endfor }\n", "number.tftpl": "${n + 1}",
		"nested.tftpl": "${upper(templatefile(\"number.tftpl\", { n = 1 }))}", "recursive.tftpl": "${templatefile(\"x.tftpl\", {})}",
	}
}

// accepted are the expressions that this package evaluates otherwise than
// terraform, on purpose; see docs/internals/differences.md.
var accepted = map[string]string{
	`format("%s", null)`:     "the newer cty refuses a null without type, instead of leaving the result unknown for ever",
	`format("%v", null)`:     "the newer cty writes a null without type, instead of leaving the result unknown for ever",
	`formatlist("%s", null)`: "as format",
}

// asked is one expression as a root output.
type asked struct {
	name, expr string
	sensitive  bool
	// validateOnly tells that no plan can hold the result.
	validateOnly bool
}

// problems are the texts of what is wrong, by output.
type problems map[string][]string

// TestExpressionsAsTerraform evaluates every expression with the terraform binary
// and with the engine, while validating and while planning.
func TestExpressionsAsTerraform(t *testing.T) {
	t.Parallel()
	b := oracletest.New(t)
	files := testFiles(t)
	var all []asked
	for i, expr := range expressions(t) {
		expr, validateOnly := strings.CutPrefix(expr, "! ")
		all = append(all, asked{name: fmt.Sprintf("x%04d", i), validateOnly: validateOnly, expr: strings.ReplaceAll(expr, "\"@", "\""+b.Dir)})
	}
	texts := map[string]string{}
	for _, a := range all {
		texts[a.name] = a.expr
	}
	left := compareProblems(t, b, files, all, texts, validateBoth)
	left = compareProblems(t, b, files, left, texts, planBoth)
	// What is left fails nowhere but for sensitive values in plain outputs.
	writeAsked(b, files, left)
	b.Terraform("plan", "-out=plan.bin")
	planned := b.Plan(engine.PlanOptions{BaseDir: b.Dir})
	if planned.Diags.HasErrors() {
		t.Fatal(planned.Diags.Err())
	}
	doc, err := planjson.Plan(planned.Plan, planned.Config, planned.Schemas)
	if err != nil {
		t.Fatal(err)
	}
	compareOutputs(t, texts, b.Terraform("show", "-json", "plan.bin"), string(doc))
}

// writeAsked writes the expressions as outputs, four lines each.
func writeAsked(b *oracletest.Bench, files map[string]string, all []asked) {
	var config strings.Builder
	config.WriteString(prelude)
	for _, a := range all {
		fmt.Fprintf(&config, "output %q {\n  value = %s\n  sensitive = %v\n}\n", a.name, a.expr, a.sensitive)
	}
	with := maps.Clone(files)
	with["main.tf"] = config.String()
	b.Write(with)
}

// byOutput sorts diagnostics into the outputs that they are about.
func byOutput(t *testing.T, all []asked, diags []diagnostic) problems {
	t.Helper()
	first := strings.Count(prelude, "\n") + 1
	out := problems{}
	for _, d := range diags {
		i := (d.line - first) / 4
		if d.line < first || i >= len(all) {
			t.Fatalf("a problem outside of the expressions: %+v", d)
		}
		out[all[i].name] = append(out[all[i].name], d.summary)
	}
	return out
}

type diagnostic struct {
	line            int
	summary, detail string
}

// both returns what terraform and the engine complain about.
type both func(t *testing.T, b *oracletest.Bench) (terraform, towline []diagnostic)

func validateBoth(t *testing.T, b *oracletest.Bench) (terraform, towline []diagnostic) {
	t.Helper()
	stdout, _, _ := b.Run("validate", "-json")
	var doc struct{ Diagnostics []jsonDiagnostic }
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	eng := engine.New(engine.Options{})
	t.Cleanup(func() { _ = eng.Close() })
	return fromJSON(doc.Diagnostics), fromDiags(eng.Validate(t.Context(), b.Config()))
}

func planBoth(t *testing.T, b *oracletest.Bench) (terraform, towline []diagnostic) {
	t.Helper()
	stdout, _, _ := b.Run("plan", "-json")
	var all []jsonDiagnostic
	for line := range strings.Lines(stdout) {
		var entry struct{ Diagnostic *jsonDiagnostic }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Diagnostic != nil {
			all = append(all, *entry.Diagnostic)
		}
	}
	return fromJSON(all), fromDiags(b.Plan(engine.PlanOptions{BaseDir: b.Dir}).Diags)
}

type jsonDiagnostic struct {
	Severity, Summary, Detail string
	Range                     *struct{ Start struct{ Line int } }
}

func fromJSON(diags []jsonDiagnostic) []diagnostic {
	var out []diagnostic
	for _, d := range diags {
		if d.Range != nil && d.Severity == "error" {
			out = append(out, diagnostic{d.Range.Start.Line, d.Summary, d.Detail})
		}
	}
	return out
}

func fromDiags(diags tfdiags.Diagnostics) []diagnostic {
	var out []diagnostic
	for _, d := range diags {
		if d.Subject != nil && d.Severity == tfdiags.Error {
			out = append(out, diagnostic{d.Subject.Start.Line, d.Summary, d.Detail})
		}
	}
	return out
}

const sensitiveOutput = "Output refers to sensitive values"

// compareProblems compares what both complain about and returns the expressions
// without problems. A sensitive value in a plain output is none: the output is
// made sensitive.
func compareProblems(t *testing.T, b *oracletest.Bench, files map[string]string, all []asked, texts map[string]string, ask both) []asked {
	t.Helper()
	writeAsked(b, files, all)
	terraform, towline := ask(t, b)
	want, got := byOutput(t, all, terraform), byOutput(t, all, towline)
	var left []asked
	for _, a := range all {
		w, g := want[a.name], got[a.name]
		slices.Sort(w)
		slices.Sort(g)
		if hidden(w) && hidden(g) {
			a.sensitive = true
			left = append(left, a)
			continue
		}
		if diff := cmp.Diff(w, g); diff != "" && accepted[a.expr] == "" {
			t.Errorf("%s\nproblems differ (-terraform +towline):\n%s", texts[a.name], diff)
		}
		if len(w) == 0 && len(g) == 0 && !a.validateOnly {
			left = append(left, a)
		}
	}
	return left
}

func hidden(problems []string) bool {
	return len(problems) == 1 && problems[0] == sensitiveOutput
}

// compareOutputs compares the planned outputs: values, types, what is unknown.
func compareOutputs(t *testing.T, texts map[string]string, wantDoc, gotDoc string) {
	t.Helper()
	type document struct {
		PlannedValues struct {
			Outputs map[string]any `json:"outputs"`
		} `json:"planned_values"`
		OutputChanges map[string]any `json:"output_changes"`
	}
	var want, got document
	for text, into := range map[string]*document{wantDoc: &want, gotDoc: &got} {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	for name, expr := range texts {
		for kind, pair := range map[string][2]any{
			"value":  {want.PlannedValues.Outputs[name], got.PlannedValues.Outputs[name]},
			"change": {want.OutputChanges[name], got.OutputChanges[name]},
		} {
			if diff := cmp.Diff(pair[0], pair[1]); diff != "" && accepted[expr] == "" {
				t.Errorf("%s\n%s differs (-terraform +towline):\n%s", expr, kind, diff)
			}
		}
	}
}

// TestFunctionNames compares the names of all functions with terraform's.
func TestFunctionNames(t *testing.T) {
	t.Parallel()
	var doc struct {
		Functions map[string]any `json:"function_signatures"`
	}
	if err := json.Unmarshal([]byte(oracletest.New(t).Terraform("metadata", "functions", "-json")), &doc); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(maps.Keys(doc.Functions))
	var got []string
	asked := strings.Join(expressions(t), "\n")
	for name := range lang.Functions(lang.FunctionOptions{BaseDir: "."}) {
		got = append(got, name)
		if !strings.HasPrefix(name, "core::") && !strings.Contains(asked, name+"(") {
			t.Errorf("no expression calls %s", name)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions differ (-terraform +towline):\n%s", diff)
	}
}

// TestErrorsHideSensitiveArguments gives every function a sensitive argument that
// it cannot work with.
func TestErrorsHideSensitiveArguments(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-(["
	failed := 0
	for name, fn := range lang.Functions(lang.FunctionOptions{BaseDir: t.TempDir()}) {
		for n := 1; n <= 3; n++ {
			for _, kind := range []cty.Value{cty.StringVal(secret), cty.TupleVal([]cty.Value{cty.StringVal(secret)}), cty.ObjectVal(map[string]cty.Value{secret: cty.StringVal(secret)})} {
				args := slices.Repeat([]cty.Value{kind.Mark(lang.Sensitive)}, n)
				_, err := fn.Call(args)
				if err == nil {
					continue
				}
				failed++
				if strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "goroutine") {
					t.Errorf("%s with %d arguments says too much: %v", name, n, err)
				}
			}
		}
	}
	if failed < 100 {
		t.Errorf("only %d calls failed", failed)
	}
}
