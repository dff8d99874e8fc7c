package demo

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// network is a network namespace whose only way out is a cable to this machine,
// and which lets in nothing but answers.
type network struct {
	t    *testing.T
	name string
	// host and inside are the two ends of the cable.
	host, inside string
}

// newNetwork needs root and Linux's ip and nft. Continuous integration has them.
func newNetwork(t *testing.T) *network {
	t.Helper()
	var missing []string
	if os.Geteuid() != 0 {
		missing = append(missing, "root")
	}
	for _, tool := range []string{"ip", "nft"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, tool)
		}
	}
	if len(missing) > 0 {
		message := "a network namespace with a packet filter needs " + strings.Join(missing, ", ")
		if os.Getenv("CI") != "" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	pid := os.Getpid()
	n := &network{t: t, name: fmt.Sprintf("towline-%d", pid)}
	subnet := fmt.Sprintf("10.%d.%d.", 200+pid%50, pid/50%256)
	n.host, n.inside = subnet+"1", subnet+"2"
	n.build(fmt.Sprintf("tl%dh", pid%1_000_000), fmt.Sprintf("tl%di", pid%1_000_000))
	return n
}

// build lays the cable. Every new connection to the inside is dropped, on the
// loopback interface too.
func (n *network) build(host, inside string) {
	n.t.Helper()
	n.run("ip", "netns", "add", n.name)
	n.t.Cleanup(func() { n.run("ip", "netns", "del", n.name) }) // takes the cable along
	n.run("ip", "link", "add", host, "type", "veth", "peer", "name", inside, "netns", n.name)
	n.run("ip", "addr", "add", n.host+"/30", "dev", host)
	n.run("ip", "link", "set", host, "up")
	n.inner("ip", "addr", "add", n.inside+"/30", "dev", inside)
	n.inner("ip", "link", "set", inside, "up")
	n.inner("ip", "link", "set", "lo", "up")
	n.inner("nft", "add table inet filter; add chain inet filter in { type filter hook input priority 0; policy drop; }; add rule inet filter in ct state established,related accept")
}

func (n *network) run(args ...string) {
	n.t.Helper()
	output, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		n.t.Fatalf("%v: %v: %s", args, err, output)
	}
}

func (n *network) inner(args ...string) {
	n.t.Helper()
	n.run(append(n.wrap(), args...)...)
}

// wrap is what starts a program inside.
func (n *network) wrap() []string { return []string{"ip", "netns", "exec", n.name} }

// mustBeClosed proves that the filter is there: a program that listens inside is
// not reached from outside.
func (n *network) mustBeClosed() {
	n.t.Helper()
	listener := exec.Command("ip", "netns", "exec", n.name, os.Args[0])
	listener.Env = append(os.Environ(), listenVariable+"="+n.inside+":0")
	stdout, err := listener.StdoutPipe()
	if err == nil {
		err = listener.Start()
	}
	if err != nil {
		n.t.Fatal(err)
	}
	defer func() {
		_ = listener.Process.Kill() // it waits for that
		_ = listener.Wait()
	}()
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		n.t.Fatalf("nothing listens inside: %v", err)
	}
	if listening := n.listening(listener.Process.Pid); len(listening) != 1 {
		n.t.Errorf("the sockets that listen inside are %v, want one", listening)
	}
	conn, err := net.DialTimeout("tcp", strings.TrimSpace(address), time.Second)
	if err == nil {
		conn.Close()
		n.t.Error("a connection to the inside was let through")
	}
}

// listenVariable has the test binary listen instead of running tests.
const listenVariable = "TOWLINE_TEST_LISTEN"

// listen holds a listening socket until it is killed.
func listen(address string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	select {}
}

// listening lists the sockets that accept connections or datagrams in the
// namespace of a process.
func (n *network) listening(pid int) []string {
	n.t.Helper()
	const listenState, unconnectedState = "0A", "07"
	var out []string
	for table, state := range map[string]string{"tcp": listenState, "tcp6": listenState, "udp": unconnectedState, "udp6": unconnectedState} {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if errors.Is(err, os.ErrNotExist) && strings.HasSuffix(table, "6") {
			continue // a kernel without IPv6
		}
		if err != nil {
			n.t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if fields := strings.Fields(line); len(fields) > 3 && fields[3] == state {
				out = append(out, table+" "+fields[1])
			}
		}
	}
	return out
}

// TestNoInboundRoute has an agent do all its work in a network that nobody can
// connect to: pull, converge, correct, tell people, obey a grant, outlive its
// provider, itself and the store. Nothing inside listens at any time.
func TestNoInboundRoute(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.mustBeClosed()
	way := newGate(t, n.host+":0", sharedS3(t).Endpoint)
	use := onS3(t, way)
	s := newScene(t, &simcloud{}, func(opts *Options) {
		use(opts)
		opts.Host = n.host
	})
	s.wrap = n.wrap()
	story := &story{world: s.World, stage: s.cloud, out: t.Output()}
	steps := []struct {
		name string
		run  func()
	}{
		{"converge", func() { s.must(story.converge(t.Context())) }},
		{"drift", func() { s.must(story.drift(t.Context())) }},
		{"correct", func() { s.must(story.correct(t.Context())) }},
		{"break glass", func() { s.must(story.breakGlass(t.Context())) }},
		{"give back", func() { s.must(story.giveBack(t.Context())) }},
		{"provider killed", s.outliveProvider},
		{"agent killed", func() {
			s.CrashAgent()
			s.converge()
		}},
		{"store gone", func() {
			way.close()
			s.edit(s.cloud.edits()[1])
			s.corrected(s.cloud.edits()[1])
			way.open()
		}},
		{"next revision", func() {
			after := s.newest()
			s.publish("registry.example.com/inside")
			s.await(after, "the next revision is applied", func(r control.Receipt) bool {
				return r.Outcome == control.OutcomeApplied && r.Changes[0].Cause == "revision"
			})
		}},
		{"status", func() {
			s.must(story.settle(t.Context()))
			s.must(story.status(t.Context()))
		}},
	}
	for _, step := range steps {
		step.run()
		if t.Failed() {
			t.Fatalf("step %q failed", step.name)
		}
		if listening := n.listening(s.agent.cmd.Process.Pid); len(listening) > 0 {
			t.Fatalf("after step %q something listens inside: %v", step.name, listening)
		}
	}
}
