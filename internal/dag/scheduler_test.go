package dag_test

import (
	"context"
	"fmt"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/dag"
)

const (
	compute dag.Class = iota
	remote
)

func run(f func()) dag.Step {
	return dag.Step{Class: compute, Run: func(context.Context) (*dag.Step, bool) { f(); return dag.Done() }}
}

func TestRandomGraphsRunInOrder(t *testing.T) {
	t.Parallel()
	for seed := range int64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewSource(seed))
			s := dag.New(4, 8)
			const size = 500
			done := make([]atomic.Bool, size)
			nodes := make([]*dag.Node, size)
			for i := range nodes {
				var on []int
				for range rng.Intn(4) {
					if i > 0 {
						on = append(on, rng.Intn(i))
					}
				}
				last := &dag.Step{Class: remote, Run: func(context.Context) (*dag.Step, bool) {
					done[i].Store(true)
					return dag.Done()
				}}
				nodes[i] = s.Hold(rng.Intn(3), nil, dag.Step{Class: compute, Run: func(context.Context) (*dag.Step, bool) {
					for _, j := range on {
						if !done[j].Load() {
							t.Errorf("node %d ran before node %d", i, j)
						}
					}
					return last, true
				}})
				for _, j := range on {
					s.Depend(nodes[i], nodes[j])
				}
			}
			s.Release(nodes...)
			if stuck := s.Run(t.Context()); len(stuck) > 0 {
				t.Fatalf("%d nodes stuck", len(stuck))
			}
			for i := range done {
				if !done[i].Load() {
					t.Errorf("node %d did not run", i)
				}
			}
		})
	}
}

func TestFailureSkipsDependentsOnly(t *testing.T) {
	t.Parallel()
	s := dag.New(2)
	var ran sync.Map
	mark := func(name string) dag.Step { return run(func() { ran.Store(name, true) }) }
	bad := s.Hold(0, nil, dag.Step{Run: func(context.Context) (*dag.Step, bool) { return dag.Failed() }})
	child := s.Hold(0, nil, mark("child"))
	grandchild := s.Hold(0, nil, mark("grandchild"))
	sibling := s.Hold(0, nil, mark("sibling"))
	s.Depend(child, bad)
	s.Depend(grandchild, child)
	s.Release(bad, child, grandchild, sibling)
	s.Run(t.Context())
	for name, want := range map[string]bool{"child": false, "grandchild": false, "sibling": true} {
		if _, got := ran.Load(name); got != want {
			t.Errorf("%s ran: %v, want %v", name, got, want)
		}
	}
	if got := s.Status(grandchild); got != dag.Skipped {
		t.Errorf("grandchild's status is %d", got)
	}
	late := s.Hold(0, nil, mark("late"))
	s.Depend(late, bad)
	s.Release(late)
	if s.Run(t.Context()); s.Status(late) != dag.Skipped {
		t.Error("a node added after the failure it depends on was run")
	}
}

func TestGraphGrowsWhileItRuns(t *testing.T) {
	t.Parallel()
	s := dag.New(3)
	var sum atomic.Int64
	var before int64
	gate := s.Hold(0, nil, run(func() { before = sum.Load() }))
	expand := s.Hold(0, nil, run(func() {
		for range 1000 {
			n := s.Hold(0, nil, run(func() { sum.Add(1) }))
			s.Depend(gate, n)
			s.Release(n)
		}
	}))
	s.Depend(gate, expand)
	s.Release(gate, expand)
	if stuck := s.Run(t.Context()); len(stuck) > 0 || before != 1000 {
		t.Errorf("gate saw %d of 1000, %d stuck", before, len(stuck))
	}
}

func TestCycleIsReportedAndTheRestRuns(t *testing.T) {
	t.Parallel()
	s := dag.New(1)
	ok := false
	a := s.Hold(0, nil, run(func() {}))
	b := s.Hold(0, nil, run(func() {}))
	c := s.Hold(0, nil, run(func() { ok = true }))
	s.Depend(a, b)
	s.Depend(b, a)
	s.Release(a, b, c)
	if stuck := s.Run(t.Context()); len(stuck) != 2 || !ok {
		t.Errorf("%d stuck, want 2; the free node ran: %v", len(stuck), ok)
	}
}

func TestLimitsAndPriority(t *testing.T) {
	t.Parallel()
	s := dag.New(1, 3)
	var order []int
	var now, peak atomic.Int32
	var nodes []*dag.Node
	for i := range 10 {
		nodes = append(nodes, s.Hold(i, nil, run(func() { order = append(order, i) })))
	}
	gate := make(chan struct{})
	for range 20 {
		nodes = append(nodes, s.Hold(0, nil, dag.Step{Class: remote, Run: func(context.Context) (*dag.Step, bool) {
			n := now.Add(1)
			for old := peak.Load(); n > old && !peak.CompareAndSwap(old, n); old = peak.Load() {
			}
			if n == 3 {
				select {
				case <-gate:
				default:
					close(gate)
				}
			}
			<-gate
			now.Add(-1)
			return dag.Done()
		}}))
	}
	s.Release(nodes...)
	s.Run(t.Context())
	if got := peak.Load(); got != 3 {
		t.Errorf("peak concurrency %d, want 3", got)
	}
	for i, got := range order {
		if got != 9-i {
			t.Fatalf("order %v, want highest priority first", order)
		}
	}
}

func TestCancelWaitsForStepsUnderWay(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := dag.New(1)
	finished, after := false, false
	first := s.Hold(0, nil, run(func() { cancel(); <-ctx.Done(); finished = true }))
	second := s.Hold(0, nil, run(func() { after = true }))
	s.Depend(second, first)
	s.Release(first, second)
	s.Run(ctx)
	if !finished {
		t.Error("Run returned before the step under way had ended")
	}
	if after && s.Status(second) != dag.Succeeded {
		t.Error("second ran but is not accounted for")
	}
}

func BenchmarkLayers(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s := dag.New(2)
		var prev, all []*dag.Node
		for range 50 {
			var layer []*dag.Node
			for i := range 100 {
				n := s.Hold(0, nil, run(func() {}))
				if len(prev) > 0 {
					s.Depend(n, prev[i])
				}
				layer = append(layer, n)
			}
			all = append(all, layer...)
			prev = layer
		}
		s.Release(all...)
		s.Run(context.Background())
	}
}
