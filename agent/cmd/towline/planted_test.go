package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/agent/slacktest"
	"github.com/towline/terraform-provider-towline/internal/bundle"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore/open"
	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// plantedValues are what must be found nowhere, by where it was planted.
type plantedValues map[string]string

// planting is an agent with a provider that tells what it is given, a store, and people
// who are told of drift.
type planting struct {
	t      *testing.T
	dir    string
	values plantedValues
	repo   *repository.Repository
	key    trust.Key
	joins  []control.Join // so far
	output bytes.Buffer   // of all runs

	// app is Slack, where the agent is an app too.
	app *slacktest.Server

	mu    sync.Mutex
	posts []string
}

// newPlanting enrols an agent that makes what a provider offers that quotes what it is given.
func newPlanting(t *testing.T) *planting {
	t.Helper()
	p := &planting{t: t, dir: t.TempDir(), values: plantedValues{
		"sensitive variable": "planted-variable-51c0", "attribute": "planted-attribute-9d2e", "credential": "planted-credential-77b1",
		"SOPS": "correct horse battery", "webhook": "planted-webhook-03fa",
		"bot's token": slacktest.BotToken, "app's token": slacktest.AppToken,
	}, app: slacktest.New(t)}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.posts = append(p.posts, string(body))
	}))
	t.Cleanup(server.Close)
	var err error
	p.key, err = trust.GenerateKey()
	p.must(err)
	store, err := open.Open(t.Context(), "file://"+p.path("store"))
	p.must(err)
	p.repo, err = repository.Init(t.Context(), store, repository.SingleKey(p.key.Public(), []string{"prod"}, []string{"stable"}), p.signing())
	p.must(err)
	p.write("root.json", string(p.repo.Root()))
	p.write("webhook", server.URL+"/"+p.values["webhook"])
	p.write("bot-token", slacktest.BotToken)
	p.write("app-token", slacktest.AppToken)
	sops, err := os.ReadFile("../../../internal/sops/testdata/age-key.txt")
	p.must(err)
	p.write("identity.txt", string(sops))
	p.write("agent.hcl", fmt.Sprintf("store = %q\nenvironment = \"prod\"\nagent = \"a1\"\ntrusted_root = %q\ndata_dir = %q\nidentities = [%q]\nslack_api_url = %q\njoin_token {\n  file = %q\n}\n",
		"file://"+p.path("store"), p.path("root.json"), p.path("data"), p.path("identity.txt"), p.app.URL(), p.path("token")))
	p.mirror()
	p.declare()
	return p
}

// declare declares the agent's next enrolment, whose token works once.
func (p *planting) declare() {
	p.t.Helper()
	public, token, err := ed25519.GenerateKey(nil)
	p.must(err)
	p.values["join token"] = base64.StdEncoding.EncodeToString(token.Seed())
	p.write("token", p.values["join token"])
	join := control.Join{Generation: len(p.joins) + 1, PublicKey: control.EncodeKey(public), Expires: time.Now().Add(time.Hour).UTC()}
	_, err = p.repo.PutDocuments(p.t.Context(), p.signing(),
		control.Agent{
			Version: control.FormatVersion, Environment: "prod", Name: "a1", Channel: "stable", Scopes: []string{"all"}, PollInterval: control.Duration(time.Minute),
			Slack: &control.Slack{WebhookFile: p.path("webhook"), Channel: slacktest.ChannelName, BotTokenFile: p.path("bot-token"), AppTokenFile: p.path("app-token")}, Join: join, Earlier: p.joins,
		},
		control.Scope{Version: control.FormatVersion, Environment: "prod", Name: "all", Include: []control.Match{{Address: "**"}}, Drift: control.Drift{Mode: control.DriftObserve}})
	p.must(err)
	p.joins = append(p.joins, join)
}

func (p *planting) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *planting) path(name string) string { return filepath.Join(p.dir, name) }

func (p *planting) write(name, content string) {
	p.t.Helper()
	p.must(os.WriteFile(p.path(name), []byte(content), 0o600))
}

func (p *planting) signing() trust.Signing {
	return trust.Signing{Keys: trust.Keyring{p.key}, Now: time.Now()}
}

// mirror lays the provider where the agent finds it, and the program under test under its name.
func (p *planting) mirror() {
	p.t.Helper()
	provider, err := os.ReadFile(plugintest.Build(p.t, plugintest.Fault))
	p.must(err)
	folder := p.path("mirror/registry.terraform.io/towline/fault/1.0.0/" + runtime.GOOS + "_" + runtime.GOARCH)
	p.must(os.MkdirAll(folder, 0o700))
	p.must(os.WriteFile(filepath.Join(folder, "terraform-provider-fault_v1.0.0"), provider, 0o700)) //nolint:gosec // it is a program
	p.write("terraform.rc", fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", p.path("mirror")))
	self, err := os.Executable()
	p.must(err)
	p.must(os.Symlink(self, p.path("towline")))
}

// publish publishes objects that hold the planted values, the last of them with a fault.
func (p *planting) publish(fault string) {
	p.t.Helper()
	dir := p.t.TempDir()
	label, _, _ := strings.Cut(fault, "@")
	config := `
terraform {
  required_providers {
    fault = { source = "towline/fault" }
  }
}
variable "secret" {
  type      = string
  sensitive = true
}
variable "attribute" {}
variable "password" {}
variable "lines" {}
variable "port" {}
resource "fault_object" "variable" {
  name  = "variable-` + fault + `"
  pin   = var.secret
  fault = "` + fault + `"
}
resource "fault_object" "attribute" {
  name  = "attribute-` + fault + `"
  pin   = var.attribute
  fault = "` + fault + `"
}
resource "fault_object" "` + label + `" {
  name  = "` + label + `"
  fault = "` + fault + `"
}
resource "fault_object" "password" {
  name  = "password-` + fault + `"
  pin   = var.password
  fault = "` + fault + `"
}
`
	p.must(os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config), 0o600))
	sops, err := os.ReadFile("../../../internal/sops/testdata/age.sops.env")
	p.must(err)
	p.must(os.WriteFile(filepath.Join(dir, "secrets.sops.env"), sops, 0o600))
	archive, err := bundle.Pack(dir, bundle.DefaultLimits)
	p.must(err)
	_, _, err = p.repo.Publish(p.t.Context(), p.signing(), "stable", archive.Data, repository.Note{})
	p.must(err)
}

// agent is a command that does one round, as loud as can be.
func (p *planting) agent(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.path("towline"), "agent", "run", "-once", "-verbose", "-config", p.path("agent.hcl"))
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+p.path("terraform.rc"), "TF_VAR_secret="+p.values["sensitive variable"],
		"TF_VAR_attribute="+p.values["attribute"], "FAULT_TOKEN="+p.values["credential"], "GORACE=atexit_sleep_ms=0", "HOME="+p.dir)
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	return cmd
}

// round has the agent do one round that ends with an exit code.
func (p *planting) round(want int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := p.agent(ctx)
	err := cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != want {
		p.t.Fatalf("exit code %d, want %d: %v\n%s", got, want, err, p.said())
	}
}

// killed has the agent killed while its providers hang in the middle of a change.
func (p *planting) killed() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := p.agent(ctx)
	p.must(cmd.Start())
	journal := p.path("data/state.json.journal")
	for {
		if data, err := os.ReadFile(journal); err == nil && bytes.Contains(data, []byte("fault_object.stuck")) {
			break
		}
		if ctx.Err() != nil {
			p.t.Fatal("the agent began no change: ", p.said())
		}
		time.Sleep(20 * time.Millisecond)
	}
	p.visible(cmd.Process.Pid)
	p.must(cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
}

// said is what the agent itself has said.
func (p *planting) said() string {
	var out []string
	for _, line := range strings.Split(p.output.String(), "\n") {
		if !strings.Contains(line, "provider_log.module=sdk.proto") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// visible looks at what every user of the machine can see of the agent and its providers,
// and whether their memory may be dumped.
func (p *planting) visible(pid int) {
	p.t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	pids := append([]string{fmt.Sprint(pid)}, p.threadsChildren(pid)...)
	if len(pids) < 2 {
		p.t.Error("the agent has no provider running")
	}
	for _, process := range pids {
		arguments, err := os.ReadFile("/proc/" + process + "/cmdline")
		p.must(err)
		p.clean("arguments of process "+process, arguments)
		limits, err := os.ReadFile("/proc/" + process + "/limits")
		p.must(err)
		for _, line := range strings.Split(string(limits), "\n") {
			if fields := strings.Fields(line); strings.HasPrefix(line, "Max core file size") && (fields[4] != "1" || fields[5] != "1") {
				p.t.Errorf("process %s: %s", process, line)
			}
		}
	}
}

// threadsChildren are the processes that any thread of a process has started.
func (p *planting) threadsChildren(pid int) []string {
	var out []string
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	p.must(err)
	for _, task := range tasks {
		data, err := os.ReadFile(task)
		if err == nil { // else the thread has ended
			out = append(out, strings.Fields(string(data))...)
		}
	}
	return out
}

// clean expects no planted value in a text, however it is written.
func (p *planting) clean(where string, text []byte) {
	p.t.Helper()
	for what, value := range p.values {
		for _, form := range []string{value, base64.StdEncoding.EncodeToString([]byte(value)), strings.ReplaceAll(value, " ", "+"), strings.ReplaceAll(value, " ", "%20")} {
			if at := bytes.Index(text, []byte(form)); at >= 0 {
				p.t.Errorf("%s: the %s is there: …%s…", where, what, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
}

// everywhere looks through all that left the agent.
func (p *planting) everywhere() {
	p.t.Helper()
	p.clean("output", p.output.Bytes())
	p.mu.Lock()
	posts := strings.Join(p.posts, "\n")
	p.mu.Unlock()
	p.clean("messages", []byte(posts+p.app.Everything()))
	for _, folder := range []string{"store", "data/outbox"} {
		err := filepath.WalkDir(p.path(folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			p.clean(path, data)
			return err
		})
		if !os.IsNotExist(err) {
			p.must(err)
		}
	}
}

// TestAttackPlantedValues has an agent run with values that nobody may see, through rounds
// that succeed, fail, crash and are killed, with a provider that tells all it knows, and
// looks for the values in everything that left the agent.
func TestAttackPlantedValues(t *testing.T) {
	t.Parallel()
	p := newPlanting(t)
	key := func() string {
		text, err := os.ReadFile(p.path("data/agent.key"))
		p.must(err)
		return strings.Split(string(text), "\n")[1]
	}
	p.publish("drift@read")
	p.round(exitOK)
	p.values["private key"] = key()
	p.round(exitChanges) // and people are told
	p.publish("quote@apply")
	p.round(exitFailed)
	p.publish("quote-panic@apply")
	p.round(exitFailed)
	p.publish("stuck@apply")
	p.killed()
	p.publish("quote@read")
	p.round(exitOK)
	p.round(exitFailed)
	p.everywhere()

	for what, told := range map[string]string{"a failure": "Failed with (sensitive value) and (sensitive value)", "a crash": "this provider is broken by (sensitive value)", "logs": "fails with (sensitive value) and (sensitive value)"} {
		if !strings.Contains(p.output.String(), told) {
			t.Errorf("the output tells nothing of %s: %s", what, p.said())
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.posts) == 0 || len(p.app.Messages()) == 0 {
		t.Error("nobody was told of drift")
	}
}
