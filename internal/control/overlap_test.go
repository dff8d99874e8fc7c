package control

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func scopeOf(include ...Match) Scope { return Scope{Include: include} }

func without(s Scope, exclude ...Match) Scope { s.Exclude = exclude; return s }

func ignoring(s Scope, patterns ...string) Scope { s.IgnoreAttributes = patterns; return s }

func TestOverlap(t *testing.T) {
	t.Parallel()
	everything := scopeOf(Match{Address: "**"})
	tests := map[string]struct {
		a, b Scope
		want string // "" for none
	}{
		"same":                             {everything, everything, "z.z"},
		"other types":                      {scopeOf(Match{Type: "aws_*"}), scopeOf(Match{Type: "google_*"}), ""},
		"wildcards that meet":              {scopeOf(Match{Type: "aws_*"}), scopeOf(Match{Type: "*_vpc"}), "aws_vpc.z"},
		"address against type":             {scopeOf(Match{Address: "aws_vpc.main"}), scopeOf(Match{Type: "aws_vpc"}), "aws_vpc.main"},
		"other modules":                    {scopeOf(Match{Module: "module.a"}), scopeOf(Match{Module: "module.b"}), ""},
		"module in a module":               {scopeOf(Match{Module: "module.a"}), scopeOf(Match{Module: "module.a.module.b"}), "module.a.module.b.z.z"},
		"module instance":                  {scopeOf(Match{Module: `module.a["x"]`}), scopeOf(Match{Module: "module.a"}), `module.a["x"].z.z`},
		"other module instances":           {scopeOf(Match{Module: `module.a["x"]`}), scopeOf(Match{Module: `module.a["y"]`}), ""},
		"root only against modules":        {scopeOf(Match{Address: "*.*"}), scopeOf(Match{Address: "module.*.**"}), ""},
		"no address is that of a type":     {scopeOf(Match{Address: "a_b"}), everything, ""},
		"data sources are nobody's":        {scopeOf(Match{Address: "data.**"}), everything, ""},
		"excluded here":                    {without(everything, Match{Type: "aws_vpc"}), scopeOf(Match{Type: "aws_vpc"}), ""},
		"excluded but for one":             {without(everything, Match{Address: "*.a*"}, Match{Address: "module.**"}), scopeOf(Match{Type: "x"}), "x.z"},
		"excludes that leave nothing":      {without(scopeOf(Match{Address: "x.*"}), Match{Type: "x"}), everything, ""},
		"other providers":                  {scopeOf(Match{Provider: "hashicorp/aws"}), scopeOf(Match{Provider: "hashicorp/google"}), ""},
		"host of a provider":               {scopeOf(Match{Provider: "hashicorp/*"}), scopeOf(Match{Provider: "registry.terraform.io/*/aws"}), "z.z"},
		"provider against address":         {scopeOf(Match{Provider: "hashicorp/aws"}), scopeOf(Match{Address: "a.b"}), "a.b"},
		"excluded of a provider":           {without(everything, Match{Provider: "*/*/*"}), everything, ""},
		"other attributes":                 {scopeOf(Match{Address: "**", Attributes: []string{"tags"}}), scopeOf(Match{Address: "**", Except: []string{"tags"}}), ""},
		"element of an attribute":          {scopeOf(Match{Address: "a.b", Attributes: []string{`tags["x"]`}}), scopeOf(Match{Address: "a.b", Attributes: []string{"tags"}}), `a.b.tags["x"]`},
		"other elements":                   {scopeOf(Match{Address: "a.b", Attributes: []string{`tags["x"]`}}), scopeOf(Match{Address: "a.b", Attributes: []string{`tags["y"]`}}), ""},
		"wildcard elements":                {scopeOf(Match{Address: "a.b", Attributes: []string{`tags["k8s/*"]`}}), scopeOf(Match{Address: "a.b", Except: []string{`tags["k8s/a*"]`, `tags["k8s/"]`, "[^t]*"}}), `a.b.tags["k8s/z"]`},
		"all elements are not the whole":   {scopeOf(Match{Address: "a.b", Except: []string{"tags[*]"}}), scopeOf(Match{Address: "a.b", Attributes: []string{"tags"}}), "a.b.tags"},
		"nested attribute":                 {scopeOf(Match{Address: "a.b", Attributes: []string{"block.x"}}), scopeOf(Match{Address: "a.b", Except: []string{"block[0]"}}), "a.b.block.x"},
		"below what is excepted":           {scopeOf(Match{Address: "a.b", Attributes: []string{"block[0].x"}}), scopeOf(Match{Address: "a.b", Except: []string{"block"}}), ""},
		"ignored by type":                  {ignoring(everything, "x.size"), scopeOf(Match{Type: "x", Attributes: []string{"size"}}), ""},
		"ignored by type in modules":       {ignoring(everything, "x.size"), scopeOf(Match{Module: "module.m", Type: "x", Attributes: []string{"size"}}), ""},
		"ignored by address":               {ignoring(everything, "x.a.size"), scopeOf(Match{Address: "x.*", Attributes: []string{"size"}}), "x.z.size"},
		"ignored everywhere":               {ignoring(everything, "**.size"), scopeOf(Match{Type: "x", Attributes: []string{"size"}}), ""},
		"each whole, all attributes apart": {ignoring(everything, "**"), everything, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, pair := range [][2]Scope{{test.a, test.b}, {test.b, test.a}} {
				got, overlaps := Overlap(pair[0], pair[1])
				if got != test.want || overlaps != (test.want != "") {
					t.Errorf("got %q, %v; want %q", got, overlaps, test.want)
				}
			}
		})
	}
}

// small is a vocabulary so small that random patterns and addresses often meet.
type small struct{ *rand.Rand }

func (r small) one(of ...string) string { return of[r.IntN(len(of))] }

func (r small) match(attributes bool) Match {
	var m Match
	switch r.IntN(4) {
	case 0:
		m.Type = r.one("a", "b", "a*", "*b", "*")
	case 1:
		m.Module = r.one("module.a", `module.a["k"]`, "module.*", "module.a.module.b", "**.module.b")
	case 2:
		m.Provider = r.one("h/a", "h/*", "*/b", "registry.terraform.io/h/b")
	}
	if r.IntN(2) == 0 || m.Type+m.Module+m.Provider == "" {
		m.Address = r.one("**", "a.*", "*.a", "a.b", "**.a.a", `a.a["k"]`, "a.a[*]", "module.a.**", "module.*.b.*", "*.a*", "a.ab", `**.b["k*"]`)
	}
	if !attributes || r.IntN(2) == 0 {
		return m
	}
	for range 1 + r.IntN(2) {
		pattern := r.one("a", "b", "a.b", "a[0]", `a["k"]`, "a[*].b", "*", "a*", `b["k*"]`, "**.b", "a[0].b", `a["k"]["l"]`)
		if r.IntN(2) == 0 {
			m.Attributes = append(m.Attributes, pattern)
		} else {
			m.Except = append(m.Except, pattern)
		}
	}
	return m
}

func (r small) scope() Scope {
	var s Scope
	for range 1 + r.IntN(2) {
		s.Include = append(s.Include, r.match(true))
	}
	for range r.IntN(3) {
		s.Exclude = append(s.Exclude, r.match(false))
	}
	for range r.IntN(2) {
		s.IgnoreAttributes = append(s.IgnoreAttributes, r.one("a.a", "**.b", "a.b.a", "b.*", `a.a["k"]`, "**.a.b"))
	}
	return s
}

func (r small) object() Object {
	path := r.one("", "", "module.a.", `module.a["k"].`, "module.b.", "module.a.module.b.")
	kind := r.one("a", "b", "ab")
	return Object{Address: path + kind + "." + r.one("a", "b", "ab") + r.one("", "", `["k"]`, "[0]"), Type: kind, Provider: "registry.terraform.io/h/" + r.one("a", "b")}
}

func (r small) path() string {
	return r.one("a", "b", "ab", "a.b", "a[0]", `a["k"]`, "a[0].b", `a["k"]["l"]`, `b["kk"]`, "c", `a["k"].b`)
}

// TestOverlapIsExact compares with objects and paths at random: where both scopes
// own one there is an overlap, and what an overlap names is owned by both.
func TestOverlapIsExact(t *testing.T) {
	t.Parallel()
	r := small{rand.New(rand.NewPCG(6, 1))}
	met := 0
	for range 400 {
		a, b := r.scope(), r.scope()
		example, overlaps := Overlap(a, b)
		if overlaps {
			met++
			if !bothOwn(&a, &b, example) {
				t.Fatalf("%q is not owned by both\n%+v\n%+v", example, a, b)
			}
			continue
		}
		for range 300 {
			object, path := r.object(), r.path()
			if owns(&a, object, path) && owns(&b, object, path) {
				t.Fatalf("no overlap was found, but both own %s of %+v\n%+v\n%+v", path, object, a, b)
			}
		}
	}
	if met < 60 || met > 340 {
		t.Errorf("%d of 400 overlap; the test says little", met)
	}
}

func owns(s *Scope, object Object, path string) bool {
	return s.Includes(object) && s.Ownership(object).Covers(path)
}

// bothOwn checks an example for some provider and every way to read a path off its end.
func bothOwn(a, b *Scope, example string) bool {
	steps := SplitSteps(example)
	for provider := range strings.SplitSeq("h/a h/b h/z z/a z/b z/z", " ") {
		at := 0
		for at < len(steps) && steps[at] == "module" {
			at += 2
		}
		if at+2 > len(steps) {
			continue
		}
		object := Object{Address: strings.Join(steps[:at+2], "."), Type: steps[at], Provider: defaultHost + provider}
		path := strings.Join(steps[at+2:], ".")
		if path == "" && a.Includes(object) && b.Includes(object) || path != "" && owns(a, object, path) && owns(b, object, path) {
			return true
		}
	}
	return false
}

func TestOverlapOfManyPatternsEnds(t *testing.T) {
	t.Parallel()
	var a, b Scope
	for i := range 60 {
		a.Include = append(a.Include, Match{Address: fmt.Sprintf("module.team%d.**", i)})
		b.Include = append(b.Include, Match{Address: fmt.Sprintf("module.group%d.**", i)})
	}
	if example, overlaps := Overlap(a, b); overlaps {
		t.Errorf("overlap at %q", example)
	}
	b.Include = append(b.Include, Match{Address: "module.team7.aws_vpc.*"})
	if example, _ := Overlap(a, b); example != "module.team7.aws_vpc.z" {
		t.Errorf("overlap at %q", example)
	}
	hostile := strings.Repeat("**.*a*b*.", 60) + "c"
	if example, _ := Overlap(scopeOf(Match{Address: hostile}), scopeOf(Match{Address: strings.Repeat("**.*b*a*.", 60) + "d"})); len(example) > 200 {
		t.Errorf("example of %d bytes", len(example))
	}
}
