package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/seal"
)

// replica is the journal in the store, for a machine that takes up the work. It is
// written by the journal's own goroutine; rounds say where things belong.
type replica struct {
	agent *Agent

	mu  sync.Mutex
	now settings

	writing sync.Mutex
	head    control.JournalRecord
	// located tells that head's sequence and the one before are known to be the last ones.
	located bool
	// batches are those in the store that no state in the store is known to contain.
	batches []batch
}

// settings say where entries belong and who can open them.
type settings struct {
	epoch int64
	// serial is that of the state to which entries are added.
	serial     uint64
	recipients []string
	refusal    error
}

// batch is a batch in the store and the serial of the state that its entries are added to.
type batch struct {
	sequence int64
	serial   uint64
}

// replicate has the journal go to the store under the lease that is held. Where another
// agent may follow, nothing is changed before its intent is there.
func (r *round) replicate() error {
	a := r.agent
	a.replica.mu.Lock()
	a.replica.now = settings{a.memory.Epoch, a.memory.Serial, a.sealing.recipients, a.sealing.refusal}
	a.replica.mu.Unlock()
	return a.journal.Replicate(a.replica.put, r.followed())
}

// rebase says that entries are from now on added to the state with a serial.
func (p *replica) rebase(serial uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.serial = serial
}

// put writes a batch under the next free key. It is a [journal.Replica].
func (p *replica) put(entries []byte) error {
	ctx, cancel := context.WithTimeout(p.agent.life, storeTimeout)
	defer cancel()
	p.mu.Lock()
	now := p.now
	p.mu.Unlock()
	if now.refusal != nil {
		return now.refusal
	}
	data, err := seal.Seal(ctx, p.agent.subject(seal.KindJournal), now.recipients, entries)
	if err != nil {
		return err
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	if err := p.locate(ctx, now); err != nil {
		return err
	}
	return p.create(ctx, data)
}

// create writes a batch under the first key after the last that is free.
func (p *replica) create(ctx context.Context, data []byte) error {
	for range repository.MaxDoubtful {
		p.head.Sequence++
		object, err := control.SignJournal(p.head, data, p.agent.private)
		if err != nil {
			return err
		}
		if len(object) > repository.MaxBatch {
			return fmt.Errorf("the batch has %d bytes, more than %d", len(object), repository.MaxBatch)
		}
		key := p.agent.shard.JournalKey(p.head.Epoch, p.head.Sequence)
		_, err = p.agent.store.PutIfAbsent(ctx, key, object)
		switch {
		case err == nil:
			p.stored()
			return nil
		case !errors.Is(err, objstore.ErrExist):
			p.head.Sequence--
			return fmt.Errorf("upload journal: %w", err)
		}
		if err := p.pass(ctx, key); err != nil {
			return err
		}
	}
	return fmt.Errorf("the store holds %d objects under %s that this agent has not written; find out who did", repository.MaxDoubtful, p.agent.shard.JournalPrefix())
}

func (p *replica) stored() {
	p.head.After = p.head.Sequence
	p.batches = append(p.batches, batch{p.head.Sequence, p.head.Serial})
}

// pass goes past an object that is there already: this agent's, from a request whose
// answer was lost, or somebody else's, which counts for nothing.
func (p *replica) pass(ctx context.Context, key string) error {
	object, err := p.agent.store.Get(ctx, key, repository.MaxBatch)
	switch {
	case errors.Is(err, objstore.ErrTooLarge):
		return nil
	case err != nil:
		p.head.Sequence--
		return fmt.Errorf("read uploaded journal: %w", err)
	}
	record, _, err := control.OpenJournal(object.Data, p.agent.publicHalf())
	if err == nil && p.agent.belongs(record, batchName{p.head.Epoch, p.head.Sequence}) {
		p.stored()
	}
	return nil
}

// locate finds the place after the batches that an earlier process has written.
func (p *replica) locate(ctx context.Context, now settings) error {
	if p.located && p.head.Epoch == now.epoch {
		p.head.Serial = now.serial
		return nil
	}
	p.located, p.batches = false, nil
	p.head = control.JournalRecord{Version: control.FormatVersion, Environment: p.agent.shard.Environment, Shard: p.agent.shard.Name, Agent: p.agent.config.Agent,
		Epoch: now.epoch, Serial: now.serial, Sealed: true}
	names, err := p.agent.listBatches(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name.epoch != p.head.Epoch {
			continue
		}
		p.head.Sequence = name.sequence
		if err := p.pass(ctx, p.agent.shard.JournalKey(name.epoch, name.sequence)); err != nil {
			return err
		}
	}
	p.located = true
	return nil
}

// removeContained removes the batches that a state in the store contains, and those of
// earlier epochs. A store that forbids it is no failure.
// What is being written meanwhile is looked at the next time.
func (p *replica) removeContained(ctx context.Context, epoch int64, serial uint64, earlier bool) error {
	if !p.writing.TryLock() {
		return nil
	}
	defer p.writing.Unlock()
	var gone []string
	p.batches = slices.DeleteFunc(p.batches, func(b batch) bool {
		if p.head.Epoch == epoch && b.serial < serial {
			gone = append(gone, p.agent.shard.JournalKey(p.head.Epoch, b.sequence))
		}
		return p.head.Epoch == epoch && b.serial < serial
	})
	if earlier {
		names, err := p.agent.listBatches(ctx)
		if err != nil {
			return err
		}
		for _, name := range names {
			if name.epoch < epoch {
				gone = append(gone, p.agent.shard.JournalKey(name.epoch, name.sequence))
			}
		}
	}
	for _, key := range gone {
		if err := p.agent.store.Delete(ctx, key); err != nil && !errors.Is(err, objstore.ErrDenied) {
			return fmt.Errorf("remove old journal: %w", err)
		}
	}
	return nil
}

// batchName is a batch's place in the order of batches.
type batchName struct{ epoch, sequence int64 }

// listBatches lists the shard's journal in the store, the oldest first.
func (a *Agent) listBatches(ctx context.Context) ([]batchName, error) {
	var names []batchName
	for info, err := range a.store.List(ctx, a.shard.JournalPrefix()) {
		if err != nil {
			return nil, fmt.Errorf("list journal: %w", err)
		}
		epoch, sequence, ok := control.ParseJournalKey(info.Key)
		if !ok || info.Key != a.shard.JournalKey(epoch, sequence) {
			continue
		}
		if names = append(names, batchName{epoch, sequence}); len(names) > repository.MaxBatches {
			return nil, fmt.Errorf("list journal: there are more than %d batches under %s", repository.MaxBatches, a.shard.JournalPrefix())
		}
	}
	return names, nil
}

// storedBatch is a believed batch in the store.
type storedBatch struct {
	control.JournalRecord
	data []byte
}

// errContained: a batch was removed while the journal was read, because a state in the store
// contains it by now.
var errContained = errors.New("the journal in the store keeps changing")

// readJournal reads the shard's journal. What is to be read of states is read after it:
// whoever removes a batch has uploaded the state that contains it before.
func (a *Agent) readJournal(ctx context.Context, keys []ed25519.PublicKey) (batches []storedBatch, err error) {
	const attempts = 5
	for range attempts {
		if batches, err = a.readBatches(ctx, keys); !errors.Is(err, errContained) {
			break
		}
	}
	return batches, err
}

func (a *Agent) readBatches(ctx context.Context, keys []ed25519.PublicKey) ([]storedBatch, error) {
	names, err := a.listBatches(ctx)
	if err != nil {
		return nil, err
	}
	var batches []storedBatch
	for _, name := range names {
		batch, err := a.readBatch(ctx, keys, name)
		if err != nil {
			return nil, err
		}
		if batch.Sequence > 0 {
			batches = append(batches, batch)
		}
	}
	return batches, nil
}

// readBatch reads a batch; its record is zero if no agent of the environment has signed it.
func (a *Agent) readBatch(ctx context.Context, keys []ed25519.PublicKey, name batchName) (storedBatch, error) {
	key := a.shard.JournalKey(name.epoch, name.sequence)
	object, err := a.store.Get(ctx, key, repository.MaxBatch)
	switch {
	case errors.Is(err, objstore.ErrNotExist):
		return storedBatch{}, errContained
	case err != nil && !errors.Is(err, objstore.ErrTooLarge):
		return storedBatch{}, fmt.Errorf("read journal: %w", err)
	}
	for _, public := range keys {
		record, data, err := control.OpenJournal(object.Data, public)
		if err == nil && a.belongs(record, name) {
			return storedBatch{record, data}, nil
		}
	}
	a.log.Warn("a batch of the journal in the store is not believed", "key", key)
	return storedBatch{}, nil
}

// belongs tells whether a batch was signed for a place in the shard's journal: whoever can write
// to the store can copy it elsewhere.
func (a *Agent) belongs(record control.JournalRecord, name batchName) bool {
	return record.Environment == a.shard.Environment && record.Shard == a.shard.Name && record.Epoch == name.epoch && record.Sequence == name.sequence
}

// entriesAfter opens what earlier agents did after a state. Each batch names the one
// before, so that one that is missing in between is noticed.
func (a *Agent) entriesAfter(ctx context.Context, batches []storedBatch, state stateName) ([]journal.Entry, error) {
	var entries []journal.Entry
	var before storedBatch
	for _, batch := range batches {
		if batch.Epoch < state.epoch {
			continue
		}
		if before.Epoch == batch.Epoch && batch.After != before.Sequence {
			return nil, fmt.Errorf("the journal in the store has no batch %d of epoch %d, although the next one names it. To create nothing twice, nothing is done; find out who removed it", batch.After, batch.Epoch)
		}
		if before = batch; batch.Epoch == state.epoch && batch.Serial < state.serial {
			continue
		}
		more, err := a.openBatch(ctx, batch)
		if err != nil {
			return nil, err
		}
		entries = append(entries, more...)
	}
	return entries, nil
}

func (a *Agent) openBatch(ctx context.Context, batch storedBatch) ([]journal.Entry, error) {
	if batch.Sealed {
		opened, err := a.unsealed(ctx, seal.KindJournal, batch.data, repository.MaxBatch)
		if err != nil {
			return nil, fmt.Errorf("read journal: %w", err)
		}
		batch.data = opened
	}
	return journal.Decode(batch.data)
}

// recorder is the journal as the engine sees it: no call that changes something begins
// unless the agent may make it.
type recorder struct {
	*journal.Journal
	agent *Agent
}

// Begin implements [engine.Recorder].
func (r recorder) Begin(intent journal.Intent) (uint64, error) {
	if err := r.agent.tenure.Holds(r.agent.now()); err != nil {
		return 0, err
	}
	id, err := r.Journal.Begin(intent)
	if err != nil {
		return id, err
	}
	if err := r.agent.tenure.Holds(r.agent.now()); err != nil {
		return id, errors.Join(err, r.withdraw(id, intent))
	}
	return id, nil
}

// withdraw records that a call was not made.
func (r recorder) withdraw(id uint64, intent journal.Intent) error {
	return r.End(journal.Result{ID: id, Address: intent.Address, Deposed: intent.Deposed, Time: r.agent.now(), Failed: true,
		Provider: intent.Provider, Object: intent.Prior})
}
