package dag_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/dag"
)

// TestUrgentWorkKeepsItsSlot has a chain that computes before each of its remote
// steps compete with nodes that are ready for the only slot all the time.
func TestUrgentWorkKeepsItsSlot(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		chain, others int
		want          string
	}{
		"the chain matters more":    {9, 1, "chain chain chain chain other other other other"},
		"the chain matters less":    {1, 9, "other other other other chain chain chain chain"},
		"neither matters more, age": {5, 5, "chain other other other other chain chain chain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var order []string
			step := func(label string) *dag.Step {
				return &dag.Step{Class: remote, Run: func(context.Context) (*dag.Step, bool) {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, label)
					return dag.Done()
				}}
			}
			s := dag.New(2, 1)
			var nodes []*dag.Node
			first := s.Hold(test.chain, nil, *step("chain"))
			nodes = append(nodes, first)
			for range 3 {
				next := s.Hold(test.chain, nil, dag.Step{Class: compute, Run: func(context.Context) (*dag.Step, bool) { return step("chain"), true }})
				s.Depend(next, nodes[len(nodes)-1])
				nodes = append(nodes, next)
			}
			for range 4 {
				nodes = append(nodes, s.Hold(test.others, nil, *step("other")))
			}
			s.Release(nodes...)
			if stuck := s.Run(t.Context()); len(stuck) > 0 {
				t.Fatalf("%d nodes stuck", len(stuck))
			}
			if got := strings.Join(order, " "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
