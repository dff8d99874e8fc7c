package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/versitygw"
)

// One S3 server serves all worlds, each in a bucket of its own: the credentials of
// a process are the same for all of them.
var (
	s3Server *versitygw.Server
	s3Dir    string
	errS3    error
	startS3  sync.Once
	buckets  atomic.Int64
)

func sharedS3(t *testing.T) *versitygw.Server {
	t.Helper()
	startS3.Do(func() {
		if s3Dir, errS3 = os.MkdirTemp("", "towline-s3-"); errS3 != nil { //nolint:usetesting // it outlives the test that starts it
			return
		}
		if s3Server, errS3 = versitygw.Start(context.Background(), s3Dir); errS3 == nil {
			errS3 = s3Server.Setenv()
		}
	})
	if errS3 != nil {
		t.Fatal(errS3)
	}
	return s3Server
}

func stopSharedS3() {
	if s3Server != nil {
		s3Server.Stop()
	}
	if s3Dir != "" {
		os.RemoveAll(s3Dir)
	}
}

// onS3 puts a world's repository into the shared server, reached through a gate.
func onS3(t *testing.T, way *gate) func(*Options) {
	t.Helper()
	server := *sharedS3(t)
	server.Endpoint = "http://" + way.address
	return func(opts *Options) {
		opts.S3, opts.Bucket = &server, fmt.Sprintf("world-%d", buckets.Add(1))
	}
}

// gate passes connections on to a server while it is open. It stands for the
// network between an agent and the world.
type gate struct {
	address, target string
	listener        net.Listener

	mu     sync.Mutex
	shut   bool
	passed map[net.Conn]bool
}

func newGate(t *testing.T, listen, url string) *gate {
	t.Helper()
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{address: listener.Addr().String(), target: strings.TrimPrefix(url, "http://"), listener: listener, passed: map[net.Conn]bool{}}
	go g.serve()
	t.Cleanup(func() {
		listener.Close()
		g.close()
	})
	return g
}

func (g *gate) serve() {
	for {
		conn, err := g.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			go g.pass(conn)
		}
	}
}

// pass copies both ways until either side ends or the gate is closed.
func (g *gate) pass(conn net.Conn) {
	defer conn.Close()
	server, err := net.Dial("tcp", g.target)
	if err != nil {
		return
	}
	defer server.Close()
	if !g.enter(conn) {
		return
	}
	defer g.leave(conn)
	go func() {
		_, _ = io.Copy(server, conn) // either side may end at any time
		server.Close()
	}()
	_, _ = io.Copy(conn, server)
}

func (g *gate) enter(conn net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut {
		g.passed[conn] = true
	}
	return !g.shut
}

func (g *gate) leave(conn net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.passed, conn)
}

// close ends all connections and lets no new one through.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
	for conn := range g.passed {
		conn.Close()
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
}
