package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// bench is one configuration with an engine and a state, for a sequence of plans and applies.
type bench struct {
	t      *testing.T
	dir    string
	engine *engine.Engine
	state  *states.State
	log    *callLog
	// variables are given to applies.
	variables map[string]cty.Value
}

// callLog notes the order of changes.
type callLog struct {
	engine.NoHook
	mu    sync.Mutex
	calls []string
}

func (l *callLog) Applied(ev engine.ApplyEvent, _ time.Duration, failed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, ev.Verb+" "+ev.Addr.String())
}

func (l *callLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.calls
	l.calls = nil
	return out
}

// source serves fake providers by type name.
type source map[string]func() providers.Interface

func (s source) Start(_ context.Context, p addrs.Provider) (providers.Interface, tfdiags.Diagnostics) {
	if start := s[p.Type]; start != nil {
		return keptOpen{start()}, nil
	}
	return nil, tfdiags.New(tfdiags.Error, "Provider not found", "There is no provider "+p.String()+".")
}

// keptOpen is a provider that outlives the processes that stand for it.
type keptOpen struct{ providers.Interface }

func (keptOpen) Close() error { return nil }

func newBench(t *testing.T, src source) *bench {
	t.Helper()
	log := &callLog{}
	b := &bench{t: t, dir: t.TempDir(), state: states.New(), log: log, engine: engine.New(engine.Options{Providers: src, Hook: log})}
	t.Cleanup(func() { _ = b.engine.Close() })
	return b
}

// write replaces the configuration.
func (b *bench) write(files map[string]string) {
	b.t.Helper()
	if err := os.RemoveAll(b.dir); err != nil {
		b.t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(b.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *bench) load() *configs.Config {
	b.t.Helper()
	config, diags := configs.Load(b.dir)
	if diags.HasErrors() {
		b.t.Fatal(diags.Err())
	}
	return config
}

func (b *bench) plan(opts engine.PlanOptions) (*plans.Plan, tfdiags.Diagnostics) {
	b.t.Helper()
	return b.engine.Plan(b.t.Context(), b.load(), b.state, opts)
}

// mustPlan plans and fails the test on errors.
func (b *bench) mustPlan(opts engine.PlanOptions) *plans.Plan {
	b.t.Helper()
	plan, diags := b.plan(opts)
	if diags.HasErrors() {
		b.t.Fatal(diags.Err())
	}
	return plan
}

// apply plans and applies, and keeps the state.
func (b *bench) apply(opts engine.PlanOptions) tfdiags.Diagnostics {
	b.t.Helper()
	config := b.load()
	plan, diags := b.engine.Plan(b.t.Context(), config, b.state, opts)
	if diags.HasErrors() {
		b.t.Fatal(diags.Err())
	}
	b.variables = opts.Variables
	return b.applyConfig(config, plan)
}

// applyPlan applies a plan of the current configuration, and keeps the state.
func (b *bench) applyPlan(plan *plans.Plan) tfdiags.Diagnostics {
	b.t.Helper()
	return b.applyConfig(b.load(), plan)
}

func (b *bench) applyConfig(config *configs.Config, plan *plans.Plan) (diags tfdiags.Diagnostics) {
	b.t.Helper()
	j, _, err := journal.Open(filepath.Join(b.t.TempDir(), "journal"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	b.state, diags = b.engine.Apply(b.t.Context(), config, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: j, Variables: b.variables})
	return diags
}

func (b *bench) mustApply(opts engine.PlanOptions) {
	b.t.Helper()
	if diags := b.apply(opts); diags.HasErrors() {
		b.t.Fatal(diags.Err())
	}
}

// actions lists a plan's changes as "action address", without those that do nothing.
func actions(plan *plans.Plan) []string {
	var out []string
	for _, c := range plan.Changes {
		if c.Action != plans.NoOp {
			out = append(out, fmt.Sprintf("%s %s", c.Action, c.Addr))
		}
	}
	return out
}

func (b *bench) wantActions(plan *plans.Plan, want ...string) {
	b.t.Helper()
	if got := actions(plan); !slices.Equal(got, want) {
		b.t.Errorf("got actions %q, want %q", got, want)
	}
}

func (b *bench) output(name string) cty.Value {
	b.t.Helper()
	o := b.state.Outputs[name]
	if o == nil {
		b.t.Fatalf("there is no output %s", name)
	}
	return o.Value
}

func loadConfig(dir string) (*configs.Config, tfdiags.Diagnostics) { return configs.Load(dir) }

func parseTargets(t *testing.T, texts ...string) []addrs.Target {
	t.Helper()
	var out []addrs.Target
	for _, text := range texts {
		target, diags := addrs.ParseTarget(text)
		if diags.HasErrors() {
			t.Fatal(diags.Err())
		}
		out = append(out, target)
	}
	return out
}

type addrsInstance = addrs.ResourceInstance

func instanceAddr(t *testing.T, text string) addrs.ResourceInstance {
	t.Helper()
	addr, diags := addrs.ParseResourceInstance(text)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return addr
}
