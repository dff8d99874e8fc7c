package agent

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// maxDoubtful bounds how many objects that are not believed are looked at before
// the one that is: whoever can write to the store can put any number in front.
const maxDoubtful = 100

// takeUp continues where the environment's last writer stopped: with the newest
// state and after the newest receipt that an agent of the environment has signed.
func (a *Agent) takeUp(ctx context.Context, declared *repository.State) error {
	keys := a.writers(ctx, declared)
	promised, err := a.takeUpReceipts(ctx, keys)
	if err != nil {
		return err
	}
	return a.takeUpState(ctx, keys, promised)
}

// writers are the keys whose states and receipts are believed: this agent's own,
// then those of the environment's other agents and of earlier enrolments.
func (a *Agent) writers(ctx context.Context, declared *repository.State) []ed25519.PublicKey {
	public, _ := a.private.Public().(ed25519.PublicKey)
	keys := []ed25519.PublicKey{public}
	for _, agent := range declared.Agents {
		for _, join := range append([]control.Join{agent.Join}, agent.Earlier...) {
			object, err := a.store.Get(ctx, control.ClaimKey(agent.Environment, agent.Name, join.Generation), control.MaxDocument)
			if err != nil {
				continue // not enrolled; what it could have signed is then not believed
			}
			enrolment := agent
			enrolment.Join = join
			if _, key, err := control.OpenClaim(enrolment, object.Data, object.Modified); err == nil {
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
// one on this machine, or if that one is lost. promised is the serial up to which
// receipts say that there is a state.
func (a *Agent) takeUpState(ctx context.Context, keys []ed25519.PublicKey, promised uint64) error {
	stored, doubtful, err := a.newestState(ctx, keys)
	if err != nil {
		return err
	}
	if stored == nil || !a.supersedes(stored) {
		return a.keepLocal(stored, doubtful, promised)
	}
	switch {
	case stored.serial < promised:
		return a.refuseState(fmt.Sprintf("the newest state in the store has serial %d, but receipts tell of serial %d: it is an older copy", stored.serial, promised))
	case a.lost != nil && stored.serial < a.memory.Serial:
		return a.refuseState(fmt.Sprintf("the newest state in the store has serial %d, and this agent has come to %d since", stored.serial, a.memory.Serial))
	}
	if err := a.setAside(); err != nil {
		return err
	}
	if err := a.writeState(stored.data, stored.state.Serial); err != nil {
		return err
	}
	a.log.Info("state taken up from the store", "epoch", stored.epoch, "serial", stored.serial)
	a.state, a.lost = stored.state, nil
	return a.replay()
}

// keepLocal goes on with the state on this machine, if it can be the newest. Where
// the memory is not there, a person has put the state there.
func (a *Agent) keepLocal(stored *storedState, doubtful int, promised uint64) error {
	byHand := !a.known && a.memory.Serial > 0
	switch {
	case a.lost != nil || (a.memory.Serial == 0 && doubtful > 0):
		return a.refuseState(fmt.Sprintf("the store holds no state that an agent of the environment has signed, but %d others, and receipts up to serial %d", doubtful, promised))
	case a.memory.Serial < promised && !byHand:
		return a.refuseState(fmt.Sprintf("receipts tell of a state with serial %d, and there is none newer than %d", promised, a.memory.Serial))
	}
	a.memory.Serial = max(a.memory.Serial, promised) // lower numbers are taken
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
func (a *Agent) supersedes(stored *storedState) bool {
	switch {
	case a.lost != nil:
		return true
	case a.known:
		return a.newer(stored.stateName)
	default: // the memory is lost or there is none yet
		return stored.state.Lineage != a.state.Lineage || stored.serial > a.state.Serial
	}
}

// newer tells whether a state is from after the one that this agent remembers.
func (a *Agent) newer(name stateName) bool {
	return name.epoch > a.memory.Epoch || (name.epoch == a.memory.Epoch && name.serial > a.memory.Serial)
}

// newestState reads the newest believed state that is of interest; nil if there is
// none. doubtful counts newer ones that are not believed.
func (a *Agent) newestState(ctx context.Context, keys []ed25519.PublicKey) (stored *storedState, doubtful int, err error) {
	names, err := a.listStates(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		if a.known && a.lost == nil && !a.newer(name) {
			break // and so are all that follow
		}
		key := control.StateKey(a.config.Environment, name.epoch, name.serial)
		object, err := a.store.Get(ctx, key, states.MaxFileSize+control.MaxStateRecord)
		if err != nil && !errors.Is(err, objstore.ErrTooLarge) {
			return nil, doubtful, fmt.Errorf("read state: %w", err)
		}
		if err == nil {
			if stored, err = a.believeState(name, object.Data, keys); err == nil {
				return stored, doubtful, nil
			}
		}
		a.log.Warn("a state in the store is not believed", "key", key, "why", err)
		if doubtful++; doubtful == maxDoubtful {
			break
		}
	}
	return nil, doubtful, nil
}

// believeState opens a state object that one of the keys has signed under its name.
func (a *Agent) believeState(name stateName, object []byte, keys []ed25519.PublicKey) (*storedState, error) {
	var err error
	for _, key := range keys {
		var record control.StateRecord
		var data []byte
		if record, data, err = control.OpenState(object, key); err != nil {
			continue
		}
		if record.Environment != a.config.Environment || record.Epoch != name.epoch || record.Serial != name.serial {
			return nil, fmt.Errorf("it was signed as serial %d of epoch %d of environment %s", record.Serial, record.Epoch, record.Environment)
		}
		state, diags := states.Read(bytes.NewReader(data))
		if diags.HasErrors() {
			return nil, diags.Err()
		}
		return &storedState{name, data, state}, nil
	}
	return nil, err
}

// takeUpReceipts continues the chain after the newest believed receipt in the store,
// unless the memory has come further, and returns the serial that it names.
func (a *Agent) takeUpReceipts(ctx context.Context, keys []ed25519.PublicKey) (promised uint64, err error) {
	var names []string
	for info, err := range a.store.List(ctx, control.ReceiptPrefix(a.config.Environment, a.config.Agent)) {
		if err != nil {
			return 0, fmt.Errorf("list receipts: %w", err)
		}
		if _, _, ok := control.ParseReceiptKey(info.Key); ok {
			names = append(names, info.Key)
		}
	}
	slices.Reverse(names)
	for _, name := range names[:min(len(names), maxDoubtful)] {
		object, err := a.store.Get(ctx, name, control.MaxDocument)
		if err != nil && !errors.Is(err, objstore.ErrTooLarge) {
			return 0, fmt.Errorf("read receipt: %w", err)
		}
		receipt, err := a.believeReceipt(name, object.Data, keys)
		if err != nil {
			a.log.Warn("a receipt in the store is not believed", "key", name, "why", err)
			continue
		}
		if receipt.Sequence > a.memory.Sequence { // else the memory is ahead of the store
			a.memory.Sequence, a.memory.Previous = receipt.Sequence, control.ReceiptDigest(object.Data)
		}
		return receipt.Serial, nil
	}
	return 0, nil
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
