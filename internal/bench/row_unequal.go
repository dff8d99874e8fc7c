package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// workers is how many calls may be under way: few, so that the order matters.
const workers = 8

// task is a resource of a graph with unequal durations.
type task struct {
	took  time.Duration
	needs []int
}

// wideAndDeep is a long chain of middling tasks beside many short and some long
// ones, each of which waits for up to two others. An order that does not look
// ahead begins the chain late and pays for it at the end.
func wideAndDeep(wide, deep int) []task {
	random := rand.New(rand.NewPCG(7, 0))
	durations := []time.Duration{5, 10, 20, 40, 80, 160}
	var tasks []task
	for range wide {
		t := task{took: durations[random.IntN(len(durations))] * time.Millisecond}
		for range random.IntN(3) {
			if len(tasks) > 0 {
				t.needs = append(t.needs, max(0, len(tasks)-1-random.IntN(wide)))
			}
		}
		tasks = append(tasks, t)
	}
	for i := range deep {
		t := task{took: 40 * time.Millisecond}
		if i > 0 {
			t.needs = []int{len(tasks) - 1}
		}
		tasks = append(tasks, t)
	}
	return tasks
}

func typeFor(d time.Duration) string { return fmt.Sprintf("synthetic_t%d", d.Milliseconds()) }

// taskSource writes tasks as a configuration, the last first: the order of the
// file must not help.
func taskSource(tasks []task) string {
	var b strings.Builder
	for i := len(tasks) - 1; i >= 0; i-- {
		var needs []string
		for _, need := range tasks[i].needs {
			needs = append(needs, fmt.Sprintf("%s.n%d.id", typeFor(tasks[need].took), need))
		}
		fmt.Fprintf(&b, "resource %q \"n%d\" {\n  input = [%s]\n}\n", typeFor(tasks[i].took), i, strings.Join(needs, ", "))
	}
	return b.String()
}

// leastTime is the longer of the critical path and the work per worker: no
// order whatsoever is faster.
func leastTime(tasks []task) time.Duration {
	var work, longest time.Duration
	ends := make([]time.Duration, len(tasks))
	for i, t := range tasks {
		for _, need := range t.needs {
			ends[i] = max(ends[i], ends[need])
		}
		ends[i] += t.took
		work += t.took
		longest = max(longest, ends[i])
	}
	return max(longest, work/workers)
}

// unequal is row 7: applies of graphs with unequal durations, once while they are
// not known and then with what was seen.
func (b *bench) unequal(ctx context.Context) ([]Figure, error) {
	var figures []Figure
	for _, graph := range []struct{ wide, deep int }{{b.size(600), b.size(100)}, {b.size(1200), b.size(20)}, {b.size(100), b.size(150)}} {
		tasks := wideAndDeep(graph.wide, graph.deep)
		config, err := b.config(fmt.Sprintf("unequal-%d-%d", graph.wide, graph.deep), taskSource(tasks))
		if err != nil {
			return figures, err
		}
		durations, err := engine.NewDurations(nil)
		if err != nil {
			return figures, err
		}
		bound := Sample{leastTime(tasks).Seconds()}
		figure := Figure{Unit: Seconds, Against: "critical path or work over workers", Reference: bound}
		figure.Work = fmt.Sprintf("%d wide, %d deep, %d workers, durations unknown", graph.wide, graph.deep, workers)
		took, err := b.applyTasks(ctx, config, tasks, durations)
		if err != nil {
			return figures, err
		}
		figure.Towline = Sample{took.Seconds()}
		figures = append(figures, figure)
		figure.Work, figure.Target = fmt.Sprintf("%d wide, %d deep, %d workers, durations known", graph.wide, graph.deep, workers), Share(1.15)
		figure.Towline, err = b.repeat(func() (time.Duration, error) { return b.applyTasks(ctx, config, tasks, durations) })
		if err != nil {
			return figures, err
		}
		figures = append(figures, figure)
	}
	return figures, nil
}

// applyTasks makes all tasks from nothing and measures the apply.
func (b *bench) applyTasks(ctx context.Context, config *configs.Config, tasks []task, durations *engine.Durations) (time.Duration, error) {
	byType := map[string]time.Duration{}
	var types []string
	for _, t := range tasks {
		if name := typeFor(t.took); byType[name] == 0 {
			byType[name] = t.took
			types = append(types, name)
		}
	}
	provider := newSynthetic(types...)
	provider.create = func(name string) time.Duration { return byType[name] }
	e := engine.New(engine.Options{Providers: provider, Parallelism: workers, Durations: durations})
	defer e.Close() //nolint:errcheck // the provider is in this process
	_, took, err := b.create(ctx, e, config)
	return took, err
}

// create plans and applies a configuration from nothing, and measures the apply.
func (b *bench) create(ctx context.Context, e *engine.Engine, config *configs.Config) (*states.State, time.Duration, error) {
	plan, diags := e.Plan(ctx, config, states.New(), engine.PlanOptions{})
	if diags.HasErrors() {
		return nil, 0, diags.Err()
	}
	path := filepath.Join(b.opts.Dir, "journal")
	j, _, err := journal.Open(path)
	if err != nil {
		return nil, 0, err
	}
	begin := time.Now()
	state, diags := e.Apply(ctx, config, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: j})
	took := time.Since(begin)
	if err := j.Remove(); err != nil {
		return nil, took, err
	}
	if diags.HasErrors() {
		return nil, took, diags.Err()
	}
	if want := len(plan.Changes); state.Count() != want {
		return nil, took, fmt.Errorf("%d objects were made, not %d", state.Count(), want)
	}
	return state, took, nil
}
