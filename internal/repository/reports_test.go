package repository

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
)

// enrolled is a declared agent with a claim in a store of its own.
func enrolled(t *testing.T, generation int) (objstore.Store, control.Agent, ed25519.PrivateKey) {
	t.Helper()
	store := mem.New(t.Name())
	declared := control.Agent{
		Version: control.FormatVersion, Environment: "prod", Name: "web", Channel: "stable", Scopes: []string{"app"}, PollInterval: control.Duration(time.Minute),
		Join: control.Join{Generation: generation, PublicKey: testKey(t, "token").Public().String(), Expires: time.Now().Add(time.Hour).UTC()},
	}
	key := testKey(t, fmt.Sprint("agent", generation))
	claim := control.Claim{
		Version: control.FormatVersion, Environment: "prod", Agent: "web", Generation: generation, AgentKey: key.Public().String(), Time: noon,
	}
	signed, err := control.SignClaim(claim, testKey(t, "token").Ed25519(), key.Ed25519())
	if err != nil {
		t.Fatal(err)
	}
	put(t, store, control.ClaimKey("prod", "web", generation), signed)
	return store, declared, key.Ed25519()
}

func put(t *testing.T, store objstore.Store, key string, data []byte) {
	t.Helper()
	if _, err := store.Put(t.Context(), key, data); err != nil {
		t.Fatal(err)
	}
}

// writeReceipts appends receipts to a chain and returns the last one's digest.
func writeReceipts(t *testing.T, store objstore.Store, key ed25519.PrivateKey, epoch, from, to int64, previous string) string {
	t.Helper()
	for sequence := from; sequence <= to; sequence++ {
		signed, err := control.Sign(control.Receipt{
			Version: control.FormatVersion, Environment: "prod", Agent: "web", Epoch: epoch, Sequence: sequence, Previous: previous,
			Started: noon, Finished: noon, Channel: "stable", Outcome: control.OutcomeConverged,
		}, key)
		if err != nil {
			t.Fatal(err)
		}
		put(t, store, control.ReceiptKey("prod", "web", epoch, sequence), signed)
		previous = control.ReceiptDigest(signed)
	}
	return previous
}

func sequences(receipts []Receipt) []int64 {
	out := make([]int64, len(receipts))
	for i, receipt := range receipts {
		out[i] = receipt.Sequence
	}
	return out
}

// A chain is read in parts; the joints between parts are verified as the rest is.
func TestReceiptsAcrossParts(t *testing.T) {
	t.Parallel()
	store, declared, key := enrolled(t, 1)
	writeReceipts(t, store, key, 2, 31, 50, writeReceipts(t, store, key, 1, 1, 30, ""))
	reports, err := OpenReports(t.Context(), store, declared)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		limit int
		whole bool
		want  int
	}{
		"one":           {1, false, 1},
		"over a joint":  {receiptChunk + 1, false, receiptChunk + 1},
		"more than all": {1000, false, 50},
		"few, whole":    {3, true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := reports.Receipts(t.Context(), test.limit, test.whole)
			if err != nil {
				t.Fatal(err)
			}
			want := []int64{}
			for sequence := int64(50); len(want) < test.want; sequence-- {
				want = append(want, sequence)
			}
			if !slices.Equal(sequences(got), want) {
				t.Errorf("sequences %d; want %d", sequences(got), want)
			}
		})
	}
}

// Every single receipt that is missing from a chain is noticed, wherever it is.
func TestAttackReceiptsWithheld(t *testing.T) {
	t.Parallel()
	const length = 2*receiptChunk + 2
	for missing := int64(1); missing <= length; missing++ {
		store, declared, key := enrolled(t, 1)
		writeReceipts(t, store, key, 1, 1, length, "")
		beat, err := control.Sign(control.Heartbeat{
			Version: control.FormatVersion, Environment: "prod", Agent: "web", Time: noon, Epoch: 1, Sequence: length, Channel: "stable", Outcome: control.OutcomeConverged,
		}, key)
		if err != nil {
			t.Fatal(err)
		}
		put(t, store, control.HeartbeatKey("prod", "web"), beat)
		if err := store.Delete(t.Context(), control.ReceiptKey("prod", "web", 1, missing)); err != nil {
			t.Fatal(err)
		}
		reports, err := OpenReports(t.Context(), store, declared)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reports.Receipts(t.Context(), 1, true); !errors.Is(err, control.ErrChain) || !errors.Is(err, ErrNotBelieved) {
			t.Errorf("without receipt %d the error is %v; want %v", missing, err, control.ErrChain)
		}
	}
}

// A receipt that is moved to another place in the chain, or came from another
// agent's, is signed and still refused.
func TestAttackReceiptsReordered(t *testing.T) {
	t.Parallel()
	store, declared, key := enrolled(t, 1)
	writeReceipts(t, store, key, 1, 1, 3, "")
	first, err := store.Get(t.Context(), control.ReceiptKey("prod", "web", 1, 1), control.MaxDocument)
	if err != nil {
		t.Fatal(err)
	}
	put(t, store, control.ReceiptKey("prod", "web", 1, 4), first.Data)
	reports, err := OpenReports(t.Context(), store, declared)
	if err != nil {
		t.Fatal(err)
	}
	_, err = reports.Receipts(t.Context(), 1, false)
	if !errors.Is(err, control.ErrChain) || !strings.Contains(err.Error(), "signed as environments/prod/agents/web/receipts/000000000001-000000000001.json") {
		t.Errorf("error %v; want one that says what it was signed as", err)
	}
}

// After a new enrolment the old key's receipts count only as far as the new key's
// vouch for them.
func TestAttackReceiptsForged(t *testing.T) {
	t.Parallel()
	old := testKey(t, "agent1").Ed25519()
	tests := map[string]struct {
		generation int
		write      func(t *testing.T, store objstore.Store, key ed25519.PrivateKey)
		inherited  int
		refused    string
	}{
		"vouched for": {2, func(t *testing.T, store objstore.Store, key ed25519.PrivateKey) {
			writeReceipts(t, store, key, 2, 4, 5, writeReceipts(t, store, old, 1, 1, 3, ""))
		}, 3, ""},
		"never enrolled anew": {1, func(t *testing.T, store objstore.Store, key ed25519.PrivateKey) {
			stranger := testKey(t, "stranger").Ed25519()
			writeReceipts(t, store, key, 2, 4, 5, writeReceipts(t, store, stranger, 1, 1, 3, ""))
		}, 0, "000000000001-000000000003.json"},
		"old key goes on": {2, func(t *testing.T, store objstore.Store, key ed25519.PrivateKey) {
			previous := writeReceipts(t, store, key, 2, 4, 5, writeReceipts(t, store, old, 1, 1, 3, ""))
			writeReceipts(t, store, old, 2, 6, 6, previous)
		}, 0, "000000000002-000000000006.json"},
		"exchanged": {2, func(t *testing.T, store objstore.Store, key ed25519.PrivateKey) {
			writeReceipts(t, store, key, 2, 4, 5, writeReceipts(t, store, old, 1, 1, 3, ""))
			writeReceipts(t, store, testKey(t, "stranger").Ed25519(), 1, 1, 3, "")
		}, 0, "000000000001-000000000003.json"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, declared, key := enrolled(t, test.generation)
			test.write(t, store, key)
			reports, err := OpenReports(t.Context(), store, declared)
			if err != nil {
				t.Fatal(err)
			}
			receipts, err := reports.Receipts(t.Context(), 10, true)
			if test.refused != "" {
				if !errors.Is(err, ErrNotBelieved) || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("error %v; want a refusal of %s", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			inherited := 0
			for _, receipt := range receipts {
				if receipt.Inherited {
					inherited++
				}
			}
			if inherited != test.inherited || len(receipts) != 5 {
				t.Errorf("%d of %d receipts are inherited; want %d of 5", inherited, len(receipts), test.inherited)
			}
		})
	}
}

func TestAttackClaimAndHeartbeatForged(t *testing.T) {
	t.Parallel()
	claimKey, beatKey := control.ClaimKey("prod", "web", 1), control.HeartbeatKey("prod", "web")
	tests := map[string]struct {
		spoil func(t *testing.T, store objstore.Store)
		want  error
	}{
		"no claim": {func(t *testing.T, store objstore.Store) { _ = store.Delete(t.Context(), claimKey) }, ErrNotEnrolled},
		"claim of another token": {func(t *testing.T, store objstore.Store) {
			other := testKey(t, "other")
			signed, err := control.SignClaim(control.Claim{
				Version: control.FormatVersion, Environment: "prod", Agent: "web", Generation: 1, AgentKey: other.Public().String(), Time: noon,
			}, other.Ed25519(), other.Ed25519())
			if err != nil {
				t.Fatal(err)
			}
			put(t, store, claimKey, signed)
		}, ErrNotBelieved},
		"claim without end":      {func(t *testing.T, store objstore.Store) { put(t, store, claimKey, make([]byte, control.MaxDocument+1)) }, ErrNotBelieved},
		"no heartbeat":           {func(*testing.T, objstore.Store) {}, ErrNotFound},
		"heartbeat is no report": {func(t *testing.T, store objstore.Store) { put(t, store, beatKey, []byte("{}")) }, ErrNotBelieved},
		"heartbeat of another agent": {func(t *testing.T, store objstore.Store) {
			signed, err := control.Sign(control.Heartbeat{
				Version: control.FormatVersion, Environment: "prod", Agent: "db", Time: noon, Channel: "stable", Outcome: control.OutcomeConverged,
			}, testKey(t, "agent1").Ed25519())
			if err != nil {
				t.Fatal(err)
			}
			put(t, store, beatKey, signed)
		}, ErrNotBelieved},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, declared, _ := enrolled(t, 1)
			test.spoil(t, store)
			reports, err := OpenReports(t.Context(), store, declared)
			if err == nil {
				_, err = reports.Heartbeat(t.Context())
			}
			if !errors.Is(err, test.want) {
				t.Errorf("error %v; want %v", err, test.want)
			}
		})
	}
}
