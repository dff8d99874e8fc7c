package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// kinds of objects by the shard that has them: those of one refer to those of the other.
var kindsOf = map[string][]string{"configs": {"simcloud_config"}, "rest": {"simcloud_secret_claim", "simcloud_network_rule"}}

// newShards is a site on which two agents work side by side.
func newShards(t *testing.T, opts *Options) *site {
	t.Helper()
	s := &site{opts: opts, name: "site-1", dir: filepath.Join(opts.Dir, "site-1"), random: rand.New(rand.NewPCG(opts.Seed, 1)),
		declared: newDeclared("site-1"), reported: make(chan struct{}, 1), report: &Report{}}
	s.ledger = newLedger(s)
	t.Cleanup(func() {
		if err := s.close(false); err != nil {
			t.Error(err)
		}
	})
	err := errors.Join(s.makeCloud(t.Context()), s.makeRepository(t.Context()))
	for shard, kinds := range kindsOf {
		doc := control.Scope{Version: control.FormatVersion, Environment: s.name, Name: shard, Drift: control.Drift{Mode: control.DriftEnforce}}
		for _, kind := range kinds {
			doc.Include = append(doc.Include, control.Match{Type: kind})
		}
		_, putErr := s.repo.PutDocuments(t.Context(), s.sign(), doc)
		err = errors.Join(err, putErr, s.addAgent(t.Context(), shard, shard))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestShardsOfRealAgents has two agents make revisions true together: what one makes, the
// other refers to. Each object is made once, and is in the state of its shard only.
func TestShardsOfRealAgents(t *testing.T) {
	t.Parallel()
	opts := options(t)
	if err := opts.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := newShards(t, opts)
	for range 5 {
		s.declared.change(s.random)
		if err := s.publish(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, m := range s.members {
			if err := m.start(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.awaitShards(t.Context()); err != nil {
			t.Fatal(s.stuck(err.Error()))
		}
	}
	if err := s.checkLog(t.Context()); err != nil {
		t.Error(err)
	}
}

// awaitShards waits until everything is as declared, and in the states that it belongs to.
func (s *site) awaitShards(ctx context.Context) (err error) {
	for late := time.Now().Add(patience); time.Now().Before(late); {
		select {
		case <-s.reported:
		case <-time.After(poll):
		}
		if err = s.checkShards(ctx); err == nil {
			return nil
		}
	}
	return err
}

func (s *site) checkShards(ctx context.Context) error {
	list, err := s.hand.List(ctx, cloudapi.Ref{Environment: s.name})
	if err != nil {
		return err
	}
	objects := make(map[cloudapi.Ref]*cloudapi.Object, len(list))
	for _, o := range list {
		objects[o.Ref] = o
	}
	if err := s.checkObjects(objects); err != nil {
		return err
	}
	recorded := 0
	for shard, kinds := range kindsOf {
		state, err := s.newestState(ctx, control.Shard{Environment: s.name, Name: shard})
		if err != nil {
			return err
		}
		recorded += state.Count()
		if err := onlyKinds(state, kinds, objects); err != nil {
			return err
		}
	}
	if recorded != len(objects) {
		return violated("the states have %d objects, and %d exist", recorded, len(objects))
	}
	return nil
}

// onlyKinds: a state has objects of some kinds only, as they are.
func onlyKinds(state *states.State, kinds []string, objects map[cloudapi.Ref]*cloudapi.Object) (wrong error) {
	state.Each(func(addr addrs.ResourceInstance, _ *states.Resource, instance *states.Instance) {
		found := false
		for _, kind := range kinds {
			found = found || addr.Resource.Type == kind
		}
		if !found {
			wrong = violated("%s is in the state of another shard", addr)
		} else if err := sameObject(instance, objects, addr.Resource.Type); err != nil {
			wrong = violated("the state's %s: %w", addr, err)
		}
	})
	return wrong
}
