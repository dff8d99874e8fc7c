package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	svchost "github.com/hashicorp/terraform-svchost"
	"github.com/hashicorp/terraform-svchost/auth"
	"github.com/hashicorp/terraform-svchost/disco"

	"github.com/towline/terraform-provider-towline/internal/bounds"
)

// Bounds of one request. A registry's answers are small; packages have a limit of
// their own, which the caller gives.
const (
	maxAnswer     = 16 << 20
	answerTimeout = 30 * time.Second
	headerTimeout = 30 * time.Second
	dialTimeout   = 10 * time.Second
	maxRedirects  = 10
	// attempts is how often a request is made that a server fails to answer.
	attempts = 3
	pause    = time.Second
)

// Errors that callers tell apart.
var (
	// ErrNotFound says that the registry does not know what was asked for.
	ErrNotFound = errors.New("the registry does not have it")
	// ErrNoService says that the host offers no such registry.
	ErrNoService = errors.New("the host offers no such registry")
)

// Options say what is known of hosts beforehand.
type Options struct {
	// Services are the services of hosts that are not asked for them, as a host block
	// of the CLI configuration lists them.
	Services map[svchost.Hostname]map[string]any
	// Tokens are credentials by host.
	Tokens map[svchost.Hostname]string
	// HTTP makes the requests; nil means one as of [NewHTTPClient].
	HTTP *http.Client
}

// Client asks registries. It is safe for concurrent use.
type Client struct {
	disco *disco.Disco
	http  *http.Client
}

// New returns a client.
func New(opts Options) *Client {
	credentials := map[svchost.Hostname]map[string]any{}
	for host, token := range opts.Tokens {
		credentials[host] = map[string]any{"token": token}
	}
	c := &Client{disco: disco.NewWithCredentialsSource(auth.StaticCredentialsSource(credentials)), http: opts.HTTP}
	if c.http == nil {
		c.http = NewHTTPClient()
	}
	c.disco.Transport = c.http.Transport
	for host, services := range opts.Services {
		c.disco.ForceHostServices(host, services)
	}
	return c
}

// NewHTTPClient returns a client whose connections and answers do not hang. It
// follows a few redirects, and none from an encrypted connection to a plain one.
func NewHTTPClient() *http.Client {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, ResponseHeaderTimeout: headerTimeout, TLSHandshakeTimeout: dialTimeout,
		DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, IdleConnTimeout: time.Minute,
	}
	return &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return errors.New("too many redirects")
		}
		if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
			return errors.New("redirected from an encrypted connection to a plain one")
		}
		return nil
	}}
}

// service finds the URL of a host's service.
func (c *Client) service(host svchost.Hostname, id string) (*url.URL, error) {
	base, err := c.disco.DiscoverServiceURL(host, id)
	var missing *disco.ErrServiceNotProvided
	var other *disco.ErrVersionNotSupported
	if errors.As(err, &missing) || errors.As(err, &other) {
		return nil, fmt.Errorf("%w: %s has no service %s", ErrNoService, host.ForDisplay(), id)
	}
	if err != nil {
		return nil, fmt.Errorf("find the services of %s: %w", host.ForDisplay(), err)
	}
	return base, nil
}

// answer is a registry's answer to one question.
type answer struct {
	url    *url.URL // after redirects
	header http.Header
	body   []byte
}

// ask makes a request of a host's service, with the host's credentials.
func (c *Client) ask(ctx context.Context, host svchost.Hostname, service, path string) (answer, error) {
	base, err := c.service(host, service)
	if err != nil {
		return answer{}, err
	}
	ref, err := url.Parse(path)
	if err != nil {
		return answer{}, fmt.Errorf("ask %s: %w", host.ForDisplay(), err)
	}
	return c.get(ctx, base.ResolveReference(ref), func(req *http.Request) error {
		credentials, err := c.disco.CredentialsForHost(host)
		if err == nil && credentials != nil {
			credentials.PrepareRequest(req)
		}
		return err
	})
}

// get makes a request, again if the server fails.
func (c *Client) get(ctx context.Context, u *url.URL, prepare func(*http.Request) error) (answer, error) {
	var last error
	for attempt := range attempts {
		if attempt > 0 {
			select {
			case <-ctx.Done():
				return answer{}, ctx.Err()
			case <-time.After(time.Duration(attempt) * pause):
			}
		}
		out, again, err := c.getOnce(ctx, u, prepare)
		if err == nil || !again {
			return out, err
		}
		last = err
	}
	return answer{}, last
}

func (c *Client) getOnce(ctx context.Context, u *url.URL, prepare func(*http.Request) error) (out answer, again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err == nil && prepare != nil {
		err = prepare(req)
	}
	if err != nil {
		return answer{}, false, fmt.Errorf("ask %s: %w", u.Host, err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, true, fmt.Errorf("ask %s: %w", u.Host, err)
	}
	defer resp.Body.Close()
	if err := statusError(resp.StatusCode); err != nil {
		return answer{}, resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests, fmt.Errorf("ask %s for %s: %w", u.Host, u.Path, err)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	if err != nil {
		return answer{}, false, fmt.Errorf("ask %s for %s: %w", u.Host, u.Path, err)
	}
	return answer{url: resp.Request.URL, header: resp.Header, body: body}, false, nil
}

func statusError(code int) error {
	switch {
	case code == http.StatusNotFound:
		return ErrNotFound
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("it refuses access (status %d); give credentials in the CLI configuration or in TF_TOKEN_ with the host's name", code)
	case code < 200 || code >= 300:
		return fmt.Errorf("it answers with status %d", code)
	}
	return nil
}

// decode reads an answer as JSON.
func (a answer) decode(into any) error {
	if err := bounds.JSON(a.body); err != nil {
		return fmt.Errorf("%s does not answer as a registry: %w", a.url.Host, err)
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		return fmt.Errorf("%s does not answer as a registry: %w", a.url.Host, err)
	}
	return nil
}

// Document reads a small document at a URL that a registry gave.
func (c *Client) Document(ctx context.Context, rawURL string) ([]byte, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("the registry gave an address that is none: %w", err)
	}
	out, err := c.get(ctx, u, nil)
	return out.body, err
}

// Download writes what is at a URL to w and returns its SHA-256. It ends when ctx does.
func (c *Client) Download(ctx context.Context, rawURL string, w io.Writer, limit int64) (digest string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, rawURL, nil)
	if err != nil {
		return "", fmt.Errorf("download: %w", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return "", fmt.Errorf("download: %w", err)
	}
	defer resp.Body.Close()
	if err := statusError(resp.StatusCode); err != nil {
		return "", fmt.Errorf("download from %s: %w", req.URL.Host, err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(resp.Body, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	if err != nil {
		return "", fmt.Errorf("download from %s: %w", req.URL.Host, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Trusted reads a small document with the credentials for its host.
func (c *Client) Trusted(ctx context.Context, u *url.URL) ([]byte, error) {
	out, err := c.get(ctx, u, func(req *http.Request) error {
		host, err := svchost.ForComparison(u.Host)
		if err != nil {
			return nil //nolint:nilerr // no credentials can be for what is no host's name
		}
		credentials, err := c.disco.CredentialsForHost(host)
		if err == nil && credentials != nil {
			credentials.PrepareRequest(req)
		}
		return err
	})
	return out.body, err
}
