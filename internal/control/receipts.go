package control

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// ErrChain is wrapped by every error about a receipt that does not follow the one before.
var ErrChain = errors.New("receipts do not form a chain")

// ReceiptDigest is what the next receipt names as its previous: the SHA-256 of
// the signed bytes, in hex.
func ReceiptDigest(signed []byte) string {
	sum := sha256.Sum256(signed)
	return hex.EncodeToString(sum[:])
}

// VerifyChain opens an agent's receipts, oldest first, and checks that none is
// missing, repeated or put in another's place. The first may be any receipt, so a
// part of the chain can be checked; to check the beginning as well, see that its
// sequence is 1.
func VerifyChain(key ed25519.PublicKey, signed [][]byte) ([]Receipt, error) {
	receipts := make([]Receipt, 0, len(signed))
	for i, data := range signed {
		receipt, err := Open[Receipt](data, key)
		if err != nil {
			return nil, fmt.Errorf("receipt %d of %d: %w", i+1, len(signed), err)
		}
		if i > 0 {
			if err := Follows(receipts[i-1], signed[i-1], receipt); err != nil {
				return nil, fmt.Errorf("receipt %d of %d: %w", i+1, len(signed), err)
			}
		}
		receipts = append(receipts, receipt)
	}
	return receipts, nil
}

// InspectReceipt reads what a receipt says without asking who signed it. It proves
// nothing by itself: use it where a verified later receipt names these bytes as its
// previous, as for receipts from before an agent was enrolled anew.
func InspectReceipt(signed []byte) (Receipt, error) {
	var envelope dsse.Envelope
	if err := decodeStrict(signed, &envelope); err != nil {
		return Receipt{}, fmt.Errorf("inspect receipt: %w", err)
	}
	payload, err := envelope.DecodeB64Payload()
	if err != nil {
		return Receipt{}, fmt.Errorf("inspect receipt: %w: %w", ErrMalformed, err)
	}
	return Decode[Receipt](payload)
}

// Follows tells whether a receipt is the next after another, whose signed bytes
// are given with it. An error wraps [ErrChain].
func Follows(before Receipt, signedBefore []byte, receipt Receipt) error {
	switch {
	case receipt.Environment != before.Environment || receipt.Agent != before.Agent:
		return fmt.Errorf("%w: it is of %s/%s, the one before of %s/%s", ErrChain, receipt.Environment, receipt.Agent, before.Environment, before.Agent)
	case receipt.Sequence != before.Sequence+1:
		return fmt.Errorf("%w: sequence %d follows %d", ErrChain, receipt.Sequence, before.Sequence)
	case receipt.Epoch < before.Epoch:
		return fmt.Errorf("%w: epoch %d follows %d", ErrChain, receipt.Epoch, before.Epoch)
	case receipt.Previous != ReceiptDigest(signedBefore):
		return fmt.Errorf("%w: it names another receipt as its previous", ErrChain)
	}
	return nil
}

// DriftSet is the identity of a set of drift: it changes when an instance or an
// attribute joins or leaves or has another value, and not with the order, the age or
// what was decided. The empty set's is "".
func DriftSet(items []DriftItem) string {
	if len(items) == 0 {
		return ""
	}
	lines := make([]string, len(items))
	for i, item := range items {
		attributes := slices.Sorted(slices.Values(item.Attributes))
		line, _ := json.Marshal([]any{item.Address, item.Deleted, item.Replaced, attributes, item.Digest}) // strings and booleans always encode
		lines[i] = string(line)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(lines), "\n")))
	return hex.EncodeToString(sum[:])
}

// Occurrence is the identity of a drift set at one time: the same set, seen anew later,
// has another. A person's word about drift is about an occurrence. The empty set's is "".
func Occurrence(items []DriftItem) string {
	if len(items) == 0 {
		return ""
	}
	lines := []string{DriftSet(items)}
	for _, item := range items {
		lines = append(lines, item.Address+" "+strings.Join(item.Attributes, " ")+" "+item.Since.UTC().Format(time.RFC3339Nano))
	}
	slices.Sort(lines[1:])
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(lines), "\n")))
	return hex.EncodeToString(sum[:])
}
