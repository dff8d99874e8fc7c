package engine

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// Durations are how long calls took, by kind: verb and resource type. The walk
// begins with what lies on the longest remaining path by these estimates. It is
// safe for concurrent use.
type Durations struct {
	mu     sync.Mutex
	byKind map[string]time.Duration
}

// NewDurations returns estimates from what [Durations.Marshal] returned; nil data
// means none yet. Data that cannot be read is an error, and the result is empty.
func NewDurations(data []byte) (*Durations, error) {
	d := &Durations{byKind: map[string]time.Duration{}}
	if len(data) == 0 {
		return d, nil
	}
	var millis map[string]int64
	if err := json.Unmarshal(data, &millis); err != nil {
		return d, fmt.Errorf("read durations: %w", err)
	}
	for kind, ms := range millis {
		d.byKind[kind] = time.Duration(ms) * time.Millisecond
	}
	return d, nil
}

// Marshal encodes the estimates, in milliseconds by kind.
func (d *Durations) Marshal() ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	millis := make(map[string]int64, len(d.byKind))
	for kind, took := range d.byKind {
		millis[kind] = took.Milliseconds()
	}
	return json.Marshal(millis)
}

// observe takes one duration into the moving average of its kind.
func (d *Durations) observe(kind string, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old, ok := d.byKind[kind]; ok {
		took = (3*old + took) / 4
	}
	d.byKind[kind] = took
}

// guess is the estimate for a kind that has not been seen.
const guess = 100 * time.Millisecond

// estimate returns how long a call of a kind will take.
func (d *Durations) estimate(kind string) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if took, ok := d.byKind[kind]; ok {
		return took
	}
	return guess
}
