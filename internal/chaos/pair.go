package chaos

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// pairKinds are what happens to two agents of one environment beside what happens to one.
var pairKinds = []kind{
	{6, followed(killAtCall)},
	{5, followed(killAtStore)},
	{5, followed(killAtEntry)},
	{5, followed(paused)},
	{5, followed(partStore)},
	{4, bothKilled},
	{4, followersClock},
	{3, followed(killedClockOff)},
}

// followed has a fault go on until the other agent has taken over.
func followed(choose func(*site) fault) func(*site) fault {
	return func(s *site) fault {
		f := choose(s)
		f.kind, f.what = f.kind+", until followed", f.what+", until another follows"
		f.lasts, f.followed = 0, true
		return f
	}
}

// bothKilled ends both agents around the effect of one of the holder's calls to the cloud.
func bothKilled(s *site) fault {
	call := s.random.IntN(max(s.declared.calls, 1))
	after, text := side(s.random)
	return fault{kind: "both killed", what: fmt.Sprintf("SIGKILL of both agents %s call %d takes effect", text, call+1),
		set: func(_ context.Context, m *member) (<-chan struct{}, error) {
			return m.cloud.set(isChange, call, 1, strike{carriedOut: after, do: func() {
				for _, member := range m.site.members {
					member.kill()
				}
			}}), nil
		}}
}

// followersClock turns the clock of the agent that stands by, at a point of the one that works.
func followersClock(s *site) fault {
	at, t := anyPoint(s), chooseTurning(s)
	return fault{kind: "follower's clock turned", what: fmt.Sprintf("the follower's clock is %s %s", t.text, at.text), lasts: t.lasts,
		set: func(ctx context.Context, m *member) (<-chan struct{}, error) {
			return at.set(ctx, m, serversAnswer, func() { t.happen(s.other(m)) }), nil
		},
		heal: func(m *member) error { return t.heal(s.other(m)) }}
}

// other is the second of two agents.
func (s *site) other(m *member) *member {
	if s.members[0] == m {
		return s.members[1]
	}
	return s.members[0]
}

// holder is the agent that holds the lease.
func (s *site) holder(ctx context.Context) (*member, error) {
	current, ok, err := lease.Current(ctx, s.store, s.shard())
	if err != nil || !ok {
		return nil, fmt.Errorf("read lease: %t, %w", ok, err)
	}
	if m := s.memberOf(current.Holder); m != nil {
		return m, nil
	}
	return nil, violated("%s holds the lease", current.Holder)
}

// memberOf is the agent in a holder's name, nil if it is none of the site's.
func (s *site) memberOf(holder string) *member {
	for _, m := range s.members {
		if m.name == agentOf(holder) {
			return m
		}
	}
	return nil
}

// awaitFollower waits until another agent than one holds the lease.
func (s *site) awaitFollower(ctx context.Context, than *member) error {
	late := time.After(patience)
	for {
		m, err := s.holder(ctx)
		if err != nil || m != than {
			s.ledger.underWay, err = than.begun()
			return err
		}
		select {
		case <-time.After(period / 20):
		case <-late:
			return s.stuck("did not follow")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begun are the slots for which the agent's journal has a call that is under way.
func (m *member) begun() (map[string]bool, error) {
	entries, err := journal.Read(m.journal())
	if err != nil {
		return nil, err
	}
	open, err := journal.Replay(states.New(), entries)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, intent := range open {
		out[intent.Address[strings.LastIndex(intent.Address, ".slot")+len(".slot"):]] = true
	}
	return out, nil
}

// keptWords bounds the words that are remembered.
const keptWords = 1000

// spoke takes down that the agent has given a word.
func (m *member) spoke(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.words = append(m.words, at)
	if len(m.words) > keptWords {
		m.words = m.words[keptWords/2:]
	}
}

// silence is how long the agent had given no word at a moment, and the longest of its
// silences that went on into the period before: a follower has heard one of them, and words
// may have come between its last look and that moment.
func (m *member) silence(at time.Time) (last, longest time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	end := at
	for i := len(m.words) - 1; i >= 0 && at.Sub(end) < period; i-- {
		word := m.words[i]
		if !word.Before(at) {
			continue
		}
		longest = max(longest, end.Sub(word))
		if end.Equal(at) {
			last = longest
		}
		end = word
	}
	if end.Equal(at) {
		return at.Sub(time.Time{}), at.Sub(time.Time{}) // it has given none
	}
	return last, longest
}
