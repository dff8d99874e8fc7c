package thirtydays

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
)

// Arrangement is a way in which the environments are kept.
type Arrangement struct {
	// Period is the time between an agent's rounds in minutes; 0 stands for a pipeline
	// that pushes.
	Period int
	// Means turns on what Towline has against what the model counts as lost: grants for
	// emergencies, the cloud's log as signals, and an inventory of what nobody manages.
	Means bool
}

// Name is how the arrangement is called in tables.
func (a Arrangement) Name() string {
	switch {
	case a.Period == 0:
		return "push"
	case a.Means:
		return fmt.Sprintf("towline U=%d", a.Period)
	}
	return fmt.Sprintf("pull U=%d", a.Period)
}

// signalDelay is how long the cloud's events and the store's take to reach an agent.
const signalDelay = 5 * time.Second

// Replay replays the model's thirty days and returns what came of them.
func Replay(ctx context.Context, opts Options, a Arrangement) (row Row, err error) {
	s, err := newSite(ctx, opts)
	if err != nil {
		return Row{}, err
	}
	defer func() {
		if closeErr := s.close(); err == nil {
			err = closeErr
		}
	}()
	changes := generate()
	if a.Period == 0 {
		return s.push(ctx, changes)
	}
	if err := s.enrol(ctx, time.Duration(a.Period)*time.Minute, a.Means); err != nil {
		return Row{}, err
	}
	p := &pull{site: s, arrangement: a, people: &people{site: s, before: map[int]any{}}}
	if err := p.run(ctx, steps(changes)); err != nil {
		return Row{}, err
	}
	if row, err = s.figures(ctx, changes, a); err != nil {
		return Row{}, err
	}
	if row.Live, err = p.commits(ctx); err != nil {
		return Row{}, err
	}
	row.Authority, err = s.agentsAuthority(ctx)
	return row, err
}

// pull is a replay with agents.
type pull struct {
	site        *site
	arrangement Arrangement
	people      *people
	// heard is the last event of the cloud that was signalled.
	heard  int64
	events *client.Client
}

// run makes everything once, and then lets the thirty days pass.
func (p *pull) run(ctx context.Context, steps []step) (err error) {
	if p.events, err = p.site.as("signals"); err != nil {
		return err
	}
	if err := p.roundOfAll(ctx, 0); err != nil {
		return err
	}
	for m := 0; m <= Minutes; m++ {
		if m > 0 && m%p.arrangement.Period == 0 {
			if err := p.roundOfAll(ctx, m); err != nil {
				return err
			}
		}
		acted := false
		for ; len(steps) > 0 && steps[0].minute == m; steps = steps[1:] {
			if err := p.act(ctx, steps[0]); err != nil {
				return err
			}
			acted = true
		}
		if acted && p.arrangement.Means {
			if err := p.signal(ctx, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// roundOfAll has each agent do its round of a minute.
func (p *pull) roundOfAll(ctx context.Context, m int) error {
	p.site.clock.set(minute(m))
	for _, environment := range Environments {
		if err := p.site.round(ctx, environment); err != nil {
			return err
		}
	}
	return nil
}

// act is what people do a second after the rounds of the minute.
func (p *pull) act(ctx context.Context, s step) error {
	p.site.clock.set(minute(s.minute).Add(time.Second))
	if c := s.change; p.arrangement.Means && c.genuine && c.class != outOfScope && !s.undo {
		if err := p.people.open(ctx, c); err != nil {
			return fmt.Errorf("open a grant for change %d: %w", c.number, err)
		}
	}
	return p.people.do(ctx, s)
}

// signal has the agents do a round whose environments the cloud tells of.
func (p *pull) signal(ctx context.Context, m int) error {
	page, err := p.events.Events(ctx, p.heard, 1000)
	if err != nil {
		return fmt.Errorf("read the cloud's log: %w", err)
	}
	concerned := map[string]bool{}
	for _, event := range page.Events {
		p.heard = event.Sequence
		if !strings.HasPrefix(event.Actor, "agent-") {
			concerned[event.Environment] = true
		}
	}
	p.site.clock.set(minute(m).Add(time.Second + signalDelay))
	for _, environment := range Environments {
		if concerned[environment] {
			if err := p.site.round(ctx, environment); err != nil {
				return err
			}
		}
	}
	return nil
}

// The way of a commit: how long until a build has published it, and how many are
// measured. A commit is published at any moment of a period equally often.
const (
	building   = time.Minute
	publishing = 20 * time.Second
	measured   = 12
)

// commits measures, after the thirty days, the mean minutes from a commit until it is
// live: until the receipt that says so.
func (p *pull) commits(ctx context.Context) (float64, error) {
	const environment = "prod"
	period := time.Duration(p.arrangement.Period) * time.Minute
	from := minute(Minutes)
	var total time.Duration
	for i := range measured {
		took := building
		if p.arrangement.Means {
			took = publishing // no build comes between: whoever merges publishes
		}
		published := from.Add(time.Duration(2*i+1) * period / (2 * measured))
		commit := published.Add(-took)
		// The agent's rounds go on; those before the publication are of no interest.
		p.site.clock.set(published)
		if err := p.site.publish(ctx, environment, 2+i); err != nil {
			return 0, err
		}
		round := from
		for !round.After(published) {
			round = round.Add(period)
		}
		if p.arrangement.Means {
			round = published.Add(signalDelay)
		}
		p.site.clock.set(round)
		if err := p.site.round(ctx, environment); err != nil {
			return 0, err
		}
		live, err := p.site.liveSince(ctx, environment)
		if err != nil {
			return 0, err
		}
		total += live.Sub(commit)
		from = from.Add(2 * period)
	}
	return total.Minutes() / measured, nil
}

// liveSince is when the agent's last receipt says that the published revision is in force.
func (s *site) liveSince(ctx context.Context, environment string) (time.Time, error) {
	revisions, err := s.repo.Revisions(ctx, environment)
	if err != nil {
		return time.Time{}, err
	}
	r, err := s.lastReceipt(ctx, environment)
	if err != nil {
		return time.Time{}, err
	}
	newest := slices.MaxFunc(revisions, func(a, b repository.Revision) int { return cmp.Compare(a.Sequence, b.Sequence) })
	if r.Revision != newest.Digest || len(r.Changes) == 0 {
		return time.Time{}, fmt.Errorf("the last receipt of %s is of revision %s, with %d changes; the newest is not live", environment, r.Revision, len(r.Changes))
	}
	return r.Finished, nil
}
