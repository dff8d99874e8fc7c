package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
)

func manyThings(n int, size int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "resource \"cloud_thing\" \"t%02d\" {\n name = \"t%02d\"\n size = %d\n}\n", i, i, size)
	}
	return b.String()
}

// TestRefreshBudget reads a tenth of 40 objects a round, and each within 15 rounds.
func TestRefreshBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := w.agentDoc()
	doc.Refresh = &control.Refresh{Budget: 0.1, Within: control.Duration(15 * time.Minute)}
	w.declare(doc)
	w.publish(manyThings(40, 1))
	w.round(control.OutcomeApplied)
	read := map[string]int{}
	for range 15 {
		w.cloud.ResetCalls()
		w.round(control.OutcomeConverged)
		calls := w.cloud.Calls("ReadResource")
		if len(calls) < 4 || len(calls) > 40 {
			t.Errorf("a round read %d of 40 objects", len(calls))
		}
		for _, c := range calls {
			read[fmt.Sprintf("%v", c.Request)]++
		}
	}
	if len(read) != 40 {
		t.Errorf("%d of 40 objects were read within their time", len(read))
	}

	w.edit("t07", "size", cty.NumberIntVal(9))
	seen := 0
	for seen < 16 && w.attribute("t07", "size").RawEquals(cty.NumberIntVal(9)) {
		w.advance(time.Minute)
		w.agent.Round(t.Context())
		seen++
	}
	if seen > 15 {
		t.Errorf("the change was seen after %d rounds, want at most 15", seen)
	}
}

func TestChangesAreNeverBasedOnARecordAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := w.agentDoc()
	doc.Refresh = &control.Refresh{Budget: 0.01, Within: control.Duration(24 * time.Hour)}
	w.declare(doc)
	w.publish(manyThings(40, 1))
	w.round(control.OutcomeApplied)
	w.round(control.OutcomeConverged)
	w.cloud.ResetCalls()
	w.publish(strings.Replace(manyThings(40, 1), "size = 1", "size = 2", 1))
	w.round(control.OutcomeApplied)
	if got := len(w.cloud.Calls("ReadResource")); got < 1 || got > 3 {
		t.Errorf("%d objects were read for a change of one", got)
	}
	if !w.attribute("t00", "size").RawEquals(cty.NumberIntVal(2)) {
		t.Error("the change was not made")
	}
}

func TestStandingDriftIsReadInEveryRound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := w.agentDoc()
	doc.Refresh = &control.Refresh{Budget: 0.05, Within: control.Duration(24 * time.Hour)}
	w.declare(doc, w.scope(control.DriftObserve, 0))
	w.publish(manyThings(20, 1))
	w.round(control.OutcomeApplied)
	w.edit("t00", "size", cty.NumberIntVal(9))
	for range 20 { // until its turn comes
		w.advance(time.Minute)
		if w.agent.Round(t.Context()) == control.OutcomeDrifted {
			break
		}
	}
	for range 3 {
		w.round(control.OutcomeDrifted)
	}
	if posts := w.slack.take(); len(posts) != 1 {
		t.Errorf("people were told %d times", len(posts))
	}
}
