package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

var (
	// ErrHeld: another holder has the current epoch.
	ErrHeld = errors.New("the lease is held by another")
	// ErrFenced: a newer epoch exists; this holder must write no more.
	ErrFenced = errors.New("a newer holder has taken over")
)

// maxRecord bounds a lease object.
const maxRecord = 4 << 10

// acquireAttempts bounds the races for the next epoch that one call may lose.
const acquireAttempts = 10

// Record is what a lease object says.
type Record struct {
	Version int   `json:"version"`
	Epoch   int64 `json:"epoch"`
	// Holder names the one who holds the epoch: an agent and its process, unlike
	// any other.
	Holder string `json:"holder"`
	// Taken is by the holder's clock, for the record.
	Taken time.Time `json:"taken"`
	// Period is how often the holder said, when it took the epoch, that it would say
	// that it is there; 0 if it did not know of anybody who follows.
	Period control.Duration `json:"period,omitempty"`
}

// Applicant is who wants the lease of a shard, under a name unlike any other, with
// the [Record]'s period.
type Applicant struct {
	Shard  control.Shard
	Name   string
	Period control.Duration
}

// Lease is a held epoch. Its methods are safe for concurrent use.
type Lease struct {
	Record
	store objstore.Store
	shard control.Shard
}

// Current returns the record of the highest epoch; ok is false if there is none yet.
func Current(ctx context.Context, store objstore.Store, shard control.Shard) (record Record, ok bool, err error) {
	epoch, err := highest(ctx, store, shard)
	if err != nil || epoch == 0 {
		return Record{}, false, err
	}
	record, err = At(ctx, store, shard, epoch)
	return record, err == nil, err
}

// Acquire returns the lease of a holder: the current epoch if it is the holder's
// own, as after a restart, or the first epoch if there is none. If somebody else
// holds it, the error is [ErrHeld]; whether to [TakeOver] is for the caller to say.
func Acquire(ctx context.Context, store objstore.Store, who Applicant, now time.Time) (*Lease, error) {
	for range acquireAttempts {
		current, ok, err := Current(ctx, store, who.Shard)
		switch {
		case err != nil:
			return nil, fmt.Errorf("acquire lease of %s: %w", who.Shard, err)
		case ok && current.Holder == who.Name:
			return &Lease{current, store, who.Shard}, nil
		case ok:
			return nil, fmt.Errorf("acquire lease of %s: %w: %s, since %s", who.Shard, ErrHeld, current.Holder, current.Taken.Format(time.RFC3339))
		}
		lease, err := take(ctx, store, who, 1, now)
		if !errors.Is(err, objstore.ErrExist) {
			return lease, err
		}
	}
	return nil, fmt.Errorf("acquire lease of %s: %w", who.Shard, ErrHeld)
}

// TakeOver takes the epoch after seen, which the caller has found to be held by
// someone who is gone. If anybody else took it first, the error is [ErrHeld].
func TakeOver(ctx context.Context, store objstore.Store, who Applicant, seen Record, now time.Time) (*Lease, error) {
	lease, err := take(ctx, store, who, seen.Epoch+1, now)
	if errors.Is(err, objstore.ErrExist) {
		return nil, fmt.Errorf("take over lease of %s: %w: epoch %d is taken", who.Shard, ErrHeld, seen.Epoch+1)
	}
	return lease, err
}

// Check returns [ErrFenced] if a newer epoch exists. Any other error means that
// the store could not say, and a careful holder stops writing.
func (l *Lease) Check(ctx context.Context) error {
	_, err := l.store.Stat(ctx, l.shard.LeaseKey(l.Epoch+1))
	switch {
	case err == nil:
		return fmt.Errorf("check lease of %s, epoch %d: %w", l.shard, l.Epoch, ErrFenced)
	case errors.Is(err, objstore.ErrNotExist):
		return nil
	}
	return fmt.Errorf("check lease of %s: %w", l.shard, err)
}

func take(ctx context.Context, store objstore.Store, who Applicant, epoch int64, now time.Time) (*Lease, error) {
	if who.Name == "" {
		return nil, errors.New("take lease: the holder has no name")
	}
	record := Record{Version: control.FormatVersion, Epoch: epoch, Holder: who.Name, Taken: now.UTC(), Period: who.Period}
	data, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("take lease: %w", err)
	}
	if _, err := store.PutIfAbsent(ctx, who.Shard.LeaseKey(epoch), data); err != nil {
		return nil, fmt.Errorf("take lease of %s: %w", who.Shard, err)
	}
	return &Lease{record, store, who.Shard}, nil
}

// highest returns the highest epoch, 0 if there is none.
func highest(ctx context.Context, store objstore.Store, shard control.Shard) (int64, error) {
	var epoch int64
	for info, err := range store.List(ctx, shard.LeasePrefix()) {
		if err != nil {
			return 0, fmt.Errorf("list lease of %s: %w", shard, err)
		}
		if found, ok := control.ParseLeaseKey(info.Key); ok {
			epoch = max(epoch, found)
		}
	}
	return epoch, nil
}

// At returns the record of an epoch.
func At(ctx context.Context, store objstore.Store, shard control.Shard, epoch int64) (Record, error) {
	object, err := store.Get(ctx, shard.LeaseKey(epoch), maxRecord)
	if err != nil {
		return Record{}, fmt.Errorf("read lease of %s: %w", shard, err)
	}
	var record Record
	if err := json.Unmarshal(object.Data, &record); err != nil {
		return Record{}, fmt.Errorf("read lease of %s, epoch %d: %w", shard, epoch, err)
	}
	if record.Version != control.FormatVersion || record.Epoch != epoch || record.Holder == "" {
		return Record{}, fmt.Errorf("read lease of %s, epoch %d: the object does not describe this epoch", shard, epoch)
	}
	return record, nil
}
