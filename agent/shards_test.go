package agent_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/lease"
)

// twoShards is one environment on which two agents work side by side: net has what names
// begin with net, app the rest. app's things refer to net's.
func twoShards(t *testing.T) (w *world, net, app *partner) {
	t.Helper()
	w = newWorld(t)
	if _, err := w.repo.RemoveDocuments(t.Context(), w.signing(), w.agentDoc().Ref()); err != nil {
		t.Fatal(err)
	}
	netScope, appScope := w.scope(control.DriftEnforce, 0), w.scope(control.DriftEnforce, 0)
	netScope.Name, netScope.Include = "net", []control.Match{{Address: "cloud_thing.net*"}}
	appScope.Name, appScope.Include = "app", []control.Match{{Address: "cloud_thing.app*"}}
	w.declare(netScope, appScope)
	return w, w.shard("net"), w.shard("app")
}

// shard declares an agent with a shard and a scope of its own.
func (w *world) shard(name string) *partner {
	w.t.Helper()
	return w.partner(name, func(doc *control.Agent) { doc.Shard, doc.Scopes = name, []string{name} })
}

const sharded = `
resource "cloud_thing" "net" {
  count = 2
  name  = "net-${count.index}"
}
resource "cloud_thing" "app" {
  name   = "app"
  labels = { of = cloud_thing.net[1].id }
}
`

func TestShardsWorkSideBySide(t *testing.T) {
	t.Parallel()
	w, net, app := twoShards(t)
	w.publish(sharded)
	app.round(control.OutcomeFailed) // it waits
	if got := app.beat().Message; len(w.names()) != 0 || !strings.Contains(got, "cloud_thing.app waits for what other shards are to make: cloud_thing.net[0] (prod, shard net)") {
		t.Errorf("the cloud has %q; the agent says %q", w.names(), got)
	}
	net.round(control.OutcomeApplied)
	if got := w.names(); !slices.Equal(got, []string{"net-0", "net-1"}) {
		t.Errorf("the cloud has %q", got)
	}
	app.round(control.OutcomeApplied)
	app.round(control.OutcomeConverged)
	net1, _ := w.find("net-1")
	if got := w.attribute("app", "labels").AsValueMap()["of"].AsString(); got != net1 {
		t.Errorf("app refers to %q, want %q", got, net1)
	}
	for _, p := range []*partner{net, app} {
		receipts := p.receipts()
		if last := receipts[len(receipts)-1]; last.Epoch != 1 {
			t.Errorf("%s works under epoch %d, want 1", p.name, last.Epoch)
		}
	}
	if got := app.beat().Objects; got != 1 {
		t.Errorf("app manages %d objects, want 1", got)
	}
	// What the other shard has is not read, and its drift is not app's business.
	w.remove("net-0")
	w.cloud.ResetCalls()
	app.round(control.OutcomeConverged)
	if got := len(w.cloud.Calls("ReadResource")); got != 1 {
		t.Errorf("app read %d objects, want its own", got)
	}
	net.round(control.OutcomeApplied)
}

// TestShardRemovesOnlyItsOwn drops everything from the revision, one shard after the other.
func TestShardRemovesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	w, net, app := twoShards(t)
	w.publish(sharded)
	w.settleShards(net, app)
	w.publish("locals {}\n")
	w.advance(time.Minute)
	app.round(control.OutcomeApplied)
	if got := w.names(); !slices.Equal(got, []string{"net-0", "net-1"}) {
		t.Errorf("the cloud has %q after the first shard's round", got)
	}
	net.round(control.OutcomeApplied)
	if got := w.names(); len(got) != 0 {
		t.Errorf("the cloud has %q", got)
	}
}

// settleShards does rounds until both shards have made what is theirs.
func (w *world) settleShards(net, app *partner) {
	w.t.Helper()
	net.round(control.OutcomeApplied)
	app.start()
	for _, p := range []*partner{app, net, app} {
		w.advance(time.Minute)
		p.agent.Round(w.t.Context())
	}
	if got := w.names(); !slices.Equal(got, []string{"app", "net-0", "net-1"}) {
		w.t.Fatalf("the cloud has %q", got)
	}
}

// TestObjectMovesToAnotherShard has a scope grow by what another one loses: the object
// is taken over, and not made again.
func TestObjectMovesToAnotherShard(t *testing.T) {
	t.Parallel()
	w, net, app := twoShards(t)
	w.publish(sharded)
	w.settleShards(net, app)
	netScope, appScope := w.scope(control.DriftEnforce, 0), w.scope(control.DriftEnforce, 0)
	netScope.Name, netScope.Include = "net", []control.Match{{Address: "cloud_thing.net[0]"}}
	appScope.Name, appScope.Include = "app", []control.Match{{Address: "cloud_thing.app"}, {Address: "cloud_thing.net[1]"}}
	w.declare(netScope, appScope)
	for range 2 {
		w.advance(time.Minute)
		app.round(control.OutcomeConverged)
		net.round(control.OutcomeConverged)
	}
	if app.beat().Objects != 2 || net.beat().Objects != 1 || w.creations() != 3 {
		t.Errorf("app has %d objects and net %d after %d creations; want 2, 1 and 3", app.beat().Objects, net.beat().Objects, w.creations())
	}
}

// TestOverlappingShardsAreRefused: with the same scopes, agents of different shards would
// write the same.
func TestOverlappingShardsAreRefused(t *testing.T) {
	t.Parallel()
	w, net, _ := twoShards(t)
	doc := net.doc()
	doc.Name, doc.Shard = "net-2", "other"
	_, err := w.repo.PutDocuments(t.Context(), w.signing(), doc)
	if err == nil || !strings.Contains(err.Error(), "scope net") {
		t.Errorf("declared: %v", err)
	}
}

// TestShardsFollowEachTheirOwn has an agent of one shard end, and its partner take over.
func TestShardsFollowEachTheirOwn(t *testing.T) {
	t.Parallel()
	w, net, app := twoShards(t)
	w.publish(sharded)
	w.settleShards(net, app)
	second := w.partner("net-2", func(doc *control.Agent) { doc.Shard, doc.Scopes = "net", []string{"net"} })
	net.round(control.OutcomeConverged)
	second.round(control.OutcomeStandby)
	w.advance(time.Minute)
	net.round(control.OutcomeConverged)
	net.stop()
	w.remove("net-0")
	second.takeOver(control.OutcomeApplied)
	for shard, want := range map[string]int64{"net": 2, "app": 1} {
		current, _, err := lease.Current(t.Context(), w.store.Store, control.Shard{Environment: "prod", Name: shard})
		if err != nil || current.Epoch != want {
			t.Errorf("shard %s: epoch %d, %v; want %d", shard, current.Epoch, err, want)
		}
	}
}
