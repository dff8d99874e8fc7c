package states

import (
	"fmt"
	"maps"
	"math/rand"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
)

// content lists what a state records, by address and key of deposed objects.
func content(s *State) map[string]*Object {
	out := map[string]*Object{}
	s.Each(func(addr addrs.ResourceInstance, r *Resource, inst *Instance) {
		name := addr.String() + " of " + r.Provider.String() + " "
		if inst.Current != nil {
			out[name] = inst.Current
		}
		for key, obj := range inst.Deposed {
			out[name+key] = obj
		}
	})
	return out
}

// Whatever is done to copies of a state, and to copies of those, changes no other.
func TestCopiesAreIndependent(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewSource(1))
	address := func() addrs.ResourceInstance {
		addr := addrs.ResourceInstance{Resource: addrs.Resource{Type: "t", Name: fmt.Sprint(rng.Intn(4))}, Key: addrs.IntKey(rng.Intn(3))}
		if rng.Intn(2) == 0 {
			addr.Module = addrs.ModuleInstance{{Name: "m"}}
		}
		return addr
	}
	providers := []addrs.ProviderConfig{{Provider: addrs.BuiltInProvider}, {Provider: addrs.BuiltInProvider, Alias: "b"}}
	maybe := func() *Object {
		if rng.Intn(3) == 0 {
			return nil
		}
		return &Object{Dependencies: []string{"t.0"}}
	}
	mutations := []func(s *State){
		func(s *State) { s.SetObject(address(), providers[rng.Intn(2)], maybe()) },
		func(s *State) { s.SetDeposed(address(), fmt.Sprint(rng.Intn(2)), providers[rng.Intn(2)], maybe()) },
		func(s *State) { s.Forget(address()) },
		func(s *State) { s.ReplaceProvider(addrs.BuiltInProvider, addrs.BuiltInProvider) },
		func(s *State) {
			from, to := address(), address()
			_ = s.Move(addrs.Target{Module: from.Module, Resource: from.Resource, Key: from.Key, HasKey: true}, s,
				addrs.Target{Module: to.Module, Resource: to.Resource, Key: to.Key, HasKey: true}) // a refusal changes nothing either
		},
	}
	all := []*State{New()}
	want := []map[string]*Object{{}}
	for step := range 20000 {
		i := rng.Intn(len(all))
		if rng.Intn(20) == 0 && len(all) < 40 {
			all = append(all, all[i].Copy())
			want = append(want, want[i])
		} else {
			mutations[rng.Intn(len(mutations))](all[i])
			want[i] = content(all[i])
		}
		j := rng.Intn(len(all))
		if got := content(all[j]); !maps.Equal(got, want[j]) {
			t.Fatalf("step %d on state %d changed state %d: got %v, want %v", step, i, j, got, want[j])
		}
		if k := rng.Intn(len(all)); maps.Equal(want[j], want[k]) != all[j].Same(all[k]) {
			t.Fatalf("step %d: states %d and %d are said to be the same: %v", step, j, k, all[j].Same(all[k]))
		}
	}
}

func TestSameSeesOutputsAndChecks(t *testing.T) {
	t.Parallel()
	base := New()
	base.Outputs["a"] = &Output{Value: cty.StringVal("x")}
	for name, change := range map[string]func(s *State){
		"value":     func(s *State) { s.Outputs["a"] = &Output{Value: cty.StringVal("y")} },
		"sensitive": func(s *State) { s.Outputs["a"] = &Output{Value: cty.StringVal("x"), Sensitive: true} },
		"another":   func(s *State) { s.Outputs["b"] = &Output{Value: cty.StringVal("x")} },
		"checks":    func(s *State) { s.CheckResults = []byte("[]") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := base.Copy()
			other.Outputs["a"] = &Output{Value: cty.StringVal("x")}
			if !other.Same(base) {
				t.Error("equal states are not the same")
			}
			if change(other); other.Same(base) {
				t.Error("a change is not seen")
			}
		})
	}
}
