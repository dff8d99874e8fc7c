package bench

import (
	"context"
	"fmt"
)

// local is row 1: what the core alone costs, without any provider process. Counted
// resources take terraform minutes to plan, since it evaluates all instances for each.
func (b *bench) local(ctx context.Context) ([]Figure, error) {
	shapes := []shape{blocks}
	if b.opts.Full {
		shapes = append(shapes, layers)
	}
	var figures []Figure
	for _, s := range shapes {
		planned, err := b.planned(ctx, s, b.size(5000))
		figures = append(figures, planned...)
		if err != nil {
			return figures, err
		}
	}
	applies, err := b.applies(ctx)
	return append(figures, applies...), err
}

// planned measures the first plan of a shape, and one without changes.
func (b *bench) planned(ctx context.Context, s shape, n int) ([]Figure, error) {
	f, err := b.shapeFolder(ctx, s, n)
	if err != nil {
		return nil, err
	}
	first, err := f.plans(ctx, planChanges)
	if err != nil {
		return nil, err
	}
	objects := s.expected(n)
	work := fmt.Sprintf("%d in %s, ", objects, s.name)
	figures := []Figure{first.wall(work+"first plan", Faster(15)), first.peak(work+"first plan", Share(0.5))}
	if _, err := f.fresh(objects, f.towline(planEmpty, applyArgs()...))(ctx); err != nil {
		return figures, err
	}
	again, err := f.plans(ctx, planEmpty)
	if err != nil {
		return figures, err
	}
	return append(figures, again.wall(work+"no-op plan", Faster(15)), again.peak(work+"no-op plan", Share(0.5))), nil
}

// applies measures applies from nothing. Those of terraform grow with the square,
// so the size of the target takes it minutes and is measured once, if asked for.
func (b *bench) applies(ctx context.Context) ([]Figure, error) {
	type size struct {
		n              int
		target, memory Target
	}
	sizes := []size{{n: b.size(1000)}}
	if b.opts.Full {
		sizes = append(sizes, size{b.size(5000), Faster(100), Share(0.5)})
	}
	var figures []Figure
	for _, size := range sizes {
		f, err := b.shapeFolder(ctx, blocks, size.n)
		if err != nil {
			return figures, err
		}
		objects := blocks.expected(size.n)
		p, err := b.inTurn(ctx, f.fresh(objects, f.terraform(planEmpty, applyArgs()...)), f.fresh(objects, f.towline(planEmpty, applyArgs()...)))
		if err != nil {
			return figures, err
		}
		work := fmt.Sprintf("%d in %s, apply", objects, blocks.name)
		figures = append(figures, p.wall(work, size.target), p.peak(work, size.memory))
	}
	return figures, nil
}

// shapeFolder makes a folder with n instances in a shape.
func (b *bench) shapeFolder(ctx context.Context, s shape, n int) (*folder, error) {
	w, err := b.plain(ctx)
	if err != nil {
		return nil, err
	}
	f, err := b.folder(ctx, w, fmt.Sprintf("%s-%d", s.name, n), s.source(n))
	if err != nil {
		return nil, err
	}
	return f, f.forget()
}

// shaped is row 2: shapes whose cost grows with the square in terraform.
func (b *bench) shaped(ctx context.Context) ([]Figure, error) {
	var figures []Figure
	for _, work := range []struct {
		shape  shape
		n      int
		target Target
	}{{correlated, b.size(2000), Faster(50)}, {chained, b.size(1000), Faster(20)}} {
		f, err := b.shapeFolder(ctx, work.shape, work.n)
		if err != nil {
			return figures, err
		}
		p, err := f.plans(ctx, planChanges)
		if err != nil {
			return figures, err
		}
		name := fmt.Sprintf("%d in %s, first plan", work.shape.expected(work.n), work.shape.name)
		figures = append(figures, p.wall(name, work.target), p.peak(name, Target{}))
	}
	return figures, nil
}
