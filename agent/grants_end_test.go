package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// The receipt, the message and people are told what differs since the grant was opened,
// and what its policy made of it, by name and without values.
func TestGrantEndsWithTheDifference(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		after   control.After
		outcome control.Outcome
		want    []string
		told    string
	}{
		"revert":  {control.AfterRevert, control.OutcomeApplied, []string{"cloud_thing.a [size] corrected", "cloud_thing.a [note] gone", "cloud_thing.b deleted corrected"}, "size: corrected"},
		"hold":    {control.AfterHold, control.OutcomeDrifted, []string{"cloud_thing.a [size] held", "cloud_thing.a [note] gone", "cloud_thing.b deleted held"}, "left alone since a break-glass grant ended"},
		"propose": {control.AfterPropose, control.OutcomeDrifted, []string{"cloud_thing.a [size] proposed", "cloud_thing.a [note] gone", "cloud_thing.b deleted proposed"}, "waits for approval"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			signer, key := approver(t)
			w.made(w.policy(key, test.after))
			note := w.attribute("a", "note")
			w.open(signer, "cloud_thing.*")
			w.resize("a", 987654)
			w.edit("a", "note", cty.StringVal("hunter2"))
			w.round(control.OutcomeDrifted)
			w.edit("a", "note", note)
			w.remove("b")
			open := w.round(control.OutcomeDrifted)
			if got := changed(open.Grants[0].Changed); !slices.Equal(got, []string{"cloud_thing.a [note size]", "cloud_thing.b deleted"}) {
				t.Errorf("while it is open: %q", got)
			}
			w.slack.take()
			w.advance(10 * time.Minute)
			receipt := w.round(test.outcome)
			if len(receipt.GrantsEnded) != 1 || receipt.GrantsEnded[0].ID != "g1" || receipt.GrantsEnded[0].After != test.after {
				t.Fatalf("ended %+v", receipt.GrantsEnded)
			}
			got := changed(receipt.GrantsEnded[0].Changed)
			slices.Sort(got)
			want := slices.Sorted(slices.Values(test.want))
			if !slices.Equal(got, want) {
				t.Errorf("changed %q, want %q", got, want)
			}
			if !strings.Contains(receipt.Message, "grant g1 ended; of what had changed: ") {
				t.Errorf("message %q", receipt.Message)
			}
			posts := strings.Join(w.slack.take(), "\n")
			if !strings.Contains(posts, "break-glass grant `g1` under policy fix ended at 2026-") || !strings.Contains(posts, test.told) || !strings.Contains(posts, "note: does not differ any more") {
				t.Errorf("people were told %s", posts)
			}
			if all := fmt.Sprintf("%+v%s", receipt, posts); strings.Contains(all, "987654") || strings.Contains(all, "hunter2") {
				t.Errorf("a value is told: %s", all)
			}
			if again := w.round(w.settledOutcome(test.after)); len(again.GrantsEnded) != 0 {
				t.Errorf("it is told again: %+v", again.GrantsEnded)
			}
		})
	}
}

// settledOutcome is that of rounds after a grant's end.
func (w *world) settledOutcome(after control.After) control.Outcome {
	if after == control.AfterRevert {
		return control.OutcomeConverged
	}
	return control.OutcomeDrifted
}

func changed(changes []control.GrantChange) []string {
	var out []string
	for _, c := range changes {
		text := c.Address
		if len(c.Attributes) > 0 {
			text += fmt.Sprintf(" %v", c.Attributes)
		}
		if c.Deleted {
			text += " deleted"
		}
		out = append(out, strings.TrimSpace(text+" "+c.Result))
	}
	return out
}

// A grant that ends while the provider does not answer is told of once it does, and
// people who could not be told are told later.
func TestEndOfAGrantIsNotLost(t *testing.T) {
	t.Parallel()
	w, signer := breakable(t)
	w.open(signer, "cloud_thing.a")
	w.resize("a", 9)
	w.round(control.OutcomeDrifted)
	w.advance(10 * time.Minute)
	w.writeFile("webhook", "http://127.0.0.1:1/nobody")
	if receipt := w.round(control.OutcomeApplied); len(receipt.GrantsEnded) != 1 {
		t.Errorf("ended %+v", receipt.GrantsEnded)
	}
	w.writeFile("webhook", w.slack.URL)
	w.slack.take()
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.round(control.OutcomeConverged)
	if posts := w.slack.take(); !slices.ContainsFunc(posts, func(p string) bool { return strings.Contains(p, "size: corrected") }) {
		t.Errorf("people were told %q", posts)
	}
}

// People are reminded once before an end, and once more after it was moved.
func TestReminderBeforeTheEnd(t *testing.T) {
	t.Parallel()
	w, signer := breakable(t)
	opened := w.clock()
	w.open(signer, "cloud_thing.a")
	w.resize("a", 9)
	reminded := func() int {
		n := 0
		for _, post := range w.slack.take() {
			if strings.Contains(post, "break-glass grant `g1` ends in ") {
				n++
				if !strings.Contains(post, "what differs is corrected then") || !strings.Contains(post, "towline break-glass extend -environment prod") || !strings.Contains(post, "cloud_thing.a`: size") {
					t.Errorf("people were told %s", post)
				}
			}
		}
		return n
	}
	for range 4 {
		w.round(control.OutcomeDrifted)
	}
	if got := reminded(); got != 0 {
		t.Errorf("with six of ten minutes left people were reminded %d times", got)
	}
	for range 3 {
		w.round(control.OutcomeDrifted)
	}
	if got := reminded(); got != 1 {
		t.Errorf("with three minutes left people were reminded %d times", got)
	}
	w.sent(w.extension(signer, w.clock(), opened.Add(30*time.Minute)))
	w.round(control.OutcomeDrifted)
	if got := reminded(); got != 0 {
		t.Errorf("after the extension people were reminded %d times", got)
	}
	for range 19 {
		w.round(control.OutcomeDrifted)
	}
	if got := reminded(); got != 1 {
		t.Errorf("before the new end people were reminded %d times", got)
	}
}
