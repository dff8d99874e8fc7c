package chaos

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"sync"
	"time"
)

// clock is that of an agent's machine, as far as it can be turned: everything else
// in the harness goes by the right time.
type clock struct {
	file *os.File

	mu sync.Mutex
	// turns are those of the last minutes, the newest one at the end.
	turns []turn
	// faults is for how many more faults the clock stays as it is, 0 for no set time.
	faults int
	// failed is why it could not be turned.
	failed error
}

// turn says by how much a clock is off from a moment on.
type turn struct {
	at  time.Time
	off time.Duration
}

// keptTurns bounds the turns that are remembered.
const keptTurns = 100

// newClock makes a clock that is right.
func newClock(file string) (*clock, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make a clock: %w", err)
	}
	c := &clock{file: f}
	c.turn(0, 0)
	return c, c.failed
}

func (c *clock) close() error {
	if c == nil { // its agent was never made
		return nil
	}
	return c.file.Close()
}

// turn has the clock be off by so many whole seconds from now on, and go right again after
// so many faults, or when it is turned again if they are 0.
func (c *clock) turn(off time.Duration, faults int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// In one piece: the agent has the file mapped and may look at any moment.
	if _, err := c.file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(int64(off/time.Second))), 0); err != nil {
		c.failed = fmt.Errorf("turn a clock: %w", err)
		return
	}
	c.turns, c.faults = append(c.turns, turn{time.Now(), off}), faults
	if len(c.turns) > keptTurns {
		c.turns = c.turns[keptTurns/2:]
	}
}

// off is by how much the clock is off now.
func (c *clock) off() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turns[len(c.turns)-1].off
}

// pass ends a fault: the clock is set right when it was off for long enough.
func (c *clock) pass() error {
	c.mu.Lock()
	over := c.faults == 1
	c.faults = max(c.faults-1, 0)
	err := c.failed
	c.mu.Unlock()
	if over {
		c.turn(0, 0)
	}
	return err
}

// slack is for how long the harness may not know which of two times a clock shows.
const slack = time.Second

// when is the moment at which the clock showed a time, the zero time if it has not yet or
// that is too long ago. Turns are by more than rounds take, so that only one can be meant.
func (c *clock) when(shown time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	until := time.Now()
	for i := len(c.turns) - 1; i >= 0; i-- {
		at := shown.Add(-c.turns[i].off)
		if !at.After(until.Add(slack)) && !at.Before(c.turns[i].at.Add(-slack)) {
			return at
		}
		until = c.turns[i].at
	}
	return time.Time{}
}

// leastTurn is by how much a clock is turned at least: more than agents let pass.
const leastTurn = 2 * time.Minute

// chooseTurn is minutes or hours, forward or back. What is signed is valid for longer.
func chooseTurn(random *rand.Rand) time.Duration {
	off := leastTurn + time.Duration(random.IntN(3600))*time.Second
	if random.IntN(2) == 0 {
		off += time.Duration(random.IntN(12)) * time.Hour
	}
	if random.IntN(2) == 0 {
		return -off
	}
	return off
}

// mostFaultsOff is for how many faults a clock is off at most.
const mostFaultsOff = 4

// turning is what is done to a clock, and for how long.
type turning struct {
	text string
	off  time.Duration
	// The clock is off for a while, or if faults is not 0 for some faults.
	lasts  time.Duration
	faults int
}

func chooseTurning(s *site) turning {
	t := turning{off: chooseTurn(s.random)}
	if s.random.IntN(3) == 0 {
		t.lasts = s.moment()
		t.text = fmt.Sprintf("off by %s for %s from", t.off, t.lasts)
		return t
	}
	t.faults = 1 + s.random.IntN(mostFaultsOff)
	t.text = fmt.Sprintf("off by %s for %d faults from", t.off, t.faults)
	return t
}

// happen turns an agent's clock.
func (t turning) happen(m *member) { m.clock.turn(t.off, t.faults) }

// heal sets a clock right that was to be off for a while only.
func (t turning) heal(m *member) error {
	if t.faults == 0 {
		m.clock.turn(0, 0)
	}
	return nil
}

// clockTurned turns the agent's clock while it works.
func clockTurned(s *site) fault {
	at, t := anyPoint(s), chooseTurning(s)
	return fault{kind: "clock turned", what: fmt.Sprintf("the clock is %s %s", t.text, at.text), lasts: t.lasts,
		set: func(ctx context.Context, m *member) (<-chan struct{}, error) {
			return at.set(ctx, m, serversAnswer, func() { t.happen(m) }), nil
		},
		heal: t.heal}
}

// killedClockOff ends the agent, which finds its clock turned when it is started again.
func killedClockOff(s *site) fault {
	at, off, faults := anyPoint(s), chooseTurn(s.random), 1+s.random.IntN(mostFaultsOff)
	kill, who := killer(s.random)
	return fault{kind: "killed, started with its clock turned",
		what: fmt.Sprintf("SIGKILL of %s %s; started again, its clock is off by %s for %d faults", who, at.text, off, faults),
		set: func(ctx context.Context, m *member) (<-chan struct{}, error) {
			return at.set(ctx, m, 0, func() {
				kill(m)
				m.clock.turn(off, faults)
			}), nil
		}}
}

// skewSaid is how an agent's log says that its clock is off.
var skewSaid = regexp.MustCompile(`this machine's clock differs from the store's[^\n]* ahead=(-?[0-9hms]+)`)

// saidSkew tells whether the last that an agent's log says of its clock is by how much it is off.
func saidSkew(log string, off time.Duration) bool {
	all := skewSaid.FindAllStringSubmatch(log, -1)
	if len(all) == 0 {
		return false
	}
	ahead, err := time.ParseDuration(all[len(all)-1][1])
	return err == nil && (ahead-off).Abs() < leastTurn/2
}
