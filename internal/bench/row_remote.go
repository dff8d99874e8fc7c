package bench

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/towline/terraform-provider-towline/internal/demo"
)

const (
	// latency is how long the simulated API takes for every request.
	latency = 50 * time.Millisecond
	// rateLimit is how many requests a second the limited API answers. As many at
	// once are let through after a pause: the bucket is as large.
	rateLimit = 100
	// refill is how long the limited API's bucket needs to be full again, and a bit.
	refill = 1200 * time.Millisecond
)

// remote is row 6: an API that is slow, and one that refuses what is too much.
func (b *bench) remote(ctx context.Context) ([]Figure, error) {
	n := b.size(2000)
	slow, err := b.simulated(ctx, "slow", "-latency", latency.String())
	if err != nil {
		return nil, err
	}
	f, err := b.simulatedFolder(ctx, slow, "slow", n)
	if err != nil {
		return nil, err
	}
	work := fmt.Sprintf("%d simcloud objects at %s, no-op plan", n, latency)
	p, err := f.plans(ctx, planEmpty)
	if err != nil {
		return nil, err
	}
	figures := []Figure{p.wall(work, Faster(8))}
	floor, err := b.repeat(func() (time.Duration, error) { return f.rawPlan(ctx) })
	if err != nil {
		return figures, err
	}
	figures = append(figures, Figure{
		Work: work, Unit: Seconds, Against: fmt.Sprintf("raw client, %d at once", rawWorkers), Reference: floor, Towline: figures[0].Towline, Target: Share(rawLimit),
	})
	limited, err := b.limited(ctx, n)
	return append(figures, limited...), err
}

func (b *bench) simulatedFolder(ctx context.Context, w *demo.World, name string, n int) (*folder, error) {
	f, err := b.folder(ctx, w, name, simcloudSource(n))
	if err != nil {
		return nil, err
	}
	_, err = f.fresh(n, f.towline(planEmpty, applyArgs()...))(ctx)
	return f, err
}

// limited plans against an API with a rate limit. That the plan is made at all
// and is empty shows that no object failed for throttling.
func (b *bench) limited(ctx context.Context, n int) ([]Figure, error) {
	w, err := b.simulated(ctx, "limited", "-latency", latency.String(), "-rate", fmt.Sprint(rateLimit))
	if err != nil {
		return nil, err
	}
	f, err := b.simulatedFolder(ctx, w, "limited", n)
	if err != nil {
		return nil, err
	}
	sample, err := b.repeat(func() (time.Duration, error) {
		if err := pause(ctx, refill); err != nil {
			return 0, err
		}
		u, err := f.towline(planEmpty, planArgs()...)(ctx)
		return u.Wall, err
	})
	// One request reads one object; the first of them come out of the full bucket.
	bound := math.Max(float64(n-rateLimit)/rateLimit, latency.Seconds())
	return []Figure{{
		Work: fmt.Sprintf("%d simcloud objects at %d requests/s, no-op plan", n, rateLimit), Unit: Seconds,
		Against: "the rate limit", Reference: Sample{bound}, Towline: sample, Target: Share(1.1),
	}}, err
}
