package gcs

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/towline/terraform-provider-towline/internal/objstore/remote"
)

// errBroken ends a reading whose every answer breaks off.
var errBroken = errors.New("the store's answers keep ending early")

// The SDK opens a body anew each time that it breaks off, without end and without a wait.
// Requests of a reading are counted where they pass, since it can be told nowhere else.
type requestsKey struct{}

// counted returns a context for one reading.
func counted(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestsKey{}, new(atomic.Int64))
}

// counting is a transport that ends readings with too many requests.
type counting struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c counting) RoundTrip(req *http.Request) (*http.Response, error) {
	requests, ok := req.Context().Value(requestsKey{}).(*atomic.Int64)
	if ok && requests.Add(1) > 2*remote.MaxAttempts {
		return nil, errBroken
	}
	return c.RoundTripper.RoundTrip(req)
}
