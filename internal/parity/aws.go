package parity

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// mockStart is how long the mock of AWS may take to start: it is a large Python program.
const mockStart = 2 * time.Minute

// maxAnswer bounds what is read of an answer that only tells of success.
const maxAnswer = 1 << 20

// mock is a running mock of AWS, which all cases of one program share: each has
// an account of its own in it.
type mock struct {
	url *url.URL
	cmd *exec.Cmd
}

// mocks starts a mock for each program when it is first needed.
type mocks struct {
	mu      sync.Mutex
	running map[string]*mock
}

// of returns the mock of a program.
func (m *mocks) of(ctx context.Context, program string) (*mock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.running[program]; found != nil {
		return found, nil
	}
	started, err := startMock(ctx)
	if err != nil {
		return nil, err
	}
	if m.running == nil {
		m.running = map[string]*mock{}
	}
	m.running[program] = started
	return started, nil
}

// close ends the mocks.
func (m *mocks) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.running {
		one.stop()
	}
	m.running = nil
}

func startMock(ctx context.Context) (*mock, error) {
	program, err := exec.LookPath("moto_server")
	if err != nil {
		return nil, fmt.Errorf("find the mock of AWS: %w; install it with: pip install 'moto[server]'", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	address := listener.Addr().String()
	listener.Close() // the mock takes a port number only
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	m := &mock{url: &url.URL{Scheme: "http", Host: address}, cmd: exec.Command(program, "-H", host, "-p", port)}
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the mock of AWS: %w", err)
	}
	if err := m.await(ctx); err != nil {
		m.stop()
		return nil, err
	}
	return m, nil
}

func (m *mock) stop() {
	_ = m.cmd.Process.Kill() // it may have ended by itself
	_ = m.cmd.Wait()
}

// await waits until the mock answers.
func (m *mock) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, mockStart)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url.JoinPath("moto-api/").String(), nil)
		if err != nil {
			return fmt.Errorf("ask the mock of AWS: %w", err)
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the mock of AWS: %w", ctx.Err())
		case <-ticker.C:
		}
	}
}

// account is one account of the mock, behind an address of its own.
type account struct {
	number string
	server *httptest.Server
}

// newAccount gives a case its account, the same one every time.
func newAccount(m *mock, name string) *account {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	a := &account{number: fmt.Sprintf("1%011d", h.Sum32())}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(m.url)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("X-Moto-Account-Id", a.number)
	}}
	a.server = httptest.NewServer(proxy)
	return a
}

func (a *account) environ() map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL": a.server.URL, "AWS_REGION": "us-east-1",
		"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
	}
}

func (a *account) close() error {
	a.server.Close()
	return nil
}

// hand calls the API of a service, in one of these ways. In all of them ${ADDRESS.ATTRIBUTE}
// stands for an attribute in the state.
//
//	json SERVICE TARGET BODY           what services with JSON are called with
//	query SERVICE PARAMETERS           a form
//	rest SERVICE METHOD PATH [BODY]    anything else
func (a *account) hand(ctx context.Context, s *side, args []string) error {
	args = slices.Clone(args) // both programs carry out the same step
	for i, arg := range args {
		args[i] = os.Expand(arg, s.attribute)
	}
	if len(args) < 3 {
		return errors.New("hand takes json, query or rest, a service, and what to call")
	}
	service := args[1]
	switch {
	case args[0] == "json" && len(args) == 4:
		return a.call(ctx, service, http.MethodPost, "/", args[3], http.Header{"Content-Type": {"application/x-amz-json-1.1"}, "X-Amz-Target": {args[2]}})
	case args[0] == "query":
		return a.call(ctx, service, http.MethodPost, "/", args[2], http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
	case args[0] == "rest" && len(args) >= 4:
		return a.call(ctx, service, args[2], args[3], strings.Join(args[4:], ""), http.Header{})
	}
	return fmt.Errorf("hand cannot do %q", args)
}

// call makes one request. The mock asks for no signature, only for the service's name.
func (a *account) call(ctx context.Context, service, method, path, body string, header http.Header) error {
	req, err := http.NewRequestWithContext(ctx, method, a.server.URL+path, strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("call %s: %w", service, err)
	}
	req.Header = header
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20240101/us-east-1/"+service+"/aws4_request, SignedHeaders=host, Signature=none")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("call %s: %w", service, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil || resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("call %s: status %d: %s", service, resp.StatusCode, answer)
	}
	return nil
}
