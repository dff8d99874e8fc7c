package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/demo"
)

// awsNetworkSize is how many objects awsSource always has.
const awsNetworkSize = 9

// awsSizes are how many AWS resources are planned.
func (b *bench) awsSizes() []int {
	return []int{awsNetworkSize, max(awsNetworkSize, b.size(251)), max(awsNetworkSize, b.size(1001))}
}

// awsFolder returns a folder whose n AWS resources are there, made once.
func (b *bench) awsFolder(ctx context.Context, n int) (*folder, error) {
	if f := b.aws[n]; f != nil {
		return f, nil
	}
	w, err := b.world(ctx, "aws", func(dir string) (demo.Stage, demo.Options, error) { return demo.AWS(ctx, dir+"-s3") })
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("towline-%d", n) // SSM reserves names that begin with aws
	f, err := b.folder(ctx, w, name, awsSource(name, n-awsNetworkSize))
	if err != nil {
		return nil, err
	}
	b.say("  making %d AWS resources in the mock", n)
	if _, err := f.fresh(n, f.towline(planEmpty, applyArgs()...))(ctx); err != nil {
		return nil, err
	}
	b.aws[n] = f
	return f, nil
}

// oneShot is row 4: a plan without changes as a command. The first use is that after
// init: without the provider's schema on disk, which terraform never keeps. Each work is done
// against the mock, whose own time is in both columns, and against its answers, which
// take none.
func (b *bench) oneShot(ctx context.Context) ([]Figure, error) {
	var figures []Figure
	for _, n := range b.awsSizes() {
		f, err := b.awsFolder(ctx, n)
		if err != nil {
			return figures, err
		}
		more, err := f.oneShot(ctx, fmt.Sprintf("%d AWS resources, no-op plan", n))
		if figures = append(figures, more...); err != nil {
			return figures, err
		}
		if more, err = f.replayed(ctx, n); err != nil {
			return figures, err
		}
		figures = append(figures, more...)
	}
	return figures, nil
}

func (f *folder) oneShot(ctx context.Context, work string) ([]Figure, error) {
	first, err := f.b.inTurn(ctx, f.terraform(planEmpty, planArgs()...), f.uncached(f.towline(planEmpty, planArgs()...)))
	if err != nil {
		return nil, err
	}
	again, err := f.plans(ctx, planEmpty)
	if err != nil {
		return nil, err
	}
	return []Figure{first.wall(work+", first use", Share(0.5)), first.peak(work+", first use", Share(1)),
		again.wall(work+", afterwards", Share(0.4)), again.peak(work+", afterwards", Share(1))}, nil
}

// replayed is oneShot with the mock's answers. Both programs have asked everything before.
func (f *folder) replayed(ctx context.Context, n int) (figures []Figure, err error) {
	r, err := newReplayer(valueOf(f.env, "AWS_ENDPOINT_URL"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	behind := *f
	behind.env = append(slices.Clone(f.env), "AWS_ENDPOINT_URL="+r.url)
	for _, run := range []func(context.Context) (usage, error){behind.terraform(planEmpty, planArgs()...), behind.towline(planEmpty, planArgs()...)} {
		if _, err := run(ctx); err != nil {
			return nil, err
		}
	}
	before := r.misses()
	figures, err = behind.oneShot(ctx, fmt.Sprintf("%d AWS resources, answers replayed, no-op plan", n))
	if after := r.misses(); err == nil && after != before {
		err = fmt.Errorf("%d requests were not answered from memory: the programs do not ask the same each time", after-before)
	}
	return figures, err
}

// valueOf is the last value of a variable in an environment.
func valueOf(environ []string, name string) string {
	value := ""
	for _, entry := range environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

// uncached removes the schemas that were kept before a run, and checks that the
// run has kept them again.
func (f *folder) uncached(run func(context.Context) (usage, error)) func(context.Context) (usage, error) {
	return func(ctx context.Context) (usage, error) {
		if err := os.RemoveAll(f.cache + "/towline/schemas"); err != nil {
			return usage{}, fmt.Errorf("remove kept schemas: %w", err)
		}
		u, err := run(ctx)
		if err != nil {
			return u, err
		}
		if entries, err := os.ReadDir(f.cache + "/towline/schemas"); err != nil || len(entries) == 0 {
			return u, errors.Join(errors.New("the run has kept no schema"), err)
		}
		return u, nil
	}
}
