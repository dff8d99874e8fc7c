package repository

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

var (
	// ErrNotEnrolled: no machine has claimed the agent's present enrolment.
	ErrNotEnrolled = errors.New("no machine has enrolled as this agent yet")
	// ErrNotBelieved: an object says that the agent wrote it, and it does not hold.
	ErrNotBelieved = errors.New("it is not believed")
)

const (
	// maxReceipts bounds the receipts of one agent that are listed: a round a minute
	// for about two years.
	maxReceipts = 1_000_000
	// receiptChunk is how many receipts are read at once.
	receiptChunk = 16
)

// Reports reads what one enrolled agent has signed. It is safe for concurrent use.
type Reports struct {
	// Claim is the verified claim of the agent's present enrolment.
	Claim control.Claim

	store    objstore.Store
	declared control.Agent
	key      ed25519.PublicKey
}

// OpenReports finds the key of the machine that enrolled as a declared agent. An
// error wraps [ErrNotEnrolled], [ErrNotBelieved] or what the store answered.
func OpenReports(ctx context.Context, store objstore.Store, declared control.Agent) (*Reports, error) {
	name := control.ClaimKey(declared.Environment, declared.Name, declared.Join.Generation)
	object, err := getReport(ctx, store, name)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil, fmt.Errorf("agent %s/%s: %w", declared.Environment, declared.Name, ErrNotEnrolled)
	}
	if err != nil {
		return nil, err
	}
	claim, key, err := control.OpenClaim(declared, object.Data, object.Modified)
	if err != nil {
		return nil, notBelieved(name, err)
	}
	return &Reports{Claim: claim, store: store, declared: declared, key: key}, nil
}

// getReport reads an object; one that is larger than any report is not believed.
func getReport(ctx context.Context, store objstore.Store, key string) (objstore.Object, error) {
	object, err := store.Get(ctx, key, control.MaxDocument)
	switch {
	case errors.Is(err, objstore.ErrTooLarge):
		return objstore.Object{}, notBelieved(key, err)
	case err != nil:
		return objstore.Object{}, fmt.Errorf("read %s: %w", key, err)
	}
	return object, nil
}

func notBelieved(key string, err error) error {
	return fmt.Errorf("%s: %w: %w", key, ErrNotBelieved, err)
}

// Heartbeat reads the agent's latest word; [ErrNotFound] if it has not said any.
// Whoever can write to the store can put an older one in its place: look at its time.
func (r *Reports) Heartbeat(ctx context.Context) (control.Heartbeat, error) {
	name := control.HeartbeatKey(r.declared.Environment, r.declared.Name)
	object, err := getReport(ctx, r.store, name)
	if errors.Is(err, objstore.ErrNotExist) {
		return control.Heartbeat{}, fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	if err != nil {
		return control.Heartbeat{}, err
	}
	beat, err := control.Open[control.Heartbeat](object.Data, r.key)
	if err == nil {
		err = r.isOurs(beat.Environment, beat.Agent)
	}
	if err != nil {
		return control.Heartbeat{}, notBelieved(name, err)
	}
	return beat, nil
}

func (r *Reports) isOurs(environment, agent string) error {
	if environment != r.declared.Environment || agent != r.declared.Name {
		return fmt.Errorf("it is of %s/%s", environment, agent)
	}
	return nil
}

// Receipt is one receipt of the agent's chain.
type Receipt struct {
	control.Receipt
	Key string
	// Digest is what the next receipt names as its previous.
	Digest string
	// Inherited receipts are from before the agent was enrolled anew. The key that
	// signed them is void; a later receipt vouches for their bytes.
	Inherited bool
}

// Receipt reads the receipt that a heartbeat names.
func (r *Reports) Receipt(ctx context.Context, epoch, sequence int64) (Receipt, error) {
	key := control.ReceiptKey(r.declared.Environment, r.declared.Name, epoch, sequence)
	object, err := getReport(ctx, r.store, key)
	if errors.Is(err, objstore.ErrNotExist) {
		return Receipt{}, notBelieved(key, errGone)
	}
	if err != nil {
		return Receipt{}, err
	}
	return (&chain{reports: r}).older(key, object.Data)
}

// Receipts reads the newest receipts, the newest first, and verifies that they form
// a chain that ends no earlier than the heartbeat says. With whole the chain is
// verified to its beginning, however few are returned. An error names the receipt
// that does not hold.
func (r *Reports) Receipts(ctx context.Context, limit int, whole bool) ([]Receipt, error) {
	keys, err := r.newestKeys(ctx)
	if err != nil {
		return nil, err
	}
	return r.follow(ctx, keys, limit, whole)
}

// Latest reads the newest receipt that is what is looked for, and verifies what follows
// it. It goes back no further than to a time; found tells whether there is one.
func (r *Reports) Latest(ctx context.Context, since time.Time, match func(control.Receipt) bool) (receipt Receipt, found bool, err error) {
	keys, err := r.newestKeys(ctx)
	if err != nil {
		return Receipt{}, false, err
	}
	links := chain{reports: r}
	for end := len(keys); end > 0; end -= receiptChunk {
		receipts, err := links.read(ctx, keys[max(0, end-receiptChunk):end])
		if err != nil {
			return Receipt{}, false, err
		}
		for _, receipt := range receipts {
			if receipt.Finished.Before(since) {
				return Receipt{}, false, nil
			}
			if match(receipt.Receipt) {
				return receipt, true, nil
			}
		}
	}
	return Receipt{}, false, nil
}

// newestKeys lists the agent's receipts, oldest first, up to the one that the heartbeat names.
func (r *Reports) newestKeys(ctx context.Context) ([]string, error) {
	beat, err := r.Heartbeat(ctx) // first: it is written after the receipt that it names
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	keys, err := r.receiptKeys(ctx)
	if err != nil {
		return nil, err
	}
	if newest := control.ReceiptKey(beat.Environment, beat.Agent, beat.Epoch, beat.Sequence); beat.Sequence > 0 && (len(keys) == 0 || keys[len(keys)-1] < newest) {
		return nil, notBelieved(newest, errGone)
	}
	return keys, nil
}

// errGone: a verified report names a receipt that the store does not hold.
var errGone = fmt.Errorf("%w: the agent has signed that it exists, and it is gone", control.ErrChain)

// follow reads receipts from the newest back.
func (r *Reports) follow(ctx context.Context, keys []string, limit int, whole bool) ([]Receipt, error) {
	var out []Receipt
	links := chain{reports: r}
	for end := len(keys); end > 0 && (whole || len(out) < limit); {
		start := max(0, end-receiptChunk)
		if !whole {
			start = max(start, end-(limit-len(out)))
		}
		receipts, err := links.read(ctx, keys[start:end])
		if err != nil {
			return nil, err
		}
		out = append(out, receipts[:min(len(receipts), limit-len(out))]...)
		end = start
	}
	if whole && len(keys) > 0 && links.newer.Sequence != 1 {
		return nil, notBelieved(links.newer.Key, fmt.Errorf("%w: it is the oldest that is there, and %d before it are missing", control.ErrChain, links.newer.Sequence-1))
	}
	return out, nil
}

// receiptKeys lists the agent's receipts, oldest first.
func (r *Reports) receiptKeys(ctx context.Context) ([]string, error) {
	var keys []string
	for info, err := range r.store.List(ctx, control.ReceiptPrefix(r.declared.Environment, r.declared.Name)) {
		if err != nil {
			return nil, fmt.Errorf("list receipts: %w", err)
		}
		if _, _, ok := control.ParseReceiptKey(info.Key); !ok {
			return nil, notBelieved(info.Key, errors.New("no receipt has such a name"))
		}
		if keys = append(keys, info.Key); len(keys) > maxReceipts {
			return nil, fmt.Errorf("list receipts: agent %s/%s has more than %d", r.declared.Environment, r.declared.Name, maxReceipts)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

func (r *Reports) fetch(ctx context.Context, keys []string) ([][]byte, error) {
	out := make([][]byte, len(keys))
	group, ctx := errgroup.WithContext(ctx)
	for i, key := range keys {
		group.Go(func() error {
			object, err := getReport(ctx, r.store, key)
			out[i] = object.Data
			return err
		})
	}
	return out, group.Wait()
}

// chain follows receipts from the newest to the oldest.
type chain struct {
	reports *Reports
	newer   *Receipt
}

// read reads and verifies the receipts before the last one given, and returns the newest first.
func (c *chain) read(ctx context.Context, keys []string) ([]Receipt, error) {
	signed, err := c.reports.fetch(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := make([]Receipt, 0, len(keys))
	for i := len(signed) - 1; i >= 0; i-- {
		receipt, err := c.older(keys[i], signed[i])
		if err != nil {
			return nil, err
		}
		out = append(out, receipt)
	}
	return out, nil
}

// older verifies the receipt before the last one given.
func (c *chain) older(key string, signed []byte) (Receipt, error) {
	receipt := Receipt{Key: key, Digest: control.ReceiptDigest(signed)}
	var err error
	receipt.Receipt, err = control.Open[control.Receipt](signed, c.reports.key)
	if err != nil && c.mayInherit(receipt.Digest) {
		receipt.Receipt, err = control.InspectReceipt(signed)
		receipt.Inherited = true
	}
	if err == nil {
		err = c.reports.isOurs(receipt.Environment, receipt.Agent)
	}
	if err != nil {
		return Receipt{}, notBelieved(key, err)
	}
	if said := control.ReceiptKey(receipt.Environment, receipt.Agent, receipt.Epoch, receipt.Sequence); said != key {
		return Receipt{}, notBelieved(key, fmt.Errorf("%w: it was signed as %s", control.ErrChain, said))
	}
	if c.newer != nil {
		if err := control.Follows(receipt.Receipt, signed, c.newer.Receipt); err != nil {
			return Receipt{}, notBelieved(c.newer.Key, err)
		}
	}
	c.newer = &receipt
	return receipt, nil
}

// mayInherit tells whether a receipt that the present key has not signed can be one
// of an earlier enrolment: there was one, and a verified receipt names these bytes.
func (c *chain) mayInherit(digest string) bool {
	return c.reports.declared.Join.Generation > 1 && c.newer != nil && c.newer.Previous == digest
}
