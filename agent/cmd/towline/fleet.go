package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

const (
	// listeners bounds how many agents are asked for at once.
	listeners = 16
	// proofIntervals is how many of its own intervals an agent may be silent before
	// nothing is known of it.
	proofIntervals = 3
	// maxClockSkew is how far an agent's clock may be ahead of ours.
	maxClockSkew = 5 * time.Minute
)

// selection says which agents a verb is about; empty fields select all.
type selection struct{ environment, agent string }

func (s *selection) flags(flags *flag.FlagSet) {
	flags.StringVar(&s.environment, "environment", "", "`NAME` of an environment; all, unless given")
	flags.StringVar(&s.agent, "agent", "", "`NAME` of an agent; all, unless given")
}

// member is a declared agent and what it has proved.
type member struct {
	declared control.Agent
	// published is the digest of the channel's current revision, "" without one.
	published string
	// reports is nil while no machine has enrolled.
	reports *repository.Reports
	// beat is the agent's last verified word, nil without one.
	beat *control.Heartbeat
	// holder is the record of the present epoch of the shard's lease, zero without one.
	holder lease.Record
	// doubt is why something that is there is not believed.
	doubt error
	// expired is why published is not proved: somebody may withhold a newer one. ""
	// if it is.
	expired string
}

func (m *member) name() string { return m.declared.Environment + "/" + m.declared.Name }

// overFleet runs a verb without arguments over the agents that are selected.
func (a *app) overFleet(verb string, at *access, which *selection, do func(context.Context, *repository.Repository, []*member) (int, error)) func(context.Context, []string) int {
	return a.verb(func(ctx context.Context, args []string) (int, error) {
		if err := noArguments(args, verb); err != nil {
			return exitFailed, err
		}
		r, err := at.read(ctx)
		if err != nil {
			return exitFailed, err
		}
		members, err := fleet(ctx, r, *which)
		if err != nil {
			return exitFailed, err
		}
		return do(ctx, r, members)
	})
}

// fleet reads the declared agents and what they say.
func fleet(ctx context.Context, r *repository.Repository, which selection) ([]*member, error) {
	members, err := declaredAgents(ctx, r, which)
	if err != nil {
		return nil, err
	}
	if err := addPublished(ctx, r, members, time.Now()); err != nil {
		return nil, err
	}
	if err := addHolders(ctx, r, members); err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(listeners)
	for _, m := range members {
		group.Go(func() error { return m.listen(ctx, r) })
	}
	return members, group.Wait()
}

func declaredAgents(ctx context.Context, r *repository.Repository, which selection) ([]*member, error) {
	environments := []string{which.environment}
	if which.environment == "" {
		config, err := r.Config(ctx)
		if err != nil {
			return nil, err
		}
		environments = slices.Sorted(maps.Keys(config.Environments))
	}
	var members []*member
	for _, environment := range environments {
		state, err := r.Environment(ctx, environment)
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(state.Agents)) {
			if which.agent == "" || which.agent == name {
				members = append(members, &member{declared: state.Agents[name]})
			}
		}
	}
	if which.agent != "" && len(members) == 0 {
		return nil, fmt.Errorf("agent %s: %w", which.agent, repository.ErrNotFound)
	}
	return members, nil
}

// addPublished reads the current revision of each channel in use.
func addPublished(ctx context.Context, r *repository.Repository, members []*member, now time.Time) error {
	endings, err := r.Endings(ctx)
	if err != nil {
		return err
	}
	current := map[string]string{}
	for _, m := range members {
		digest, known := current[m.declared.Channel]
		if !known {
			list, err := r.Revisions(ctx, m.declared.Channel)
			if err != nil && !errors.Is(err, trust.ErrNoRole) { // then nobody can publish there yet
				return err
			}
			if len(list) > 0 {
				digest = list[0].Digest
			}
			current[m.declared.Channel] = digest
		}
		m.published = digest
		if first := endings[0]; first.At.Before(now) {
			m.expired = fmt.Sprintf("the signature of %s has expired, so that a newer revision may be withheld", first.Role)
		}
	}
	return nil
}

// addHolders reads who holds the lease of each shard.
func addHolders(ctx context.Context, r *repository.Repository, members []*member) error {
	known := map[control.Shard]lease.Record{}
	for _, m := range members {
		shard := m.declared.ShardOf()
		holder, read := known[shard]
		if !read {
			var err error
			if holder, _, err = lease.Current(ctx, r.Store(), shard); err != nil {
				return err
			}
			known[shard] = holder
		}
		m.holder = holder
	}
	return nil
}

// listen reads claim and heartbeat. What is not believed is a doubt; only a store
// that does not answer is an error.
func (m *member) listen(ctx context.Context, r *repository.Repository) error {
	reports, err := repository.OpenReports(ctx, r.Store(), m.declared)
	if err == nil {
		m.reports = reports
		var beat control.Heartbeat
		if beat, err = reports.Heartbeat(ctx); err == nil {
			m.beat = &beat
		}
	}
	switch {
	case errors.Is(err, repository.ErrNotBelieved):
		m.doubt = err
		return nil
	case errors.Is(err, repository.ErrNotEnrolled), errors.Is(err, repository.ErrNotFound):
		return nil
	}
	return err
}

// unproved says why nothing is known of an agent now, "" if its proof is good.
func (m *member) unproved(now time.Time) string {
	switch {
	case m.doubt != nil:
		return m.doubt.Error()
	case m.reports == nil && now.After(m.declared.Join.Expires):
		return "no machine has enrolled, and the join token has expired: raise join_token_version of towline_agent and apply"
	case m.reports == nil:
		return "no machine has enrolled"
	case m.beat == nil:
		return "it has enrolled and not reported yet"
	case m.beat.Time.After(now.Add(maxClockSkew)):
		return fmt.Sprintf("its report is from %s, which is still to come: its clock or this one is wrong", m.beat.Time.Format(time.RFC3339))
	}
	if silent, allowed := now.Sub(m.beat.Reported()), proofIntervals*m.interval(); silent > allowed {
		return fmt.Sprintf("silent for %s, and it reports every %s", span(silent), span(m.interval()))
	}
	return ""
}

// interval is the time after which the agent promised to report again, else the
// declared one.
func (m *member) interval() time.Duration {
	if promised := m.beat.NextRound.Sub(m.beat.Reported()); !m.beat.NextRound.IsZero() && promised > 0 {
		return promised
	}
	return time.Duration(m.declared.PollInterval)
}
