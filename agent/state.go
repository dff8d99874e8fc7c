package agent

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/google/uuid"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/seal"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// keptStates is how many older states stay in the store.
const keptStates = 50

// readState reads the state on this machine. An agent that knows of objects must
// not begin without them, because it would create them all a second time: a state
// that is missing, damaged or not the one last written is an error in lost, and
// the state then has to come from the store.
func (a *Agent) readState() (state *states.State, lost, err error) {
	data, err := os.ReadFile(a.statePath())
	switch {
	case errors.Is(err, os.ErrNotExist) && a.memory.Serial == 0:
		return states.New(), nil, nil
	case errors.Is(err, os.ErrNotExist):
		return states.New(), errors.New("it is missing"), nil
	case err != nil:
		return nil, nil, fmt.Errorf("read state: %w", err)
	}
	if len(a.memory.States) > 0 && !slices.Contains(a.memory.States, digestOf(data)) {
		return states.New(), errors.New("it is not what the agent wrote"), nil
	}
	if len(data) == 0 {
		return states.New(), errors.New("it is empty"), nil
	}
	state, diags := states.Decode(data)
	if diags.HasErrors() {
		return states.New(), diags.Err(), nil
	}
	a.memory.Serial = max(a.memory.Serial, state.Serial)
	return state, nil, nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// saveState writes the state on this machine if it differs from what is there.
// The store gets it with the round's report.
func (a *Agent) saveState(state *states.State) error {
	if state.Lineage == "" {
		state.Lineage = uuid.NewString()
	}
	state.TerraformVersion = states.TerraformVersion
	state.Serial = a.memory.Serial
	var buf bytes.Buffer
	if err := states.Write(&buf, state); err != nil {
		return err
	}
	a.state = state
	if existing, err := os.ReadFile(a.statePath()); err == nil && bytes.Equal(existing, buf.Bytes()) {
		return nil
	}
	state.Serial++
	buf.Reset()
	if err := states.Write(&buf, state); err != nil {
		return err
	}
	return a.writeState(buf.Bytes(), state.Serial)
}

// writeState puts a state into its file. The memory names the old and the new
// content before, and the new one only after, so that a crash at any point leaves a
// file that is known.
func (a *Agent) writeState(data []byte, serial uint64) error {
	before, digest := a.memory.States, digestOf(data)
	a.memory.States = append(slices.Clone(before), digest)
	if len(before) > 0 || a.memory.Serial == 0 {
		if err := a.memory.save(a.config.DataDir); err != nil {
			a.memory.States = before
			return err
		}
	}
	if err := writeFile(a.statePath(), data); err != nil {
		return err
	}
	a.memory.Serial, a.memory.States = serial, []string{digest}
	return a.memory.save(a.config.DataDir)
}

// uploadState puts the state into the store if it is not there yet. The key
// carries the epoch, so that a fenced holder's states can be told apart.
func (a *Agent) uploadState(ctx context.Context) error {
	if a.memory.Serial == 0 || a.lost != nil {
		return nil //nolint:nilerr // there is nothing to upload
	}
	if a.memory.StateEpoch == a.memory.Epoch && a.memory.StateSerial == a.memory.Serial {
		if a.sealing.refusal != nil || a.memory.SealedFor == a.sealedFor() {
			return nil //nolint:nilerr // it is there, or nobody new can be given it
		}
		if err := a.renumberState(); err != nil {
			return err
		}
	}
	if len(a.open)+len(a.absent) > 0 && a.memory.Bound {
		if err := a.journal.Flush(); err != nil {
			return err // the state would hide the calls that are open from a successor
		}
	}
	data, err := os.ReadFile(a.statePath())
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	sealed, err := a.sealed(ctx, seal.KindState, data)
	if err != nil { // receipts go on: a successor learns from them that a state is missing
		a.log.Error("state not sealed; it stays on this machine until it can be", "error", err)
		return nil //nolint:nilerr // see above
	}
	object, err := control.SignState(control.StateRecord{Version: control.FormatVersion, Environment: a.shard.Environment, Shard: a.shard.Name, Agent: a.config.Agent,
		Epoch: a.memory.Epoch, Serial: a.memory.Serial, Sealed: true}, sealed, a.private)
	if err != nil {
		return err
	}
	if err := a.putState(ctx, object, data); err != nil {
		return err
	}
	earlier := a.memory.StateEpoch != a.memory.Epoch
	kept := keptStates
	if a.memory.SealedFor == "" {
		kept = 1 // the ones before are in clear text
	}
	a.memory.StateEpoch, a.memory.StateSerial, a.memory.SealedFor = a.memory.Epoch, a.memory.Serial, a.sealedFor()
	if err := a.tenure.Holds(a.now()); err != nil {
		return nil //nolint:nilerr // a successor may be reading what there is
	}
	return errors.Join(a.removeOldStates(ctx, kept), a.replica.removeContained(ctx, a.memory.Epoch, a.memory.Serial, earlier))
}

// putState uploads a state. A foreign object under its key is passed by with a
// higher serial: it must not keep the agent from reporting.
func (a *Agent) putState(ctx context.Context, object, data []byte) error {
	key := a.shard.StateKey(a.memory.Epoch, a.memory.Serial)
	_, err := a.store.PutIfAbsent(ctx, key, object)
	if !errors.Is(err, objstore.ErrExist) {
		return wrap("upload state", err)
	}
	existing, err := a.store.Get(ctx, key, int64(len(object))+seal.Overhead)
	if err != nil && !errors.Is(err, objstore.ErrTooLarge) {
		return fmt.Errorf("read uploaded state: %w", err)
	}
	ours, sealed := false, false
	if err == nil {
		ours, sealed = a.wroteState(ctx, existing.Data, data)
	}
	if ours && sealed {
		return nil
	}
	if err := a.renumberState(); err != nil {
		return err
	}
	if ours {
		return a.uploadState(ctx) // early versions left it in clear text
	}
	return fmt.Errorf("the store holds a state under %s that this agent has not written; find out who did", key)
}

// wroteState tells whether an object holds a state that this agent has signed, as after a
// crash, and whether it is sealed. Nothing is sealed to the same bytes twice.
func (a *Agent) wroteState(ctx context.Context, object, data []byte) (ours, sealed bool) {
	public, _ := a.private.Public().(ed25519.PublicKey)
	record, held, err := control.OpenState(object, public)
	if err == nil && record.Sealed {
		held, err = a.unsealed(ctx, seal.KindState, held, int64(len(data)))
	}
	return err == nil && bytes.Equal(held, data), record.Sealed
}

// renumberState gives the state a number that is free, under which it can be uploaded.
func (a *Agent) renumberState() error {
	state := a.state.Copy()
	a.memory.Serial++
	return a.saveState(state)
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// removeOldStates bounds what the store keeps of the agent's states. Other objects
// are not counted and not touched. A store that forbids it is no failure.
func (a *Agent) removeOldStates(ctx context.Context, kept int) error {
	names, err := a.listStates(ctx)
	if err != nil {
		return err
	}
	own := names[:0]
	for _, name := range names {
		if !a.newer(name) {
			own = append(own, name)
		}
	}
	for _, name := range own[min(kept, len(own)):] {
		key := a.shard.StateKey(name.epoch, name.serial)
		if err := a.store.Delete(ctx, key); err != nil && !errors.Is(err, objstore.ErrDenied) {
			return fmt.Errorf("remove old state: %w", err)
		}
	}
	return nil
}

// stateName is a state object's place in the order of states.
type stateName struct {
	epoch  int64
	serial uint64
}

// before tells whether a state is from before another.
func (n stateName) before(other stateName) bool {
	return n.epoch < other.epoch || n.epoch == other.epoch && n.serial < other.serial
}

func (n stateName) String() string { return fmt.Sprintf("serial %d of epoch %d", n.serial, n.epoch) }

// listStates lists the shard's states, the newest first. Objects that no
// agent would have named so are not among them.
func (a *Agent) listStates(ctx context.Context) ([]stateName, error) {
	var names []stateName
	for info, err := range a.store.List(ctx, a.shard.StatePrefix()) {
		if err != nil {
			return nil, fmt.Errorf("list states: %w", err)
		}
		epoch, serial, ok := control.ParseStateKey(info.Key)
		if ok && info.Key == a.shard.StateKey(epoch, serial) {
			names = append(names, stateName{epoch, serial})
		}
	}
	slices.Reverse(names) // keys sort as their numbers
	return names, nil
}

// checkFolder makes sure that this process is the only one that goes by the agent's
// name, and that the data folder is still the one that was locked: what is written into one that was removed or exchanged would be lost.
func (r *round) checkFolder(context.Context) error {
	a := r.agent
	if a.doubled != nil {
		return a.doubled
	}
	held, err := a.lock.Stat()
	if err != nil {
		return fmt.Errorf("check data folder: %w", err)
	}
	there, err := os.Stat(a.lock.Name())
	if err != nil || !os.SameFile(held, there) {
		return fmt.Errorf("the data folder %s was removed or exchanged while the agent ran, so that nothing could be recorded; nothing is changed until the agent is restarted", a.config.DataDir)
	}
	return nil
}
