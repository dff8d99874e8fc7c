package objstoretest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// Remote is a store behind a server of this machine, through which a proxy can be put.
type Remote struct {
	// Server is the server's URL.
	Server string
	// Open opens an empty store of its own for each test, whose server has this URL.
	Open func(t *testing.T, server string) objstore.Store
}

// RunFaults runs what every remote store must survive: lost answers, failing, slow,
// truncating and endless servers.
func RunFaults(t *testing.T, target Remote) {
	tests := map[string]func(*testing.T, Remote){
		"LostAnswer":     testLostAnswer,
		"Recovers":       testRecovers,
		"Fails":          testFails,
		"Truncated":      testTruncated,
		"AlwaysShort":    testAlwaysShort,
		"Endless":        testEndless,
		"NoAnswer":       testNoAnswer,
		"NoServer":       testNoServer,
		"RetriesAreFew":  testRetriesAreFew,
		"WriteIsRefused": testWriteIsRefused,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, target)
		})
	}
}

// testLostAnswer has the network drop the answer to a write that succeeded. The client
// sends it again, finds the object in the way, and must know it as its own.
func testLostAnswer(t *testing.T, target Remote) {
	tests := map[string]func(context.Context, objstore.Store) error{
		"PutIfAbsent": func(ctx context.Context, store objstore.Store) error {
			_, err := store.PutIfAbsent(ctx, "x", []byte("mine"))
			return err
		},
		"PutIfMatch": func(ctx context.Context, store objstore.Store) error {
			version, err := store.Put(ctx, "x", []byte("before"))
			if err != nil {
				return err
			}
			_, err = store.PutIfMatch(ctx, "x", []byte("mine"), version)
			return err
		},
	}
	for name, write := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harm, seen := LoseAnswers(1)
			store := target.Open(t, Proxy(t, target.Server, harm))
			wantErr(t, name+" whose answer was lost", write(t.Context(), store), nil)
			wantSeen(t, seen, 2)
			wantContent(t, store, "x", "mine")
		})
	}
}

// testRecovers has the server fail for a moment.
func testRecovers(t *testing.T, target Remote) {
	for _, status := range []int{http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusTooManyRequests} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			harm, seen := AnswerWith(status, 2)
			store := target.Open(t, Proxy(t, target.Server, harm))
			_, err := store.PutIfAbsent(t.Context(), "x", []byte("kept"))
			wantErr(t, "PutIfAbsent", err, nil)
			wantSeen(t, seen, 3)
			wantContent(t, store, "x", "kept")
		})
	}
}

// testFails has the server answer the same for ever.
func testFails(t *testing.T, target Remote) {
	for status, want := range map[int]error{
		http.StatusInternalServerError: objstore.ErrUnavailable,
		http.StatusNotImplemented:      objstore.ErrUnavailable,
		http.StatusForbidden:           objstore.ErrDenied,
		http.StatusUnauthorized:        objstore.ErrDenied,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			harm, _ := AnswerWith(status, math.MaxInt64)
			store := target.Open(t, Proxy(t, target.Server, harm))
			_, err := store.PutIfAbsent(t.Context(), "x", []byte("y"))
			wantErr(t, "PutIfAbsent", err, want)
			_, err = store.Get(t.Context(), "x", 10)
			wantErr(t, "Get", err, want)
			_, err = store.Stat(t.Context(), "x")
			wantErr(t, "Stat", err, want)
			_, err = keys(t.Context(), store, "")
			wantErr(t, "List", err, want)
			wantErr(t, "Delete", store.Delete(t.Context(), "x"), want)
		})
	}
}

// testTruncated has an answer end early once: the reader gets the whole or an error.
func testTruncated(t *testing.T, target Remote) {
	harm, seen := Truncate(1000, 1)
	store := target.Open(t, Proxy(t, target.Server, harm))
	content := strings.Repeat("towline ", 1000)
	must(store.Put(t.Context(), "x", []byte(content)))(t)
	got, err := store.Get(t.Context(), "x", 1<<20)
	if seen.Load() == 0 {
		t.Error("no answer was cut; the test proves nothing")
	}
	if err == nil && string(got.Data) != content || err != nil && !errors.Is(err, objstore.ErrUnavailable) {
		t.Errorf("Get = %d bytes, %v; want all %d or %v", len(got.Data), err, len(content), objstore.ErrUnavailable)
	}
}

// testAlwaysShort has every answer end early.
func testAlwaysShort(t *testing.T, target Remote) {
	harm, _ := Truncate(0, math.MaxInt64)
	store := target.Open(t, Proxy(t, target.Server, harm))
	must(store.Put(t.Context(), "x", []byte("some content")))(t)
	_, err := store.Get(t.Context(), "x", 1<<20)
	wantErr(t, "Get", err, objstore.ErrUnavailable)
}

// testNoAnswer has the caller's own time end while the server says nothing.
func testNoAnswer(t *testing.T, target Remote) {
	store := target.Open(t, Proxy(t, target.Server, Hang()))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := store.PutIfAbsent(ctx, "x", []byte("y"))
	wantErr(t, "PutIfAbsent", err, context.DeadlineExceeded)
	_, err = store.Get(ctx, "x", 10)
	wantErr(t, "Get", err, context.DeadlineExceeded)
}

func testNoServer(t *testing.T, target Remote) {
	store := target.Open(t, "http://127.0.0.1:1")
	_, err := store.Get(t.Context(), "x", 10)
	wantErr(t, "Get", err, objstore.ErrUnavailable)
}

// testEndless has the server send more than it announced to have.
func testEndless(t *testing.T, target Remote) {
	fake := httptest.NewServer(endless())
	t.Cleanup(fake.Close)
	_, err := target.Open(t, fake.URL).Get(t.Context(), "x", 1<<20)
	wantErr(t, "Get of an endless object", err, objstore.ErrTooLarge)
}

// testRetriesAreFew has many calls fail at once: what they retry together is bounded.
func testRetriesAreFew(t *testing.T, target Remote) {
	const calls, most = 100, 250
	harm, seen := AnswerWith(http.StatusInternalServerError, math.MaxInt64)
	store := target.Open(t, Proxy(t, target.Server, harm))
	forEach(t, 50, calls, func(int) error {
		if _, err := store.Stat(t.Context(), "x"); !errors.Is(err, objstore.ErrUnavailable) {
			return fmt.Errorf("looked up: %w; want %w", err, objstore.ErrUnavailable)
		}
		return nil
	})
	if got := seen.Load(); got <= calls || got > most {
		t.Errorf("%d calls sent %d requests; want some retries, and at most %d requests", calls, got, most)
	}
}

// testWriteIsRefused has somebody else's object stand in the way while the server fails.
func testWriteIsRefused(t *testing.T, target Remote) {
	harm, _ := AnswerWith(http.StatusServiceUnavailable, 1)
	store := target.Open(t, Proxy(t, target.Server, harm))
	must(store.PutIfAbsent(t.Context(), "x", []byte("first")))(t)
	_, err := store.PutIfAbsent(t.Context(), "x", []byte("second"))
	wantErr(t, "PutIfAbsent over another's object", err, objstore.ErrExist)
	wantContent(t, store, "x", "first")
}

func wantSeen(t *testing.T, seen *atomic.Int64, atLeast int64) {
	t.Helper()
	if got := seen.Load(); got < atLeast {
		t.Errorf("the proxy saw %d requests, want at least %d; the test proves nothing", got, atLeast)
	}
}
