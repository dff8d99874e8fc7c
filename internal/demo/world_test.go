package demo

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// TestMain stops and removes what the tests share. The test binary is also what
// listens where nothing should be reached.
func TestMain(m *testing.M) {
	if address := os.Getenv(listenVariable); address != "" {
		listen(address)
	}
	code := m.Run()
	stopSharedS3()
	if builtDir != "" {
		os.RemoveAll(builtDir)
	}
	os.Exit(code)
}

var builtDir string

// programs are built once for all tests.
var programs = sync.OnceValues(func() (Programs, error) {
	dir, err := os.MkdirTemp("", "towline-programs-")
	if err != nil {
		return Programs{}, err
	}
	builtDir = dir
	return Build(context.Background(), dir)
})

// scene is a world in a test: enrolled, with examples/quickstart published, and
// the agent not started yet.
type scene struct {
	*World
	t     *testing.T
	cloud *simcloud
}

func newScene(t *testing.T, cloud *simcloud, change func(*Options)) *scene {
	t.Helper()
	built, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{Dir: t.TempDir(), Programs: built, Poll: time.Second, Grace: 2 * time.Second}
	if change != nil {
		change(&opts)
	}
	s := &scene{World: NewWorld(opts, cloud), t: t, cloud: cloud}
	t.Cleanup(s.Close)
	s.must(s.Start(t.Context()))
	s.done(s.Enrol(t.Context()))
	s.done(s.Prepare(t.Context(), cloud.example()))
	s.done(s.Publish(t.Context(), cloud.example(), "first"))
	return s
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// done takes what a command returns.
func (s *scene) done(_ Result, err error) {
	s.t.Helper()
	s.must(err)
}

func (s *scene) start() {
	s.t.Helper()
	s.must(s.StartAgent(s.t.Context()))
}

// await waits for a receipt after a sequence.
func (s *scene) await(after int64, what string, match func(control.Receipt) bool) control.Receipt {
	s.t.Helper()
	receipt, err := s.Await(s.t.Context(), after, what, match)
	s.must(err)
	return receipt
}

func (s *scene) newest() int64 {
	s.t.Helper()
	sequence, err := s.Newest(s.t.Context())
	s.must(err)
	return sequence
}

// converge starts the agent and waits until it has nothing to do.
func (s *scene) converge() {
	s.t.Helper()
	after := s.newest()
	s.start()
	s.await(after, "a round finds nothing to do", converged)
}

// edit makes an edit by hand.
func (s *scene) edit(e edit) {
	s.t.Helper()
	s.must(e.make(s.t.Context()))
}

// corrected waits until an edit is gone, asking the cloud and not the agent.
func (s *scene) corrected(e edit) {
	s.t.Helper()
	s.must(until(s.t.Context(), patience, e.address+" is corrected", func() (bool, error) {
		stands, err := e.stands(s.t.Context())
		return !stands, err
	}))
}

// whole expects every object once: as many as the module declares, none created twice.
func (s *scene) whole() {
	s.t.Helper()
	objects, err := s.cloud.objects(s.t.Context())
	s.must(err)
	if len(objects) != quickstartObjects {
		s.t.Errorf("the cloud has %d objects, want %d", len(objects), quickstartObjects)
	}
	creations, err := s.cloud.creations(s.t.Context())
	s.must(err)
	for ref, times := range creations {
		if times != 1 {
			s.t.Errorf("%s was created %d times", ref, times)
		}
	}
}

// quickstartObjects is how many objects examples/quickstart declares.
const quickstartObjects = 30

// publish publishes a revision in which images come from another registry.
func (s *scene) publish(registry string) {
	s.t.Helper()
	s.must(s.write("quickstart/registry.auto.tfvars", fmt.Sprintf("registry = %q\n", registry)))
	s.done(s.Publish(s.t.Context(), "quickstart", "images from "+registry))
}

// registry is where the cloud says that an image comes from.
func (s *scene) registry() string {
	s.t.Helper()
	object, err := s.cloud.hand.Get(s.t.Context(), ref("verifier", "scheduled_job", "probe"))
	s.must(err)
	image, _, _ := strings.Cut(fmt.Sprint(object.Attributes["image"]), "/verifier:")
	return image
}
