package demo

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// TestBreakGlassWithoutTheStore cuts the store off, and breaks the glass on the agent's
// machine: the edit stands, while others are corrected. When the store is back it holds
// the grant, and closing it there ends it.
func TestBreakGlassWithoutTheStore(t *testing.T) {
	t.Parallel()
	way := newGate(t, "127.0.0.1:0", sharedS3(t).Endpoint)
	s := newScene(t, &simcloud{}, onS3(t, way))
	s.converge()
	e := s.cloud.emergency()
	local := []string{"-local", "-config", s.path("agent", "agent.hcl")}
	open := append([]string{"break-glass", "open", "-environment", environment, "-key", s.path("on-call"), "-policy", policy, "-target", e.address, "-reason", "the network is down", "-for"}, "10m")

	way.close()
	refused, err := s.TryTowline(t.Context(), open...)
	s.must(err)
	if refused.Status == 0 || !strings.Contains(refused.Stderr, "run this with -local on the machine of the environment's agent") {
		t.Fatalf("without the store: %+v", refused)
	}
	tooLong, err := s.TryTowline(t.Context(), append(append(open[:len(open)-1:len(open)-1], "1000h"), local...)...)
	s.must(err)
	if tooLong.Status == 0 || !strings.Contains(tooLong.Stderr, "more than the policy's") {
		t.Fatalf("for longer than the policy allows: %+v", tooLong)
	}
	opened, err := s.Towline(t.Context(), append(append(open, local...), "-json")...)
	s.must(err)
	var grant struct{ ID, Phase string }
	s.must(json.Unmarshal([]byte(opened.Stdout), &grant))
	if grant.Phase != "open" || !strings.Contains(opened.Stderr, "The agent on this machine knows of it") {
		t.Fatalf("opened %+v: %s", grant, opened.Stderr)
	}
	s.edit(e)
	other := s.cloud.edits()[0]
	s.edit(other)
	s.corrected(other)
	if stands, err := e.stands(t.Context()); err != nil || !stands {
		t.Fatalf("the edit stands: %v, %v", stands, err)
	}
	listed, err := s.Towline(t.Context(), "break-glass", "list", "-local", "-config", s.path("agent", "agent.hcl"))
	s.must(err)
	if !strings.Contains(listed.Stdout, grant.ID) {
		t.Errorf("on the machine: %s", listed.Stdout)
	}

	after := s.newestBehind(way)
	held := s.await(after, "the store knows of the grant", func(r control.Receipt) bool {
		return len(r.Grants) == 1 && r.Grants[0].ID == grant.ID && decided("held", e.address)(r) && !says(r, "Repository not usable")
	})
	stored, err := (&story{world: s.World}).openGrant(t.Context())
	s.must(err)
	if stored != grant.ID {
		t.Errorf("the store has grant %s, the machine %s", stored, grant.ID)
	}
	s.done(s.Towline(t.Context(), "break-glass", "close", "-environment", environment, "-key", s.path("on-call"), grant.ID))
	s.corrected(e)
	s.await(held.Sequence, "a round finds nothing to do", converged)
	shown, err := s.Towline(t.Context(), "break-glass", "show", "-environment", environment, "-json", grant.ID)
	s.must(err)
	if !strings.Contains(shown.Stdout, `"replicas"`) || !strings.Contains(shown.Stdout, `"result": "corrected"`) {
		t.Errorf("in the end: %s", shown.Stdout)
	}
	s.must(until(t.Context(), patience, "the machine holds nothing of it any more", func() (bool, error) {
		entries, err := os.ReadDir(s.path("agent", "data", "grants"))
		return len(entries) == 0, err
	}))
	s.whole()
}

// newestBehind opens the gate and tells what the newest receipt was until then.
func (s *scene) newestBehind(way *gate) int64 {
	s.t.Helper()
	way.open()
	return s.newest()
}
