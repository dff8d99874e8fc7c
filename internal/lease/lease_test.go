package lease_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/file"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func applicant(environment, name string) lease.Applicant {
	return lease.Applicant{Shard: control.Shard{Environment: environment}, Name: name}
}

func acquire(t *testing.T, store objstore.Store, holder string) *lease.Lease {
	t.Helper()
	l, err := lease.Acquire(t.Context(), store, applicant("prod", holder), noon)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestAcquire(t *testing.T) {
	t.Parallel()
	store := mem.New(t.Name())
	if _, ok, err := lease.Current(t.Context(), store, control.Shard{Environment: "prod"}); ok || err != nil {
		t.Errorf("Current before the first = %t, %v", ok, err)
	}
	first := acquire(t, store, "a")
	if first.Epoch != 1 {
		t.Errorf("the first epoch is %d", first.Epoch)
	}
	if again := acquire(t, store, "a"); again.Epoch != 1 {
		t.Errorf("after a restart the epoch is %d; want the same", again.Epoch)
	}
	if _, err := lease.Acquire(t.Context(), store, applicant("prod", "b"), noon); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("another holder: %v; want %v", err, lease.ErrHeld)
	}
	if other, err := lease.Acquire(t.Context(), store, applicant("dev", "b"), noon); err != nil || other.Epoch != 1 {
		t.Errorf("another environment: %+v, %v", other, err)
	}
}

func TestTakeOverFencesTheOlder(t *testing.T) {
	t.Parallel()
	store := mem.New(t.Name())
	old := acquire(t, store, "a")
	if err := old.Check(t.Context()); err != nil {
		t.Errorf("Check of the only holder: %v", err)
	}
	next, err := lease.TakeOver(t.Context(), store, applicant("prod", "b"), old.Record, noon)
	if err != nil || next.Epoch != 2 {
		t.Fatalf("TakeOver = %+v, %v", next, err)
	}
	if err := old.Check(t.Context()); !errors.Is(err, lease.ErrFenced) {
		t.Errorf("Check of the older: %v; want %v", err, lease.ErrFenced)
	}
	if err := next.Check(t.Context()); err != nil {
		t.Errorf("Check of the newer: %v", err)
	}
	if _, err := lease.TakeOver(t.Context(), store, applicant("prod", "c"), old.Record, noon); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("second TakeOver of the same epoch: %v; want %v", err, lease.ErrHeld)
	}
	if _, err := lease.Acquire(t.Context(), store, applicant("prod", "a"), noon); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("the fenced holder acquires again: %v; want %v", err, lease.ErrHeld)
	}
}

// TestRace has many holders, each with a store of its own as processes have, take
// over from whoever they see; every epoch must have one holder.
func TestRace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var taken atomic.Int64
	var group sync.WaitGroup
	for i := range 6 {
		store, err := file.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			holder := fmt.Sprint("holder-", i)
			if _, err := lease.Acquire(t.Context(), store, applicant("prod", holder), noon); err == nil {
				taken.Add(1)
			}
			for range 10 {
				seen, _, err := lease.Current(t.Context(), store, control.Shard{Environment: "prod"})
				if err != nil {
					t.Error(err)
				}
				if _, err := lease.TakeOver(t.Context(), store, applicant("prod", holder), seen, noon); err == nil {
					taken.Add(1)
				} else if !errors.Is(err, lease.ErrHeld) {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	store, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	current, _, err := lease.Current(t.Context(), store, control.Shard{Environment: "prod"})
	if err != nil || current.Epoch != taken.Load() {
		t.Errorf("epoch %d, %v, but %d were taken", current.Epoch, err, taken.Load())
	}
}

func TestUnknownIsNotFine(t *testing.T) {
	t.Parallel()
	store := mem.New(t.Name())
	if _, err := store.Put(t.Context(), control.Shard{Environment: "prod"}.LeaseKey(3), []byte(`{"version":1,"epoch":2,"holder":"a"}`)); err != nil {
		t.Fatal(err)
	}
	if l, err := lease.Acquire(t.Context(), store, applicant("prod", "a"), noon); err == nil {
		t.Errorf("a record under another epoch's key gave %+v", l)
	}
	faulty := objstoretest.NewFaulty(mem.New("faulty"), 0)
	if l, err := lease.Acquire(t.Context(), faulty, applicant("prod", "a"), noon); !errors.Is(err, objstore.ErrUnavailable) {
		t.Errorf("a store that fails gave %+v, %v", l, err)
	}
}
