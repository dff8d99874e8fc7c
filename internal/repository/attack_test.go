package repository

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// rollbacks put back what was published earlier.
var rollbacks = map[string]attack{
	"whole older store": {func(t *testing.T, f *fort) {
		old := copyOf(t, f.store)
		f.publish(t, "two")
		f.take(t, "two")
		for key, data := range old {
			f.put(t, key, data)
		}
	}, trust.ErrRollback, "two"},
	"older timestamp": {func(t *testing.T, f *fort) {
		old := f.get(t, "tuf/timestamp.json")
		f.publish(t, "two")
		f.take(t, "two")
		f.put(t, "tuf/timestamp.json", old)
	}, trust.ErrRollback, "two"},
	"older list under a new snapshot": {func(t *testing.T, f *fort) {
		old := f.get(t, f.newest(t, "channel-stable"))
		f.publish(t, "two")
		f.take(t, "two")
		f.forge(t, "channel-stable", 1, old)
	}, trust.ErrRollback, "two"},
	"list left out of a new snapshot": {func(t *testing.T, f *fort) {
		view, err := f.repo.load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		files := view.v.Files()
		delete(files, "channel-stable")
		f.sealAs(t, 40, "keeper", files)
	}, trust.ErrRollback, ""},
}

// mixes put together what does not belong together.
var mixes = map[string]attack{
	"old snapshot under a new timestamp": {func(t *testing.T, f *fort) {
		old := f.get(t, f.newest(t, "snapshot"))
		f.publish(t, "two")
		f.put(t, f.newest(t, "snapshot"), old)
	}, trust.ErrMixAndMatch, "two"},
	"old list under a new snapshot": {func(t *testing.T, f *fort) {
		old := f.get(t, f.newest(t, "channel-stable"))
		f.publish(t, "two")
		f.put(t, f.newest(t, "channel-stable"), old)
	}, trust.ErrMixAndMatch, "two"},
	"altered list": {func(t *testing.T, f *fort) {
		f.publish(t, "two")
		f.alter(t, f.newest(t, "channel-stable"), `"sequence":2`, `"sequence":9`)
	}, trust.ErrMixAndMatch, "two"},
	"list withheld": {func(t *testing.T, f *fort) {
		f.publish(t, "two")
		f.remove(t, f.newest(t, "channel-stable"))
	}, ErrIncomplete, "two"},
	"document withheld": {func(t *testing.T, f *fort) {
		f.declare(t, "web")
		f.remove(t, f.find(t, "targets/", "web.json"))
	}, ErrIncomplete, ""},
	"revision withheld": {func(t *testing.T, f *fort) {
		f.publish(t, "two")
		f.remove(t, f.find(t, "targets/channels/stable/", "000002"))
	}, ErrIncomplete, "two"},
}

// endless answers with more than there can be.
var endless = map[string]attack{
	"timestamp": {func(t *testing.T, f *fort) {
		f.put(t, "tuf/timestamp.json", bytes.Repeat([]byte(" "), maxTimestamp+1))
	}, objstore.ErrTooLarge, ""},
	"root": {func(t *testing.T, f *fort) {
		f.put(t, "tuf/2.root.json", bytes.Repeat([]byte(" "), maxRoot+1))
	}, objstore.ErrTooLarge, ""},
	"snapshot": {func(t *testing.T, f *fort) {
		f.publish(t, "two")
		f.put(t, f.newest(t, "snapshot"), bytes.Repeat([]byte(" "), maxSnapshot+1))
	}, objstore.ErrTooLarge, "two"},
	"list": {func(t *testing.T, f *fort) {
		f.publish(t, "two")
		f.put(t, f.newest(t, "channel-stable"), bytes.Repeat([]byte(" "), 1<<20))
	}, objstore.ErrTooLarge, "two"},
	"document": {func(t *testing.T, f *fort) {
		f.declare(t, "web")
		f.put(t, f.find(t, "targets/", "web.json"), bytes.Repeat([]byte("x"), 1<<20))
	}, trust.ErrTampered, ""},
	"revision": {func(t *testing.T, f *fort) {
		f.publish(t, "two")
		f.put(t, f.find(t, "targets/channels/stable/", "000002"), bytes.Repeat([]byte("x"), 1<<20))
	}, trust.ErrTampered, "two"},
	"metadata nested without end": {func(t *testing.T, f *fort) {
		f.put(t, "tuf/timestamp.json", []byte(`{"signed":`+strings.Repeat("[", maxTimestamp-100)))
	}, trust.ErrMalformed, ""},
}

// installations bring in what nobody trusted has signed.
var installations = map[string]attack{
	"root of a stranger": {func(t *testing.T, f *fort) {
		config := SingleKey(testKey(t, "mallory").Public(), []string{"prod"}, []string{"stable"})
		root, err := signing(t, noon, "mallory").Root(2, config.Top, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.put(t, "tuf/2.root.json", root)
	}, trust.ErrUnsigned, ""},
	"repository of a stranger": {func(t *testing.T, f *fort) {
		other := mem.New("mallory's")
		r, err := Init(t.Context(), other, SingleKey(testKey(t, "mallory").Public(), []string{"prod"}, []string{"stable"}), signing(t, noon, "mallory"))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.Publish(t.Context(), signing(t, noon, "mallory"), "stable", []byte("evil"), Note{}); err != nil {
			t.Fatal(err)
		}
		for key, data := range copyOf(t, other) {
			f.put(t, key, data)
		}
	}, trust.ErrUnsigned, ""},
	"altered timestamp": {func(t *testing.T, f *fort) {
		f.publish(t, "two")
		f.alter(t, "tuf/timestamp.json", `"expires":"2027`, `"expires":"2099`)
	}, trust.ErrUnsigned, "two"},
	"altered document": {func(t *testing.T, f *fort) {
		f.declare(t, "web")
		f.alter(t, f.find(t, "targets/", "web.json"), "observe", "enforce")
	}, trust.ErrTampered, ""},
	"altered revision": {func(t *testing.T, f *fort) {
		f.publish(t, "two")
		f.put(t, f.find(t, "targets/channels/stable/", "000002"), []byte("tvo"))
	}, trust.ErrTampered, "two"},
	"document of a stranger": {func(t *testing.T, f *fort) {
		f.forge(t, "env-prod", 40, sign(t, "env-prod", 40, nil, "mallory"))
	}, trust.ErrUnsigned, ""},
	"rubbish": {func(t *testing.T, f *fort) { f.put(t, "tuf/timestamp.json", []byte("<html>")) }, trust.ErrMalformed, ""},
}

// impostors hold a key of the repository, but of another role.
var impostors = map[string]attack{
	"environment by another environment": {func(t *testing.T, f *fort) {
		f.forge(t, "env-prod", 40, sign(t, "env-prod", 40, nil, "dev-ops"))
	}, trust.ErrUnsigned, ""},
	"environment by a channel": {func(t *testing.T, f *fort) {
		f.forge(t, "env-prod", 40, sign(t, "env-prod", 40, nil, "ci", "lead"))
	}, trust.ErrUnsigned, ""},
	"channel by the owner of the root": {func(t *testing.T, f *fort) {
		f.forge(t, "channel-stable", 40, sign(t, "channel-stable", 40, nil, "owner", "backup"))
	}, trust.ErrUnsigned, ""},
	"timestamp by a channel": {func(t *testing.T, f *fort) {
		f.sealAs(t, 40, "ci", map[string]trust.FileInfo{})
	}, trust.ErrUnsigned, ""},
	"targets by the keeper": {func(t *testing.T, f *fort) {
		data, err := signing(t, noon, "keeper").Targets(40, spec(t, 1, "keeper"), nil)
		if err != nil {
			t.Fatal(err)
		}
		f.forge(t, trust.RoleTargets, 40, data)
	}, trust.ErrUnsigned, ""},
	"root by the keeper": {func(t *testing.T, f *fort) {
		root, err := signing(t, noon, "keeper").Root(2, SingleKey(testKey(t, "keeper").Public(), nil, nil).Top, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.put(t, "tuf/2.root.json", root)
	}, trust.ErrUnsigned, ""},
}

// fewer signatures than the threshold.
var fewer = map[string]attack{
	"one key of two": {func(t *testing.T, f *fort) {
		f.forge(t, "channel-stable", 40, sign(t, "channel-stable", 40, nil, "ci"))
	}, trust.ErrThreshold, ""},
	"one key and a stranger": {func(t *testing.T, f *fort) {
		f.forge(t, "channel-stable", 40, sign(t, "channel-stable", 40, nil, "ci", "mallory"))
	}, trust.ErrThreshold, ""},
	"one key, its signature twice": {func(t *testing.T, f *fort) {
		f.forge(t, "channel-stable", 40, twice(t, sign(t, "channel-stable", 40, nil, "ci")))
	}, trust.ErrMalformed, ""},
	"one key, under the ID of another": {func(t *testing.T, f *fort) {
		data := twice(t, sign(t, "channel-stable", 40, nil, "ci"))
		f.forge(t, "channel-stable", 40, bytes.Replace(data, []byte(testKey(t, "ci").Public().ID()), []byte(testKey(t, "lead").Public().ID()), 1))
	}, trust.ErrThreshold, ""},
}

// twice repeats the first signature.
func twice(t *testing.T, data []byte) []byte {
	t.Helper()
	var file struct {
		Signed     json.RawMessage   `json:"signed"`
		Signatures []json.RawMessage `json:"signatures"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	file.Signatures = append(file.Signatures, file.Signatures[0])
	out, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// endureAll runs each attack on a store of its own, in memory.
func endureAll(t *testing.T, attacks map[string]attack) {
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attack.endure(t, mem.New(t.Name()))
		})
	}
}

func TestAttackRollback(t *testing.T)              { t.Parallel(); endureAll(t, rollbacks) }
func TestAttackMixAndMatch(t *testing.T)           { t.Parallel(); endureAll(t, mixes) }
func TestAttackEndlessData(t *testing.T)           { t.Parallel(); endureAll(t, endless) }
func TestAttackArbitraryInstallation(t *testing.T) { t.Parallel(); endureAll(t, installations) }
func TestAttackWrongRoleSigns(t *testing.T)        { t.Parallel(); endureAll(t, impostors) }
func TestAttackThresholdNotMet(t *testing.T)       { t.Parallel(); endureAll(t, fewer) }

// TestAttacksOnS3 does the same on a real S3 server. It sets the process's
// environment and so is not parallel.
//
//nolint:paralleltest // see above
func TestAttacksOnS3(t *testing.T) {
	open := onS3(t)
	number := 0
	for kind, attacks := range map[string]map[string]attack{
		"rollback": rollbacks, "mix and match": mixes, "endless data": endless,
		"arbitrary installation": installations, "wrong role": impostors, "threshold": fewer,
	} {
		for name, attack := range attacks {
			number++
			store := open(fmt.Sprint("fort", number))
			t.Run(kind+"/"+name, func(t *testing.T) { attack.endure(t, store) })
		}
	}
}

// TestAttackFreeze has someone go on answering with metadata whose time is over.
// What was verified stays in force, and the first renewal ends the attack.
func TestAttackFreeze(t *testing.T) {
	t.Parallel()
	for name, withheld := range map[string]bool{"nobody renews": false, "the renewal is withheld": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFort(t, mem.New(t.Name()))
			late := noon.Add(DefaultExpiry * 2)
			frozen := f.get(t, control.MetadataKey(timestampFile))
			renew := func() {
				if done, err := f.repo.Refresh(t.Context(), signing(t, late, "keeper", "owner", "ops", "ci", "lead"), late); err != nil || len(done.Due) > 0 {
					t.Fatalf("Refresh = %+v, %v", done, err)
				}
			}
			if withheld {
				renew()
				f.put(t, control.MetadataKey(timestampFile), frozen)
			}
			f.now = late
			f.wantRefused(t, trust.ErrExpired)
			if withheld {
				f.undo(t)
			} else {
				renew()
			}
			f.take(t, "one")
		})
	}
}
