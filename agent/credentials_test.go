package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// TestRoundDoesNotBeginWhatItCannotFinish gives an agent credentials of several lifetimes.
// Those that end too soon are asked for anew; if that does not help, nothing is changed.
func TestRoundDoesNotBeginWhatItCannotFinish(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		// lives are how long what is given out lasts, one after the other, the last for ever.
		lives []time.Duration
		err   error
		want  control.Outcome
		says  string
	}{
		"none that ends":          {want: control.OutcomeApplied},
		"long enough":             {lives: []time.Duration{time.Hour}, want: control.OutcomeApplied},
		"soon over, then renewed": {lives: []time.Duration{time.Minute, time.Hour}, want: control.OutcomeApplied},
		"always soon over":        {lives: []time.Duration{time.Minute}, want: control.OutcomeFailed, says: "in 1m0s, and cannot be had for longer; the 2 changes may take 5m0s. None is begun"},
		"over":                    {lives: []time.Duration{-time.Minute}, want: control.OutcomeFailed, says: "None is begun"},
		"not to be had":           {err: errors.New("no role"), want: control.OutcomeApplied, says: "Credentials not readable: It cannot be found out"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			given := 0
			w.credentials = aws.NewCredentialsCache(aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				now := aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b", CanExpire: len(test.lives) > 0}
				if now.CanExpire {
					now.Expires = w.clock().Add(test.lives[min(given, len(test.lives)-1)])
				}
				given++
				return now, test.err
			}))
			w.publish(twoThings)
			receipt := w.round(test.want)
			if text := receipt.Message + problems(receipt); !strings.Contains(text, test.says) {
				t.Errorf("the receipt says %q", text)
			}
			if made, want := w.creations(), map[control.Outcome]int{control.OutcomeApplied: 2}[test.want]; made != want {
				t.Errorf("%d things were created, want %d", made, want)
			}
			for _, change := range receipt.Changes {
				if want := map[control.Outcome]string{control.OutcomeApplied: "applied", control.OutcomeFailed: "held"}[test.want]; change.Result != want {
					t.Errorf("%s: %s, want %s", change.Address, change.Result, want)
				}
			}
			if test.want != control.OutcomeFailed {
				return
			}
			test.lives = []time.Duration{time.Hour}
			w.round(control.OutcomeApplied)
		})
	}
}

// TestStoreThatEndsInTheMiddle: the store refuses from within the apply on. The changes are
// made and known, and what the store has missed arrives when it takes it again.
func TestStoreThatEndsInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.publish(strings.ReplaceAll(twoThings, "size", "note = \"x\"\n  size"))
	w.cloud.ApplyHook = func(ctx context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		w.store.set(true)
		return w.cloud.ApplyDefault(req)
	}
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Minute)
	if got := w.agent.Round(t.Context()); got != control.OutcomeApplied {
		t.Errorf("outcome %s", got)
	}
	w.cloud.ApplyHook = nil
	before := len(w.receipts())
	w.store.set(false)
	w.round(control.OutcomeConverged)
	receipts := w.receipts()
	if len(receipts) != before+2 {
		t.Errorf("%d receipts arrived, want 2", len(receipts)-before)
	}
	if missed := receipts[before]; missed.Outcome != control.OutcomeApplied || len(missed.Changes) != 1 {
		t.Errorf("the receipt of the round is %+v", missed)
	}
	if held := w.newest(); !strings.HasSuffix(held.Key, "000000000002") && !strings.HasSuffix(held.Key, "000000000003") {
		t.Errorf("the newest state is %s", held.Key)
	}
}
