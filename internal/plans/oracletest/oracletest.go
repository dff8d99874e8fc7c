package oracletest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// commandLimit bounds one run of terraform.
const commandLimit = 2 * time.Minute

// Bench is one working directory for both sides.
type Bench struct {
	tb  testing.TB
	Dir string
	// Env is added to terraform's environment.
	Env []string
	// Providers starts providers for the engine; nil if only the built-in one is used.
	Providers engine.ProviderSource
}

// New returns a bench with an empty directory. A missing terraform binary fails the test.
func New(tb testing.TB) *Bench {
	tb.Helper()
	if _, err := exec.LookPath("terraform"); err != nil {
		tb.Fatalf("the terraform binary decides what is right, so it must be installed: %v", err)
	}
	return &Bench{tb: tb, Dir: tb.TempDir(), Env: []string{"TF_CLI_CONFIG_FILE=/dev/null"}}
}

// Write replaces the configuration; the state stays.
func (b *Bench) Write(files map[string]string) {
	b.tb.Helper()
	old, err := filepath.Glob(filepath.Join(b.Dir, "*.tf"))
	if err != nil {
		b.tb.Fatal(err)
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			b.tb.Fatal(err)
		}
	}
	for name, content := range files {
		path := filepath.Join(b.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			b.tb.Fatal(err)
		}
	}
}

// Terraform runs the binary and returns what it prints to stdout. A failure fails the test.
func (b *Bench) Terraform(args ...string) string {
	b.tb.Helper()
	stdout, stderr, code := b.Run(args...)
	if code != 0 {
		b.tb.Fatalf("terraform %s: exit status %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

// Run runs the binary and returns what it prints and its exit status.
func (b *Bench) Run(args ...string) (stdout, stderr string, code int) {
	b.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "terraform", args...)
	cmd.Dir = b.Dir
	// Terraform and providers end before it would be worth while to collect garbage.
	cmd.Env = append(os.Environ(), append([]string{"CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=", "GOGC=off"}, b.Env...)...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		code = exit.ExitCode()
	default:
		b.tb.Fatal(err)
	}
	return out.String(), errOut.String(), code
}

// Config loads the configuration.
func (b *Bench) Config() *configs.Config {
	b.tb.Helper()
	config, diags := configs.Load(b.Dir)
	if diags.HasErrors() {
		b.tb.Fatal(diags.Err())
	}
	return config
}

// Begin gives the folder a state that terraform wrote elsewhere.
func (b *Bench) Begin(state []byte) {
	b.tb.Helper()
	if err := os.WriteFile(b.statePath(), state, 0o600); err != nil {
		b.tb.Fatal(err)
	}
}

func (b *Bench) statePath() string { return filepath.Join(b.Dir, "terraform.tfstate") }

// StateFile is the state that terraform wrote, nil if it has not.
func (b *Bench) StateFile() []byte {
	b.tb.Helper()
	data, err := os.ReadFile(b.statePath())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.tb.Fatal(err)
	}
	return data
}

// State reads the state that terraform wrote, or an empty one.
func (b *Bench) State() *states.State {
	b.tb.Helper()
	state, diags := states.Decode(b.StateFile())
	if diags.HasErrors() {
		b.tb.Fatal(diags.Err())
	}
	return state
}

// Planned is what the engine planned.
type Planned struct {
	Plan    *plans.Plan
	Config  *configs.Config
	Schemas map[addrs.Provider]*providers.Schema
	Diags   tfdiags.Diagnostics
}

// Plan plans with the engine, from the state that terraform wrote.
func (b *Bench) Plan(opts engine.PlanOptions) Planned {
	b.tb.Helper()
	config := b.Config()
	eng := engine.New(engine.Options{Providers: b.Providers})
	b.tb.Cleanup(func() { _ = eng.Close() })
	plan, diags := eng.Plan(b.tb.Context(), config, b.State(), opts)
	return Planned{Plan: plan, Config: config, Schemas: b.schemas(eng, config, b.State()), Diags: diags}
}

// Schemas returns the schemas of every provider that configuration and state need.
func (b *Bench) Schemas() map[addrs.Provider]*providers.Schema {
	b.tb.Helper()
	eng := engine.New(engine.Options{Providers: b.Providers})
	b.tb.Cleanup(func() { _ = eng.Close() })
	return b.schemas(eng, b.Config(), b.State())
}

func (b *Bench) schemas(eng *engine.Engine, config *configs.Config, state *states.State) map[addrs.Provider]*providers.Schema {
	b.tb.Helper()
	wanted := []addrs.Provider{addrs.BuiltInProvider}
	for provider := range config.ProviderRequirements() {
		wanted = append(wanted, provider)
	}
	for _, r := range state.Resources() {
		wanted = append(wanted, r.Provider.Provider)
	}
	schemas, diags := eng.Schemas(b.tb.Context(), wanted)
	if diags.HasErrors() {
		b.tb.Fatal(diags.Err())
	}
	return schemas
}
