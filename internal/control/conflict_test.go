package control

import (
	"strings"
	"testing"
)

func TestConflicts(t *testing.T) {
	t.Parallel()
	scopes := map[string]Scope{"net": scopeOf(Match{Type: "vpc"}), "app": scopeOf(Match{Type: "vm"}), "all": scopeOf(Match{Address: "**"})}
	holder := func(name string, holds ...string) Agent { return Agent{Name: name, Scopes: holds} }
	tests := map[string]struct {
		agents []Agent
		want   []string // what the errors say, in order
	}{
		"apart":              {[]Agent{holder("a", "net"), holder("b", "app")}, nil},
		"stand-ins":          {[]Agent{holder("a", "net", "app"), holder("b", "app", "net")}, nil},
		"one agent's own":    {[]Agent{holder("a", "net", "all")}, nil},
		"overlap":            {[]Agent{holder("b", "all"), holder("a", "net")}, []string{"the scope net of agent a and the scope all of agent b overlap: both include vpc.z"}},
		"partly the same":    {[]Agent{holder("a", "net", "app"), holder("b", "net")}, []string{"the agents a and b both hold the scope net, but not all"}},
		"two overlaps":       {[]Agent{holder("a", "net", "app"), holder("b", "all")}, []string{"vpc.z", "vm.z"}},
		"scope not declared": {[]Agent{holder("a", "net"), holder("b", "gone")}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Conflicts(test.agents, scopes)
			if len(got) != len(test.want) {
				t.Fatalf("conflicts %+v, want %d", got, len(test.want))
			}
			for i, want := range test.want {
				if !strings.Contains(got[i].Error(), want) {
					t.Errorf("got %q, want %q in it", got[i].Error(), want)
				}
			}
		})
	}
}
