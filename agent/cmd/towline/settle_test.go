package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/backend"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/providers/providerstest"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

// interrupted is a folder in which a run has ended in the middle of a creation.
type interrupted struct {
	t      *testing.T
	path   string
	config *configs.Config
	cloud  *providerstest.Provider
}

func newInterrupted(t *testing.T) *interrupted {
	t.Helper()
	dir := t.TempDir()
	err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte("resource \"cloud_thing\" \"a\" {\n  name = \"a\"\n}\n"), 0o600)
	config, diags := configs.Load(dir)
	if err != nil || diags.HasErrors() {
		t.Fatal(err, diags.Err())
	}
	i := &interrupted{t: t, path: filepath.Join(dir, workdir.DefaultStateFile), config: config, cloud: providerstest.New(&providers.Schema{
		Provider: &providers.Block{}, DataSources: providers.SchemaMap{}, Ephemerals: providers.SchemaMap{},
		ResourceTypes: providers.SchemaMap{"cloud_thing": {Block: &providers.Block{Attributes: map[string]*providers.Attribute{
			"id": {Type: cty.String, Computed: true}, "name": {Type: cty.String, Required: true},
		}}}},
	})}
	i.cloud.ReadHook = func(_ context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse { // by name
		found := cty.NullVal(req.PriorState.Type())
		for _, id := range i.cloud.IDs("cloud_thing") {
			if object := i.cloud.Object("cloud_thing", id); object.GetAttr("name").RawEquals(req.PriorState.GetAttr("name")) {
				found = object
			}
		}
		return providers.ReadResourceResponse{NewState: found}
	}
	planned := cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String), "name": cty.StringVal("a")})
	encoded, err := ctymsgpack.Marshal(planned, planned.Type())
	if err != nil {
		t.Fatal(err)
	}
	state := i.open()
	if _, err := state.Journal.Begin(journal.Intent{Address: "cloud_thing.a", Action: "create", Provider: `provider["registry.terraform.io/hashicorp/cloud"]`,
		Time: time.Now(), Planned: encoded}); err != nil {
		t.Fatal(err)
	}
	i.close(state)
	return i
}

func (i *interrupted) open() *workdir.State {
	i.t.Helper()
	state, diags := workdir.Open(i.t.Context(), backend.File(i.path), workdir.Options{Operation: "test", Journal: i.path + ".journal"})
	if diags.HasErrors() {
		i.t.Fatal(diags.Err())
	}
	return state
}

func (i *interrupted) close(state *workdir.State) {
	i.t.Helper()
	if err := state.Close(); err != nil {
		i.t.Fatal(err)
	}
}

// Start implements [engine.ProviderSource].
func (i *interrupted) Start(context.Context, addrs.Provider) (providers.Interface, tfdiags.Diagnostics) {
	return lasting{i.cloud}, nil
}

// lasting is a provider that outlives those who end it.
type lasting struct{ *providerstest.Provider }

func (lasting) Close() error { return nil }

// run is a run up to its plan: what it says, how many calls stay open, and the state.
func (i *interrupted) run() (said string, open int, state *states.State) {
	i.t.Helper()
	var out bytes.Buffer
	opened := i.open()
	defer i.close(opened)
	e := engine.New(engine.Options{Providers: i})
	defer func() { _ = e.Close() }()
	s := &session{workspace: &workspace{config: i.config, engine: e}, app: &app{stdout: &out, stderr: &out}, state: opened}
	if !s.settle(i.t.Context()) {
		i.t.Errorf("the run does not go on:\n%s", &out)
	}
	return out.String(), len(opened.Open), opened.State
}

// A creation whose object is not there is told of once, and the object is looked for in
// later runs: it may have been on its way.
func TestAbsentCreateIsLookedForAgain(t *testing.T) {
	t.Parallel()
	i := newInterrupted(t)
	const warning, found = "Object of an interrupted creation is not there", "finding out what became of them"
	if said, open, state := i.run(); strings.Count(said, warning) != 1 || !strings.Contains(said, found) || open != 1 || state.Count() != 0 {
		t.Errorf("%d open, %d objects, and it says\n%s", open, state.Count(), said)
	}
	if said, open, state := i.run(); said != "" || open != 1 || state.Count() != 0 {
		t.Errorf("again: %d open, %d objects, and it says\n%s", open, state.Count(), said)
	}
	i.cloud.SetObject("cloud_thing", "7", cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("7"), "name": cty.StringVal("a")}))
	if said, open, state := i.run(); open != 0 || state.Count() != 1 {
		t.Errorf("it has appeared: %d open, %d objects, and it says\n%s", open, state.Count(), said)
	}
	if _, err := os.Stat(i.path + ".journal"); !os.IsNotExist(err) {
		t.Errorf("the journal is left: %v", err)
	}
}

// Whoever knows that the object was not created ends the looking.
func TestAbsentCreateIsSettledByHand(t *testing.T) {
	t.Parallel()
	i := newInterrupted(t)
	said, _, _ := i.run()
	if !strings.Contains(strings.Join(strings.Fields(said), " "), `end that with "towline settle -absent cloud_thing.a"`) {
		t.Errorf("it says\n%s", said)
	}
	var out bytes.Buffer
	state := i.open()
	if code := (&app{stdout: &out, stderr: &out}).settleAbsent(state, "cloud_thing.a"); code != exitOK || len(state.Open) != 0 {
		t.Errorf("exit code %d, %d open: %s", code, len(state.Open), &out)
	}
	i.close(state)
	if said, open, _ := i.run(); said != "" || open != 0 {
		t.Errorf("afterwards: %d open, and it says\n%s", open, said)
	}
}
