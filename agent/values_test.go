package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/bundle"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// publishFiles publishes a root module of several files.
func (w *world) publishFiles(files map[string]string) {
	w.t.Helper()
	dir := w.t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	archive, err := bundle.Pack(dir, bundle.DefaultLimits)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, _, err := w.repo.Publish(w.t.Context(), w.signing(), "stable", archive.Data, repository.Note{}); err != nil {
		w.t.Fatal(err)
	}
}

// encrypted is a file that SOPS has encrypted to the key in sopsKey.
func encrypted(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "internal", "sops", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const sopsKey = "../internal/sops/testdata/age-key.txt"

// password is the value of the variable of that name in the encrypted files.
const password = "correct horse battery"

// usesPassword makes one thing of a variable and another of none.
const usesPassword = `
variable "password" {
  type = string
}
resource "cloud_thing" "a" {
  name   = "a"
  secret = var.password
}
resource "cloud_thing" "b" {
  name = "b"
  size = 2
}
`

const otherVariables = "variable \"lines\" {}\nvariable \"port\" {\n  type = number\n}\n"

// TestEncryptedVariables has a revision hold values that SOPS has encrypted: who has no key
// says who has, and who has one makes objects of them. What nobody declares sensitive is.
func TestEncryptedVariables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publishFiles(map[string]string{"main.tf": usesPassword + otherVariables, "secrets.sops.env": encrypted(t, "age.sops.env")})
	receipt := w.round(control.OutcomeFailed)
	if text := problems(receipt); !strings.Contains(text, "secrets.sops.env: none of the keys at hand decrypts it: it is encrypted to age17m682juwm") || w.creations() > 0 {
		t.Errorf("problems %q, %d creations", text, w.creations())
	}
	w.identities = append(w.identities, sopsKey)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.round(control.OutcomeApplied)
	if got := w.attribute("a", "secret"); got != cty.StringVal(password) {
		t.Error("the object has another secret")
	}
	w.round(control.OutcomeConverged)

	w.publishFiles(map[string]string{"main.tf": usesPassword + otherVariables + "output \"p\" {\n  value = var.password\n}\n", "secrets.sops.env": encrypted(t, "age.sops.env")})
	receipt = w.round(control.OutcomeFailed)
	if text := problems(receipt); !strings.Contains(text, "Output refers to sensitive values") || strings.Contains(text, password) {
		t.Errorf("problems %q", text)
	}
}

// TestUnreadableVariableIsLeftAlone: an agent that has lost the key goes on with what needs
// no value of it.
func TestUnreadableVariableIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.identities
	w.identities = append(w.identities, sopsKey)
	w.publishFiles(map[string]string{"main.tf": usesPassword + otherVariables, "secrets.sops.env": encrypted(t, "age.sops.env")})
	w.round(control.OutcomeApplied)
	w.round(control.OutcomeConverged)
	w.identities = own
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.edit("a", "secret", cty.StringVal("changed"))
	w.edit("b", "size", cty.NumberIntVal(9))
	receipt := w.round(control.OutcomeFailed)
	if !strings.Contains(receipt.Message, "no value for variable lines, password, port") {
		t.Errorf("message %q", receipt.Message)
	}
	if !w.attribute("b", "size").RawEquals(cty.NumberIntVal(2)) || w.attribute("a", "secret") != cty.StringVal("changed") {
		t.Error("what needs no value was not corrected, or what needs one was changed")
	}
	w.identities = append(w.identities, sopsKey)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.round(control.OutcomeApplied)
	if w.attribute("a", "secret") != cty.StringVal(password) {
		t.Error("the drift was not corrected once the value could be read")
	}
}

// TestReferredVariable reads a value from where the agent's configuration says, anew in
// every round.
func TestReferredVariable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.references = []agent.Reference{{Name: "password", File: filepath.Join(w.dir, "password")}, {Name: "of-another-revision", Env: "NOTHING"}}
	w.publish(usesPassword)
	receipt := w.round(control.OutcomeFailed)
	if text := problems(receipt); !strings.Contains(text, `variable "password": open `) {
		t.Errorf("problems %q", text)
	}
	w.writeFile("password", "first\n")
	w.round(control.OutcomeApplied)
	w.writeFile("password", "second\n")
	w.round(control.OutcomeApplied)
	if w.attribute("a", "secret") != cty.StringVal("second") {
		t.Error("the new value was not taken")
	}
	w.round(control.OutcomeConverged)
}

// TestAttackReferences has a revision name what only the machine's owner may give out, or
// what is not there.
func TestAttackReferences(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ name, content, want string }{
		"file of the machine":      {"variables.towline.hcl", "variable \"password\" {\n  file = \"/etc/passwd\"\n}\n", "files and environment variables are for the agent's own configuration"},
		"environment":              {"variables.towline.hcl", "variable \"password\" {\n  env = \"PATH\"\n}\n", "files and environment variables are for the agent's own configuration"},
		"two places":               {"variables.towline.hcl", "variable \"password\" {\n  ssm_parameter = \"a\"\n  secrets_manager = \"b\"\n}\n", "must name exactly one"},
		"variable nobody declares": {"variables.towline.hcl", "variable \"other\" {\n  ssm_parameter = \"a\"\n}\n", "which the revision does not declare"},
		"nesting without end":      {"variables.towline.hcl", "variable \"password\" {\n  ssm_parameter = " + strings.Repeat("[", 100_000), "Nesting too deep"},
		"no HCL":                   {"variables.towline.hcl", "}{", "variables.towline.hcl"},
		"values nobody declares":   {"x.sops.json", `{"other": "ENC[]", "sops": {"mac": "x"}}`, "which the revision does not declare"},
		"file that is no SOPS":     {"x.sops.yaml", "password: 1\n", "no metadata"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publishFiles(map[string]string{"main.tf": usesPassword, test.name: test.content})
			receipt := w.round(control.OutcomeFailed)
			if text := problems(receipt); !strings.Contains(text, test.want) || w.creations() > 0 {
				t.Errorf("problems %q, want something about %q", text, test.want)
			}
		})
	}
}

// TestVariablesFromAWS reads a value from an SSM parameter and a field of a Secrets
// Manager secret. Whoever changes one has nothing else to do, and one that is gone keeps
// nothing from what does without it. It sets the process's environment and so is not parallel.
//
//nolint:paralleltest // see above
func TestVariablesFromAWS(t *testing.T) {
	cfg := startMoto(t)
	parameters, secrets := ssm.NewFromConfig(cfg), secretsmanager.NewFromConfig(cfg)
	parameter := func(ctx context.Context, value string) error {
		_, err := parameters.PutParameter(ctx, &ssm.PutParameterInput{Name: aws.String("/app/password"), Value: aws.String(value), Type: ssmtypes.ParameterTypeSecureString, Overwrite: aws.Bool(true)})
		return err
	}
	if err := parameter(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := secrets.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: aws.String("app"), SecretString: aws.String(`{"note": "from a field", "port": 5}`)}); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.publishFiles(map[string]string{
		"main.tf": usesPassword + "variable \"note\" {}\nvariable \"port\" {}\nresource \"cloud_thing\" \"c\" {\n  name = \"c\"\n  note = \"${var.note} ${var.port}\"\n}\n",
		"variables.towline.hcl": "variable \"password\" {\n  ssm_parameter = \"/app/password\"\n}\n" +
			"variable \"note\" {\n  secrets_manager = \"app\"\n  field = \"note\"\n}\nvariable \"port\" {\n  secrets_manager = \"app\"\n  field = \"port\"\n}\n",
	})
	w.round(control.OutcomeApplied)
	if w.attribute("a", "secret") != cty.StringVal("one") || w.attribute("c", "note") != cty.StringVal("from a field 5") {
		t.Error("the values were not taken")
	}
	if err := parameter(t.Context(), "two"); err != nil {
		t.Fatal(err)
	}
	w.round(control.OutcomeApplied)
	if w.attribute("a", "secret") != cty.StringVal("two") {
		t.Error("the new value was not taken")
	}
	if _, err := parameters.DeleteParameter(t.Context(), &ssm.DeleteParameterInput{Name: aws.String("/app/password")}); err != nil {
		t.Fatal(err)
	}
	w.edit("b", "size", cty.NumberIntVal(9))
	receipt := w.round(control.OutcomeFailed)
	if text := problems(receipt); !strings.Contains(text, `variable "password": read SSM parameter /app/password`) || !w.attribute("b", "size").RawEquals(cty.NumberIntVal(2)) {
		t.Errorf("problems %q", text)
	}
	if err := parameter(t.Context(), "two"); err != nil {
		t.Fatal(err)
	}
	w.round(control.OutcomeConverged)
}

// TestReplacedMachineWithKMS has the environment declare a key of a mock of AWS KMS: a new
// machine opens the state with its own rights, and nobody has to help. It sets the
// process's environment and so is not parallel.
//
//nolint:paralleltest // see above
func TestReplacedMachineWithKMS(t *testing.T) {
	client := kms.NewFromConfig(startMoto(t))
	made, err := client.CreateKey(t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.identities = nil
	w.recipients = []string{"awskms:" + *made.KeyMetadata.Arn}
	w.declare(w.agentDoc())
	w.publish(plantedThing)
	w.round(control.OutcomeApplied)
	w.reenrol(true)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Minute)
	if got := w.agent.Round(t.Context()); got != control.OutcomeConverged || w.creations() != 1 {
		t.Errorf("outcome %s, %d creations", got, w.creations())
	}
}
