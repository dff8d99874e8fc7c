package agent

import (
	"errors"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// TestOverlappingAgentsDoNothing: a repository that declares an overlap all the same,
// past the check of whoever declares, is not obeyed.
func TestOverlappingAgentsDoNothing(t *testing.T) {
	t.Parallel()
	declared := &repository.State{
		Agents: map[string]control.Agent{"a1": {Name: "a1", Scopes: []string{"all"}}, "a2": {Name: "a2", Scopes: []string{"more"}}, "a3": {Name: "a3", Scopes: []string{"all"}}},
		Scopes: map[string]control.Scope{"all": {Include: []control.Match{{Address: "**"}}}, "more": {Include: []control.Match{{Type: "aws_vpc"}}}},
	}
	tests := map[string]struct {
		self, excluded string
		want           string // "" for no conflict
	}{
		"one of both":   {"a1", "", "the scope all of agent a1 and the scope more of agent a2 overlap: both include aws_vpc.z"},
		"the other":     {"a2", "", "the scope all of agent a1 and the scope more of agent a2 overlap"},
		"its stand-in":  {"a3", "", "overlap"},
		"told apart":    {"a1", "aws_vpc", ""},
		"and the other": {"a2", "aws_vpc", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := *declared
			if test.excluded != "" {
				state.Scopes = map[string]control.Scope{"more": declared.Scopes["more"],
					"all": {Include: declared.Scopes["all"].Include, Exclude: []control.Match{{Type: test.excluded}}}}
			}
			r := &round{agent: &Agent{}, declared: &state, self: declared.Agents[test.self]}
			for range 2 { // what was compared once is remembered
				err := r.refuseConflicts()
				if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, errRefused) || !strings.Contains(err.Error(), test.want)) {
					t.Errorf("got %v, want %q", err, test.want)
				}
			}
		})
	}
}
