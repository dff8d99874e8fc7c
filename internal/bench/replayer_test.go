package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestReplayer asks the same with other dates and signatures, and something else.
func TestReplayer(t *testing.T) {
	t.Parallel()
	asked := 0
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked++
		body, _ := io.ReadAll(req.Body)
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusTeapot)
		_, _ = fmt.Fprintf(w, "%d %s", asked, body)
	}))
	defer target.Close()
	r, err := newReplayer(target.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.close() }()
	ask := func(path, body, scope string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/"+scope+"/aws4_request, SignedHeaders=host, Signature=0")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		answer, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusTeapot || resp.Header.Get("X-Answer") != "yes" {
			t.Fatalf("answer %d %v: %v", resp.StatusCode, resp.Header, err)
		}
		return string(answer)
	}
	for _, step := range []struct{ path, body, scope, want string }{
		{"/a?x=1", "one", "20260101/eu/s3", "1 one"},
		{"/a?x=1", "one", "20260102/eu/s3", "1 one"},
		{"/a?x=1", "two", "20260101/eu/s3", "2 two"},
		{"/a?x=2", "one", "20260101/eu/s3", "3 one"},
		{"/a?x=1", "one", "20260101/eu/iam", "4 one"},
	} {
		if got := ask(step.path, step.body, step.scope); got != step.want {
			t.Errorf("%v: %q", step, got)
		}
	}
}
