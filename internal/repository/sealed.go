package repository

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/seal"
)

const (
	// MaxDoubtful bounds how many objects that are not believed are looked at before the
	// one that is: whoever can write to the store can put any number in front.
	MaxDoubtful = 100
	// MaxBatches bounds the batches of a journal, and MaxBatch one of them in bytes.
	MaxBatches = 10_000
	MaxBatch   = 64 << 20
)

// Held is what an agent has left in the store for whoever takes up its work, found
// signed by an agent of the environment.
type Held struct {
	Key  string
	Kind seal.Kind
	// Data is encrypted if Sealed, as all but early versions do.
	Data   []byte
	Sealed bool
}

// Digest names what was left among what is sealed.
func (h Held) Digest() string {
	sum := sha256.Sum256(h.Data)
	return hex.EncodeToString(sum[:])
}

// Enrolled are the keys of an environment's agents: of all enrolments that are known, or
// of the present ones only, by agent.
func Enrolled(ctx context.Context, store objstore.Store, declared *State, present bool) (map[string][]ed25519.PublicKey, error) {
	keys := map[string][]ed25519.PublicKey{}
	for name, agent := range declared.Agents {
		joins := []control.Join{agent.Join}
		if !present {
			joins = append(joins, agent.Earlier...)
		}
		for _, join := range joins {
			agent.Join = join
			reports, err := OpenReports(ctx, store, agent)
			switch {
			case err == nil:
				keys[name] = append(keys[name], reports.key)
			case !errors.Is(err, ErrNotEnrolled) && !errors.Is(err, ErrNotBelieved):
				return nil, err
			}
		}
	}
	return keys, nil
}

// NewestState reads a shard's newest state that an agent of the environment has signed, of
// at most limit bytes; [ErrNotFound] if there is none.
func NewestState(ctx context.Context, store objstore.Store, declared *State, shard control.Shard, limit int64) (Held, error) {
	keys, err := Enrolled(ctx, store, declared, false)
	if err != nil {
		return Held{}, err
	}
	return newestState(ctx, store, slices.Concat(slices.Collect(maps.Values(keys))...), shard, limit)
}

func newestState(ctx context.Context, store objstore.Store, keys []ed25519.PublicKey, shard control.Shard, limit int64) (Held, error) {
	names, err := namesBelow(ctx, store, shard.StatePrefix())
	if err != nil {
		return Held{}, err
	}
	slices.Reverse(names)
	for _, name := range names[:min(len(names), MaxDoubtful)] {
		object, err := store.Get(ctx, name, limit+control.MaxStateRecord+seal.Overhead)
		if errors.Is(err, objstore.ErrNotExist) || errors.Is(err, objstore.ErrTooLarge) {
			continue
		}
		if err != nil {
			return Held{}, fmt.Errorf("read state: %w", err)
		}
		for _, key := range keys {
			record, data, err := control.OpenState(object.Data, key)
			if err == nil && (control.Shard{Environment: record.Environment, Name: record.Shard}).StateKey(record.Epoch, record.Serial) == name {
				return Held{name, seal.KindState, data, record.Sealed}, nil
			}
		}
	}
	return Held{}, fmt.Errorf("%s: %w: no state that one of its agents has signed", shard, ErrNotFound)
}

// namesBelow lists the keys with a prefix, sorted.
func namesBelow(ctx context.Context, store objstore.Store, prefix string) ([]string, error) {
	var names []string
	for info, err := range store.List(ctx, prefix) {
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", prefix, err)
		}
		if names = append(names, info.Key); len(names) > maxReceipts {
			return nil, fmt.Errorf("list %s: more than %d objects", prefix, maxReceipts)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Left is what a machine that takes up the work of a shard's agents has to read: the
// newest state, of at most limit bytes, and the journal.
func Left(ctx context.Context, store objstore.Store, declared *State, shard control.Shard, limit int64) ([]Held, error) {
	byAgent, err := Enrolled(ctx, store, declared, false)
	if err != nil {
		return nil, err
	}
	keys := slices.Concat(slices.Collect(maps.Values(byAgent))...)
	var left []Held
	state, err := newestState(ctx, store, keys, shard, limit)
	switch {
	case err == nil:
		left = append(left, state)
	case !errors.Is(err, ErrNotFound):
		return nil, err
	}
	names, err := namesBelow(ctx, store, shard.JournalPrefix())
	if err != nil {
		return nil, err
	}
	if len(names) > MaxBatches {
		return nil, fmt.Errorf("%s: its journal has more than %d batches", shard, MaxBatches)
	}
	for _, name := range names {
		batch, err := readBatch(ctx, store, keys, name)
		if err != nil {
			return nil, err
		}
		left = append(left, batch...)
	}
	return left, nil
}

// readBatch reads a batch of a journal, nothing if no agent of the environment has signed it.
func readBatch(ctx context.Context, store objstore.Store, keys []ed25519.PublicKey, name string) ([]Held, error) {
	object, err := store.Get(ctx, name, MaxBatch)
	if errors.Is(err, objstore.ErrNotExist) || errors.Is(err, objstore.ErrTooLarge) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	for _, key := range keys {
		record, data, err := control.OpenJournal(object.Data, key)
		if err == nil && (control.Shard{Environment: record.Environment, Name: record.Shard}).JournalKey(record.Epoch, record.Sequence) == name {
			return []Held{{name, seal.KindJournal, data, record.Sealed}}, nil
		}
	}
	return nil, nil
}
