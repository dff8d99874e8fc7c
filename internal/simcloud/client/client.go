package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// Errors that callers act on; [APIError] matches them with errors.Is.
var (
	ErrNotFound = errors.New("object does not exist")
	ErrDenied   = errors.New("access denied")
	// ErrCondition: the object exists where it must not, or is not the one expected.
	ErrCondition = errors.New("condition does not hold")
)

const (
	// maxAttempts and maxWait bound the patience with a busy cloud to about five minutes.
	maxAttempts = 10
	maxWait     = 30 * time.Second
	// requestTimeout is longer than any latency worth simulating.
	requestTimeout = 2 * time.Minute
)

// Config says how to reach a cloud.
type Config struct {
	// Endpoint is the cloud's URL; Token the bearer token, "" for none.
	Endpoint, Token string
	// Actor names the writer in the cloud's event log.
	Actor string
	// Sleep waits before a request is repeated; nil means real time.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Client is a connection to one cloud. It is safe for concurrent use.
type Client struct {
	config Config
	base   *url.URL
	http   *http.Client
}

// New checks the configuration; it does not connect.
func New(config Config) (*Client, error) {
	base, err := url.Parse(config.Endpoint)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("the endpoint must be a URL such as http://127.0.0.1:8080")
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		transport = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	transport = transport.Clone()
	transport.MaxIdleConnsPerHost = 256 // one a concurrent caller, else each call pays for a connection
	if config.Sleep == nil {
		config.Sleep = sleep
	}
	return &Client{config: config, base: base, http: &http.Client{Transport: transport, Timeout: requestTimeout}}, nil
}

// APIError is an answer that is not a success.
type APIError struct {
	Status  int
	Refusal cloudapi.Refusal
	// retryAfter is how long the cloud asks to wait; it is set with status 429.
	retryAfter time.Duration
}

// Error lists the message and what is wrong with each attribute.
func (e *APIError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the cloud answered %d: %s", e.Status, e.Refusal.Message)
	for _, field := range e.Refusal.Fields {
		fmt.Fprintf(&b, "; %s %s", field.Field, field.Message)
	}
	return b.String()
}

// Is matches the errors of this package.
func (e *APIError) Is(target error) bool {
	switch target {
	case ErrNotFound:
		return e.Status == http.StatusNotFound
	case ErrDenied:
		return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
	case ErrCondition:
		return e.Status == http.StatusPreconditionFailed
	}
	return false
}

// Get reads an object.
func (c *Client) Get(ctx context.Context, ref cloudapi.Ref) (*cloudapi.Object, error) {
	return c.object(ctx, http.MethodGet, ref, nil, nil)
}

// Create makes an object; ErrCondition if there is one.
func (c *Client) Create(ctx context.Context, ref cloudapi.Ref, attributes map[string]any) (*cloudapi.Object, error) {
	return c.object(ctx, http.MethodPut, ref, attributes, http.Header{"If-None-Match": {"*"}})
}

// Replace gives an existing object these attributes and no others; ErrCondition if there is none.
func (c *Client) Replace(ctx context.Context, ref cloudapi.Ref, attributes map[string]any) (*cloudapi.Object, error) {
	return c.object(ctx, http.MethodPut, ref, attributes, http.Header{"If-Match": {"*"}})
}

// Patch changes the attributes named and leaves the others; null takes one away.
func (c *Client) Patch(ctx context.Context, ref cloudapi.Ref, attributes map[string]any) (*cloudapi.Object, error) {
	return c.object(ctx, http.MethodPatch, ref, attributes, nil)
}

// Delete removes an object; ErrNotFound if there is none.
func (c *Client) Delete(ctx context.Context, ref cloudapi.Ref) error {
	if err := check(ref); err != nil {
		return err
	}
	_, err := c.do(ctx, http.MethodDelete, c.objectURL(ref), nil, nil)
	return err
}

// List returns the objects within reach of the token whose reference has the
// fields that filter sets, ordered by reference.
func (c *Client) List(ctx context.Context, filter cloudapi.Ref) ([]*cloudapi.Object, error) {
	query := url.Values{}
	for key, value := range map[string]string{
		"environment": filter.Environment, "service": filter.Service, "kind": filter.Kind, "name": filter.Name,
	} {
		if value != "" {
			query.Set(key, value)
		}
	}
	body, err := c.do(ctx, http.MethodGet, c.url("v1/objects", query), nil, nil)
	if err != nil {
		return nil, err
	}
	var list struct {
		Objects []*cloudapi.Object `json:"objects"`
	}
	if err := decode(body, &list); err != nil {
		return nil, err
	}
	return list.Objects, nil
}

// Events returns at most limit events after a sequence, oldest first.
func (c *Client) Events(ctx context.Context, after int64, limit int) (cloudapi.EventList, error) {
	query := url.Values{"after": {strconv.FormatInt(after, 10)}, "limit": {strconv.Itoa(limit)}}
	body, err := c.do(ctx, http.MethodGet, c.url("v1/events", query), nil, nil)
	if err != nil {
		return cloudapi.EventList{}, err
	}
	var list cloudapi.EventList
	if err := decode(body, &list); err != nil {
		return cloudapi.EventList{}, err
	}
	return list, nil
}

func (c *Client) object(ctx context.Context, method string, ref cloudapi.Ref, attributes map[string]any, header http.Header) (*cloudapi.Object, error) {
	if err := check(ref); err != nil {
		return nil, err
	}
	var body []byte
	if attributes != nil {
		var err error
		if body, err = json.Marshal(map[string]any{"attributes": attributes}); err != nil {
			return nil, fmt.Errorf("encoding %s: %w", ref, err)
		}
	}
	answer, err := c.do(ctx, method, c.objectURL(ref), header, body)
	if err != nil {
		return nil, err
	}
	object := &cloudapi.Object{}
	if err := decode(answer, object); err != nil {
		return nil, err
	}
	return object, nil
}

// check refuses a reference as the cloud would, so that no name leaves its place in a URL.
func check(ref cloudapi.Ref) error {
	if problems := ref.Check(); problems != nil {
		return &APIError{http.StatusUnprocessableEntity, cloudapi.Refusal{Message: "the object cannot exist", Fields: problems}, 0}
	}
	return nil
}

func (c *Client) objectURL(ref cloudapi.Ref) string {
	return c.base.JoinPath("v1/namespaces", ref.Environment, ref.Service, ref.Kind, ref.Name).String()
}

func (c *Client) url(path string, query url.Values) string {
	u := c.base.JoinPath(path)
	u.RawQuery = query.Encode()
	return u.String()
}

// do repeats a request while the cloud is busy.
func (c *Client) do(ctx context.Context, method, target string, header http.Header, body []byte) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		answer, err := c.once(ctx, method, target, header, body)
		var refused *APIError
		if !errors.As(err, &refused) || refused.Status != http.StatusTooManyRequests || attempt == maxAttempts {
			return answer, err
		}
		if err := c.config.Sleep(ctx, min(refused.retryAfter, maxWait)); err != nil {
			return nil, fmt.Errorf("waiting for a busy cloud: %w", err)
		}
	}
}

func (c *Client) once(ctx context.Context, method, target string, header http.Header, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if c.config.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.config.Token)
	}
	if c.config.Actor != "" {
		req.Header.Set(cloudapi.ActorHeader, c.config.Actor)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("reaching the cloud: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, cloudapi.MaxResponse+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the cloud's answer: %w", err)
	case len(answer) > cloudapi.MaxResponse:
		return nil, fmt.Errorf("the cloud's answer is longer than %d bytes", cloudapi.MaxResponse)
	case resp.StatusCode >= 300:
		return nil, newAPIError(resp, answer)
	}
	return answer, nil
}

func newAPIError(resp *http.Response, body []byte) *APIError {
	e := &APIError{Status: resp.StatusCode, retryAfter: time.Second}
	if json.Unmarshal(body, &e.Refusal) != nil || e.Refusal.Message == "" {
		e.Refusal.Message = http.StatusText(resp.StatusCode)
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.retryAfter = time.Duration(min(seconds, int(maxWait/time.Second))) * time.Second
	}
	return e
}

// decode keeps numbers as they were written.
func decode(body []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("decoding the cloud's answer: %w", err)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
