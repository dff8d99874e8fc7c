package engine_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/providers/providerstest"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// repeatingConfig is roundsConfig without what may give something else each time.
var repeatingConfig = strings.ReplaceAll(roundsConfig, `file("${path.module}/text")`, `"text"`)

// replayed tells whether a plan was given again instead of being made.
func replayed(now, before *plans.Plan) bool {
	return before != nil && len(now.Changes) > 0 && len(before.Changes) > 0 && &now.Changes[0] == &before.Changes[0]
}

// roundOptions are what an agent may ask for in a round, changing at random.
type roundOptions struct{ frozen, ignored, unread bool }

func (o *roundOptions) change(w *world) {
	if w.random.IntN(6) == 0 {
		o.frozen = !o.frozen
	}
	if w.random.IntN(6) == 0 {
		o.ignored = !o.ignored
	}
	o.unread = w.random.IntN(6) == 0
}

// edit changes the record by hand: all of it and nothing of what is in it, an output, or a mark.
func (w *world) edit(b *bench) {
	b.state = b.state.Copy()
	addr := instanceAddr(b.t, "fake_thing.data")
	object := b.state.Object(addr)
	switch w.random.IntN(4) {
	case 0:
		b.state.Serial++
	case 1:
		b.state.Lineage += "x"
	case 2:
		if o := b.state.Outputs["all"]; o != nil {
			b.state.Outputs["all"] = &states.Output{Value: cty.StringVal("other"), Sensitive: w.random.IntN(2) == 0}
		}
	case 3:
		if object != nil {
			b.state.SetObject(addr, b.state.Resource(addr.Module, addr.Resource).Provider, object.WithTaint(!object.Tainted))
		}
	}
}

func (o *roundOptions) options(w *world, dir string) engine.PlanOptions {
	fixed := func(addr addrs.ResourceInstance) bool { return addr.Resource.Name == "fixed" }
	frozen, ignored, unread := o.frozen, o.ignored, o.unread
	return engine.PlanOptions{
		Variables: w.variables, BaseDir: dir,
		Frozen:   func(addr addrs.ResourceInstance) bool { return frozen && addr.Resource.Name == "name" },
		SkipRead: func(addr addrs.ResourceInstance) bool { return unread && fixed(addr) },
		Overrides: func(addr addrs.ResourceInstance) (out plans.Overrides) {
			if ignored && addr.Resource.Name == "joined" {
				out.Owned = &control.Ownership{Parts: []control.OwnedPart{{Except: []string{"name"}}}}
			}
			return out
		},
	}
}

// A plan that is given again is the plan that an engine would make that knows nothing.
func TestReplayedPlansAreAsFreshOnes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			warm, fake := newFakeBench(t)
			warm.write(map[string]string{"main.tf": repeatingConfig, "m/main.tf": roundsModule, "text": "text"})
			config := warm.load()
			w, asked := newWorld(seed, warm.dir, fake), roundOptions{}
			var last *plans.Plan
			again, anew := 0, 0
			for range 60 {
				if w.random.IntN(3) == 0 {
					w.change(t)
					asked.change(w)
				}
				if w.random.IntN(8) == 0 {
					w.edit(warm)
				}
				opts := asked.options(w, warm.dir)
				plan, diags := warm.engine.Plan(t.Context(), config, warm.state, opts)
				if diags.HasErrors() {
					t.Fatal(diags.Err())
				}
				if replayed(plan, last) {
					again++
				} else {
					anew++
				}
				differ(t, fmt.Sprintf("a plan (replayed: %v)", replayed(plan, last)), told(t, plan), told(t, freshPlan(t, fake, config, warm.state, opts)))
				last = plan
				switch w.random.IntN(6) {
				case 0:
					if asked.frozen {
						break // what depends on an object that is not there cannot be made
					}
					warm.variables = w.variables
					if diags := warm.applyConfig(config, plan); diags.HasErrors() {
						t.Fatal(diags.Err())
					}
				case 1:
					warm.state = plan.Prior
				}
			}
			if again < 5 || anew < 5 {
				t.Errorf("%d plans were replayed and %d made", again, anew)
			}
		})
	}
}

// What a plan depends on beyond its inputs keeps it from being given again, each
// by itself.
func TestWhatIsNotReplayed(t *testing.T) {
	t.Parallel()
	const plain = `resource "fake_thing" "a" { name = "a" }` + "\n"
	for name, c := range map[string]struct {
		config string
		opts   engine.PlanOptions
		prior  func(*bench)
		hook   func(*providerstest.Provider)
		again  bool
		// adopt makes each plan's record that of the next.
		adopt bool
	}{
		"plain":     {config: plain, again: true},
		"skipped":   {config: plain, again: true, opts: engine.PlanOptions{SkipRefresh: true}},
		"data":      {config: plain + `data "fake_data" "d" { of = "x" }`, again: true, adopt: true},
		"adopted":   {config: plain, again: true, adopt: true},
		"budget":    {config: plain, again: true, opts: engine.PlanOptions{SkipRead: func(addrs.ResourceInstance) bool { return true }}},
		"time":      {config: plain + `output "o" { value = timestamp() }`},
		"file":      {config: plain + `locals { l = fileexists("x") }`},
		"condition": {config: plain + "output \"o\" {\n value = 1\n precondition {\n condition = fake_thing.a.name == \"a\" && fileexists(\"/nowhere\") == false\n error_message = \"no\"\n }\n}"},
		"check":     {config: plain + "check \"c\" {\n assert {\n condition = fake_thing.a.name == \"a\" && fileexists(\"/nowhere\") == false\n error_message = \"no\"\n }\n}"},
		"lifecycle": {config: "resource \"fake_thing\" \"a\" {\n name = \"a\"\n lifecycle {\n postcondition {\n condition = self.name == \"a\" && fileexists(\"/nowhere\") == false\n error_message = \"no\"\n }\n }\n}"},
		"variable":  {config: plain + "variable \"v\" {\n default = 1\n validation {\n condition = var.v == 1 && fileexists(\"/nowhere\") == false\n error_message = \"no\"\n }\n}"},
		"target":    {config: plain, opts: engine.PlanOptions{Targets: parseTargets(t, "fake_thing.a")}},
		"replace":   {config: plain, opts: engine.PlanOptions{ForceReplace: []addrs.ResourceInstance{instanceAddr(t, "fake_thing.a")}}},
		"destroy":   {config: plain, opts: engine.PlanOptions{Mode: plans.DestroyMode}},
		"refresh":   {config: plain, opts: engine.PlanOptions{Mode: plans.RefreshOnlyMode}},
		"frozen":    {config: plain, opts: engine.PlanOptions{Frozen: func(addrs.ResourceInstance) bool { return true }}},
		"deposed": {config: plain, prior: func(b *bench) {
			addr := instanceAddr(b.t, "fake_thing.a")
			b.state.SetDeposed(addr, "00000001", b.state.Resource(addr.Module, addr.Resource).Provider, b.state.Object(addr))
		}},
		"warning": {config: plain, hook: func(fake *providerstest.Provider) {
			fake.ReadHook = func(_ context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
				resp := fake.ReadDefault(req)
				resp.Diagnostics = tfdiags.New(tfdiags.Warning, "Deprecated", "Soon gone.")
				return resp
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, fake := newFakeBench(t)
			b.write(map[string]string{"main.tf": c.config})
			config := b.load()
			b.mustApply(engine.PlanOptions{})
			if c.prior != nil {
				c.prior(b)
			}
			if c.hook != nil {
				c.hook(fake)
			}
			var last *plans.Plan
			for round := range 3 {
				plan, diags := b.engine.Plan(t.Context(), config, b.state, c.opts)
				if diags.HasErrors() {
					t.Fatal(diags.Err())
				}
				if got := replayed(plan, last); got != (c.again && round > 0) {
					t.Errorf("round %d was replayed: %v", round, got)
				}
				if last = plan; c.adopt {
					b.state = plan.Prior
				}
			}
		})
	}
}

// Objects that a replay has read are not read again for the plan that follows.
func TestReplayReadsOnce(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": "resource \"fake_thing\" \"a\" {\n count = 20\n name = \"a${count.index}\"\n}\ndata \"fake_data\" \"d\" { of = \"first\" }\ndata \"fake_data\" \"e\" { of = data.fake_data.d.result }\n"})
	config := b.load()
	b.mustApply(engine.PlanOptions{})
	w := newWorld(1, b.dir, fake)
	reads, answers, drifted := fake.ReadHook, fake.DataHook, ""
	seen := lockedCounts{counts: map[string]int{}}
	fake.ReadHook = func(ctx context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
		resp := reads(ctx, req)
		name := req.PriorState.GetAttr("name").AsString()
		seen.add(name)
		if attrs := resp.NewState.AsValueMap(); name == drifted {
			attrs["zone"] = cty.StringVal("elsewhere")
			resp.NewState, resp.Unchanged, resp.Encoded = cty.ObjectVal(attrs), false, nil
		}
		return resp
	}
	fake.DataHook = func(ctx context.Context, req providers.ReadDataSourceRequest) providers.ReadDataSourceResponse {
		seen.add("data " + req.Config.GetAttr("of").AsString())
		return answers(ctx, req)
	}
	for _, c := range []struct {
		drifted string
		drift   int
		answer  string
	}{{"", 0, "x"}, {"", 0, "x"}, {"a3", 1, "x"}, {"a3", 1, "y"}, {"a4", 1, "y"}, {"", 0, "y"}, {"", 0, "z"}} {
		drifted, w.answer = c.drifted, c.answer
		seen.reset()
		plan, diags := b.engine.Plan(t.Context(), config, b.state, engine.PlanOptions{})
		if diags.HasErrors() {
			t.Fatal(diags.Err())
		}
		if len(plan.Drift) != c.drift || c.drift > 0 && !strings.Contains(plan.Drift[0].Addr.String(), c.drifted[1:]) {
			t.Errorf("drifted %q: got drift of %d objects", c.drifted, len(plan.Drift))
		}
		if got := seen.most(); got != 1 {
			t.Errorf("drifted %q: an object was read %d times", c.drifted, got)
		}
	}
}

// A replay compares with what variables were, though their map has changed since.
func TestReplayMindsChangedVariables(t *testing.T) {
	t.Parallel()
	b, _ := newFakeBench(t)
	b.write(map[string]string{"main.tf": "variable \"v\" {}\nresource \"fake_thing\" \"a\" { name = var.v }\n"})
	config, variables := b.load(), map[string]cty.Value{"v": cty.StringVal("one")}
	for _, want := range []string{"one", "two", "two", "three"} {
		variables["v"] = cty.StringVal(want)
		plan, diags := b.engine.Plan(t.Context(), config, b.state, engine.PlanOptions{Variables: variables})
		if diags.HasErrors() {
			t.Fatal(diags.Err())
		}
		if got := plan.Changes[0].After.GetAttr("name"); !got.RawEquals(cty.StringVal(want)) {
			t.Errorf("got %#v, want %q", got, want)
		}
	}
}

// The trouble of a provider that nothing needs is not told again when it is over.
func TestReplayForgetsUnusableProvider(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": "resource \"terraform_data\" \"a\" {}\nprovider \"fake\" {}\n"})
	config, broken := b.load(), false
	fake.ConfigureHook = func(context.Context, cty.Value) tfdiags.Diagnostics {
		if broken {
			return tfdiags.New(tfdiags.Error, "Unreachable", "No answer.")
		}
		return nil
	}
	for _, broken = range []bool{true, true, false, false} {
		_, diags := b.engine.Plan(t.Context(), config, b.state, engine.PlanOptions{LeaveUnreadable: true})
		if told := len(diags) > 0; told != broken {
			t.Errorf("broken %v, and told %v", broken, diags.Err())
		}
	}
}

// lockedCounts counts names.
type lockedCounts struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *lockedCounts) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[name]++
}

func (c *lockedCounts) reset() { c.counts = map[string]int{} }

func (c *lockedCounts) most() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Max(slices.Collect(maps.Values(c.counts)))
}
