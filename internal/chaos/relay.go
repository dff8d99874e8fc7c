package chaos

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// maxPassed bounds what one request or answer holds, in bytes.
const maxPassed = 64 << 20

// relay passes requests on to a server, and is where a fault happens to one of them.
type relay struct {
	url    string
	target *url.URL
	server *http.Server

	mu sync.Mutex
	// cut tells that nothing comes through.
	cut  bool
	trap *trap
	// striking are the requests to which something is happening.
	striking sync.WaitGroup
	// seen is told of every request that the server has carried out.
	seen func(method, path string)
}

// trap waits for a request and has something happen to it.
type trap struct {
	match func(*http.Request) bool
	// skip is how many requests that match pass before; times is how many are struck then.
	skip, times int
	strike      strike
	// sprung is closed when it has happened to the first.
	sprung chan struct{}
	once   sync.Once
	struck int
}

// strike is what happens to a request.
type strike struct {
	// carriedOut tells that the server gets the request; what happens, happens to its answer.
	carriedOut bool
	// do happens while the request waits; happened is told after it.
	do       func()
	happened func()
	// status is what is answered instead, 0 to cut the connection, -1 for the server's answer.
	status int
	// delay is added; truncate takes the answer's second half away.
	delay    time.Duration
	truncate bool
}

const serversAnswer = -1

func newRelay(target string) (*relay, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("start relay: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start relay: %w", err)
	}
	r := &relay{url: "http://" + listener.Addr().String(), target: to, seen: func(string, string) {}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(listener) }() // it ends with Close
	return r, nil
}

func (r *relay) close() { _ = r.server.Close() } // whatever is under way is of no interest any more

// set arms the relay for requests and returns what is closed when the first came. The
// first skip of those that match pass, and the next few are struck.
func (r *relay) set(match func(*http.Request) bool, skip, times int, s strike) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trap = &trap{match: match, skip: skip, times: times, strike: s, sprung: make(chan struct{})}
	return r.trap.sprung
}

// disarm takes the trap away and waits until what it does is done.
func (r *relay) disarm() {
	r.mu.Lock()
	r.trap = nil
	r.mu.Unlock()
	r.striking.Wait()
}

// part cuts all connections from now on, or lets them through again.
func (r *relay) part(cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = cut
}

// watch has seen called for every request that the server has carried out, even if
// the answer does not arrive.
func (r *relay) watch(seen func(method, path string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = seen
}

// ServeHTTP passes one request on, or has the fault happen to it.
func (r *relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(io.LimitReader(req.Body, maxPassed))
	if err != nil {
		return // the caller has gone
	}
	hit, cut := r.next(req)
	if cut {
		hangUp()
	}
	if !hit.carriedOut && hit.befall(req.Context(), w) {
		return
	}
	answer, content, err := r.forward(req, body)
	if err != nil {
		if hit.carriedOut && hit.happened != nil {
			hit.happened() // the server is gone, which is as bad
		}
		hangUp()
	}
	if answer.StatusCode < http.StatusMultipleChoices {
		r.mu.Lock()
		seen := r.seen
		r.mu.Unlock()
		seen(req.Method, req.URL.Path)
	}
	if hit.carriedOut && hit.befall(req.Context(), w) {
		return
	}
	answerWith(w, answer, content, hit.truncate)
}

// next says what is to happen to a request.
func (r *relay) next(req *http.Request) (hit strike, cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.trap
	switch {
	case r.cut || t == nil || !t.match(req) || t.struck == t.times:
		return strike{}, r.cut
	case t.skip > 0:
		t.skip--
		return strike{}, false
	}
	t.struck++
	hit = t.strike
	r.striking.Add(1)
	hit.happened = func() {
		t.once.Do(func() { close(t.sprung) })
		r.striking.Done()
	}
	return hit, false
}

// befall lets the fault happen, and tells whether that was the answer.
func (s strike) befall(ctx context.Context, w http.ResponseWriter) bool {
	if s.happened == nil {
		return false
	}
	if s.do != nil {
		s.do()
	}
	s.happened()
	pause(ctx, s.delay)
	switch s.status {
	case serversAnswer:
		return false
	case 0:
		hangUp()
	}
	w.WriteHeader(s.status)
	return true
}

// transport passes on what callers asked for and nothing else.
var transport = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}

// forward has the server carry a request out.
func (r *relay) forward(in *http.Request, body []byte) (*http.Response, []byte, error) {
	out := in.Clone(context.WithoutCancel(in.Context())) // a request that was sent is carried out
	out.URL.Scheme, out.URL.Host, out.RequestURI = r.target.Scheme, r.target.Host, ""
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp, err := transport.RoundTrip(out) // with the caller's Host, which is signed
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxPassed))
	return resp, content, err
}

func answerWith(w http.ResponseWriter, resp *http.Response, content []byte, truncate bool) {
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	if truncate {
		_, _ = w.Write(content[:len(content)/2])
		_ = http.NewResponseController(w).Flush() // what was written arrives, and then no more
		hangUp()
	}
	_, _ = w.Write(content) // the caller may have gone
}

// hangUp ends the connection as a network does.
func hangUp() { panic(http.ErrAbortHandler) }

// pause waits, unless the context ends first.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
