package journal

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
)

// Replica takes a batch of entries to where they outlive this machine. A batch that it
// failed with is given once more, with what has come since: entries may arrive twice.
type Replica func(batch []byte) error

// maxQueued bounds what waits for a replica, in bytes. A batch is about as large at most.
const maxQueued = 16 << 20

// errBehind: the replica has not taken entries for so long that some were dropped.
var errBehind = errors.New("the replica has not taken the journal's entries for too long")

// replicator hands entries that are on disk to a replica, those that arrive together
// in one batch.
type replicator struct {
	mu      sync.Mutex
	replica Replica
	// strict tells that an intent is durable only when the replica has it.
	strict  bool
	queue   bytes.Buffer
	waiting []chan error
	// behind tells that entries were dropped, until the next reset.
	behind bool
	// resets counts resets: what was taken from the queue before one is not there any more.
	resets int
	closed bool
	wake   chan struct{}
	done   chan struct{}
}

// Replicate has entries go to a replica as well from now on; nil ends that. If strict,
// an intent is durable only when the replica has it. Otherwise nobody waits, and
// what a replica does not take for too long is dropped until the next [Journal.Reset].
// Intents that are open are handed over first.
func (j *Journal) Replicate(replica Replica, strict bool) error {
	open, err := encodeIntents(j.Pending())
	if err != nil {
		return err
	}
	r := &j.replicas
	r.mu.Lock()
	defer r.mu.Unlock()
	begins := replica != nil && (r.replica == nil || strict && !r.strict)
	r.replica, r.strict = replica, strict
	if begins {
		r.queue.Reset()
		r.queue.Write(open)
		r.behind = false
		r.resets++
		r.poke()
	}
	return nil
}

// Flush waits until the replica has every entry, or says why it has not.
func (j *Journal) Flush() error {
	r := &j.replicas
	r.mu.Lock()
	if r.replica == nil || (r.queue.Len() == 0 && !r.behind) {
		r.mu.Unlock()
		return nil
	}
	if r.behind || r.closed {
		defer r.mu.Unlock()
		if r.closed {
			return errClosed
		}
		return errBehind
	}
	done := make(chan error, 1)
	r.waiting = append(r.waiting, done)
	r.poke()
	r.mu.Unlock()
	return <-done
}

func (r *replicator) open() {
	r.wake, r.done = make(chan struct{}, 1), make(chan struct{})
	go r.run()
}

// close ends the replicator. Nothing may be added any more.
func (r *replicator) close() {
	r.mu.Lock()
	r.closed = true
	close(r.wake)
	r.mu.Unlock()
	<-r.done
}

// poke has the replicator look at the queue. The lock is held.
func (r *replicator) poke() {
	if r.closed {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// add takes entries that are on disk. Who waits for one that need not be elsewhere is told.
func (r *replicator) add(added []addition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range added {
		waits := r.replica != nil && r.strict && a.intent
		switch {
		case waits && !r.behind:
			r.waiting = append(r.waiting, a.done)
		case waits:
			a.done <- errBehind
		default:
			a.done <- nil
		}
		if r.replica != nil && !r.behind {
			r.queue.Write(a.raw)
		}
	}
	if r.queue.Len() > 0 {
		r.poke()
	}
}

// reset drops what is part of a kept state by now, and hands over what stays open.
func (r *replicator) reset(open []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue.Reset()
	r.resets++
	r.behind = false
	if r.replica != nil && len(open) > 0 {
		r.queue.Write(open)
		r.poke()
	}
}

// run hands batches over, one after the other, and tells who waits.
func (r *replicator) run() {
	defer close(r.done)
	for range r.wake {
		for r.handOver() {
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, done := range r.waiting {
		done <- errClosed
	}
	r.waiting = nil
}

// handOver hands the queue over and tells whether there is more by now. After a failure
// it waits for the next entry.
func (r *replicator) handOver() (more bool) {
	r.mu.Lock()
	replica, batch, resets := r.replica, bytes.Clone(r.queue.Bytes()), r.resets
	waiting, behind := r.waiting, r.behind
	r.waiting = nil
	r.mu.Unlock()
	var err error
	switch {
	case replica == nil:
	case behind: // who waits came while a batch failed and what they wait for was dropped
		err = errBehind
	case len(batch) > 0:
		err = replica(batch)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.resets == resets {
		r.queue.Next(len(batch))
	}
	if r.queue.Len() > maxQueued {
		r.queue.Reset()
		r.behind = true
	}
	for _, done := range waiting {
		done <- wrapReplica(err)
	}
	return err == nil && (r.queue.Len() > 0 || len(r.waiting) > 0)
}

func wrapReplica(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("replicate journal: %w", err)
}
