package chaos

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// ledger follows what agents write into the store, and holds them to it: a receipt
// that was seen stays, and each next one follows it.
type ledger struct {
	site *site
	keys map[string]ed25519.PublicKey
	// last are each agent's newest receipt and its signed bytes; read are the keys of all.
	last   map[string]control.Receipt
	signed map[string][]byte
	read   map[string]bool
	// reigns are the epochs of the lease, the first one at index 0.
	reigns []reign
	// underWay are the slots for which the last holder that was followed had a call under way.
	underWay map[string]bool
	// made counts creations in the cloud's log up to an event; there are the objects that it leaves.
	made  map[cloudapi.Ref]int
	there map[cloudapi.Ref]bool
	event int64
}

// reign is an epoch of the lease, taken at a moment by the harness's own clock.
type reign struct {
	holder string
	taken  time.Time
}

func newLedger(s *site) *ledger {
	return &ledger{site: s, keys: map[string]ed25519.PublicKey{}, last: map[string]control.Receipt{}, signed: map[string][]byte{},
		read: map[string]bool{},
		made: map[cloudapi.Ref]int{}, there: map[cloudapi.Ref]bool{}}
}

// follow reads the receipts that are new.
func (l *ledger) follow(ctx context.Context) error {
	for _, m := range l.site.members {
		if l.keys[m.name] == nil && !l.findKey(ctx, m) {
			continue
		}
		if err := l.followOne(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// findKey reads an agent's public key from its claim, if it is enrolled.
func (l *ledger) findKey(ctx context.Context, m *member) bool {
	claim, err := l.site.store.Get(ctx, control.ClaimKey(l.site.name, m.name, 1), control.MaxDocument)
	if err != nil {
		return false
	}
	_, key, err := control.OpenClaim(m.declared, claim.Data, claim.Modified)
	l.keys[m.name] = key
	return err == nil
}

func (l *ledger) followOne(ctx context.Context, m *member) error {
	for info, err := range l.site.store.List(ctx, control.ReceiptPrefix(l.site.name, m.name)) {
		if err != nil {
			return fmt.Errorf("list receipts: %w", err)
		}
		if l.read[info.Key] {
			continue
		}
		object, err := l.site.store.Get(ctx, info.Key, control.MaxDocument)
		if err != nil {
			return fmt.Errorf("read receipt: %w", err)
		}
		if err := l.add(m.name, info.Key, object.Data); err != nil {
			return fmt.Errorf("receipt %s: %w", info.Key, err)
		}
	}
	return nil
}

// add takes the next receipt of an agent's chain.
func (l *ledger) add(name, key string, signed []byte) error {
	receipt, err := control.Open[control.Receipt](signed, l.keys[name])
	if err != nil {
		return err
	}
	if before, ok := l.last[name]; ok {
		if err := control.Follows(before, l.signed[name], receipt); err != nil {
			return violated("%w", err)
		}
	} else if receipt.Sequence != 1 {
		return violated("the first receipt has the number %d", receipt.Sequence)
	}
	l.last[name], l.signed[name], l.read[key] = receipt, signed, true
	return nil
}

// newest is the newest receipt of the newest epoch.
func (l *ledger) newest() control.Receipt {
	var out control.Receipt
	for _, receipt := range l.last {
		if receipt.Epoch > out.Epoch || receipt.Epoch == out.Epoch && receipt.Finished.After(out.Finished) {
			out = receipt
		}
	}
	return out
}

// converged tells whether a round that began after a moment has made the newest revision true.
func (l *ledger) converged(after time.Time) bool {
	r := l.newest()
	m := l.site.memberOf(r.Agent)
	return m != nil && r.Revision == l.site.revision && m.clock.when(r.Started).After(after) && (r.Outcome == control.OutcomeConverged || r.Outcome == control.OutcomeApplied)
}

// epochs checks that the lease's epochs have no gap, each the one holder it ever had,
// and each another agent than the one before within three periods of its last word.
func (l *ledger) epochs(ctx context.Context) error {
	current, ok, err := lease.Current(ctx, l.site.store, l.site.shard())
	if err != nil || !ok {
		return fmt.Errorf("read lease: %t, %w", ok, err)
	}
	for epoch := int64(1); epoch <= current.Epoch; epoch++ {
		record, err := lease.At(ctx, l.site.store, l.site.shard(), epoch)
		if err != nil {
			return violated("epoch %d of %d: %w", epoch, current.Epoch, err)
		}
		if int(epoch) <= len(l.reigns) {
			if before := l.reigns[epoch-1]; before.holder != record.Holder {
				return violated("epoch %d was held by %s and is held by %s", epoch, before.holder, record.Holder)
			}
			continue
		}
		taken := l.site.takenAt(epoch)
		if taken.IsZero() {
			return violated("epoch %d is held by %s, who was not seen to take it", epoch, record.Holder)
		}
		l.reigns = append(l.reigns, reign{record.Holder, taken})
		if err := l.succession(); err != nil {
			return err
		}
	}
	return nil
}

// succession checks that the newest epoch was taken neither too early nor too late.
func (l *ledger) succession() error {
	if len(l.reigns) < 2 {
		return nil
	}
	now, before := l.reigns[len(l.reigns)-1], l.reigns[len(l.reigns)-2]
	former := l.site.memberOf(before.holder)
	if former == nil || former == l.site.memberOf(now.holder) {
		return nil
	}
	silence, longest := former.silence(now.taken)
	l.site.report.followed(silence)
	if silence >= 3*period {
		return violated("%s followed %s %s after its last word, and a period is %s", now.holder, before.holder, silence, period)
	}
	if longest < lease.Silence(period) {
		return violated("%s followed %s, which was never silent for longer than %s before, and a period is %s", now.holder, before.holder, longest, period)
	}
	return nil
}

// reigning is the holder at a moment.
func (l *ledger) reigning(at time.Time) string {
	for i := len(l.reigns) - 1; i >= 0; i-- {
		if !l.reigns[i].taken.After(at) {
			return agentOf(l.reigns[i].holder)
		}
	}
	return ""
}

// agentOf is the name of an agent in a holder's name.
func agentOf(holder string) string {
	name, _, _ := strings.Cut(holder, "/")
	return name
}

// slotOf is the slot that declared an object.
func slotOf(ref cloudapi.Ref) string {
	slot, _, _ := strings.Cut(strings.TrimPrefix(ref.Name, "slot-"), "-")
	return slot
}

// readLog follows the cloud's log, in which nothing may be created while it is there.
func (l *ledger) readLog(ctx context.Context) error {
	for {
		page, err := l.site.hand.Events(ctx, l.event, cloudapi.MaxPage)
		if err != nil {
			return fmt.Errorf("read the cloud's log: %w", err)
		}
		if page.Oldest > l.event+1 {
			return fmt.Errorf("read the cloud's log: it begins at %d", page.Oldest)
		}
		if len(page.Events) == 0 {
			return nil
		}
		for _, event := range page.Events {
			if err := l.addEvent(event); err != nil {
				return err
			}
		}
	}
}

func (l *ledger) addEvent(event cloudapi.Event) error {
	l.event = event.Sequence
	late := l.underWay[slotOf(event.Ref)] // the call was on its way before; nothing but the cloud could stop it
	if holder := l.reigning(event.Time); len(l.reigns) > 0 && event.Actor != holder && !late {
		return violated("%s was changed (%s) by %s at %s, when %s held the lease", event.Ref, event.Action, event.Actor, event.Time.Format(time.RFC3339Nano), holder)
	}
	if event.Action == cloudapi.ActionCreate {
		if l.there[event.Ref] {
			return violated("%s was created while it was there", event.Ref)
		}
		l.made[event.Ref]++
	}
	l.there[event.Ref] = event.Action != cloudapi.ActionDelete
	return nil
}
