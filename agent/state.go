package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/google/uuid"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// keptStates is how many older states stay in the store.
const keptStates = 50

func readState(path string) (*states.State, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return states.New(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	defer func() { _ = file.Close() }()
	state, diags := states.Read(file)
	return state, diags.Err()
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
	if err := writeFile(a.statePath(), buf.Bytes()); err != nil {
		return err
	}
	a.memory.Serial = state.Serial
	return a.memory.save(a.config.DataDir)
}

// uploadState puts the state into the store if it is not there yet. The key
// carries the epoch, so that a fenced holder's states can be told apart.
func (a *Agent) uploadState(ctx context.Context) error {
	if a.memory.Serial == 0 || (a.memory.StateEpoch == a.memory.Epoch && a.memory.StateSerial == a.memory.Serial) {
		return nil
	}
	data, err := os.ReadFile(a.statePath())
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	_, err = a.store.PutIfAbsent(ctx, control.StateKey(a.config.Environment, a.memory.Epoch, a.memory.Serial), data)
	if err != nil && !errors.Is(err, objstore.ErrExist) {
		return fmt.Errorf("upload state: %w", err)
	}
	a.memory.StateEpoch, a.memory.StateSerial = a.memory.Epoch, a.memory.Serial
	return a.removeOldStates(ctx)
}

// removeOldStates bounds what the store keeps. A store that forbids it is no failure.
func (a *Agent) removeOldStates(ctx context.Context) error {
	var keys []string
	for info, err := range a.store.List(ctx, control.StatePrefix(a.config.Environment)) {
		if err != nil {
			return fmt.Errorf("list states: %w", err)
		}
		keys = append(keys, info.Key)
	}
	for _, key := range keys[:max(0, len(keys)-keptStates)] {
		if err := a.store.Delete(ctx, key); err != nil && !errors.Is(err, objstore.ErrDenied) {
			return fmt.Errorf("remove old state: %w", err)
		}
	}
	return nil
}

// takeUpState starts from the newest state in the store if it is newer than the
// one on this machine: another agent, or this one on another machine, wrote it.
func (a *Agent) takeUpState(ctx context.Context) error {
	var newest string
	var epoch int64
	var serial uint64
	for info, err := range a.store.List(ctx, control.StatePrefix(a.config.Environment)) {
		if err != nil {
			return fmt.Errorf("list states: %w", err)
		}
		e, s, ok := control.ParseStateKey(info.Key)
		if ok && (e > epoch || (e == epoch && s > serial)) {
			newest, epoch, serial = info.Key, e, s
		}
	}
	local := a.memory.Epoch
	if newest == "" || (local > 0 && (epoch < local || (epoch == local && serial <= a.memory.Serial))) {
		return nil
	}
	object, err := a.store.Get(ctx, newest, states.MaxFileSize)
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	state, diags := states.Read(bytes.NewReader(object.Data))
	if diags.HasErrors() {
		return fmt.Errorf("read state %s: %w", newest, diags.Err())
	}
	if err := writeFile(a.statePath(), object.Data); err != nil {
		return err
	}
	a.state = state
	a.memory.Serial = state.Serial
	a.log.Info("state taken up from the store", "epoch", epoch, "serial", serial)
	return nil
}
