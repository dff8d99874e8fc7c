package demo

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// TestKilledInTheFirstApply ends the agent at once in the middle of its first
// apply, several times. Calls in flight may have had their effect or not; the
// successor must find out, and make nothing twice.
func TestKilledInTheFirstApply(t *testing.T) {
	t.Parallel()
	tests := map[string]func(s *scene){
		"agent and providers": func(s *scene) { s.CrashAgent() },
		"agent alone":         (*scene).killAgentAlone,
	}
	for name, kill := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, &simcloud{latency: 300 * time.Millisecond}, nil)
			for _, present := range []int{3, 9, 15} {
				s.start()
				s.untilObjects(present)
				kill(s)
			}
			objects, err := s.cloud.objects(t.Context())
			s.must(err)
			if len(objects) >= quickstartObjects {
				t.Fatalf("the apply was over before the last kill: %d objects", len(objects))
			}
			s.converge()
			s.whole()
		})
	}
}

// killAgentAlone kills the agent's process and lets its providers go on as they will.
func (s *scene) killAgentAlone() {
	s.t.Helper()
	s.must(s.agent.cmd.Process.Kill())
	<-s.agent.ended
	s.agent = nil
}

// untilObjects waits until at least so many objects are there.
func (s *scene) untilObjects(present int) {
	s.t.Helper()
	s.must(until(s.t.Context(), patience, "some objects are there", func() (bool, error) {
		objects, err := s.cloud.objects(s.t.Context())
		return len(objects) >= present, err
	}))
}

// TestProviderKilled kills the provider's process between two rounds: the next
// round starts another one and notices what was changed meanwhile.
func TestProviderKilled(t *testing.T) {
	t.Parallel()
	s := newScene(t, &simcloud{}, nil)
	s.converge()
	s.outliveProvider()
	e := s.cloud.edits()[0]
	s.edit(e)
	s.corrected(e)
	s.whole()
}

// outliveProvider kills the provider and expects the next round to converge.
func (s *scene) outliveProvider() {
	s.t.Helper()
	before, err := childrenOf(s.agent.cmd.Process.Pid)
	s.must(err)
	if len(before) == 0 {
		s.t.Fatal("the agent has no provider running")
	}
	for _, pid := range before {
		s.must(syscall.Kill(pid, syscall.SIGKILL))
	}
	killed := time.Now()
	next := s.await(0, "a round begins after the kill", func(r control.Receipt) bool { return r.Started.After(killed) })
	if next.Outcome != control.OutcomeConverged {
		s.t.Errorf("the next round ended %q: %s %+v", next.Outcome, next.Message, next.Problems)
	}
	after, err := childrenOf(s.agent.cmd.Process.Pid)
	s.must(err)
	if len(after) == 0 || after[0] == before[0] {
		s.t.Errorf("providers before the kill %v, after it %v", before, after)
	}
}

// TestStoreGone cuts the connection to the S3 server. Rounds go on, and what they
// did is in the receipts that come when the server is back; a revision that was
// published last is taken up then.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	way := newGate(t, "127.0.0.1:0", sharedS3(t).Endpoint)
	s := newScene(t, &simcloud{}, onS3(t, way))
	s.converge()
	last := s.newest()
	way.close()
	for _, e := range s.cloud.edits()[:2] {
		s.edit(e)
		s.corrected(e)
	}
	way.open()
	missed := s.await(last, "the receipt of a round without the store arrives", func(r control.Receipt) bool {
		return len(r.Changes) > 0 && r.Changes[0].Cause == "drift" && says(r, "Repository not usable")
	})
	if missed.Revision == "" || missed.Outcome != control.OutcomeApplied {
		t.Errorf("a round without the store: %+v", missed)
	}
	s.publish("registry.example.com/after")
	s.await(missed.Sequence, "the new revision is applied", func(r control.Receipt) bool {
		return r.Outcome == control.OutcomeApplied && r.Revision != missed.Revision
	})
	if got := s.registry(); got != "registry.example.com/after" {
		t.Errorf("images come from %s", got)
	}
	s.whole()
	s.done(s.Towline(t.Context(), "receipts", "-environment", environment, "-agent", agentName, "-verify"))
}

// says tells whether a receipt has a problem with a phrase in it.
func says(r control.Receipt, phrase string) bool {
	for _, problem := range r.Problems {
		if strings.Contains(problem.Summary+": "+problem.Detail, phrase) {
			return true
		}
	}
	return false
}

// TestDestroyRemovesWhatWasDeclared has terraform destroy the enrolment: what
// Towline has written is gone, and what others have is not.
func TestDestroyRemovesWhatWasDeclared(t *testing.T) {
	t.Parallel()
	s := newScene(t, &simcloud{}, nil)
	s.converge()
	s.StopAgent()
	s.must(s.write("store/minutes-of-a-meeting.txt", "not Towline's"))
	s.done(s.Terraform(t.Context(), "destroy", "-auto-approve", "-no-color", "-input=false"))
	var left []string
	s.must(filepath.WalkDir(s.path("store"), func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.Contains(path, "/.towline/") {
			left = append(left, strings.TrimPrefix(path, s.path("store")+"/"))
		}
		return err
	}))
	if len(left) != 1 || left[0] != "minutes-of-a-meeting.txt" {
		t.Errorf("the store holds %v", left)
	}
	s.whole() // real objects are the channel's, not the enrolment's
}
