package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/seal"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// takeUp continues where the shard's last writer stopped: with the newest state, what
// was done after it, and after the newest receipt that an agent of the environment has
// signed. It comes before the memory names the epoch, so that it is done again
// after a crash.
func (r *round) takeUp(ctx context.Context, held *lease.Lease) error {
	a := r.agent
	keys := a.writers(ctx, r.declared)
	promised, err := a.takeUpReceipts(ctx, keys)
	if err != nil {
		return err
	}
	if !a.known {
		a.memory.Spent = a.memory.Sequence // what was approved before the memory was lost may have been made use of
	}
	succeeds := held.Epoch > 1 && held.Epoch != a.memory.Epoch
	if held.Epoch > a.memory.Epoch+1 { // in between another one has worked
		a.forgetRevision()
	}
	if succeeds {
		err = a.succeed(ctx, keys, promised)
	} else {
		_, err = a.takeUpState(ctx, keys, promised, false)
	}
	if err != nil {
		return err
	}
	a.memory.Shard, a.memory.Epoch, a.known, a.caughtUp = a.shard.Name, held.Epoch, true, true
	return a.memory.save(a.config.DataDir)
}

// forgetRevision has the agent not take the revision that it worked with for the one in
// force: what another agent has done since must not be undone. Receipts do not tell which one
// that is, because an agent can end between a change and the receipt.
func (a *Agent) forgetRevision() {
	a.abandon()
	a.memory.Begun = ""
}

// succeed takes up what another process has left under an earlier epoch: its state and
// its journal. What this agent itself still had to do is in them, as far as it counts.
func (a *Agent) succeed(ctx context.Context, keys []ed25519.PublicKey, promised stateName) error {
	byHand := !a.known && a.memory.Serial > 0
	if err := a.leaveBehind(); err != nil {
		return err
	}
	batches, err := a.readJournal(ctx, keys)
	if err != nil {
		return err
	}
	from, err := a.takeUpState(ctx, keys, promised, true)
	if err != nil || byHand {
		return err
	}
	if a.entries, err = a.entriesAfter(ctx, batches, from); err != nil || len(a.entries) == 0 {
		return err
	}
	a.log.Info("journal taken up from the store", "entries", len(a.entries))
	if err := a.replay(); err != nil {
		return err
	}
	if err := a.saveState(a.state); err != nil {
		return err
	}
	return a.emptyJournal()
}

// leaveBehind sets the journal of an epoch that was lost aside, for people to look at.
func (a *Agent) leaveBehind() error {
	if !a.known || a.journal.Empty() {
		return nil
	}
	path := fmt.Sprintf("%s.journal.epoch-%d", a.statePath(), a.memory.Epoch)
	a.log.Warn("the journal of an epoch that was lost is set aside", "epoch", a.memory.Epoch, "file", path)
	data, err := os.ReadFile(a.statePath() + ".journal")
	if err == nil {
		err = writeFile(path, data)
	}
	if err != nil {
		return fmt.Errorf("set the journal aside: %w", err)
	}
	a.open, a.absent, a.recovered = nil, nil, nil
	return a.emptyJournal()
}

// writers are the keys whose states and receipts are believed: this agent's own,
// then those of the environment's other agents and of earlier enrolments.
func (a *Agent) writers(ctx context.Context, declared *repository.State) []ed25519.PublicKey {
	keys := []ed25519.PublicKey{a.publicHalf()}
	for _, agent := range declared.Agents {
		for _, join := range append([]control.Join{agent.Join}, agent.Earlier...) {
			if key, ok := a.enrolledKey(ctx, agent, join); ok { // else what it could have signed is not believed
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// storedState is a believed state in the store.
type storedState struct {
	stateName
	data  []byte
	state *states.State
}

// takeUpState starts from the newest state in the store if it is newer than the
// one on this machine, or if that one is lost, and says which it is. promised is the
// state that there is by the receipts. Who succeeds another starts from what is
// in the store, to which the journal there belongs.
func (a *Agent) takeUpState(ctx context.Context, keys []ed25519.PublicKey, promised stateName, succeeds bool) (stateName, error) {
	stored, doubtful, err := a.newestState(ctx, keys, succeeds)
	if err != nil {
		return stateName{}, err
	}
	here := stateName{a.memory.Epoch, a.memory.Serial}
	if stored == nil || !a.supersedes(stored, succeeds) {
		return here, a.keepLocal(stored, doubtful, promised)
	}
	switch {
	case stored.before(promised):
		return here, a.refuseState(fmt.Sprintf("the newest state in the store is %s, but receipts tell of %s: it is an older copy", stored, promised))
	case a.lost != nil && !succeeds && stored.before(here):
		return here, a.refuseState(fmt.Sprintf("the newest state in the store is %s, and this agent has come to %s since", stored, here))
	}
	if err := a.setAside(); err != nil {
		return here, err
	}
	if err := a.writeState(stored.data, stored.state.Serial); err != nil {
		return here, err
	}
	a.log.Info("state taken up from the store", "epoch", stored.epoch, "serial", stored.serial)
	a.state, a.lost = stored.state, nil
	return stored.stateName, a.replay()
}

// keepLocal goes on with the state on this machine, if it can be the newest. Where
// the memory is not there, a person has put the state there.
func (a *Agent) keepLocal(stored *storedState, doubtful int, promised stateName) error {
	byHand := !a.known && a.memory.Serial > 0
	here := stateName{a.memory.Epoch, a.memory.Serial}
	switch {
	case a.lost != nil || (a.memory.Serial == 0 && doubtful > 0):
		return a.refuseState(fmt.Sprintf("the store holds no state that an agent of the environment has signed, but %d others, and receipts up to %s", doubtful, promised))
	case here.before(promised) && !byHand:
		return a.refuseState(fmt.Sprintf("receipts tell of a state with %s, and there is none newer than %s", promised, here))
	}
	a.memory.Serial = max(a.memory.Serial, promised.serial) // lower numbers are taken
	if stored != nil && byHand {
		a.memory.Serial = max(a.memory.Serial, stored.serial)
	}
	return nil
}

// setAside keeps a state file that cannot be used, for people to look at.
func (a *Agent) setAside() error {
	if a.lost == nil {
		return nil
	}
	if err := os.Rename(a.statePath(), a.statePath()+".unusable"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("set the unusable state aside: %w", err)
	}
	return nil
}

// refuseState keeps the agent from starting without the objects it made.
func (a *Agent) refuseState(why string) error {
	if a.lost != nil {
		why = fmt.Sprintf("the state in %s cannot be used (%s), and %s", a.statePath(), a.lost, why)
	}
	return fmt.Errorf("%s. To create nothing twice, nothing is done. If you know which state is right, stop the agent, put it there, remove %s and start the agent again", why, memoryPath(a.config.DataDir))
}

// supersedes tells whether a state in the store takes the place of the one here.
func (a *Agent) supersedes(stored *storedState, succeeds bool) bool {
	switch {
	case a.lost != nil:
		return true
	case a.known && succeeds:
		return stored.epoch >= a.memory.Epoch
	case a.known:
		return a.newer(stored.stateName)
	default: // the memory is lost or there is none yet
		return stored.state.Lineage != a.state.Lineage || stored.serial > a.state.Serial
	}
}

// newer tells whether a state is from after the one that this agent remembers.
func (a *Agent) newer(name stateName) bool {
	return stateName{a.memory.Epoch, a.memory.Serial}.before(name)
}

// newestState reads the newest believed state that is of interest; nil if there is
// none. Unless all are, only those newer than this agent's are. doubtful counts newer
// ones that are not believed.
func (a *Agent) newestState(ctx context.Context, keys []ed25519.PublicKey, all bool) (stored *storedState, doubtful int, err error) {
	names, err := a.listStates(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		if !all && a.known && a.lost == nil && !a.newer(name) {
			break // and so are all that follow
		}
		key := a.shard.StateKey(name.epoch, name.serial)
		object, err := a.store.Get(ctx, key, states.MaxFileSize+control.MaxStateRecord+seal.Overhead)
		if err != nil && !errors.Is(err, objstore.ErrTooLarge) {
			return nil, doubtful, fmt.Errorf("read state: %w", err)
		}
		if err == nil {
			var unreadable *unreadableError
			stored, err = a.believeState(ctx, name, object.Data, keys)
			if err == nil || errors.As(err, &unreadable) {
				return stored, doubtful, wrap("read state "+key, err)
			}
		}
		a.log.Warn("a state in the store is not believed", "key", key, "why", err)
		if doubtful++; doubtful == repository.MaxDoubtful {
			break
		}
	}
	return nil, doubtful, nil
}

// believeState opens a state object that one of the keys has signed under its name.
func (a *Agent) believeState(ctx context.Context, name stateName, object []byte, keys []ed25519.PublicKey) (*storedState, error) {
	var err error
	for _, key := range keys {
		var record control.StateRecord
		var data []byte
		if record, data, err = control.OpenState(object, key); err != nil {
			continue
		}
		if record.Environment != a.shard.Environment || record.Shard != a.shard.Name || record.Epoch != name.epoch || record.Serial != name.serial {
			return nil, fmt.Errorf("it was signed as serial %d of epoch %d of %s", record.Serial, record.Epoch, control.Shard{Environment: record.Environment, Name: record.Shard})
		}
		if record.Sealed {
			if data, err = a.unsealed(ctx, seal.KindState, data, states.MaxFileSize); err != nil {
				return nil, &unreadableError{err}
			}
		}
		state, diags := states.Decode(data)
		if diags.HasErrors() {
			return nil, diags.Err()
		}
		return &storedState{name, data, state}, nil
	}
	return nil, err
}

// unreadableError says that a believed state cannot be opened here and now: an older one
// must not take its place.
type unreadableError struct{ err error }

func (e *unreadableError) Error() string { return e.err.Error() }
func (e *unreadableError) Unwrap() error { return e.err }

// takeUpReceipts continues the chain after the newest believed receipt in the store,
// unless the memory has come further, and returns the state that it names.
func (a *Agent) takeUpReceipts(ctx context.Context, keys []ed25519.PublicKey) (promised stateName, err error) {
	var names []string
	for info, err := range a.store.List(ctx, control.ReceiptPrefix(a.config.Environment, a.config.Agent)) {
		if err != nil {
			return stateName{}, fmt.Errorf("list receipts: %w", err)
		}
		if _, _, ok := control.ParseReceiptKey(info.Key); ok {
			names = append(names, info.Key)
		}
	}
	slices.Reverse(names)
	for _, name := range names[:min(len(names), repository.MaxDoubtful)] {
		object, err := a.store.Get(ctx, name, control.MaxDocument)
		if err != nil && !errors.Is(err, objstore.ErrTooLarge) {
			return stateName{}, fmt.Errorf("read receipt: %w", err)
		}
		receipt, err := a.believeReceipt(name, object.Data, keys)
		if err != nil {
			a.log.Warn("a receipt in the store is not believed", "key", name, "why", err)
			continue
		}
		if receipt.Sequence > a.memory.Sequence { // else the memory is ahead of the store
			a.memory.Sequence, a.memory.Previous = receipt.Sequence, control.ReceiptDigest(object.Data)
		}
		return stateName{receipt.Epoch, receipt.Serial}, nil
	}
	if len(names) > 0 && a.memory.Sequence == 0 { // approvals that were made use of would hold again
		return stateName{}, fmt.Errorf("the store holds %d receipts of this agent, and none of the newest is signed by an agent of the environment: where this agent had come to is not known, and nothing is done. Find out who wrote them, move those that are not signed away from %s, and the agent goes on", len(names), control.ReceiptPrefix(a.config.Environment, a.config.Agent))
	}
	return stateName{}, nil
}

func (a *Agent) believeReceipt(name string, signed []byte, keys []ed25519.PublicKey) (receipt control.Receipt, err error) {
	for _, key := range keys {
		if receipt, err = control.Open[control.Receipt](signed, key); err == nil {
			break
		}
	}
	if err == nil && control.ReceiptKey(receipt.Environment, receipt.Agent, receipt.Epoch, receipt.Sequence) != name {
		err = errors.New("it was signed under another name")
	}
	return receipt, err
}
