package s3_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/versitygw"
	"github.com/towline/terraform-provider-towline/internal/objstore/s3"
)

const bucket = "towline-test"

var server *versitygw.Server

func TestMain(m *testing.M) {
	os.Exit(objstoretest.MainWith(m, func(ctx context.Context) (func(), error) {
		dir, err := os.MkdirTemp("", "towline-s3-")
		if err != nil {
			return nil, err
		}
		remove := func() { _ = os.RemoveAll(dir) }
		if server, err = versitygw.Start(ctx, dir); err != nil {
			return remove, err
		}
		return func() { server.Stop(); remove() }, errors.Join(server.CreateBucket(bucket), server.Setenv())
	}))
}

func TestConformance(t *testing.T) {
	t.Parallel()
	objstoretest.Run(t, objstoretest.Target{
		Open: func(t *testing.T) objstore.Store {
			return openStore(t, server.StoreURL(bucket, objstoretest.Prefix(t)))
		},
		Shared: true,
	})
}

func TestFaults(t *testing.T) {
	t.Parallel()
	objstoretest.RunFaults(t, objstoretest.Remote{
		Server: server.Endpoint,
		Open: func(t *testing.T, endpoint string) objstore.Store {
			return openStore(t, versitygw.StoreURL(endpoint, bucket, objstoretest.Prefix(t)))
		},
	})
}

// TestAnswers checks what the answers mean that a healthy server does not give.
func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		code   string
		want   error
	}{
		"no permission":    {http.StatusForbidden, "AccessDenied", objstore.ErrDenied},
		"no such bucket":   {http.StatusNotFound, "NoSuchBucket", objstore.ErrUnavailable},
		"no such key":      {http.StatusNotFound, "NoSuchKey", objstore.ErrNotExist},
		"always conflicts": {http.StatusConflict, "ConditionalRequestConflict", objstore.ErrUnavailable},
		"not implemented":  {http.StatusNotImplemented, "NotImplemented", objstore.ErrUnavailable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t, "s3://b?path_style=true&endpoint="+url.QueryEscape(fakeServer(t, test.status, test.code, 1000)))
			_, err := store.PutIfAbsent(t.Context(), "x", nil)
			if !errors.Is(err, test.want) {
				t.Errorf("PutIfAbsent: %v; want %v", err, test.want)
			}
		})
	}
}

func TestConflictIsRetried(t *testing.T) {
	t.Parallel()
	store := openStore(t, "s3://b?path_style=true&endpoint="+url.QueryEscape(fakeServer(t, http.StatusConflict, "ConditionalRequestConflict", 2)))
	if _, err := store.PutIfAbsent(t.Context(), "x", []byte("y")); err != nil {
		t.Errorf("PutIfAbsent after two conflicts: %v", err)
	}
}

// fakeServer answers the first requests with an S3 error and later ones with success.
func fakeServer(t *testing.T, status int, code string, failures int64) string {
	t.Helper()
	var count atomic.Int64
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if count.Add(1) > failures {
			w.Header().Set("ETag", `"1"`)
			return
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>told by the test</Message></Error>", code)
	}))
	t.Cleanup(fake.Close)
	return fake.URL
}

func TestMissingBucket(t *testing.T) {
	t.Parallel()
	store := openStore(t, server.StoreURL("no-such-bucket", "p"))
	if _, err := store.Get(t.Context(), "x", 1); !errors.Is(err, objstore.ErrUnavailable) {
		t.Errorf("Get from a missing bucket: %v; want %v", err, objstore.ErrUnavailable)
	}
}

func TestOpenRefusals(t *testing.T) {
	t.Parallel()
	for name, rawURL := range map[string]string{
		"credentials":          "s3://key:secret@bucket/p",
		"endpoint credentials": "s3://bucket/p?endpoint=https://key:secret@host",
		"unknown parameter":    "s3://bucket/p?regoin=x",
		"bad path style":       "s3://bucket/p?path_style=perhaps",
		"no bucket":            "s3:///p",
		"bad prefix":           "s3://bucket/a/../b",
		"not a URL":            "s3://bucket/%zz?secret",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := s3.Open(t.Context(), rawURL)
			objstoretest.WantRefused(t, err)
		})
	}
}

func TestURLOpensAgain(t *testing.T) {
	t.Parallel()
	for _, rawURL := range []string{"s3://b", "s3://b/p/q", "s3://b/p?endpoint=http%3A%2F%2Fh%3A1&path_style=true&region=eu-west-1"} {
		if got := openStore(t, rawURL).URL(); got != rawURL {
			t.Errorf("URL() = %s; want %s", got, rawURL)
		}
	}
}

func openStore(t *testing.T, rawURL string) objstore.Store {
	t.Helper()
	store, err := s3.Open(t.Context(), rawURL)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// Under a policy that allows to list some prefixes only, S3 says of a key that is not there
// that it is forbidden. A key that is there and forbidden stays so.
func TestMissingKeysThatAreForbidden(t *testing.T) {
	t.Parallel()
	target, err := url.Parse(server.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(resp *http.Response) error {
		object := strings.Count(strings.Trim(resp.Request.URL.Path, "/"), "/") > 0
		if object && (resp.StatusCode == http.StatusNotFound || strings.HasSuffix(resp.Request.URL.Path, "/secret")) {
			resp.StatusCode, resp.Status = http.StatusForbidden, "403 Forbidden"
		}
		return nil
	}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	prefix := objstoretest.Prefix(t)
	direct := openStore(t, server.StoreURL(bucket, prefix))
	store := openStore(t, versitygw.StoreURL(front.URL, bucket, prefix))
	for _, key := range []string{"a/secret", "a/b", "missing-more"} {
		if _, err := direct.Put(t.Context(), key, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for key, want := range map[string]error{"a/b": nil, "a/c": objstore.ErrNotExist, "missing": objstore.ErrNotExist, "a/secret": objstore.ErrDenied} {
		if _, err := store.Get(t.Context(), key, 10); !errors.Is(err, want) {
			t.Errorf("get %s: %v, want %v", key, err, want)
		}
		if _, err := store.Stat(t.Context(), key); !errors.Is(err, want) {
			t.Errorf("stat %s: %v, want %v", key, err, want)
		}
	}
}
