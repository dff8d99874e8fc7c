package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/seal"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// ErrViolated is wrapped by every error that says that something happened which
// must never happen. Any other error is trouble of the harness.
var ErrViolated = errors.New("violated")

func violated(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrViolated}, args...)...)
}

// check holds everything that must be so after agents have converged against the
// cloud, its log and the store.
func (s *site) check(ctx context.Context) error {
	list, err := s.hand.List(ctx, cloudapi.Ref{Environment: s.name})
	if err != nil {
		return fmt.Errorf("list objects: %w", err)
	}
	objects := make(map[cloudapi.Ref]*cloudapi.Object, len(list))
	for _, o := range list {
		objects[o.Ref] = o
	}
	for _, step := range []func() error{
		func() error { return s.checkObjects(objects) },
		func() error { return s.ledger.epochs(ctx) },
		func() error { return s.checkLog(ctx) },
		func() error { return s.checkState(ctx, objects) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// checkObjects: every declared object exists, as declared, and no other.
func (s *site) checkObjects(objects map[cloudapi.Ref]*cloudapi.Object) error {
	pathOf := func(ref cloudapi.Ref) any {
		if o := objects[ref]; o != nil {
			return o.Status["path"]
		}
		return nil
	}
	for slot, o := range s.declared.objects {
		there := objects[o.ref]
		if there == nil {
			return violated("%s is declared and does not exist", o.ref)
		}
		for name, want := range s.declared.attributes(slot, pathOf) {
			if !sameJSON(there.Attributes[name], want) {
				return violated("%s has %s = %v, and %v is declared", o.ref, name, there.Attributes[name], want)
			}
		}
	}
	if len(objects) != len(s.declared.objects) {
		return violated("%d objects exist, and %d are declared", len(objects), len(s.declared.objects))
	}
	return nil
}

// checkLog: by the cloud's own log every object was created as often as it was
// declared anew, and never while it was there.
func (s *site) checkLog(ctx context.Context) error {
	if err := s.ledger.readLog(ctx); err != nil {
		return err
	}
	for ref, want := range s.declared.made {
		if got := s.ledger.made[ref]; got != want {
			return violated("%s was created %d times, and its declarations ask for %d", ref, got, want)
		}
	}
	return nil
}

// checkState: the newest state in the store, signed by an agent, has every object
// of the cloud as it is, and nothing else.
func (s *site) checkState(ctx context.Context, objects map[cloudapi.Ref]*cloudapi.Object) error {
	state, err := s.newestState(ctx, s.shard())
	if err != nil {
		return err
	}
	recorded, wrong := 0, error(nil)
	state.Each(func(addr addrs.ResourceInstance, _ *states.Resource, instance *states.Instance) {
		recorded++
		if err := sameObject(instance, objects, addr.Resource.Type); err != nil {
			wrong = violated("the state's %s: %w", addr, err)
		}
	})
	if wrong == nil && recorded != len(objects) {
		wrong = violated("the state has %d objects, and %d exist", recorded, len(objects))
	}
	return wrong
}

func (s *site) newestState(ctx context.Context, shard control.Shard) (*states.State, error) {
	newest := ""
	for info, err := range s.store.List(ctx, shard.StatePrefix()) {
		if err != nil {
			return nil, fmt.Errorf("list states: %w", err)
		}
		newest = info.Key
	}
	declared, err := s.repo.Environment(ctx, s.name)
	if err != nil {
		return nil, err
	}
	held, err := repository.NewestState(ctx, s.store, declared, shard, states.MaxFileSize)
	if errors.Is(err, repository.ErrNotFound) || err == nil && held.Key != newest {
		return nil, violated("no agent has signed the newest state, %s", newest)
	}
	if err != nil {
		return nil, err
	}
	data, err := seal.Open(ctx, seal.Subject{Environment: s.name, Kind: seal.KindState}, s.identities, held.Data, states.MaxFileSize)
	if err != nil {
		return nil, violated("the newest state, %s: %w", newest, err)
	}
	state, diags := states.Decode(data)
	return state, diags.Err()
}

// sameObject compares a record with the cloud's object in all that both have.
func sameObject(instance *states.Instance, objects map[cloudapi.Ref]*cloudapi.Object, kind string) error {
	if instance.Current == nil || len(instance.Deposed) > 0 {
		return fmt.Errorf("it has objects that are to be deleted")
	}
	var recorded map[string]any
	if err := json.Unmarshal(instance.Current.AttrsJSON, &recorded); err != nil {
		return err
	}
	text := func(name string) string { return fmt.Sprint(recorded[name]) }
	ref := cloudapi.Ref{Environment: text("environment"), Service: text("service"), Kind: kind[len("simcloud_"):], Name: text("name")}
	there := objects[ref]
	if there == nil {
		return fmt.Errorf("%s does not exist", ref)
	}
	if there.ID != text("id") {
		return fmt.Errorf("%s is %s, and %s is recorded", ref, there.ID, text("id"))
	}
	for _, attributes := range []map[string]any{there.Attributes, there.Status} {
		for name, want := range attributes {
			if !sameJSON(recorded[name], want) {
				return fmt.Errorf("%s has %s = %v, and %v is recorded", ref, name, want, recorded[name])
			}
		}
	}
	return nil
}

// sameJSON compares values as their JSON says.
func sameJSON(a, b any) bool {
	var out [2]any
	for i, value := range []any{a, b} {
		data, err := json.Marshal(value)
		if err != nil || json.Unmarshal(data, &out[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(out[0], out[1])
}
