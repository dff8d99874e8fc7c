package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/towline/terraform-provider-towline/internal/engine"
)

// rawLimit is how much longer than the bare reads a round may take.
const rawLimit = 1.2

// warm is row 5: a round in which nothing has changed.
func (b *bench) warm(ctx context.Context) ([]Figure, error) {
	figures, err := b.againstTerraform(ctx)
	if err != nil {
		return figures, err
	}
	for _, n := range b.awsSizes()[1:] {
		f, err := b.awsFolder(ctx, n)
		if err != nil {
			return figures, err
		}
		more, err := f.againstRaw(ctx, fmt.Sprintf("%d AWS resources, warm round", n))
		figures = append(figures, more...)
		if err != nil {
			return figures, err
		}
	}
	f, n, err := b.simcloudFolder(ctx)
	if err != nil {
		return figures, err
	}
	more, err := f.againstRaw(ctx, fmt.Sprintf("%d simcloud objects, warm round", n))
	return append(figures, more...), err
}

// simcloudFolder returns a folder with objects of a simulated cloud without latency.
func (b *bench) simcloudFolder(ctx context.Context) (*folder, int, error) {
	w, err := b.plain(ctx)
	if err != nil {
		return nil, 0, err
	}
	n := b.size(1000)
	f, err := b.folder(ctx, w, "simcloud", simcloudSource(n))
	if err != nil {
		return nil, 0, err
	}
	_, err = f.fresh(n, f.towline(planEmpty, applyArgs()...))(ctx)
	return f, n, err
}

// againstTerraform compares a round with what a scheduled `terraform plan` takes.
func (b *bench) againstTerraform(ctx context.Context) (figures []Figure, err error) {
	f, err := b.awsFolder(ctx, awsNetworkSize)
	if err != nil {
		return nil, err
	}
	w, err := f.warm(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	p, err := b.inTurn(ctx, f.terraform(planEmpty, planArgs()...), func(ctx context.Context) (usage, error) {
		took, err := w.round(ctx)
		return usage{Wall: took}, err
	})
	return []Figure{p.wall(fmt.Sprintf("%d AWS resources, warm round", awsNetworkSize), Faster(15))}, err
}

// againstRaw compares a round with the bare reads, with the same number of
// concurrent calls, and with the number that adapts.
func (f *folder) againstRaw(ctx context.Context, work string) ([]Figure, error) {
	var figures []Figure
	for _, variant := range []struct {
		name        string
		parallelism int
	}{{"10 calls at once", engine.DefaultParallelism}, {"calls at once adapt", 0}} {
		figure, err := f.rounds(ctx, work+", "+variant.name, variant.parallelism)
		if err != nil {
			return figures, err
		}
		figures = append(figures, figure)
	}
	return figures, nil
}

func (f *folder) rounds(ctx context.Context, work string, parallelism int) (figure Figure, err error) {
	w, err := f.warm(ctx, parallelism)
	if err != nil {
		return Figure{}, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	objects := w.managed()
	p, err := f.b.inTurn(ctx, timed(func() (time.Duration, error) { return w.raw(ctx, objects, engine.DefaultParallelism) }),
		timed(func() (time.Duration, error) { return w.round(ctx) }))
	figure = p.wall(work, Share(rawLimit))
	figure.Against = "raw client, 10 at once"
	return figure, err
}

func timed(f func() (time.Duration, error)) func(context.Context) (usage, error) {
	return func(context.Context) (usage, error) {
		took, err := f()
		return usage{Wall: took}, err
	}
}
