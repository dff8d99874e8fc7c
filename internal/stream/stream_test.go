package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// The order of messages and their fields is compared with terraform's by the
// scripts of the command line. Here is what takes time or cannot be provoked there.

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func addr(t *testing.T, text string) addrs.ResourceInstance {
	t.Helper()
	out, diags := addrs.ParseResourceInstance(text)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return out
}

// texts are the kinds and texts of the messages.
func texts(t *testing.T, out *bytes.Buffer) []string {
	t.Helper()
	var list []string
	for line := range strings.Lines(out.String()) {
		var m struct {
			Type    string
			Message string `json:"@message"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, m.Type+": "+m.Message)
	}
	return list
}

func TestLongCallsAreToldOf(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	at := &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s := New(&out, at.now)
	s.Applying(engine.ApplyEvent{Addr: addr(t, "a.b"), Verb: "create"})
	s.Ephemeral(engine.EphemeralEvent{Addr: addr(t, "ephemeral.a.b"), Verb: "open"})
	s.Refreshing(addr(t, "a.c"), "7")
	at.at = at.at.Add(9 * time.Second)
	s.tick()
	at.at = at.at.Add(2 * time.Second)
	s.tick()
	s.tick()
	at.at = at.at.Add(20 * time.Second)
	s.tick()
	s.Applied(engine.ApplyEvent{Addr: addr(t, "a.b"), Verb: "create"}, 31*time.Second, true)
	s.Ephemeral(engine.EphemeralEvent{Addr: addr(t, "ephemeral.a.b"), Verb: "open", Ended: true, Took: 31 * time.Second})
	at.at = at.at.Add(time.Minute)
	s.tick()
	want := []string{
		"apply_start: a.b: Creating...",
		"ephemeral_op_start: ephemeral.a.b: Opening...",
		"refresh_start: a.c: Refreshing state... [id=7]",
		"ephemeral_op_progress: ephemeral.a.b: Still opening... [10s elapsed]",
		"apply_progress: a.b: Still creating... [10s elapsed]",
		"ephemeral_op_progress: ephemeral.a.b: Still opening... [30s elapsed]",
		"apply_progress: a.b: Still creating... [30s elapsed]",
		"apply_errored: a.b: Creation errored after 31s",
		"ephemeral_op_complete: ephemeral.a.b: Opening complete after 31s",
	}
	if got := texts(t, &out); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestDriftAndCounts(t *testing.T) {
	t.Parallel()
	a := addr(t, "a.b")
	plan := &plans.Plan{
		Mode: plans.NormalMode,
		Drift: []*plans.Change{
			{Addr: a, PrevAddr: a, Action: plans.Update},
			{Addr: a, PrevAddr: addr(t, "a.moved"), Action: plans.NoOp}, // a planned change will tell of it
		},
		Changes: []*plans.Change{
			{Addr: a, PrevAddr: addr(t, "a.moved"), Action: plans.NoOp, Importing: "7"},
			{Addr: a, PrevAddr: a, Action: plans.CreateThenDelete, Reason: plans.ReplaceByTriggers},
			{Addr: a, PrevAddr: a, Action: plans.NoOp},
		},
	}
	var out bytes.Buffer
	New(&out, time.Now).Plan(plan)
	want := []string{
		"resource_drift: a.b: Drift detected (update)",
		"planned_change: a.b: Plan to move",
		"planned_change: a.b: Plan to replace",
		"change_summary: Plan: 1 to import, 1 to add, 0 to change, 1 to destroy.",
	}
	if got := texts(t, &out); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSensitiveOutputsStayHidden(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := New(&out, time.Now)
	if err := s.Outputs(map[string]*states.Output{"a": {Value: cty.StringVal("hunter2"), Sensitive: true}}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hunter2") || !strings.Contains(out.String(), `"sensitive":true`) {
		t.Error(out.String())
	}
}

type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) { b.writes++; return 0, errors.New("gone") }

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	to := &broken{}
	s := New(to, time.Now)
	s.Log("one")
	s.Diagnostics(tfdiags.New(tfdiags.Error, "two", ""), nil)
	if s.Err() == nil || to.writes != 1 {
		t.Errorf("%d writes, error %v", to.writes, s.Err())
	}
}
