package repository

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// TestCrashedRevocation stops a revocation after each of its writes. Agents keep what
// they have until somebody runs it again, which ends as if nothing had happened.
func TestCrashedRevocation(t *testing.T) {
	t.Parallel()
	for k := 0; ; k++ {
		f := newFort(t, mem.New(t.Name()))
		faulty := objstoretest.NewFaulty(f.store, k)
		_, err := newRepository(faulty, f.repo.Root()).Revoke(t.Context(), rekeyed(t), signing(t, noon, rekeyers...))
		if !faulty.Failed() {
			if err != nil || k == 0 {
				t.Errorf("without a crash: %v after %d writes", err, k)
			}
			return
		}
		if _, err := f.read(t.Context()); err != nil && !disowned(err) {
			t.Errorf("after a crash at write %d agents are told %v", k+1, err)
		}
		f.wantHeld(t)
		if _, err := f.repo.Revoke(t.Context(), rekeyed(t), signing(t, noon, rekeyers...)); err != nil {
			t.Errorf("again, after a crash at write %d: %v", k+1, err)
		}
		f.take(t, "one")
		if got, err := f.repo.Config(t.Context()); err != nil || !got.Equal(rekeyed(t)) {
			t.Errorf("after a crash at write %d the configuration is %+v, %v", k+1, got, err)
		}
	}
}

// TestRevokeWithoutKeysWritesNothing: what the keys cannot sign shows first.
func TestRevokeWithoutKeysWritesNothing(t *testing.T) {
	t.Parallel()
	for missing, want := range map[string]error{
		"owner": trust.ErrKeyMissing, "new": trust.ErrKeyMissing, "keeper2": trust.ErrKeyMissing, "ops2": ErrNeedsSignature, "ci2": ErrNeedsSignature,
	} {
		t.Run(missing, func(t *testing.T) {
			t.Parallel()
			f := newFort(t, mem.New(t.Name()))
			before := allKeys(t, f.store)
			keys := slices.DeleteFunc(slices.Clone(rekeyers), func(name string) bool { return name == missing })
			if _, err := f.repo.Revoke(t.Context(), rekeyed(t), signing(t, noon, keys...)); !errors.Is(err, want) {
				t.Errorf("Revoke: %v; want %v", err, want)
			}
			if after := allKeys(t, f.store); !slices.Equal(before, after) {
				t.Errorf("it wrote: %q, then %q", before, after)
			}
			f.take(t, "one")
		})
	}
}

// TestSalvageBelievesNoOldKey: whoever had a key that was taken from the targets cannot
// declare anything by leaving a file for the next repair to find.
func TestSalvageBelievesNoOldKey(t *testing.T) {
	t.Parallel()
	f := newFort(t, mem.New(t.Name()))
	if _, err := f.repo.Revoke(t.Context(), rekeyed(t), signing(t, noon, rekeyers...)); err != nil {
		t.Fatal(err)
	}
	evil := trust.Delegation{Role: trust.ChannelRole("stable"), RoleSpec: spec(t, 1, "mallory")}
	targets, err := signing(t, noon, "owner").Targets(900, spec(t, 1, "owner"), []trust.Delegation{evil})
	if err != nil {
		t.Fatal(err)
	}
	f.put(t, "tuf/900.targets.json", targets)
	f.put(t, "tuf/900.channel-stable.json", sign(t, "channel-stable", 900, nil, "mallory"))
	got, err := f.repo.Salvage(t.Context())
	if err != nil || !got.Equal(rekeyed(t)) {
		t.Errorf("Salvage = %+v, %v; want %+v", got, err, rekeyed(t))
	}
	if _, err := f.repo.Revoke(t.Context(), rekeyed(t), signing(t, noon, rekeyers...)); err != nil {
		t.Fatal(err)
	}
	f.take(t, "one")
}

// TestRevocationReadsInParts: what only the last part of a long history shows is found,
// under files of any size and content that somebody has put above it.
func TestRevocationReadsInParts(t *testing.T) {
	t.Parallel()
	f := newFort(t, mem.New(t.Name()))
	for i := range salvageChunk + 3 {
		f.publish(t, fmt.Sprint("number ", i))
	}
	for i := range int64(2*salvageChunk + 1) {
		f.put(t, control.MetadataKey(versionedFile(500+i, "channel-stable")), []byte("rubbish"))
	}
	f.put(t, "tuf/700.channel-stable.json", make([]byte, maxMetadata+1))
	f.put(t, "tuf/701.channel-stable.json", f.get(t, "tuf/1.channel-stable.json"))
	if err := rekey["revoked"](t, f); err != nil {
		t.Fatal(err)
	}
	f.take(t, fmt.Sprint("number ", salvageChunk+2))
	list, err := f.repo.Revisions(t.Context(), "stable")
	if err != nil || len(list) != salvageChunk+4 {
		t.Errorf("%d revisions are left, %v; want %d", len(list), err, salvageChunk+4)
	}
}

// TestClientFollowsRevocations has a client miss rotations and revocations in turn.
func TestClientFollowsRevocations(t *testing.T) {
	t.Parallel()
	f := newFort(t, mem.New(t.Name()))
	keeper := "keeper"
	for i, next := range []string{"keeper2", "keeper3", "keeper4", "keeper5"} {
		config := fortConfig(t)
		config.Snapshot, config.Timestamp = spec(t, 1, next), spec(t, 1, next)
		keys := signing(t, noon, "owner", keeper, next)
		var err error
		if i%2 == 0 {
			_, err = f.repo.Reconfigure(t.Context(), config, keys)
		} else {
			_, err = f.repo.Revoke(t.Context(), config, keys)
		}
		if err != nil {
			t.Fatal(err)
		}
		keeper = next
	}
	if _, _, err := f.repo.Publish(t.Context(), signing(t, noon, keeper, "ci", "lead"), "stable", []byte("two"), Note{Message: "two"}); err != nil {
		t.Fatal(err)
	}
	f.take(t, "two")
}
