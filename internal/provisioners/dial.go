package provisioners

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	socks "golang.org/x/net/proxy"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

const (
	// dialTimeout bounds one attempt to reach a machine.
	dialTimeout = 30 * time.Second
	// retryFirst and retryMost bound the pause between two attempts.
	retryFirst, retryMost = time.Second, 10 * time.Second
)

// connection is a session with another machine. It ends when ctx does.
type connection struct {
	ctx      context.Context
	client   *ssh.Client
	settings settings
	ends     []func()
}

func (c *connection) close() {
	for _, end := range slices.Backward(c.ends) {
		end()
	}
}

// dial logs in on the machine of a connection, again and again until its timeout,
// as the machine may still be starting.
func dial(ctx context.Context, req Request, summary string) (*connection, tfdiags.Diagnostics) {
	s, diags := newSettings(req.Connection)
	if diags.HasErrors() {
		return nil, diags
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	pause := retryFirst
	for {
		req.Output(fmt.Sprintf("Connecting to %s as %s over SSH...", s.addr, s.user))
		c := &connection{ctx: ctx, settings: s}
		err := c.open(limited)
		if err == nil {
			req.Output("Connected!")
			c.ends = append(c.ends, func(stop func() bool) func() { return func() { stop() } }(context.AfterFunc(ctx, func() { _ = c.client.Close() })))
			return c, nil
		}
		c.close()
		var invalid invalidError
		if errors.As(err, &invalid) {
			return nil, failed(summary, err)
		}
		select {
		case <-limited.Done():
			return nil, failed(summary, fmt.Errorf("no connection within %s, the last attempt: %w", s.timeout, err))
		case <-time.After(pause):
			pause = min(2*pause, retryMost)
		}
	}
}

// invalidError is one that no further attempt mends.
type invalidError struct{ error }

// open makes one attempt.
func (c *connection) open(ctx context.Context) error {
	s := c.settings
	var keys *agentKeys
	if socket := os.Getenv("SSH_AUTH_SOCK"); socket != "" && s.useAgent {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err != nil {
			return fmt.Errorf("reach the SSH agent: %w", err)
		}
		c.ends = append(c.ends, func() { _ = conn.Close() })
		keys = &agentKeys{agent: agent.NewClient(conn), identity: s.identity}
	}
	next := s.dialer()
	if s.bastion != nil {
		client, err := c.login(ctx, next, *s.bastion, keys)
		if err != nil {
			return fmt.Errorf("log in on the bastion %s: %w", s.bastion.addr, err)
		}
		next = client.DialContext
	}
	client, err := c.login(ctx, next, s.machine, keys)
	c.client = client
	return err
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// login opens an SSH session over a connection that next makes.
func (c *connection) login(ctx context.Context, next dialFunc, m machine, keys *agentKeys) (*ssh.Client, error) {
	config, err := c.settings.clientConfig(m, keys)
	if err != nil {
		return nil, invalidError{err}
	}
	conn, err := next(ctx, "tcp", m.addr)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	session, channels, requests, err := ssh.NewClientConn(conn, m.addr, config)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	client := ssh.NewClient(session, channels, requests)
	c.ends = append(c.ends, func() { _ = client.Close() })
	return client, nil
}

// agentKeys are the keys of a running SSH agent.
type agentKeys struct {
	agent    agent.Agent
	identity string
}

// signers lists the agent's keys, the chosen one first.
func (k *agentKeys) signers() ([]ssh.Signer, error) {
	signers, err := k.agent.Signers()
	if err != nil || k.identity == "" {
		return signers, err
	}
	listed, err := k.agent.List()
	if err != nil {
		return nil, err
	}
	wanted := k.identity
	if content, err := os.ReadFile(strings.TrimSuffix(k.identity, ".pub") + ".pub"); err == nil { //nolint:gosec // named by the configuration
		wanted = string(content)
	}
	for _, key := range listed {
		if key.Comment != k.identity && filepath.Base(key.Comment) != k.identity && !strings.HasPrefix(wanted, key.Format+" "+base64.StdEncoding.EncodeToString(key.Blob)) {
			continue
		}
		slices.SortStableFunc(signers, func(a, b ssh.Signer) int {
			return boolRank(string(a.PublicKey().Marshal()) != string(key.Blob)) - boolRank(string(b.PublicKey().Marshal()) != string(key.Blob))
		})
	}
	return signers, nil
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// proxy stands between this machine and the first SSH server.
type proxy struct {
	scheme, addr string
	auth         *url.Userinfo
}

func newProxy(conn cty.Value) (*proxy, tfdiags.Diagnostics) {
	host := text(conn, "proxy_host")
	if host == "" {
		return nil, nil
	}
	p := &proxy{scheme: orDefault(text(conn, "proxy_scheme"), "http")}
	switch p.scheme {
	case "http":
		p.addr = net.JoinHostPort(host, portOf(conn, "proxy_port", 80))
	case "https":
		p.addr = net.JoinHostPort(host, portOf(conn, "proxy_port", 443))
	case "socks5":
		p.addr = net.JoinHostPort(host, portOf(conn, "proxy_port", 1080))
	default:
		return nil, tfdiags.New(tfdiags.Error, "Invalid connection", fmt.Sprintf("The proxy_scheme %q is none of http, https and socks5.", p.scheme))
	}
	if name := text(conn, "proxy_user_name"); name != "" {
		p.auth = url.UserPassword(name, text(conn, "proxy_user_password"))
	}
	return p, nil
}

// dialer returns how the first connection is made.
func (s settings) dialer() dialFunc {
	direct := &net.Dialer{Timeout: dialTimeout, KeepAlive: dialTimeout}
	switch {
	case s.proxy == nil:
		return direct.DialContext
	case s.proxy.scheme == "socks5":
		return s.proxy.socks(direct)
	default:
		return s.proxy.connect(direct)
	}
}

func (p *proxy) socks(direct *net.Dialer) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		var auth *socks.Auth
		if p.auth != nil {
			password, _ := p.auth.Password()
			auth = &socks.Auth{User: p.auth.Username(), Password: password}
		}
		through, err := socks.SOCKS5("tcp", p.addr, auth, direct)
		if err != nil {
			return nil, fmt.Errorf("use the proxy: %w", err)
		}
		return through.(socks.ContextDialer).DialContext(ctx, network, addr) //nolint:forcetypeassert // SOCKS5 documents it
	}
}

// connect asks an HTTP proxy for a tunnel.
func (p *proxy) connect(direct *net.Dialer) dialFunc {
	return func(ctx context.Context, _, addr string) (net.Conn, error) {
		conn, err := direct.DialContext(ctx, "tcp", p.addr)
		if err != nil {
			return nil, fmt.Errorf("reach the proxy: %w", err)
		}
		if p.scheme == "https" {
			host, _, _ := net.SplitHostPort(p.addr)
			conn = tls.Client(conn, &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12})
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		defer stop()
		answers := bufio.NewReader(conn)
		if err := p.tunnel(conn, answers, addr); err != nil {
			_ = conn.Close()
			return nil, err
		}
		return tunnelled{Conn: conn, answers: answers}, nil
	}
}

// tunnelled is a connection of which the first bytes may have been read ahead: an
// SSH server speaks at once.
type tunnelled struct {
	net.Conn

	answers *bufio.Reader
}

// Read implements [net.Conn].
func (t tunnelled) Read(p []byte) (int, error) { return t.answers.Read(p) }

func (p *proxy) tunnel(conn net.Conn, answers *bufio.Reader, addr string) error {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr, Header: http.Header{}}
	if p.auth != nil {
		password, _ := p.auth.Password()
		req.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(p.auth.Username()+":"+password)))
	}
	if err := req.Write(conn); err != nil {
		return fmt.Errorf("ask the proxy: %w", err)
	}
	resp, err := http.ReadResponse(answers, req)
	if err != nil {
		return fmt.Errorf("hear the proxy: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // an answer to CONNECT has none
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the proxy refuses: %s", resp.Status)
	}
	return nil
}
