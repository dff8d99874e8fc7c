package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/providers/providerstest"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

const thing = "fake_thing"

// fakeSchema has one resource type and one data source.
func fakeSchema() *providers.Schema {
	nested := &providers.Object{Nesting: providers.NestingSingle, Attributes: map[string]*providers.Attribute{
		"kind": {Type: cty.String, Optional: true}, "surge": {Type: cty.String, Optional: true, Computed: true},
	}}
	return &providers.Schema{
		Provider: &providers.Block{Attributes: map[string]*providers.Attribute{"region": {Type: cty.String, Optional: true}}},
		ResourceTypes: providers.SchemaMap{thing: {Version: 1, Block: &providers.Block{
			Attributes: map[string]*providers.Attribute{
				"id":       {Type: cty.String, Computed: true},
				"name":     {Type: cty.String, Optional: true},
				"zone":     {Type: cty.String, Optional: true},
				"note":     {Type: cty.String, Optional: true, Computed: true},
				"tags":     {Type: cty.Map(cty.String), Optional: true},
				"strategy": {NestedType: nested, Optional: true},
				"password": {Type: cty.String, Optional: true, Sensitive: true},
			},
			BlockTypes: map[string]*providers.NestedBlock{"port": {Nesting: providers.NestingList, Block: providers.Block{Attributes: map[string]*providers.Attribute{
				"number": {Type: cty.Number, Required: true},
			}}}},
		}}},
		DataSources: providers.SchemaMap{"fake_data": {Block: &providers.Block{Attributes: map[string]*providers.Attribute{
			"of": {Type: cty.String, Optional: true}, "result": {Type: cty.String, Computed: true},
		}}}},
		Ephemerals: providers.SchemaMap{},
	}
}

// newFakeBench is a bench with the fake provider, whose objects outlive engines.
func newFakeBench(t *testing.T) (*bench, *providerstest.Provider) {
	t.Helper()
	fake := providerstest.New(fakeSchema())
	fake.ForceNew = map[string][]string{thing: {"zone"}}
	return newBench(t, source{"fake": func() providers.Interface { return fake }}), fake
}

func failing(resp providers.ApplyResourceChangeResponse) providers.ApplyResourceChangeResponse {
	resp.Diagnostics = append(resp.Diagnostics, tfdiags.New(tfdiags.Error, "Cloud is full", "There is no room.")...)
	return resp
}

func TestFailedCreateTaintsAndIsReplaced(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "a" { name = "a" }
resource "fake_thing" "b" { name = fake_thing.a.id }
resource "fake_thing" "c" { name = "c" }
`})
	fake.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		resp := fake.ApplyDefault(req)
		if name := req.Config; !name.IsNull() && name.GetAttr("name").AsString() == "a" {
			return failing(resp)
		}
		return resp
	}
	if diags := b.apply(engine.PlanOptions{}); !diags.HasErrors() {
		t.Fatal("the failure is not reported")
	}
	if got := b.state.Count(); got != 2 {
		t.Errorf("%d objects are recorded, want the failed one and its sibling", got)
	}
	fake.ApplyHook = nil
	plan := b.mustPlan(engine.PlanOptions{})
	b.wantActions(plan, "delete-create fake_thing.a", "create fake_thing.b")
	if plan.Changes[0].Reason != plans.ReplaceBecauseTainted {
		t.Errorf("reason %q", plan.Changes[0].Reason)
	}
	b.mustApply(engine.PlanOptions{})
	b.wantActions(b.mustPlan(engine.PlanOptions{}))
	if got := len(fake.IDs(thing)); got != 3 {
		t.Errorf("the cloud has %d objects, want 3", got)
	}
}

func TestFailedReplacementKeepsTheOldObject(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	config := `resource "fake_thing" "a" {
  zone = "%s"
  lifecycle {
    create_before_destroy = true
  }
}`
	b.write(map[string]string{"main.tf": fmt.Sprintf(config, "1")})
	b.mustApply(engine.PlanOptions{})
	before := fake.IDs(thing)
	b.write(map[string]string{"main.tf": fmt.Sprintf(config, "2")})
	fake.ApplyHook = func(context.Context, providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		return failing(providers.ApplyResourceChangeResponse{})
	}
	if diags := b.apply(engine.PlanOptions{}); !diags.HasErrors() {
		t.Fatal("the failure is not reported")
	}
	inst := b.state.Instance(instanceAddr(t, "fake_thing.a"))
	if inst == nil || inst.Current == nil || len(inst.Deposed) != 0 || !slices.Equal(before, fake.IDs(thing)) {
		t.Errorf("the old object is not current any more: %+v", inst)
	}
	fake.ApplyHook = nil
	b.mustApply(engine.PlanOptions{})
	b.wantActions(b.mustPlan(engine.PlanOptions{}))
	if got := len(fake.IDs(thing)); got != 1 {
		t.Errorf("the cloud has %d objects, want 1", got)
	}
}

// brokenRecorder fails as a full disk does.
type brokenRecorder struct{}

func (brokenRecorder) Begin(journal.Intent) (uint64, error) { return 0, errors.New("no space left") }
func (brokenRecorder) End(journal.Result) error             { return errors.New("no space left") }

func TestNothingIsCalledThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": `resource "fake_thing" "a" {}`})
	config := b.load()
	plan, diags := b.engine.Plan(t.Context(), config, b.state, engine.PlanOptions{})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	_, diags = b.engine.Apply(t.Context(), config, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: brokenRecorder{}})
	if err := diags.Err(); err == nil || !strings.Contains(err.Error(), "Failed to record change") {
		t.Errorf("got %v", err)
	}
	if got := len(fake.Calls("ApplyResourceChange")); got != 0 {
		t.Errorf("the provider was called %d times", got)
	}
}

// dyingRecorder records intents only, as a process does that dies before any answer comes.
type dyingRecorder struct {
	*journal.Journal
	mu    sync.Mutex
	count int
}

func (r *dyingRecorder) End(journal.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	return nil
}

// TestCallsOfADeadProcessAreSettled applies without recording any result, then
// lets a successor find out what happened.
func TestCallsOfADeadProcessAreSettled(t *testing.T) {
	t.Parallel()
	byName := func(fake *providerstest.Provider) func(context.Context, providers.ReadResourceRequest) providers.ReadResourceResponse {
		return func(_ context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
			for _, id := range fake.IDs(thing) {
				if object := fake.Object(thing, id); object.GetAttr("name").RawEquals(req.PriorState.GetAttr("name")) {
					return providers.ReadResourceResponse{NewState: object}
				}
			}
			return providers.ReadResourceResponse{NewState: cty.NullVal(req.PriorState.Type())}
		}
	}
	const before = "resource \"fake_thing\" \"a\" {\n name = \"a\"\n}\nresource \"fake_thing\" \"b\" {\n name = \"b\"\n}\n"
	tests := map[string]struct {
		after   string
		prepare func(*providerstest.Provider)
		open    int
	}{
		"create that happened":       {after: before + "resource \"fake_thing\" \"c\" {\n name = \"c\"\n}\n", prepare: func(p *providerstest.Provider) { p.ReadHook = byName(p) }},
		"create that did not happen": {after: before + "resource \"fake_thing\" \"c\" {\n name = \"c\"\n}\n", prepare: func(p *providerstest.Provider) { p.ReadHook = byName(p); refuseApply(p) }},
		"create beside a delete": {after: before[strings.LastIndex(before, "resource"):] + "resource \"fake_thing\" \"c\" {\n name = \"c\"\n}\n", prepare: func(p *providerstest.Provider) {
			p.ReadHook = byName(p)
			p.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
				if req.PriorState.IsNull() {
					return failing(providers.ApplyResourceChangeResponse{})
				}
				return p.ApplyDefault(req)
			}
		}},
		"create that nobody can look up": {after: before + "resource \"fake_thing\" \"c\" {\n name = \"c\"\n}\n", open: 1},
		"create while no provider answers": {after: before + "resource \"fake_thing\" \"c\" {\n name = \"c\"\n}\n", open: 1, prepare: func(p *providerstest.Provider) {
			p.ReadHook = func(_ context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
				if !req.PriorState.GetAttr("id").IsNull() {
					return p.ReadDefault(req)
				}
				return providers.ReadResourceResponse{Diagnostics: tfdiags.New(tfdiags.Error, "Plugin did not respond", "It is gone.")}
			}
		}},
		"update that happened":       {after: strings.Replace(before, `"a"`+"\n}", `"a"`+"\n tags = { x = \"y\" }\n}", 1)},
		"update that did not happen": {after: strings.Replace(before, `"a"`+"\n}", `"a"`+"\n tags = { x = \"y\" }\n}", 1), prepare: refuseApply},
		"delete that happened":       {after: before[strings.LastIndex(before, "resource"):]},
		"delete that did not happen": {after: before[strings.LastIndex(before, "resource"):], prepare: refuseApply},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, fake := newFakeBench(t)
			b.write(map[string]string{"main.tf": before})
			b.mustApply(engine.PlanOptions{})
			b.write(map[string]string{"main.tf": test.after})
			if test.prepare != nil {
				test.prepare(fake)
			}
			path := b.dieWhileApplying()
			fake.ApplyHook = nil
			open := b.succeed(path)
			if len(open) != test.open {
				t.Fatalf("%d calls stay open, want %d", len(open), test.open)
			}
			if test.open > 0 {
				return
			}
			b.mustApply(engine.PlanOptions{})
			b.wantActions(b.mustPlan(engine.PlanOptions{}))
			want := strings.Count(test.after, "resource")
			if got := len(fake.IDs(thing)); got != want || b.state.Count() != want {
				t.Errorf("the cloud has %d objects and the state %d, want %d", got, b.state.Count(), want)
			}
		})
	}
}

func refuseApply(p *providerstest.Provider) {
	p.ApplyHook = func(context.Context, providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		return failing(providers.ApplyResourceChangeResponse{})
	}
}

// dieWhileApplying applies but keeps neither the state nor any result.
func (b *bench) dieWhileApplying() string {
	b.t.Helper()
	config := b.load()
	plan, diags := b.engine.Plan(b.t.Context(), config, b.state, engine.PlanOptions{})
	if diags.HasErrors() {
		b.t.Fatal(diags.Err())
	}
	path := filepath.Join(b.t.TempDir(), "journal")
	j, _, err := journal.Open(path)
	if err != nil {
		b.t.Fatal(err)
	}
	recorder := &dyingRecorder{Journal: j}
	b.engine.Apply(b.t.Context(), config, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: recorder})
	if recorder.count == 0 {
		b.t.Fatal("nothing was applied")
	}
	if err := j.Close(); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// succeed takes up a dead process's journal and returns what stays open.
func (b *bench) succeed(path string) []journal.Intent {
	b.t.Helper()
	j, entries, err := journal.Open(path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	open, err := journal.Replay(b.state, entries)
	if err != nil {
		b.t.Fatal(err)
	}
	if len(open) == 0 {
		b.t.Fatal("the journal has no open call")
	}
	settled, diags := b.engine.Settle(b.t.Context(), b.load(), b.state, open, engine.PlanOptions{})
	if diags.HasErrors() && len(settled.Open) == 0 {
		b.t.Fatal(diags.Err())
	}
	b.state = settled.State
	return settled.Open
}

func TestDataSourcesWaitForWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": `
resource "fake_thing" "a" { name = "a" }
data "fake_data" "known" { of = "x" }
data "fake_data" "unknown" { of = fake_thing.a.id }
data "fake_data" "after" {
  of         = "y"
  depends_on = [fake_thing.a]
}
output "all" { value = [data.fake_data.known.result, data.fake_data.unknown.result, data.fake_data.after.result] }
`})
	plan := b.mustPlan(engine.PlanOptions{})
	b.wantActions(plan, "read data.fake_data.after", "read data.fake_data.unknown", "create fake_thing.a")
	if got := len(fake.Calls("ReadDataSource")); got != 1 {
		t.Errorf("%d data sources were read while planning, want 1", got)
	}
	b.mustApply(engine.PlanOptions{})
	plan = b.mustPlan(engine.PlanOptions{})
	b.wantActions(plan)
	if !b.output("all").IsWhollyKnown() || plan.Applyable() {
		t.Error("not converged")
	}
}

func TestIgnoreChanges(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		ignore string
		want   []string
	}{
		"attribute":   {"[name]", nil},
		"map element": {`[tags["x"], name]`, nil},
		"other":       {"[zone]", []string{"update fake_thing.a"}},
		"all":         {"all", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := newFakeBench(t)
			config := "resource \"fake_thing\" \"a\" {\n name = \"%s\"\n tags = { x = \"%s\", y = \"1\" }\n lifecycle {\n ignore_changes = %s\n }\n}"
			b.write(map[string]string{"main.tf": fmt.Sprintf(config, "one", "1", test.ignore)})
			b.mustApply(engine.PlanOptions{})
			x := "2"
			if name == "attribute" {
				x = "1"
			}
			b.write(map[string]string{"main.tf": fmt.Sprintf(config, "two", x, test.ignore)})
			b.wantActions(b.mustPlan(engine.PlanOptions{}), test.want...)
		})
	}
}

func TestDriftIsFoundAndRestored(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": "resource \"fake_thing\" \"a\" {\n strategy = { kind = \"rolling\" }\n port {\n number = 1\n }\n}"})
	b.mustApply(engine.PlanOptions{})
	recorded := b.state.Object(instanceAddr(t, "fake_thing.a")).Decoded().Value
	id := fake.IDs(thing)[0]
	attrs := fake.Object(thing, id).AsValueMap()
	attrs["note"] = cty.StringVal("by hand")
	strategy := attrs["strategy"].AsValueMap()
	strategy["surge"] = cty.StringVal("9")
	attrs["strategy"] = cty.ObjectVal(strategy)
	fake.SetObject(thing, id, cty.ObjectVal(attrs))

	plan := b.mustPlan(engine.PlanOptions{})
	if len(plan.Drift) != 1 || plan.Drift[0].Action != plans.Update {
		t.Fatalf("drift %+v", plan.Drift)
	}
	b.wantActions(plan) // what the configuration leaves open is accepted as it is
	opts := engine.PlanOptions{Overrides: func(addr addrsInstance) plans.Overrides {
		return plans.Overrides{Recorded: recorded, Restore: []string{"note", "strategy"}}
	}}
	b.wantActions(b.mustPlan(opts), "update fake_thing.a")
	b.mustApply(opts)
	if !fake.Object(thing, id).RawEquals(recorded) {
		t.Errorf("got %#v", fake.Object(thing, id))
	}
	plan = b.mustPlan(engine.PlanOptions{})
	b.wantActions(plan)
	if len(plan.Drift) != 0 {
		t.Error("the drift is still there")
	}
}

func TestRefreshOnlyTakesUpReality(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": "resource \"fake_thing\" \"a\" {\n name = \"a\"\n}\noutput \"name\" {\n value = fake_thing.a.name\n}"})
	b.mustApply(engine.PlanOptions{})
	id := fake.IDs(thing)[0]
	attrs := fake.Object(thing, id).AsValueMap()
	attrs["name"] = cty.StringVal("by hand")
	fake.SetObject(thing, id, cty.ObjectVal(attrs))
	plan := b.mustPlan(engine.PlanOptions{Mode: plans.RefreshOnlyMode})
	b.wantActions(plan)
	if !plan.Applyable() {
		t.Error("the plan is empty")
	}
	b.mustApply(engine.PlanOptions{Mode: plans.RefreshOnlyMode})
	if got := b.output("name").AsString(); got != "by hand" {
		t.Errorf("output is %q", got)
	}
	if got := fake.Object(thing, id).GetAttr("name").AsString(); got != "by hand" {
		t.Errorf("the real object was changed to %q", got)
	}
}

func TestProviderConfigurationFromAResource(t *testing.T) {
	t.Parallel()
	b, _ := newFakeBench(t)
	b.write(map[string]string{"main.tf": `
resource "terraform_data" "region" { input = "eu" }
provider "fake" { region = terraform_data.region.output }
resource "fake_thing" "a" { name = "a" }
`})
	b.mustApply(engine.PlanOptions{})
	b.wantActions(b.mustPlan(engine.PlanOptions{}))
	// The state says so too, for the day on which the configuration is gone.
	for _, r := range b.state.Resources() {
		for _, inst := range r.Instances {
			if r.Addr.Type == thing && !slices.Equal(inst.Current.Dependencies, []string{"terraform_data.region"}) {
				t.Errorf("%s depends on %q", r.Addr, inst.Current.Dependencies)
			}
		}
	}
	b.log.take()
	b.mustApply(engine.PlanOptions{Mode: plans.DestroyMode})
	if got := b.log.take(); !slices.Equal(got, []string{"delete fake_thing.a", "delete terraform_data.region"}) {
		t.Errorf("order of destruction: %q", got)
	}
}

func TestPreventDestroy(t *testing.T) {
	t.Parallel()
	b, _ := newFakeBench(t)
	config := "resource \"fake_thing\" \"a\" {\n zone = \"%s\"\n lifecycle {\n prevent_destroy = true\n }\n}"
	b.write(map[string]string{"main.tf": fmt.Sprintf(config, "1")})
	b.mustApply(engine.PlanOptions{})
	b.write(map[string]string{"main.tf": fmt.Sprintf(config, "2")})
	for name, opts := range map[string]engine.PlanOptions{"replace": {}, "destroy": {Mode: plans.DestroyMode}} {
		plan, diags := b.plan(opts)
		if err := diags.Err(); err == nil || !strings.Contains(err.Error(), "Instance cannot be destroyed") || !plan.Errored {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCancelledApplyRecordsWhatWasUnderWay(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	var config strings.Builder
	for i := range 20 {
		fmt.Fprintf(&config, "resource \"fake_thing\" \"t%02d\" {\n name = \"%d\"\n", i, i)
		if i > 0 {
			fmt.Fprintf(&config, " depends_on = [fake_thing.t%02d]\n", i-1)
		}
		config.WriteString("}\n")
	}
	b.write(map[string]string{"main.tf": config.String()})
	ctx, cancel := context.WithCancel(t.Context())
	fake.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		if len(fake.IDs(thing)) == 3 {
			cancel()
		}
		return fake.ApplyDefault(req)
	}
	loaded := b.load()
	plan, diags := b.engine.Plan(ctx, loaded, b.state, engine.PlanOptions{})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	j, _, err := journal.Open(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	state, diags := b.engine.Apply(ctx, loaded, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: j})
	if err := diags.Err(); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("got %v", err)
	}
	if got := len(fake.IDs(thing)); got != state.Count() || got >= 20 {
		t.Errorf("the cloud has %d objects and the state %d", got, state.Count())
	}
	b.state = state
	fake.ApplyHook = nil
	b.mustApply(engine.PlanOptions{})
	if got := len(fake.IDs(thing)); got != 20 {
		t.Errorf("the cloud has %d objects, want 20", got)
	}
}

// hanging is a provider whose changes hang until its process is ended.
type hanging struct {
	*providerstest.Provider
	begun, ended chan struct{}
	heeds        bool // whether it stops when it is asked to
	once         sync.Once
}

func (h *hanging) Stop(ctx context.Context) error {
	if h.heeds {
		h.once.Do(func() { close(h.ended) })
	}
	return h.Provider.Stop(ctx)
}

func (h *hanging) Close() error {
	h.once.Do(func() { close(h.ended) })
	return nil
}

func (h *hanging) ApplyResourceChange(context.Context, providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
	close(h.begun)
	<-h.ended
	return providers.ApplyResourceChangeResponse{Unanswered: !h.heeds, Diagnostics: tfdiags.New(tfdiags.Error, "Call failed", "It was cut off.")}
}

type hangingSource struct{ provider *hanging }

func (s hangingSource) Start(context.Context, addrs.Provider) (providers.Interface, tfdiags.Diagnostics) {
	return s.provider, nil
}

func TestCancelledApplyEndsAlthoughAProviderHangs(t *testing.T) {
	t.Parallel()
	for name, heeds := range map[string]bool{"heeds the request to stop": true, "has to be ended": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hanging{Provider: providerstest.New(fakeSchema()), begun: make(chan struct{}), ended: make(chan struct{}), heeds: heeds}
			b := newBench(t, nil)
			b.engine = engine.New(engine.Options{Providers: hangingSource{h}, StopGrace: time.Millisecond})
			b.write(map[string]string{"main.tf": "resource \"fake_thing\" \"a\" {\n name = \"a\"\n}\n"})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			config := b.load()
			plan, diags := b.engine.Plan(ctx, config, b.state, engine.PlanOptions{})
			if diags.HasErrors() {
				t.Fatal(diags.Err())
			}
			j, _, err := journal.Open(filepath.Join(t.TempDir(), "journal"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = j.Close() }()
			go func() {
				<-h.begun
				cancel()
			}()
			state, diags := b.engine.Apply(ctx, config, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: j})
			if !strings.Contains(fmt.Sprint(diags.Err()), "unknown outcome") || state.Count() != 0 {
				t.Errorf("%d objects: %v", state.Count(), diags.Err())
			}
			if pending := j.Pending(); len(pending) != 1 || pending[0].Address != "fake_thing.a" {
				t.Errorf("pending: %+v", pending)
			}
		})
	}
}

// TestCancelledApplyLetsCallsEnd: asking a provider to stop makes it break off what
// it does, so it is not asked before it had its time.
func TestCancelledApplyLetsCallsEnd(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.engine = engine.New(engine.Options{Providers: source{"fake": func() providers.Interface { return fake }}, StopGrace: time.Hour})
	b.write(map[string]string{"main.tf": "resource \"fake_thing\" \"a\" {\n name = \"a\"\n}\n"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	fake.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		cancel()
		return fake.ApplyDefault(req)
	}
	config := b.load()
	plan, diags := b.engine.Plan(ctx, config, b.state, engine.PlanOptions{})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	j, _, err := journal.Open(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	state, _ := b.engine.Apply(ctx, config, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: j})
	if state.Count() != 1 || len(j.Pending()) != 0 || fake.Stopped() {
		t.Errorf("%d objects, %d pending, stopped %t", state.Count(), len(j.Pending()), fake.Stopped())
	}
}

func TestWarmPlanCallsReadsOnly(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": "resource \"fake_thing\" \"a\" {\n count = 5\n name = \"n${count.index}\"\n}"})
	b.mustApply(engine.PlanOptions{})
	config := b.load()
	for range 2 {
		if _, diags := b.engine.Plan(t.Context(), config, b.state, engine.PlanOptions{}); diags.HasErrors() {
			t.Fatal(diags.Err())
		}
	}
	fake.ResetCalls()
	plan, _ := b.engine.Plan(t.Context(), config, b.state, engine.PlanOptions{})
	if got, reads := len(fake.Calls()), len(fake.Calls("ReadResource")); got != 5 || reads != 5 || plan.Applyable() {
		t.Errorf("%d calls, %d of them reads", got, reads)
	}
}

func TestZeroApprovalAppliesNothing(t *testing.T) {
	t.Parallel()
	b, _ := newFakeBench(t)
	b.write(map[string]string{"main.tf": ""})
	if _, diags := b.engine.Apply(t.Context(), b.load(), guard.Approved{}, engine.ApplyOptions{}); !diags.HasErrors() {
		t.Error("a plan that nobody approved was taken")
	}
}
