package bench

import (
	"io"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/engine"
)

func newTestBench(t *testing.T) *bench {
	t.Helper()
	return &bench{opts: Options{Runs: 1, Scale: 1, Dir: t.TempDir()}}
}

// TestShapesHoldWhatTheySay plans each shape: a figure about 5,000 instances must
// not be one about fewer.
func TestShapesHoldWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, s := range []shape{blocks, layers, correlated, chained} {
		for _, n := range []int{50, 101} {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				b := newTestBench(t)
				config, err := b.config("shape", s.source(n))
				if err != nil {
					t.Fatal(err)
				}
				e := engine.New(engine.Options{})
				state, _, err := b.create(t.Context(), e, config)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := state.Count(), s.expected(n); got != want {
					t.Errorf("%d instances, want %d", got, want)
				}
				w, err := newWarmEngine(t.Context(), config, state, nil, io.NopCloser(nil), 0)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := w.round(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestLeastTime(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	wide := make([]task, 80)
	for i := range wide {
		wide[i].took = 10 * ms
	}
	for name, test := range map[string]struct {
		tasks []task
		want  time.Duration
	}{
		"nothing":                     {nil, 0},
		"a chain is its sum":          {[]task{{took: 5 * ms}, {5 * ms, []int{0}}, {7 * ms, []int{1}}}, 17 * ms},
		"the longer of two branches":  {[]task{{took: 5 * ms}, {20 * ms, []int{0}}, {1 * ms, []int{0}}, {1 * ms, []int{1, 2}}}, 26 * ms},
		"wide work is shared equally": {wide, 100 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := leastTime(test.tasks); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestTasksTakeTheirTime applies a small graph: nothing can be faster than the bound.
func TestTasksTakeTheirTime(t *testing.T) {
	t.Parallel()
	b := newTestBench(t)
	tasks := wideAndDeep(20, 5)
	config, err := b.config("tasks", taskSource(tasks))
	if err != nil {
		t.Fatal(err)
	}
	durations, err := engine.NewDurations(nil)
	if err != nil {
		t.Fatal(err)
	}
	took, err := b.applyTasks(t.Context(), config, tasks, durations)
	if err != nil {
		t.Fatal(err)
	}
	if least := leastTime(tasks); took < least {
		t.Errorf("applied in %s, which is less than %s", took, least)
	}
}

// TestOneChangePlansItsCone lets the measurement check itself on a small input.
func TestOneChangePlansItsCone(t *testing.T) {
	t.Parallel()
	c, err := newTestBench(t).newChange(t.Context(), 5*coneSize)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.unchanged(t.Context()); err != nil {
		t.Error(err)
	}
	for version := range 2 {
		if _, _, err := c.changed(t.Context(), version); err != nil {
			t.Error(err)
		}
	}
	delete(c.cone, changeType+".n9")
	if _, _, err := c.changed(t.Context(), 2); err == nil {
		t.Error("a change outside of the cone was not noticed")
	}
}
