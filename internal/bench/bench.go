package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/towline/terraform-provider-towline/internal/demo"
)

// Options say what to measure.
type Options struct {
	// Rows are the rows to measure; none means all.
	Rows []int
	// Runs is how often each work is done; the median counts.
	Runs int
	// Scale multiplies the sizes of all inputs. Targets hold for 1.
	Scale float64
	// Full also measures what takes terraform many minutes.
	Full bool
	// Window is how long the agent at rest is watched.
	Window time.Duration
	// Dir is an empty folder for everything; whoever made it removes it.
	Dir string
	// Log is told what is being measured; nil means nobody.
	Log io.Writer
}

// referencePatience bounds the time that terraform gets for the runs of one work:
// once it is used up, the rest of the runs are towline's only.
const referencePatience = 2 * time.Minute

// row is one line of what must be reached.
type row struct {
	number  int
	title   string
	measure func(*bench, context.Context) ([]Figure, error)
}

func rows() []row {
	return []row{
		{1, "5,000 resources without a provider process", (*bench).local},
		{2, "correlated and chained resources", (*bench).shaped},
		{3, "ten times as many resources", (*bench).growth},
		{4, "one-shot plans with the AWS provider", (*bench).oneShot},
		{5, "warm rounds against raw clients", (*bench).warm},
		{6, "an API with latency, and one with a rate limit", (*bench).remote},
		{7, "unequal durations", (*bench).unequal},
		{8, "one changed resource of many", (*bench).oneChange},
		{9, "the agent at rest", (*bench).rest},
	}
}

// bench is a measurement while it runs.
type bench struct {
	opts     Options
	programs demo.Programs
	// worlds are the surroundings that rows have started, by name.
	worlds map[string]*demo.World
	// ends undo what was started, the last first.
	ends []func()
	// aws are the folders with applied AWS resources, by their number.
	aws map[int]*folder
}

// Run measures and returns the figures in the order of the rows, also those that
// were measured before an error.
func Run(ctx context.Context, opts Options) (figures []Figure, err error) {
	b := &bench{opts: opts, worlds: map[string]*demo.World{}, aws: map[int]*folder{}}
	defer b.close()
	b.say("building the commands")
	if b.programs, err = demo.Build(ctx, filepath.Join(opts.Dir, "bin")); err != nil {
		return nil, err
	}
	for _, r := range rows() {
		if len(opts.Rows) > 0 && !slices.Contains(opts.Rows, r.number) {
			continue
		}
		b.say("row %d: %s", r.number, r.title)
		measured, err := r.measure(b, ctx)
		for _, f := range measured {
			f.Row = r.number
			figures = append(figures, f)
		}
		if err != nil {
			return figures, fmt.Errorf("row %d: %w", r.number, err)
		}
	}
	return figures, nil
}

func (b *bench) say(format string, args ...any) {
	if b.opts.Log != nil {
		fmt.Fprintf(b.opts.Log, format+"\n", args...)
	}
}

func (b *bench) close() {
	for _, end := range slices.Backward(b.ends) {
		end()
	}
}

// size scales the size of an input.
func (b *bench) size(n int) int { return max(1, int(float64(n)*b.opts.Scale)) }

// world returns surroundings that were started once, by name.
func (b *bench) world(ctx context.Context, name string, choose func(dir string) (demo.Stage, demo.Options, error)) (*demo.World, error) {
	if w := b.worlds[name]; w != nil {
		return w, nil
	}
	dir := filepath.Join(b.opts.Dir, "worlds", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	stage, opts, err := choose(dir)
	if err != nil {
		return nil, err
	}
	if opts.S3 != nil {
		b.ends = append(b.ends, opts.S3.Stop)
	}
	opts.Dir, opts.Programs = dir, b.programs
	w := demo.NewWorld(opts, stage)
	b.ends = append(b.ends, w.Close)
	if err := w.Start(ctx); err != nil {
		return nil, err
	}
	b.worlds[name] = w
	return w, nil
}

// simulated returns a world with a simulated cloud started with flags.
func (b *bench) simulated(ctx context.Context, name string, flags ...string) (*demo.World, error) {
	return b.world(ctx, name, func(string) (demo.Stage, demo.Options, error) {
		stage, opts := demo.SimcloudWith(flags...)
		return stage, opts, nil
	})
}

// plain is the world for everything that needs no special one.
func (b *bench) plain(ctx context.Context) (*demo.World, error) { return b.simulated(ctx, "plain") }

// pair are the runs of one work by terraform and by towline.
type pair struct{ reference, towline []usage }

// inTurn runs the same work by turns, so that what else the machine does falls
// upon both.
func (b *bench) inTurn(ctx context.Context, reference, towline func(context.Context) (usage, error)) (pair, error) {
	var p pair
	var spent time.Duration
	for range b.opts.Runs {
		if spent < referencePatience {
			u, err := reference(ctx)
			if err != nil {
				return p, err
			}
			p.reference = append(p.reference, u)
			spent += u.Wall
		}
		u, err := towline(ctx)
		if err != nil {
			return p, err
		}
		p.towline = append(p.towline, u)
	}
	return p, nil
}

// wall is a figure of time, peak one of memory.
func (p pair) wall(work string, target Target) Figure {
	return Figure{Work: work, Unit: Seconds, Against: "terraform", Reference: walls(p.reference), Towline: walls(p.towline), Target: target}
}

func (p pair) peak(work string, target Target) Figure {
	peaks := func(all []usage) (out Sample) {
		for _, u := range all {
			out = append(out, u.Peak)
		}
		return out
	}
	return Figure{Work: work + ", peak memory", Unit: Bytes, Against: "terraform", Reference: peaks(p.reference), Towline: peaks(p.towline), Target: target}
}

func walls(all []usage) (out Sample) {
	for _, u := range all {
		out = append(out, u.Wall.Seconds())
	}
	return out
}

// repeat measures a function of this process as often as asked.
func (b *bench) repeat(f func() (time.Duration, error)) (Sample, error) {
	var out Sample
	for range b.opts.Runs {
		took, err := f()
		if err != nil {
			return out, err
		}
		out = append(out, took.Seconds())
	}
	return out, nil
}

// Missed are the figures that do not reach their targets, as an error.
func Missed(figures []Figure) error {
	var errs []error
	for _, f := range figures {
		if !f.Met() {
			errs = append(errs, fmt.Errorf("row %d, %s: %s", f.Row, f.Work, f.cells(true)[5]))
		}
	}
	return errors.Join(errs...)
}
