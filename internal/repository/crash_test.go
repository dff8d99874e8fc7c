package repository

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest"
)

// TestCrashAfterEveryWrite stops each kind of publication after its k-th write,
// for every k, and checks that agents read the old or the new state, and that the
// next publisher completes the work.
func TestCrashAfterEveryWrite(t *testing.T) {
	t.Parallel()
	rekeyed := simpleConfig(t)
	rekeyed.Targets, rekeyed.Snapshot, rekeyed.Timestamp = spec(t, 1, "new"), spec(t, 1, "new"), spec(t, 1, "new")
	rekeyed.Channels["stable"] = spec(t, 1, "new")
	keys := signing(t, noon, "owner", "new")
	operations := map[string]func(context.Context, *Repository) error{
		"publish": func(ctx context.Context, r *Repository) error {
			_, _, err := r.Publish(ctx, keys, "stable", []byte("two"), Note{})
			return err
		},
		"declare": func(ctx context.Context, r *Repository) error {
			_, err := r.PutDocuments(ctx, keys, scope("a"), scope("b"))
			return err
		},
		"replace keys": func(ctx context.Context, r *Repository) error {
			_, err := r.Reconfigure(ctx, rekeyed, keys)
			return err
		},
		"refresh": func(ctx context.Context, r *Repository) error {
			_, err := r.Refresh(ctx, keys, noon.Add(20*DefaultRootExpiry))
			return err
		},
	}
	for name, operation := range operations {
		for _, reaches := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, failing write reaches the store %t", name, reaches), func(t *testing.T) {
				t.Parallel()
				crashEverywhere(t, operation, reaches)
			})
		}
	}
}

func crashEverywhere(t *testing.T, operation func(context.Context, *Repository) error, reaches bool) {
	for k := 0; ; k++ {
		store := mem.New(t.Name())
		r := initialise(t, store)
		publish(t, r, "one")
		client := newClient(t, store, r.Root())
		wantState(t, client, "one")

		faulty := objstoretest.NewFaulty(store, k)
		faulty.KeepFailedWrite = reaches
		crashed := newRepository(faulty, r.Root())
		err := operation(t.Context(), crashed)
		if !faulty.Failed() {
			if err != nil || k == 0 {
				t.Errorf("without a crash: %v after %d writes", err, k)
			}
			return
		}
		wantState(t, client, "one", "two")
		if err := operation(t.Context(), r); err != nil {
			t.Errorf("next publisher, after a crash at write %d: %v", k+1, err)
		}
		wantState(t, client, "one", "two")
	}
}

// TestCrashedInit stops the creation after its k-th write; the next attempt
// completes it, and until then there is no repository.
func TestCrashedInit(t *testing.T) {
	t.Parallel()
	for k := 0; ; k++ {
		store := mem.New(t.Name())
		faulty := objstoretest.NewFaulty(store, k)
		_, err := Init(t.Context(), faulty, simpleConfig(t), signing(t, noon, "owner"))
		if !faulty.Failed() {
			if err != nil {
				t.Error(err)
			}
			return
		}
		if _, err := Open(t.Context(), store, ""); !errors.Is(err, ErrNotInitialised) {
			t.Errorf("Open after a crash at write %d: %v; want %v", k+1, err, ErrNotInitialised)
		}
		config := simpleConfig(t)
		config.Root.Keys = append(config.Root.Keys, testKey(t, "second").Public())
		r, err := Init(t.Context(), store, config, signing(t, noon, "owner"))
		if err != nil {
			t.Errorf("Init after a crash at write %d: %v", k+1, err)
			continue
		}
		if got, err := r.Config(t.Context()); err != nil || !got.Equal(config) {
			t.Errorf("after a crash at write %d the configuration is %+v, %v", k+1, got, err)
		}
	}
}
