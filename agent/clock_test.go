package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// TestClockSkewIsSaid: a clock that is minutes wrong changes nothing, and is named.
func TestClockSkewIsSaid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ahead time.Duration
		said  bool
	}{"right": {0, false}, "minutes ahead": {5 * time.Minute, true}, "minutes behind": {-5 * time.Minute, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publish(twoThings)
			w.advance(time.Until(w.clock()) * -1) // the store's clock is the real one
			w.advance(test.ahead)
			log := &strings.Builder{}
			if got := w.roundLogged(log); got != control.OutcomeApplied {
				t.Fatalf("outcome %s: %s", got, log)
			}
			if said := strings.Contains(log.String(), "clock differs from the store's"); said != test.said {
				t.Errorf("said %t, want %t: %s", said, test.said, log)
			}
		})
	}
}
