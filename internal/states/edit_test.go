package states

import (
	"errors"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/addrs"
)

// What moves do to states is compared with terraform in a script of the command line.
// Here is what must hold whatever is moved.

func recorded(t *testing.T, texts ...string) *State {
	t.Helper()
	provider, diags := addrs.ParseProviderConfig(`provider["registry.terraform.io/hashicorp/x"]`)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	s := New()
	for _, text := range texts {
		addr, diags := addrs.ParseResourceInstance(text)
		if diags.HasErrors() {
			t.Fatal(diags.Err())
		}
		s.SetObject(addr, provider, &Object{AttrsJSON: []byte(`{"id":"` + strings.ReplaceAll(text, `"`, "'") + `"}`), Dependencies: []string{"x_a.dep"}})
	}
	return s
}

func target(t *testing.T, text string) addrs.Target {
	t.Helper()
	out, diags := addrs.ParseTarget(text)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return out
}

func listed(s *State) string {
	var out []string
	s.Each(func(addr addrs.ResourceInstance, _ *Resource, _ *Instance) { out = append(out, addr.String()) })
	return strings.Join(out, " ")
}

func TestMove(t *testing.T) {
	t.Parallel()
	all := []string{"x_a.one", "x_a.many[0]", "x_a.many[1]", `module.m["k"].x_a.in`, "module.m2.x_a.in"}
	for name, test := range map[string]struct {
		from, to, want string
		refused        error
	}{
		"instance":                   {"x_a.one", "x_a.two", `x_a.many[0] x_a.many[1] x_a.two module.m["k"].x_a.in module.m2.x_a.in`, nil},
		"instance into a module":     {"x_a.many[0]", "module.n.x_a.b", `x_a.many[1] x_a.one module.m["k"].x_a.in module.m2.x_a.in module.n.x_a.b`, nil},
		"whole resource":             {"x_a.many", "x_a.few", `x_a.few[0] x_a.few[1] x_a.one module.m["k"].x_a.in module.m2.x_a.in`, nil},
		"module":                     {`module.m["k"]`, "module.a", `x_a.many[0] x_a.many[1] x_a.one module.a.x_a.in module.m2.x_a.in`, nil},
		"module of a similar name":   {"module.m2", "module.b", `x_a.many[0] x_a.many[1] x_a.one module.b.x_a.in module.m["k"].x_a.in`, nil},
		"nothing there":              {"x_a.none", "x_a.two", "", ErrNothingThere},
		"no such instance":           {"x_a.many[7]", "x_a.two", "", ErrNothingThere},
		"no such module":             {"module.none", "module.b", "", ErrNothingThere},
		"instance is taken":          {"x_a.one", "x_a.many[0]", "", ErrTaken},
		"resource is taken":          {"x_a.many", "x_a.one", "", ErrTaken},
		"module is taken":            {`module.m["k"]`, "module.m2", "", ErrTaken},
		"another type":               {"x_a.one", "x_b.one", "", ErrKind},
		"many to one":                {"x_a.many", "x_a.two[0]", "", ErrKind},
		"module to resource":         {"module.m2", "x_a.two", "", ErrKind},
		"resource to module":         {"x_a.one", "module.b", "", ErrKind},
		"managed object to data one": {"x_a.one", "data.x_a.one", "", ErrKind},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := recorded(t, all...)
			before := listed(s)
			err := s.Move(target(t, test.from), s, target(t, test.to))
			if !errors.Is(err, test.refused) {
				t.Fatalf("got %v, want %v", err, test.refused)
			}
			if want := test.want; test.refused == nil && listed(s) != want {
				t.Errorf("got %s, want %s", listed(s), want)
			}
			if test.refused != nil && listed(s) != before {
				t.Errorf("a refused move leaves %s", listed(s))
			}
		})
	}
}

func TestMoveIntoAnotherState(t *testing.T) {
	t.Parallel()
	from, into := recorded(t, "x_a.one", "x_a.two"), recorded(t, "x_a.three")
	if err := from.Move(target(t, "x_a.one"), into, target(t, "x_a.four")); err != nil {
		t.Fatal(err)
	}
	if listed(from) != "x_a.two" || listed(into) != "x_a.four x_a.three" {
		t.Errorf("got %s and %s", listed(from), listed(into))
	}
}

// TestDependentsOfWhatMoved lose their dependencies, and nobody else does.
func TestDependentsOfWhatMoved(t *testing.T) {
	t.Parallel()
	s := recorded(t, "x_a.dep", "x_a.user")
	kept := s.Copy()
	if err := s.Move(target(t, "x_a.dep"), s, target(t, "x_a.moved")); err != nil {
		t.Fatal(err)
	}
	addr, _ := addrs.ParseResourceInstance("x_a.user")
	if got := s.Object(addr).Dependencies; got != nil {
		t.Errorf("the dependent keeps %v", got)
	}
	if got := kept.Object(addr).Dependencies; len(got) != 1 {
		t.Errorf("a copy from before lost its dependencies: %v", got)
	}
}

func TestTaintKeepsTheRest(t *testing.T) {
	t.Parallel()
	obj := &Object{SchemaVersion: 3, AttrsJSON: []byte("{}"), Private: []byte("p"), Dependencies: []string{"x_a.b"}, CreateBeforeDestroy: true}
	tainted := obj.WithTaint(true)
	if obj.Tainted || !tainted.Tainted || tainted.SchemaVersion != 3 || string(tainted.Private) != "p" || len(tainted.Dependencies) != 1 || !tainted.CreateBeforeDestroy {
		t.Errorf("got %+v of %+v", tainted, obj)
	}
}
