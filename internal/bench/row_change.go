package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
)

const (
	// readTakes is how long a read of the synthetic provider takes, like that of a cloud.
	readTakes = 20 * time.Millisecond
	// budget is the share of objects that is read in a round.
	budget = 0.05
	// coneSize is how many resources depend on the one that changes, itself included.
	coneSize = 10
)

// oneChange is row 8: a new revision that changes one resource of many.
func (b *bench) oneChange(ctx context.Context) ([]Figure, error) {
	n := max(2*coneSize, b.size(10000))
	c, err := b.newChange(ctx, n)
	if err != nil {
		return nil, err
	}
	all, err := b.repeat(func() (time.Duration, error) { return c.unchanged(ctx) })
	if err != nil {
		return nil, err
	}
	var loads, news Sample
	for i := range b.opts.Runs {
		load, took, err := c.changed(ctx, i)
		if err != nil {
			return nil, err
		}
		loads, news = append(loads, load.Seconds()), append(news, took.Seconds())
	}
	work := fmt.Sprintf("%d resources, %g %% of %s reads due, ", n, 100*budget, readTakes)
	bound := c.bound(ctx)
	return []Figure{
		{Work: work + "nothing changed", Unit: Seconds, Against: "due reads", Reference: bound, Towline: all, Target: Target{}},
		{Work: work + "one changed, plan", Unit: Seconds, Against: "due reads and change cone", Reference: bound, Towline: news, Target: Share(1.5)},
		{Work: fmt.Sprintf("%d resources, load the new revision", n), Unit: Seconds, Towline: loads},
	}, nil
}

// change is an engine that knows all objects of a revision.
type change struct {
	b        *bench
	n        int
	provider *synthetic
	warm     *warmEngine
	due      map[string]bool
	cone     map[string]bool
}

const changeType = "synthetic_object"

// changeSource has groups of coneSize resources that depend on each other in a
// row. The first group's input has a version.
func changeSource(n, version int) string {
	var b strings.Builder
	for i := range n {
		input := fmt.Sprintf("%q", "constant")
		switch {
		case i == 0:
			input = fmt.Sprintf("\"version %d\"", version)
		case i%coneSize > 0:
			input = fmt.Sprintf("%s.n%d.input", changeType, i-1)
		}
		fmt.Fprintf(&b, "resource %q \"n%d\" {\n  input = %s\n}\n", changeType, i, input)
	}
	return b.String()
}

func (b *bench) newChange(ctx context.Context, n int) (*change, error) {
	c := &change{b: b, n: n, provider: newSynthetic(changeType), due: map[string]bool{}, cone: map[string]bool{}}
	config, err := b.config("change", changeSource(n, 0))
	if err != nil {
		return nil, err
	}
	maker := engine.New(engine.Options{Providers: c.provider})
	defer maker.Close() //nolint:errcheck // the provider is in this process
	state, _, err := b.create(ctx, maker, config)
	if err != nil {
		return nil, err
	}
	if c.warm, err = newWarmEngine(ctx, config, state, c.provider, io.NopCloser(nil), 0); err != nil {
		return nil, err
	}
	for i := range n {
		name := fmt.Sprintf("%s.n%d", changeType, i)
		if i < coneSize {
			c.cone[name], c.due[name] = true, true
		} else if i%int(1/budget) == 0 {
			c.due[name] = true
		}
	}
	c.provider.read = func(string) time.Duration { return readTakes }
	return c, nil
}

// plan plans as an agent does with a budget for reads.
func (c *change) plan(ctx context.Context, config *configs.Config) (*plans.Plan, time.Duration, error) {
	runtime.GC()
	begin := time.Now()
	plan, diags := c.warm.engine.Plan(ctx, config, c.warm.state, engine.PlanOptions{
		SkipRead: func(addr addrs.ResourceInstance) bool { return !c.due[addr.String()] },
	})
	return plan, time.Since(begin), diags.Err()
}

// unchanged plans the revision that is applied.
func (c *change) unchanged(ctx context.Context) (time.Duration, error) {
	plan, took, err := c.plan(ctx, c.warm.config)
	if err == nil && plan.Applyable() {
		err = errors.New("changes were planned although nothing had changed")
	}
	return took, err
}

// changed loads and plans a revision that changes one resource and thereby those
// that depend on it, and checks that it changes these.
func (c *change) changed(ctx context.Context, version int) (load, took time.Duration, err error) {
	begin := time.Now()
	config, err := c.b.config("change", changeSource(c.n, version+1))
	load = time.Since(begin)
	if err != nil {
		return load, 0, err
	}
	plan, took, err := c.plan(ctx, config)
	if err != nil {
		return load, took, err
	}
	changes := 0
	for _, change := range plan.Changes {
		if change.Action == plans.NoOp {
			continue
		}
		if changes++; change.Action != plans.Update || !c.cone[change.Addr.String()] {
			return load, took, fmt.Errorf("%s is planned for %s", change.Addr, change.Action)
		}
	}
	if changes != coneSize {
		err = fmt.Errorf("%d resources are to change, not %d", changes, coneSize)
	}
	return load, took, err
}

// bound measures the due reads alone, with as many calls at once as the engine's
// number of calls reaches in the end.
func (c *change) bound(ctx context.Context) Sample {
	var due []recorded
	for _, r := range c.warm.managed() {
		if c.due[r.addr.String()] {
			due = append(due, r)
		}
	}
	sample, err := c.b.repeat(func() (time.Duration, error) { return c.warm.raw(ctx, due, engine.DefaultParallelism) })
	if err != nil {
		return nil
	}
	return sample
}
