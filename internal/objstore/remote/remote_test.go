package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/remote"
)

var form = remote.Form{
	Scheme: "s3", Bucket: "BUCKET", Credentials: "the environment",
	Parameters: map[string]remote.Parameter{"region": remote.Text, "endpoint": remote.Endpoint, "path_style": remote.Flag},
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ rawURL, want, refused string }{
		"bucket":              {"s3://b", "s3://b", ""},
		"slashes":             {"s3://b//p/q/", "s3://b/p/q", ""},
		"parameters":          {"s3://b/p?region=x&path_style=1&endpoint=http://h:1", "s3://b/p?endpoint=http%3A%2F%2Fh%3A1&path_style=true&region=x", ""},
		"what is not set":     {"s3://b/p?region=&path_style=false", "s3://b/p", ""},
		"another scheme":      {"gs://b/p", "", "s3://BUCKET/PREFIX"},
		"credentials":         {"s3://a:secret@b/p", "", "use the environment"},
		"an unknown name":     {"s3://b?secret=secret", "", "endpoint, path_style, region"},
		"an endpoint's user":  {"s3://b?endpoint=http://a:secret@h", "", "without credentials"},
		"an endpoint's kind":  {"s3://b?endpoint=h:1", "", "such as https://"},
		"no flag":             {"s3://b?path_style=secret", "", "true or false"},
		"a prefix with dots":  {"s3://b/../x", "", "prefix is not usable"},
		"something different": {"s3://b/%zz?secret", "", "cannot be parsed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, err := remote.Parse(test.rawURL, form)
			if test.refused == "" {
				if err != nil || at.URL() != test.want {
					t.Errorf("URL = %s, %v; want %s", at.URL(), err, test.want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.refused) || strings.Contains(strings.ReplaceAll(err.Error(), `parameter "secret"`, ""), "secret") {
				t.Errorf("%v; want it to say %q, and no secret", err, test.refused)
			}
		})
	}
}

// FuzzParse: whatever is accepted opens the same store again, and its names and keys are
// each other's reverse.
func FuzzParse(f *testing.F) {
	f.Add("s3://b/p?region=x")
	f.Add("s3://b?endpoint=http%3A%2F%2Fh&path_style=true")
	f.Fuzz(func(t *testing.T, rawURL string) {
		at, err := remote.Parse(rawURL, form)
		if err != nil {
			return
		}
		again, err := remote.Parse(at.URL(), form)
		if err != nil || again.URL() != at.URL() || again.Bucket != at.Bucket || again.Prefix != at.Prefix {
			t.Errorf("%q becomes %q and then %q, %v", rawURL, at.URL(), again.URL(), err)
		}
		if key, ok := at.Key(at.Name("a/b")); !ok || key != "a/b" {
			t.Errorf("the key comes back as %q, %t", key, ok)
		}
	})
}

func TestKeysOfOthers(t *testing.T) {
	t.Parallel()
	at, err := remote.Parse("s3://b/p", form)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"p/", "p/a/", "p/.hidden", "p/a b"} {
		if key, ok := at.Key(name); ok {
			t.Errorf("%q was taken for the key %q", name, key)
		}
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	budget := remote.NewBudget()
	count := func(may func() bool) (n int) {
		for may() && n < 100 {
			n++
		}
		return n
	}
	if got := count(budget.Retries()); got != remote.MaxAttempts-1 {
		t.Errorf("one call retries %d times; want %d", got, remote.MaxAttempts-1)
	}
	total := 0
	for range 100 {
		total += count(budget.Retries())
	}
	if total < 20 || total > 60 {
		t.Errorf("100 more calls retry %d times together; want about 50", total)
	}
}

func TestRetryable(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{
		http.StatusOK: false, http.StatusNotFound: false, http.StatusForbidden: false, http.StatusPreconditionFailed: false, http.StatusNotImplemented: false,
		http.StatusConflict: true, http.StatusTooManyRequests: true, http.StatusInternalServerError: true, http.StatusServiceUnavailable: true,
	} {
		if got := remote.Retryable(status); got != want {
			t.Errorf("Retryable(%d) = %t", status, got)
		}
	}
}

func TestReadAll(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body      io.Reader
		announced int64
		want      error
	}{
		"whole":             {strings.NewReader("four"), 4, nil},
		"announced large":   {strings.NewReader(""), 5, objstore.ErrTooLarge},
		"larger than that":  {strings.NewReader("fiver"), 4, objstore.ErrTooLarge},
		"size is not known": {strings.NewReader("fiver"), -1, objstore.ErrTooLarge},
		"breaks off":        {iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader([]byte("four")))), 4, iotest.ErrTimeout},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := remote.ReadAll("x", test.body, test.announced, 4)
			if !errors.Is(err, test.want) || err != nil && data != nil {
				t.Errorf("ReadAll = %q, %v; want %v", data, err, test.want)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := remote.Wrap(ended, "read", "x", objstore.ErrUnavailable, "timeout"); !errors.Is(err, context.Canceled) || errors.Is(err, objstore.ErrUnavailable) {
		t.Errorf("after the caller gave up: %v", err)
	}
	err := remote.Wrap(t.Context(), "read", "x", objstore.ErrDenied, "no")
	if !errors.Is(err, objstore.ErrDenied) || err.Error() != `read "x": access denied (no)` {
		t.Errorf("Wrap = %v", err)
	}
	if got := remote.Innermost(fmt.Errorf("get https://secret: %w", errors.New("refused"))); got != "refused" {
		t.Errorf("Innermost = %q", got)
	}
}
