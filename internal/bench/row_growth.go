package bench

import (
	"context"
	"fmt"
	"time"
)

// growthLimit is how much longer ten times the instances may take: linear, and
// a little for caches that no longer hold everything.
const growthLimit = 12

// growth is row 3: ten times as many instances, in each shape. Terraform has no
// part in it: it would take hours.
func (b *bench) growth(ctx context.Context) ([]Figure, error) {
	var figures []Figure
	for _, s := range []shape{layers, correlated, chained} {
		small, err := b.cycle(ctx, s, b.size(5000))
		if err != nil {
			return figures, err
		}
		large, err := b.cycle(ctx, s, b.size(50000))
		if err != nil {
			return figures, err
		}
		for i, work := range cycleWorks {
			figures = append(figures, Figure{
				Work: fmt.Sprintf("%d in %s, %s", s.expected(b.size(50000)), s.name, work), Unit: Seconds,
				Against: fmt.Sprint(s.expected(b.size(5000))), Reference: small[i], Towline: large[i], Target: Share(growthLimit),
			})
		}
	}
	return figures, nil
}

// cycleWorks are what a cycle measures, in order.
var cycleWorks = []string{"first plan", "apply", "no-op plan", "warm round"}

// cycle measures one size: three works as commands, and a round of a warm engine.
func (b *bench) cycle(ctx context.Context, s shape, n int) ([]Sample, error) {
	b.say("  %d in %s", n, s.name)
	f, err := b.shapeFolder(ctx, s, n)
	if err != nil {
		return nil, err
	}
	var samples []Sample
	for _, run := range []func(context.Context) (usage, error){
		f.towline(planChanges, planArgs()...),
		f.fresh(s.expected(n), f.towline(planEmpty, applyArgs()...)),
		f.towline(planEmpty, planArgs()...),
	} {
		sample, err := b.repeat(func() (time.Duration, error) {
			u, err := run(ctx)
			return u.Wall, err
		})
		if err != nil {
			return samples, err
		}
		samples = append(samples, sample)
	}
	w, err := f.warm(ctx, 0)
	if err != nil {
		return samples, err
	}
	defer w.close() //nolint:errcheck // no provider process was started
	sample, err := b.repeat(func() (time.Duration, error) { return w.round(ctx) })
	return append(samples, sample), err
}
