package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/time/rate"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// UserAgent names this program to stores.
const UserAgent = "towline"

// WriteID is the metadata that tells one write from another. A request whose
// answer was lost is sent again and then finds its own first attempt in the way;
// the id tells that from somebody else's write.
const WriteID = "towline-write"

// Bounds of one call. Objects are small; a call that takes longer is better
// given up, so that the caller can go on with what it has.
const (
	// MaxAttempts is how often one request is sent at most.
	MaxAttempts = 4
	// MaxBackoff is the longest wait between two attempts.
	MaxBackoff = 5 * time.Second
	// FirstBackoff is the longest wait before the second attempt.
	FirstBackoff = 200 * time.Millisecond
	// DialTimeout is how long a connection may take to come about.
	DialTimeout = 10 * time.Second
	// HeaderTimeout is how long a server may take to begin its answer.
	HeaderTimeout = 20 * time.Second
	// callTimeout ends a call with all its attempts.
	callTimeout = 2 * time.Minute
)

// The retries of all calls of one store together: a burst for an outage of moments, then
// one a second, so that a store in trouble is not asked [MaxAttempts] times as often.
const (
	retryBurst    = 50
	retryInterval = time.Second
)

// Call bounds the time of one call.
func Call(parent context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(parent, callTimeout)
}

// NewTransport returns a transport that gives up servers which do not answer.
func NewTransport() *http.Transport {
	return &http.Transport{
		Proxy:       http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{Timeout: DialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		// Enough for the parts of a package and the documents of an environment at once.
		MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: DialTimeout, ResponseHeaderTimeout: HeaderTimeout, ExpectContinueTimeout: time.Second,
	}
}

// Budget bounds the retries of one store. It is safe for concurrent use.
type Budget struct{ limiter *rate.Limiter }

// NewBudget returns a full budget.
func NewBudget() Budget {
	return Budget{rate.NewLimiter(rate.Every(retryInterval), retryBurst)}
}

// Retries returns what one call asks before each retry: whether it may.
func (b Budget) Retries() func() bool {
	left := MaxAttempts - 1
	return func() bool {
		left--
		return left >= 0 && b.Allow()
	}
}

// Allow takes one retry from the budget, if any is left.
func (b Budget) Allow() bool { return b.limiter.Allow() }

// Retryable tells whether an answer asks for the same request again. A conflict is a
// concurrent write to the same key that was under way.
func Retryable(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError && status != http.StatusNotImplemented
}

// KindOf is the meaning of an answer to a request without a condition.
func KindOf(status int) error {
	switch status {
	case http.StatusNotFound:
		return objstore.ErrNotExist
	case http.StatusForbidden, http.StatusUnauthorized:
		return objstore.ErrDenied
	}
	return objstore.ErrUnavailable
}

// Wrap makes the error of a call one that callers act on: kind is its meaning and
// brief what the store said. If the caller's own context ended, that is the error.
func Wrap(parent context.Context, verb, key string, kind error, brief string) error {
	if cause := parent.Err(); cause != nil {
		return fmt.Errorf("%s %q: %w", verb, key, cause)
	}
	return fmt.Errorf("%s %q: %w (%s)", verb, key, kind, brief)
}

// ReadAll reads a body that was announced to have a size, at most limit bytes of it.
// An error that does not wrap [objstore.ErrTooLarge] is the body's own.
func ReadAll(key string, body io.Reader, announced, limit int64) ([]byte, error) {
	tooLarge := fmt.Errorf("read %q: %w (limit %d bytes)", key, objstore.ErrTooLarge, limit)
	if announced > limit {
		return nil, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > limit:
		return nil, tooLarge
	}
	return data, nil
}

// Innermost is the message of an error's first cause: the texts around it repeat the
// request, which may hold secrets.
func Innermost(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error()
}
