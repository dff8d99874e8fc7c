package probe

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// Prefix is where probes keep their objects; each run has a folder of its own below it.
const Prefix = "check/"

// Outcome is what a probe found.
type Outcome string

// The outcomes.
const (
	// OK: the store does what it must.
	OK Outcome = "ok"
	// Warning: it works, and something should be known.
	Warning Outcome = "warning"
	// Broken: the store breaks a promise.
	Broken Outcome = "broken"
	// Denied: a right is missing.
	Denied Outcome = "denied"
	// Failed: the store gave no answer that tells.
	Failed Outcome = "failed"
	// Skipped: it was not asked for, or a right that it takes is missing.
	Skipped Outcome = "skipped"
)

// Result is what one probe found.
type Result struct {
	Probe   string  `json:"probe"`
	Outcome Outcome `json:"result"`
	// Detail says what was seen.
	Detail string `json:"detail"`
	// Needed tells that nobody may share the store with others unless the outcome is good.
	Needed bool `json:"needed"`
}

// Report is what all probes found.
type Report struct {
	URL     string   `json:"url"`
	Results []Result `json:"results"`
	// Skew is how far the store's clock is ahead of ours; 0 if it is not known.
	Skew time.Duration `json:"-"`
}

// MultiWriter tells whether several agents and publishers may share the store.
func (r Report) MultiWriter() bool {
	for _, result := range r.Results {
		if result.Needed && result.Outcome != OK && result.Outcome != Warning {
			return false
		}
	}
	return true
}

// Options say how much to probe.
type Options struct {
	// Size is the largest object to write, in bytes; 0 writes none.
	Size int64
	// Pages writes and lists more objects than stores list at once.
	Pages bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// check is one run.
type check struct {
	store   objstore.Store
	options Options
	prefix  string
	missing map[right]bool
	skew    time.Duration
}

// probe is one question. run returns what it saw if that is good.
type probe struct {
	name   string
	needed bool
	// rights are those without which there is nothing to see.
	rights []right
	run    func(*check, context.Context) (string, error)
}

var probes = []probe{
	{"write", true, nil, (*check).probeWrite},
	{"read", true, nil, (*check).probeRead},
	{"list", true, nil, (*check).probeList},
	{"delete", false, nil, (*check).probeDelete},
	{"absence", true, []right{toRead}, (*check).probeAbsence},
	{"read-after-write", true, []right{toWrite, toRead}, (*check).probeReadAfterWrite},
	{"create-only", true, []right{toWrite, toRead}, (*check).probeCreateOnly},
	{"create-race", true, []right{toWrite, toRead}, (*check).probeCreateRace},
	{"compare-and-swap", true, []right{toWrite, toRead}, (*check).probeSwap},
	{"swap-race", true, []right{toWrite, toRead}, (*check).probeSwapRace},
	{"listing", true, []right{toWrite, toList}, (*check).probeListing},
	{"deletion", false, []right{toWrite, toRead, toDelete}, (*check).probeDeletion},
	{"pages", true, []right{toWrite, toList}, (*check).probePages},
	{"size", true, []right{toWrite, toRead}, (*check).probeSize},
	{"clock", false, []right{toWrite, toRead}, (*check).probeClock},
}

// Run asks a store everything, and removes what it wrote. Errors are part of the report.
func Run(ctx context.Context, store objstore.Store, options Options) Report {
	if options.Now == nil {
		options.Now = time.Now
	}
	c := &check{store: store, options: options, prefix: Prefix + strings.ToLower(rand.Text()) + "/", missing: map[right]bool{}}
	report := Report{URL: store.URL()}
	for _, p := range probes {
		report.Results = append(report.Results, c.ask(ctx, p))
	}
	report.Results = append(report.Results, c.cleanUp(ctx))
	report.Skew = c.skew
	return report
}

// Findings of probes that are neither good nor errors of the store.
type (
	broken  string
	notice  string
	skipped string
)

func (b broken) Error() string  { return string(b) }
func (n notice) Error() string  { return string(n) }
func (s skipped) Error() string { return string(s) }

func brokenf(format string, args ...any) error { return broken(fmt.Sprintf(format, args...)) }

func (c *check) ask(ctx context.Context, p probe) Result {
	for _, needed := range p.rights {
		if c.missing[needed] {
			return Result{p.name, Skipped, "not tried without the right to " + string(needed), p.needed}
		}
	}
	detail, err := p.run(c, ctx)
	result := Result{Probe: p.name, Outcome: OK, Detail: detail, Needed: p.needed}
	if err != nil {
		result.Outcome, result.Detail = outcomeOf(err), err.Error()
	}
	if result.Outcome == Skipped {
		result.Needed = false // nobody asked
	}
	return result
}

func outcomeOf(err error) Outcome {
	var (
		found  broken
		told   notice
		unable skipped
	)
	switch {
	case errors.As(err, &found):
		return Broken
	case errors.As(err, &told):
		return Warning
	case errors.As(err, &unable):
		return Skipped
	case errors.Is(err, objstore.ErrDenied):
		return Denied
	}
	return Failed
}

// cleanupTime bounds the removal, which happens even if the caller's time is over.
const cleanupTime = time.Minute

// cleanUp removes what the run wrote.
func (c *check) cleanUp(ctx context.Context) Result {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	removed, err := c.removeAll(ctx)
	if err != nil {
		return Result{"clean-up", Warning, fmt.Sprintf("objects below %s are left: %s", c.prefix, err), false}
	}
	return Result{"clean-up", OK, fmt.Sprintf("%d objects were removed", removed), false}
}

func (c *check) removeAll(ctx context.Context) (removed int, err error) {
	keys, err := c.list(ctx, c.prefix)
	if err != nil {
		return 0, err
	}
	return len(keys), concurrently(len(keys), func(i int) error { return c.store.Delete(ctx, keys[i]) })
}
