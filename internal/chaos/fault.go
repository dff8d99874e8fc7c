package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"syscall"
	"time"
)

// fault is one thing that happens to an agent, at a point.
type fault struct {
	// kind groups faults in the report; what also names the point.
	kind, what string
	// set prepares the fault; what it returns is closed when it happens. It is
	// called before the agent can know of the revision that it is to make true.
	set func(ctx context.Context, m *member) (<-chan struct{}, error)
	// lasts is how long it goes on after it has happened.
	lasts time.Duration
	// followed tells that it goes on until another agent has taken over.
	followed bool
	// heal ends it; nil if there is nothing to end.
	heal func(m *member) error
}

// kind is a kind of fault with its weight.
type kind struct {
	weight int
	choose func(s *site) fault
}

// kinds are all kinds of fault with their weights: what happens at many points is tried more often.
var kinds = []kind{
	{8, killAtCall},
	{6, killAtStore},
	{5, killAtEntry},
	{6, clockTurned},
	{4, killedClockOff},
	{8, storeError},
	{2, storeSlow},
	{2, partStore},
	{2, partCloud},
	{4, providerKilled},
	{2, providerHung},
	{2, paused},
	{2, fullDisk},
}

// choose takes a fault by the site's seed. The last kind needs a disk that can be filled.
func (s *site) choose() fault {
	kinds := kinds
	if !hasDisk() {
		kinds = kinds[:len(kinds)-1]
	}
	if s.pair {
		kinds = append(slices.Clone(kinds), pairKinds...)
	}
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	at := s.random.IntN(total)
	for _, k := range kinds {
		if at -= k.weight; at < 0 {
			return k.choose(s)
		}
	}
	panic("unreachable: the weights add up")
}

// killer is one of the ways in which an agent's process ends.
func killer(random *rand.Rand) (kill func(*member), text string) {
	if random.IntN(3) == 0 {
		return (*member).killAlone, "agent alone"
	}
	return (*member).kill, "agent and providers"
}

// killAtCall ends the agent right before or after the effect of one call to the cloud.
func killAtCall(s *site) fault { return killed(s, "killed at a call to the cloud", atCall(s)) }

// killAtStore ends the agent right before or after the effect of one request to the store.
func killAtStore(s *site) fault { return killed(s, "killed at a request to the store", atStore(s)) }

// killAtEntry ends the agent as soon as its journal holds so many entries.
func killAtEntry(s *site) fault { return killed(s, "killed at an entry of the journal", atEntry(s)) }

func killed(s *site, kind string, at point) fault {
	kill, who := killer(s.random)
	return fault{kind: kind, what: fmt.Sprintf("SIGKILL of %s %s", who, at.text),
		set: func(ctx context.Context, m *member) (<-chan struct{}, error) {
			return at.set(ctx, m, 0, func() { kill(m) }), nil
		}}
}

// storeError has the store answer a few requests with an error, or not at all,
// before or after it has done what was asked.
func storeError(s *site) fault {
	statuses := []int{0, http.StatusForbidden, http.StatusConflict, http.StatusPreconditionFailed, http.StatusInternalServerError, http.StatusServiceUnavailable}
	strike := strike{status: statuses[s.random.IntN(len(statuses))]}
	var text string
	strike.carriedOut, text = side(s.random)
	if strike.carriedOut && s.random.IntN(4) == 0 {
		strike.status, strike.truncate = serversAnswer, true
	}
	call, times := s.random.IntN(storeCalls), 1+s.random.IntN(6)
	answer := fmt.Sprintf("answers %d", strike.status)
	switch {
	case strike.truncate:
		answer = "cuts its answers in the middle"
	case strike.status == 0:
		answer = "cuts the connection"
	}
	return fault{kind: "errors of the store", what: fmt.Sprintf("the store %s %s carrying out requests %d to %d", answer, text, call+1, call+times),
		lasts: s.moment(),
		set: func(_ context.Context, m *member) (<-chan struct{}, error) {
			return m.store.set(everyRequest, call, times, strike), nil
		}}
}

// storeSlow has the store take its time for a few requests.
func storeSlow(s *site) fault {
	delay, call, times := s.moment(), s.random.IntN(storeCalls), 1+s.random.IntN(4)
	return fault{kind: "slow store", what: fmt.Sprintf("the store takes %s longer for requests %d to %d", delay, call+1, call+times),
		set: func(_ context.Context, m *member) (<-chan struct{}, error) {
			return m.store.set(everyRequest, call, times, strike{status: serversAnswer, delay: delay}), nil
		}}
}

// partStore cuts the agent from the store at one of its requests.
func partStore(s *site) fault {
	call := s.random.IntN(storeCalls)
	return fault{kind: "cut from the store", what: fmt.Sprintf("cut from the store at request %d", call+1), lasts: s.moment(),
		set: func(_ context.Context, m *member) (<-chan struct{}, error) {
			return m.store.set(everyRequest, call, 1, strike{do: func() { m.store.part(true) }}), nil
		},
		heal: func(m *member) error { m.store.part(false); return nil }}
}

// partCloud cuts the agent from the cloud before one of its calls has an effect.
func partCloud(s *site) fault {
	call := s.random.IntN(max(s.declared.calls, 1))
	return fault{kind: "cut from the cloud", what: fmt.Sprintf("cut from the cloud at call %d", call+1), lasts: s.moment(),
		set: func(_ context.Context, m *member) (<-chan struct{}, error) {
			return m.cloud.set(isChange, call, 1, strike{do: func() { m.cloud.part(true) }}), nil
		},
		heal: func(m *member) error { m.cloud.part(false); return nil }}
}

// providerKilled ends the provider's process right before or after the effect of a call.
func providerKilled(s *site) fault {
	call := s.random.IntN(max(s.declared.calls, 1))
	after, text := side(s.random)
	return fault{kind: "provider killed", what: fmt.Sprintf("SIGKILL of the provider %s call %d takes effect", text, call+1),
		set: func(_ context.Context, m *member) (<-chan struct{}, error) {
			return m.cloud.set(isChange, call, 1, strike{carriedOut: after, do: m.endProviders}), nil
		}}
}

// providerHung stops the provider's process after the effect of a call, and ends it later.
func providerHung(s *site) fault {
	call := s.random.IntN(max(s.declared.calls, 1))
	return fault{kind: "provider hung", what: fmt.Sprintf("SIGSTOP of the provider after call %d took effect, then SIGKILL", call+1), lasts: s.moment(),
		set: func(_ context.Context, m *member) (<-chan struct{}, error) {
			return m.cloud.set(isChange, call, 1, strike{carriedOut: true, status: serversAnswer, do: func() { _ = m.signalProviders(syscall.SIGSTOP) }}), nil
		},
		heal: func(m *member) error { m.endProviders(); return nil }}
}

// paused stops the agent's process at a call to the cloud, and has it go on later.
func paused(s *site) fault {
	call := s.random.IntN(max(s.declared.calls, 1))
	after, text := side(s.random)
	return fault{kind: "paused", what: fmt.Sprintf("SIGSTOP of the agent %s call %d takes effect, then SIGCONT", text, call+1), lasts: s.moment(),
		set: func(_ context.Context, m *member) (<-chan struct{}, error) {
			return m.cloud.set(isChange, call, 1, strike{carriedOut: after, status: serversAnswer, do: func() { m.signal(syscall.SIGSTOP) }}), nil
		},
		heal: func(m *member) error { m.signal(syscall.SIGCONT); return nil }}
}

// fullDisk leaves no room in the agent's data folder from a call on.
func fullDisk(s *site) fault {
	call := s.random.IntN(max(s.declared.calls, 1))
	after, text := side(s.random)
	return fault{kind: "full disk", what: fmt.Sprintf("the disk is full from %s call %d takes effect", text, call+1), lasts: s.moment(),
		set: func(_ context.Context, m *member) (<-chan struct{}, error) {
			return m.cloud.set(isChange, call, 1, strike{carriedOut: after, status: serversAnswer, do: m.fill}), nil
		},
		heal: (*member).free}
}

// moment is how long something lasts: around the time between rounds.
func (s *site) moment() time.Duration {
	return time.Duration(1+s.random.IntN(15)) * 100 * time.Millisecond
}
