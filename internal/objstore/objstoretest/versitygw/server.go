package versitygw

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// The region that the server answers for.
const region = "us-east-1"

// startAttempts covers a free port being taken by someone else in between.
const startAttempts = 3

// startTimeout is generous: a loaded machine may take seconds to start a process.
const startTimeout = 30 * time.Second

// Server is a running S3 server. Its data stays in its folder when it stops.
type Server struct {
	// Endpoint is the server's URL on the loopback interface.
	Endpoint string
	// AccessKey and SecretKey are credentials that may do everything.
	AccessKey, SecretKey string

	dir     string
	process *exec.Cmd
	output  *lockedBuffer
	ended   chan struct{}
}

// Start builds the server if needed and starts it over dir on a free port. The
// file system under dir must have extended attributes.
func Start(ctx context.Context, dir string) (*Server, error) {
	binary, err := Build(ctx)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		server, err := startOnce(ctx, binary, dir)
		if err == nil {
			return server, nil
		}
		if attempt == startAttempts || ctx.Err() != nil {
			return nil, fmt.Errorf("start versitygw: %w", err)
		}
	}
}

func startOnce(ctx context.Context, binary, dir string) (*Server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "buckets")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	s := &Server{
		Endpoint: "http://" + address, AccessKey: "test", SecretKey: rand.Text(),
		dir: data, output: &lockedBuffer{}, ended: make(chan struct{}),
	}
	// Metadata stay in extended attributes: the gateway's other way of keeping them
	// lets a reader see the old content with the new ETag.
	s.process = exec.Command(binary, "--port", address, "--region", region, "--quiet", "posix", data)
	s.process.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+s.AccessKey, "ROOT_SECRET_KEY="+s.SecretKey)
	s.process.Stdout, s.process.Stderr = s.output, s.output
	endWithParent(s.process)
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = s.process.Wait() // it is killed, so that its status says nothing
		close(s.ended)
	}()
	if err := s.waitReady(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// waitReady asks until the server answers anything at all.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Endpoint, nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			return resp.Body.Close()
		}
		select {
		case <-s.ended:
			return fmt.Errorf("it ended at once: %s", s.output)
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w: %s", ctx.Err(), s.output)
		case <-tick.C:
		}
	}
}

// Stop ends the server and waits until it is gone. A second call does nothing.
func (s *Server) Stop() {
	_ = s.process.Process.Kill() // fails only if the server is gone already
	<-s.ended
}

// Dir is the folder that the server was started over.
func (s *Server) Dir() string { return filepath.Dir(s.dir) }

// CreateBucket makes a bucket, which is a folder of the server's.
func (s *Server) CreateBucket(name string) error {
	if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("create bucket: %w", err)
	}
	return nil
}

// StoreURL is the URL of a store in a bucket.
func (s *Server) StoreURL(bucket, prefix string) string {
	query := url.Values{"endpoint": {s.Endpoint}, "region": {region}, "path_style": {"true"}}
	return (&url.URL{Scheme: "s3", Host: bucket, Path: "/" + prefix, RawQuery: query.Encode()}).String()
}

// Env returns the environment variables with which AWS SDKs reach the server.
func (s *Server) Env() map[string]string {
	return map[string]string{
		"AWS_ACCESS_KEY_ID": s.AccessKey, "AWS_SECRET_ACCESS_KEY": s.SecretKey,
		"AWS_REGION": region, "AWS_ENDPOINT_URL_S3": s.Endpoint,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	}
}

// Setenv sets [Server.Env] for this process, as a TestMain needs it.
func (s *Server) Setenv() error {
	for name, value := range s.Env() {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// lockedBuffer is written by the process and read by whoever reports on it.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
