package provider_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
)

// builtDir is where built has put the binary, "" if nothing was built.
var builtDir string

func removeBuilt() {
	if builtDir != "" {
		os.RemoveAll(builtDir)
	}
}

// built is the folder of a mirror that holds the provider's real binary.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "towline-mirror-")
	if err != nil {
		return "", err
	}
	builtDir = dir
	binary := filepath.Join(dir, "registry.terraform.io/towline/towline/0.0.1", runtime.GOOS+"_"+runtime.GOARCH, "terraform-provider-towline_v0.0.1")
	output, err := exec.Command("go", "build", "-o", binary, "./cmd/terraform-provider-towline").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the provider: %w: %s", err, output)
	}
	return dir, nil
})

// workspace is a folder in which terraform runs as a user would run it, with the
// provider's real binary.
type workspace struct {
	*bench
	folder string
	// mirror is where the provider is, rc the CLI configuration that says so.
	mirror, rc string
	env        []string
}

func newWorkspace(b *bench) *workspace {
	b.t.Helper()
	mirror, err := built()
	if err != nil {
		b.t.Fatal(err)
	}
	w := &workspace{bench: b, folder: filepath.Join(b.dir, "workspace"), mirror: mirror, rc: filepath.Join(b.dir, "terraform.rc")}
	w.write(w.rc, installation(mirror, ""))
	w.env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+w.rc, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1",
		"TOWLINE_SIGNING_KEY_FILE="+b.keyFile(), "TF_DATA_DIR="+filepath.Join(b.dir, "terraform-data"))
	return w
}

// installation finds the provider in one mirror and all others in another, if there is one.
func installation(own, others string) string {
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path    = %q\n    include = [\"registry.terraform.io/towline/*\"]\n  }\n", own)
	if others != "" {
		text += fmt.Sprintf("  filesystem_mirror {\n    path    = %q\n    exclude = [\"registry.terraform.io/towline/*\"]\n  }\n", others)
	}
	return text + "}\n"
}

func (w *workspace) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// run runs terraform and returns its output and exit status.
func (w *workspace) run(args ...string) (string, int) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "terraform", args...)
	cmd.Dir, cmd.Env = w.folder, w.env
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	if cmd.ProcessState == nil {
		w.t.Fatalf("terraform %v did not run: %v", args, err)
	}
	return output.String(), cmd.ProcessState.ExitCode()
}

func (w *workspace) must(args ...string) string {
	w.t.Helper()
	output, status := w.run(args...)
	if status != 0 {
		w.t.Fatalf("terraform %v ended with %d:\n%s", args, status, output)
	}
	return output
}

// converge initialises, applies a saved plan, and expects that a second plan is empty.
func (w *workspace) converge() {
	w.t.Helper()
	w.must("init", "-input=false", "-no-color")
	w.must("plan", "-input=false", "-no-color", "-out", "tfplan")
	w.must("apply", "-input=false", "-no-color", "tfplan")
	if output, status := w.run("plan", "-input=false", "-no-color", "-detailed-exitcode"); status != 0 {
		w.t.Errorf("the plan after applying is not empty (%d):\n%s", status, output)
	}
}

// files are all files that terraform has left, by name, with what plan files pack.
func (w *workspace) files() map[string][]byte {
	w.t.Helper()
	out := map[string][]byte{}
	for _, pattern := range []string{"*.tfstate*", "tfplan"} {
		matches, err := filepath.Glob(filepath.Join(w.folder, pattern))
		if err != nil {
			w.t.Fatal(err)
		}
		for _, match := range matches {
			data, err := os.ReadFile(match)
			if err != nil {
				w.t.Fatal(err)
			}
			out[filepath.Base(match)] = data
		}
	}
	packed, err := zip.OpenReader(filepath.Join(w.folder, "tfplan"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer packed.Close()
	for _, file := range packed.File {
		content, err := packed.Open(file.Name)
		if err != nil {
			w.t.Fatal(err)
		}
		if out["tfplan/"+file.Name], err = io.ReadAll(content); err != nil {
			w.t.Fatal(err)
		}
	}
	return out
}

// mustNotHold fails if any file holds one of the secrets.
func (w *workspace) mustNotHold(secrets map[string]string) {
	w.t.Helper()
	files := w.files()
	if len(files) < 3 {
		w.t.Errorf("found only %d files to look into", len(files))
	}
	for name, data := range files {
		for what, secret := range secrets {
			if bytes.Contains(data, []byte(secret)) {
				w.t.Errorf("%s holds %s", name, what)
			}
		}
	}
}

// TestNoSecretIsStored gives the key as an ephemeral variable and lets the provider
// write the token to a file: neither may be in what terraform leaves.
func TestNoSecretIsStored(t *testing.T) {
	t.Parallel()
	w := newWorkspace(newBench(t))
	key, err := os.ReadFile(w.keyFile())
	if err != nil {
		t.Fatal(err)
	}
	config := w.with(repositoryConfig, scopeConfig, agentConfig)
	config = strings.Replace(config, fmt.Sprintf("signing_key_file = %q", w.keyFile()), "signing_key = var.key", 1)
	w.write(filepath.Join(w.folder, "main.tf"), requirement+"variable \"key\" {\n  type      = string\n  sensitive = true\n  ephemeral = true\n}\n"+config)
	w.env = append(w.env, "TF_VAR_key="+string(key), "TOWLINE_SIGNING_KEY_FILE=")
	w.converge()
	if state := w.files()["terraform.tfstate"]; !bytes.Contains(state, []byte(publicOf(w.token()))) {
		t.Error("the state does not even hold the token's public half, so that looking into it proves nothing")
	}
	w.mustNotHold(map[string]string{"the signing key": strings.Split(string(key), "\n")[1], "the join token": tokenText(w.token())})
	w.must("destroy", "-auto-approve", "-no-color")
}

const exampleURL = "s3://example-towline/main?region=eu-central-1"

// example copies an example into the workspace, with the bench's store and
// folder in place of those that it names.
func (w *workspace) example(path string) {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "examples", filepath.FromSlash(path)))
	if err != nil {
		w.t.Fatal(err)
	}
	replaced := strings.NewReplacer(exampleURL, w.url, "/tmp/towline", filepath.Join(w.dir, "towline"),
		`"signing-key.pem"`, fmt.Sprintf("%q", w.keyFile())).Replace(string(text))
	w.write(filepath.Join(w.folder, filepath.Base(path)), replaced)
}

// stack is what the examples of single resources expect to be there.
func (w *workspace) stack(agents bool) {
	w.t.Helper()
	text := `
resource "towline_repository" "main" {
  url          = "URL"
  environments = { prod = {}, dev = {} }
  channels     = { stable = {}, edge = {} }
}
`
	if agents {
		text += strings.Replace(scopeConfig, `"all"`+"\n", `"network"`+"\n", 1) + strings.Replace(agentConfig, "join_token_file = \"DIR/join-token\"", "", 1) + `
output "root" {
  value = towline_repository.main.trusted_root
}
`
	}
	other := &workspace{bench: w.bench, folder: filepath.Join(w.dir, "stack"), env: append(w.env, "TF_DATA_DIR="+filepath.Join(w.dir, "stack-data"))}
	other.write(filepath.Join(other.folder, "main.tf"), strings.ReplaceAll("terraform {\n  required_providers {\n    towline = { source = \"towline/towline\" }\n  }\n}\n"+text, `"URL"`, fmt.Sprintf("%q", w.url)))
	other.converge()
	w.write(filepath.Join(w.folder, "root.json"), other.must("output", "-raw", "root"))
}

const requirement = "terraform {\n  required_providers {\n    towline = { source = \"towline/towline\" }\n  }\n}\n"

// TestExamples applies every example, imports as its import.sh says, and destroys it again.
func TestExamples(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob("../examples/*/*/*.tf")
	if err != nil {
		t.Fatal(err)
	}
	found = append(found, "../examples/provider/provider.tf")
	for _, path := range found {
		name := filepath.ToSlash(strings.TrimPrefix(path, "../examples/"))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(newBench(t).onS3())
			w.example(name)
			kind := strings.Split(name, "/")[0]
			if kind != "provider" {
				w.write(filepath.Join(w.folder, "requirement.tf"), requirement)
			}
			switch {
			case kind == "ephemeral-resources":
				w.applyWithSSM()
				return
			case kind == "data-sources":
				w.stack(true)
			case kind == "resources" && !strings.Contains(name, "towline_repository"):
				w.stack(false)
			}
			w.converge()
			w.importAs(filepath.Dir(path))
			w.must("destroy", "-auto-approve", "-no-color")
		})
	}
}

// importAs forgets what an import.sh imports and imports it as it says.
func (w *workspace) importAs(dir string) {
	w.t.Helper()
	script, err := os.ReadFile(filepath.Join(dir, "import.sh"))
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(script)) {
		fields := strings.Fields(line)
		if len(fields) != 4 || fields[0] != "terraform" || fields[1] != "import" {
			continue
		}
		w.must("state", "rm", fields[2])
		w.must("import", "-input=false", "-no-color", fields[2], strings.Replace(strings.Trim(fields[3], "'"), exampleURL, w.url, 1))
		if strings.HasPrefix(fields[2], "towline_agent.") {
			// What an agent's document does not say, such as where the machine finds its token, comes with an apply.
			w.must("apply", "-auto-approve", "-no-color")
		}
		if output, status := w.run("plan", "-no-color", "-detailed-exitcode"); status != 0 {
			w.t.Errorf("the plan after importing %s is not empty (%d):\n%s", fields[2], status, output)
		}
		return
	}
	w.t.Errorf("%s/import.sh imports nothing", dir)
}

// applyWithSSM applies the example that hands a token to AWS, with a small SSM in
// AWS's place, and checks that what arrives is the declared token.
func (w *workspace) applyWithSSM() {
	w.t.Helper()
	w.write(w.rc, installation(w.mirror, plugintest.Mirror(w.t)))
	w.stack(true)
	ssm := newSSM(w.t)
	w.write(filepath.Join(w.folder, "aws.tf"), fmt.Sprintf(`
provider "aws" {
  region                      = "eu-central-1"
  access_key                  = "test"
  secret_key                  = "test"
  skip_credentials_validation = true
  skip_requesting_account_id  = true
  skip_metadata_api_check     = true
  endpoints { ssm = %q }
}
`, ssm.url))
	w.converge()
	doc, err := w.repository().Document(w.t.Context(), control.Ref{Kind: control.KindAgent, Environment: "prod", Name: "agent-1"})
	if err != nil {
		w.t.Fatal(err)
	}
	agent, ok := doc.(control.Agent)
	token := ssm.value("/towline/prod/agent-1/join-token")
	if !ok || publicOf(tokenOf(w.t, token)) != agent.Join.PublicKey {
		w.t.Errorf("the parameter holds another token than the declared one, %s", agent.Join.PublicKey)
	}
	w.mustNotHold(map[string]string{"the join token": token})
	// A run that was cut short hands out the same token once more.
	ssm.forget("/towline/prod/agent-1/join-token")
	w.converge()
	if again := ssm.value("/towline/prod/agent-1/join-token"); again != token {
		w.t.Error("the second run handed out another token")
	}
	w.must("destroy", "-auto-approve", "-no-color")
}
