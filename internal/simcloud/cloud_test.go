package simcloud_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/towline/terraform-provider-towline/internal/simcloud"
	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// start serves a cloud until the test ends.
func start(t *testing.T, opts simcloud.Options) *httptest.Server {
	t.Helper()
	cloud, err := simcloud.New(opts)
	if err != nil {
		t.Fatalf("starting the cloud: %v", err)
	}
	server := httptest.NewServer(cloud)
	t.Cleanup(func() {
		server.Close()
		if err := cloud.Close(); err != nil {
			t.Errorf("closing the cloud: %v", err)
		}
	})
	return server
}

func connect(t *testing.T, server *httptest.Server, token string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{Endpoint: server.URL, Token: token, Actor: "test"})
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	return c
}

func tokens(t *testing.T, texts ...string) []simcloud.Token {
	t.Helper()
	var out []simcloud.Token
	for _, text := range texts {
		token, err := simcloud.ParseToken(text)
		if err != nil {
			t.Fatalf("token %s: %v", text, err)
		}
		out = append(out, token)
	}
	return out
}

var (
	configRef  = cloudapi.Ref{Environment: "prod", Service: "shop", Kind: "config", Name: "main"}
	configData = map[string]any{"data": map[string]any{"MODE": "fast"}}
)

func TestObjectLivesAndDies(t *testing.T) {
	t.Parallel()
	c, ctx := connect(t, start(t, simcloud.Options{}), ""), t.Context()

	made, err := c.Create(ctx, configRef, configData)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	if made.Revision != 1 || made.ID == "" || made.Status["size_bytes"] == nil {
		t.Errorf("created %+v, want revision 1, an id and a status", made)
	}
	same, err := c.Replace(ctx, configRef, configData)
	if err != nil || same.Revision != 1 {
		t.Errorf("replacing with equal attributes: revision %v, %v; want 1 and no error", same.Revision, err)
	}
	patched, err := c.Patch(ctx, configRef, map[string]any{"labels": map[string]any{"by": "hand"}})
	if err != nil || patched.Revision != 2 || patched.ID != made.ID || patched.Attributes["data"] == nil {
		t.Errorf("patched %+v, %v; want revision 2 of the same object with its data", patched, err)
	}
	got, err := c.Get(ctx, configRef)
	if err != nil || cmp.Diff(patched, got) != "" {
		t.Errorf("read %+v, %v; want what the patch answered", got, err)
	}
	if err := c.Delete(ctx, configRef); err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, err := c.Get(ctx, configRef); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("read after delete: %v, want ErrNotFound", err)
	}
	again, err := c.Create(ctx, configRef, configData)
	if err != nil || again.ID == made.ID {
		t.Errorf("created again %+v, %v; want another id than %s", again, err, made.ID)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	c := connect(t, start(t, simcloud.Options{}), "")
	absent := configRef
	absent.Name = "absent"
	if _, err := c.Create(t.Context(), configRef, map[string]any{"data": map[string]any{}, "immutable": true}); err != nil {
		t.Fatalf("create: %v", err)
	}
	tests := map[string]struct {
		call   func(ctx context.Context) (*cloudapi.Object, error)
		status int
		text   string
	}{
		"create over an object": {func(ctx context.Context) (*cloudapi.Object, error) { return c.Create(ctx, configRef, configData) }, 412, "exists"},
		"replace nothing":       {func(ctx context.Context) (*cloudapi.Object, error) { return c.Replace(ctx, absent, configData) }, 412, "does not exist"},
		"patch nothing":         {func(ctx context.Context) (*cloudapi.Object, error) { return c.Patch(ctx, absent, configData) }, 404, "no object"},
		"delete nothing":        {func(ctx context.Context) (*cloudapi.Object, error) { return nil, c.Delete(ctx, absent) }, 404, "no object"},
		"not valid": {func(ctx context.Context) (*cloudapi.Object, error) {
			return c.Create(ctx, absent, map[string]any{"x": 1})
		}, 422, "x is not an attribute"},
		"cannot be changed": {func(ctx context.Context) (*cloudapi.Object, error) {
			return c.Patch(ctx, configRef, map[string]any{"format": "json"})
		}, 422, "format cannot be changed"},
		"immutable": {func(ctx context.Context) (*cloudapi.Object, error) { return c.Patch(ctx, configRef, configData) }, 422, "immutable"},
		"computed": {func(ctx context.Context) (*cloudapi.Object, error) {
			return c.Patch(ctx, configRef, map[string]any{"checksum": "x"})
		}, 422, "set by the cloud"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.call(t.Context())
			var refused *client.APIError
			if !errors.As(err, &refused) || refused.Status != test.status || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %v, want status %d with %q", err, test.status, test.text)
			}
		})
	}
}

func TestMalformedBodies(t *testing.T) {
	t.Parallel()
	server := start(t, simcloud.Options{})
	tests := map[string]struct {
		body   io.Reader
		status int
	}{
		"no JSON":       {strings.NewReader("{"), 400},
		"no attributes": {strings.NewReader("{}"), 400},
		"something else": {
			strings.NewReader(`{"attributes":{},"status":{}}`), 400},
		"goes on":   {strings.NewReader(`{"attributes":{}} {}`), 400},
		"deep":      {strings.NewReader(`{"attributes":` + strings.Repeat(`{"a":`, 20_000)), 400},
		"too large": {strings.NewReader(`{"attributes":{"a":"` + strings.Repeat("x", cloudapi.MaxBody)), 413},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+"/v1/namespaces/a/b/config/c", test.body)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != test.status {
				t.Errorf("status %d, want %d", resp.StatusCode, test.status)
			}
		})
	}
}

func TestCloudKeepsWhatNobodySets(t *testing.T) {
	t.Parallel()
	c, ctx := connect(t, start(t, simcloud.Options{}), ""), t.Context()
	ref := cloudapi.Ref{Environment: "prod", Service: "shop", Kind: "deployment", Name: "web"}
	attributes := map[string]any{"container": []any{map[string]any{"name": "app", "image": "app:1"}}}
	made, err := c.Create(ctx, ref, attributes)
	if err != nil || made.Attributes["node_pool"] == nil {
		t.Fatalf("created %+v, %v; want a node pool chosen by the cloud", made, err)
	}
	if _, err := c.Patch(ctx, ref, map[string]any{"node_pool": "by-hand"}); err != nil {
		t.Fatalf("patch: %v", err)
	}
	attributes["replicas"] = 3
	replaced, err := c.Replace(ctx, ref, attributes)
	if err != nil || replaced.Attributes["node_pool"] != "by-hand" {
		t.Errorf("replaced %+v, %v; want the node pool that was there", replaced, err)
	}
}

func TestTokensReachTheirNamespacesOnly(t *testing.T) {
	t.Parallel()
	server := start(t, simcloud.Options{Tokens: tokens(t, "one=prod/shop", "all=prod/*,dev/shop")})
	elsewhere := configRef
	elsewhere.Service = "pay"
	tests := map[string]struct {
		token string
		ref   cloudapi.Ref
		want  error
	}{
		"inside":          {"one", configRef, nil},
		"other service":   {"one", elsewhere, client.ErrDenied},
		"any service":     {"all", elsewhere, nil},
		"unknown token":   {"guess", configRef, client.ErrDenied},
		"no token":        {"", configRef, client.ErrDenied},
		"prefix of token": {"on", configRef, client.ErrDenied},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref := test.ref
			ref.Name = strings.ReplaceAll(name, " ", "-")
			_, err := connect(t, server, test.token).Create(t.Context(), ref, configData)
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestListsShowOnlyWhatTheTokenReaches(t *testing.T) {
	t.Parallel()
	server := start(t, simcloud.Options{Tokens: tokens(t, "one=prod/shop", "all=*/*")})
	all := connect(t, server, "all")
	for _, service := range []string{"shop", "pay"} {
		ref := configRef
		ref.Service = service
		if _, err := all.Create(t.Context(), ref, configData); err != nil {
			t.Fatal(err)
		}
	}
	for token, want := range map[string]int{"one": 1, "all": 2} {
		c := connect(t, server, token)
		objects, err := c.List(t.Context(), cloudapi.Ref{})
		if err != nil || len(objects) != want {
			t.Errorf("token %s lists %d objects, %v; want %d", token, len(objects), err, want)
		}
		events, err := c.Events(t.Context(), 0, 10)
		if err != nil || len(events.Events) != want {
			t.Errorf("token %s sees %d events, %v; want %d", token, len(events.Events), err, want)
		}
	}
	objects, err := all.List(t.Context(), cloudapi.Ref{Service: "pay"})
	if err != nil || len(objects) != 1 || objects[0].Service != "pay" {
		t.Errorf("filtered list: %v, %v; want the one object of pay", objects, err)
	}
}

func TestEventsSayWhoChangedWhat(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	server := start(t, simcloud.Options{Tokens: tokens(t, "secret=*/*"), Now: func() time.Time { return now }})
	c, ctx := connect(t, server, "secret"), t.Context()
	made, err := c.Create(ctx, configRef, configData)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Patch(ctx, configRef, map[string]any{"labels": map[string]any{"a": "b"}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, configRef); err != nil {
		t.Fatal(err)
	}
	list, err := c.Events(ctx, 0, 10)
	if err != nil || len(list.Events) != 3 {
		t.Fatalf("events: %+v, %v; want three", list, err)
	}
	var trace []string
	for i, event := range list.Events {
		if event.Sequence != int64(i+1) || !event.Time.Equal(now) || event.ID != made.ID || event.Actor != "test" {
			t.Errorf("event %d: %+v", i, event)
		}
		if event.Token == "" || strings.Contains(event.Token, "secret") {
			t.Errorf("event %d names the token %q, want a fingerprint", i, event.Token)
		}
		if i > 0 && event.Before != list.Events[i-1].After {
			t.Errorf("event %d begins with %q, want the end of the one before", i, event.Before)
		}
		trace = append(trace, fmt.Sprint(event.Action, event.Changed))
	}
	if diff := cmp.Diff([]string{"create[]", "update[labels]", "delete[]"}, trace); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	later, err := c.Events(ctx, 1, 1)
	if err != nil || len(later.Events) != 1 || later.Events[0].Sequence != 2 {
		t.Errorf("one event after 1: %+v, %v; want event 2", later, err)
	}
}

func TestRateLimitIsPerTokenAndEnds(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	now := func() time.Time { return time.Unix(clock.Load(), 0) }
	server := start(t, simcloud.Options{Rate: 2, Now: now, Tokens: tokens(t, "busy=*/*", "idle=*/*")})
	waits := 0
	busy, err := client.New(client.Config{Endpoint: server.URL, Token: "busy", Sleep: func(_ context.Context, d time.Duration) error {
		waits++
		clock.Add(int64(d / time.Second))
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := busy.List(t.Context(), cloudapi.Ref{}); err != nil {
			t.Fatalf("a patient caller: %v", err)
		}
	}
	if waits != 2 {
		t.Errorf("five calls at two a second waited %d times, want 2", waits)
	}
	if _, err := connect(t, server, "idle").List(t.Context(), cloudapi.Ref{}); err != nil {
		t.Errorf("another token: %v, want no limit", err)
	}
}

func TestPatienceIsBounded(t *testing.T) {
	t.Parallel()
	server := start(t, simcloud.Options{Rate: 1, Now: func() time.Time { return time.Unix(0, 0) }})
	waits := 0
	c, err := client.New(client.Config{Endpoint: server.URL, Sleep: func(context.Context, time.Duration) error { waits++; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.List(t.Context(), cloudapi.Ref{}); err != nil {
		t.Fatal(err)
	}
	_, err = c.List(t.Context(), cloudapi.Ref{})
	var refused *client.APIError
	if !errors.As(err, &refused) || refused.Status != http.StatusTooManyRequests || waits != 9 {
		t.Errorf("got %v after %d waits, want 429 after 9", err, waits)
	}
}

func TestLatencyAndFailures(t *testing.T) {
	t.Parallel()
	run := func() (failures int, delays []time.Duration) {
		server := start(t, simcloud.Options{
			Latency: time.Second, Jitter: time.Second, Fail: 0.5, Seed: 7,
			Sleep: func(_ context.Context, d time.Duration) error { delays = append(delays, d); return nil },
		})
		c := connect(t, server, "")
		for range 40 {
			if _, err := c.List(t.Context(), cloudapi.Ref{}); err != nil {
				failures++
			}
		}
		return failures, delays
	}
	failures, delays := run()
	if failures < 10 || failures > 30 {
		t.Errorf("%d of 40 requests failed, want about half", failures)
	}
	for _, d := range delays {
		if d < time.Second || d >= 2*time.Second {
			t.Errorf("a request took %s, want between 1s and 2s", d)
		}
	}
	failuresAgain, delaysAgain := run()
	if failures != failuresAgain || cmp.Diff(delays, delaysAgain) != "" {
		t.Error("the same seed gave other failures or delays")
	}
}

func TestParseTokenRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "secret", "=prod/shop", "secret=", "secret=prod", "secret=PROD/shop", "secret=prod/shop,"} {
		if _, err := simcloud.ParseToken(text); err == nil {
			t.Errorf("%q was read as a token", text)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error %q shows the token", text, err)
		}
	}
}
