package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/towline/terraform-provider-towline/internal/demo"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/versitygw"
)

// patience is how long agents may take to converge after a fault. A request to the
// store may be tried again for some seconds, and the machine may have other work.
const patience = 60 * time.Second

// Options say what a run does.
type Options struct {
	// Dir is an empty folder for everything.
	Dir      string
	Programs demo.Programs
	// Seed chooses everything; Faults is how many there are in all.
	Seed   uint64
	Faults int
	// Sites is how many environments run side by side; Only is the number of the one
	// that runs, from 1, or 0 for all.
	Sites, Only int
	// Out gets a line now and then.
	Out io.Writer

	s3 *versitygw.Server
}

// cliConfig tells terraform and towline where our providers are.
func (o *Options) cliConfig() string { return filepath.Join(o.Dir, "terraform.rc") }

// Report is what came of a run.
type Report struct {
	// Faults is how many happened, by kind.
	Faults map[string]int
	// Missed is how many were set whose point was never reached.
	Missed int
	// Takeovers is how often one agent followed another, Longest for how long it was then
	// since the other's last word.
	Takeovers int
	Longest   time.Duration

	mu sync.Mutex
}

// Total is how many faults happened.
func (r *Report) Total() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := 0
	for _, n := range r.Faults {
		total += n
	}
	return total
}

// Summary lists the kinds of fault.
func (r *Report) Summary() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := ""
	for _, kind := range slices.Sorted(maps.Keys(r.Faults)) {
		out += fmt.Sprintf("%6d  %s\n", r.Faults[kind], kind)
	}
	return out
}

// count takes down a fault that was set.
func (r *Report) count(kind string, happened bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if happened {
		r.Faults[kind]++
	} else {
		r.Missed++
	}
}

// followed takes down that one agent followed another.
func (r *Report) followed(silence time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Takeovers++
	r.Longest = max(r.Longest, silence)
}

// Run has faults happen to agents until there were enough, and checks after each
// that nothing is lost. The error wraps [ErrViolated] if something was.
func Run(ctx context.Context, opts Options) (*Report, error) {
	report := &Report{Faults: map[string]int{}}
	if err := opts.prepare(ctx); err != nil {
		return report, err
	}
	defer opts.s3.Stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for number := 1; number <= opts.Sites; number++ {
		if opts.Only != 0 && opts.Only != number {
			continue
		}
		share := (opts.Faults + opts.Sites - number) / opts.Sites
		group.Go(func() {
			if err := opts.runSite(ctx, number, share, report); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return report, context.Cause(ctx)
}

// prepare starts what all sites share.
func (o *Options) prepare(ctx context.Context) error {
	if err := o.Programs.Mirror(filepath.Join(o.Dir, "mirror")); err != nil {
		return err
	}
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", filepath.Join(o.Dir, "mirror"))
	if err := os.WriteFile(o.cliConfig(), []byte(text), 0o600); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	var err error
	if o.s3, err = versitygw.Start(ctx, filepath.Join(o.Dir, "s3")); err != nil {
		return err
	}
	return o.s3.Setenv() // for the harness's own look into the store
}

// runSite has a site's share of the faults happen.
func (o *Options) runSite(ctx context.Context, number, share int, report *Report) (err error) {
	s, err := newSite(ctx, o, number, report)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(err != nil)) }()
	if err := s.begin(ctx); err != nil {
		return fmt.Errorf("%s, before any fault: %w", s.name, err)
	}
	begin := time.Now()
	for n := 1; n <= share && ctx.Err() == nil; n++ {
		f, happened, err := s.strike(ctx, (*site).choose)
		if err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // another site has failed, or the run was interrupted
			}
			return fmt.Errorf("%s, fault %d (%s): %w\nto see it again: make chaos CHAOSARGS='-seed %d -sites %d -only %d -faults %d'",
				s.name, n, f.what, err, o.Seed, o.Sites, number, o.Sites*n)
		}
		report.count(f.kind, happened)
		if n%10 == 0 || n == share {
			fmt.Fprintf(o.Out, "%s: %d of %d, %s a fault; the last: %s\n", s.name, n, share, (time.Since(begin) / time.Duration(n)).Round(10*time.Millisecond), f.what)
		}
	}
	return nil
}

// begin has the agents enrol and make a first revision true, without a fault.
func (s *site) begin(ctx context.Context) error {
	since := time.Now()
	s.declared.change(s.random)
	if err := s.publish(ctx); err != nil {
		return err
	}
	for _, m := range s.members {
		if err := m.start(); err != nil {
			return err
		}
		if err := s.converge(ctx, since); err != nil {
			return err
		}
		since = time.Now() // the first one leaves what those after it can read in its next round only
	}
	if err := s.converge(ctx, since); err != nil {
		return err
	}
	return s.check(ctx)
}

// strike publishes a revision, has one fault happen while it is made true, and
// checks everything when that is over.
func (s *site) strike(ctx context.Context, choose func(*site) fault) (f fault, happened bool, err error) {
	s.declared.change(s.random)
	f = choose(s)
	m, err := s.holder(ctx)
	if err != nil {
		return f, false, err
	}
	faultCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	sprung, err := f.set(faultCtx, m)
	if err != nil {
		return f, false, err
	}
	since := time.Now()
	if err := s.publish(ctx); err != nil {
		return f, false, err
	}
	if !f.followed { // who is to be followed and was ended already stays down
		err = m.start()
	}
	if err != nil {
		return f, false, err
	}
	happened, err = s.awaitFault(ctx, sprung, f.lasts)
	cancel()
	m.disarm()
	happened = happened || isClosed(sprung)
	if f.followed && happened && err == nil {
		err = s.awaitFollower(ctx, m)
	}
	if f.heal != nil {
		err = errors.Join(err, f.heal(m))
	}
	for _, m := range s.members {
		err = errors.Join(err, m.recovered())
	}
	if err != nil {
		return f, happened, err
	}
	if happened {
		since = time.Now()
	}
	return f, happened, s.settle(ctx, since)
}

// settle waits until the agents have converged, checks everything, and has clocks go right
// again that were off for long enough.
func (s *site) settle(ctx context.Context, since time.Time) error {
	if err := s.converge(ctx, since); err != nil {
		return err
	}
	if err := s.check(ctx); err != nil {
		return err
	}
	for _, m := range s.members {
		if err := s.awaitSkew(ctx, m); err != nil {
			return err
		}
		if err := m.clock.pass(); err != nil {
			return err
		}
	}
	return nil
}
