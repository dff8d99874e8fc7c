package chaos

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// disarm takes away what was set for requests to come, and waits until nothing more
// happens to the agent.
func (m *member) disarm() {
	m.store.disarm()
	m.cloud.disarm()
	m.watchers.Wait()
}

// isClosed tells whether a channel was closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// awaitFault waits until a fault has happened, or the agents have converged
// without coming to its point.
func (s *site) awaitFault(ctx context.Context, sprung <-chan struct{}, lasts time.Duration) (happened bool, err error) {
	begin := time.Now()
	late := time.After(patience)
	for {
		select {
		case <-sprung:
			pause(ctx, lasts)
			return true, nil
		case <-s.reported:
			if err := s.ledger.follow(ctx); err != nil {
				return false, err
			}
			if s.ledger.converged(begin) {
				return false, nil
			}
		case <-late:
			return false, s.stuck("neither came to the fault nor converged")
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// converge waits for a round that began after a moment and made the revision true.
func (s *site) converge(ctx context.Context, after time.Time) error {
	late := time.After(patience)
	alive := time.NewTicker(poll)
	defer alive.Stop()
	for {
		select {
		case <-s.reported:
			if err := s.ledger.follow(ctx); err != nil {
				return err
			}
			if s.ledger.converged(after) {
				return nil
			}
		case <-alive.C:
			if slices.ContainsFunc(s.members, func(m *member) bool { return m.cmd != nil && !m.running() }) {
				return s.stuck("ended by themselves, or did not start,")
			}
		case <-late:
			return s.stuck("did not converge")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// awaitSkew waits until an agent whose clock is off has said so.
func (s *site) awaitSkew(ctx context.Context, m *member) error {
	late := time.After(patience)
	for off := m.clock.off(); off != 0 && !saidSkew(m.log(), off); {
		select {
		case <-time.After(poll / 10):
		case <-late:
			return s.stuck(fmt.Sprintf("did not say that the clock of %s is off by %s", m.name, off))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// stuck says where agents are.
func (s *site) stuck(what string) error {
	last := s.ledger.newest()
	text := fmt.Sprintf("the agents %s within %s; the newest receipt: %d of epoch %d, %s, %s %+v", what, patience, last.Sequence, last.Epoch, last.Outcome, last.Message, last.Problems)
	for _, m := range s.members {
		text += fmt.Sprintf("\n%s (running: %t) said last:\n%s", m.name, m.running(), m.lastWords())
	}
	return violated("%s", text)
}
