package bench

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// maxReplayed bounds a request and an answer, in bytes.
const maxReplayed = 16 << 20

// replayer stands in front of an AWS API and answers what it was asked before as it was
// answered then: an API that takes no time of its own. It is for programs that only read.
type replayer struct {
	target *url.URL
	server *http.Server
	url    string

	mu      sync.Mutex
	answers map[[sha256.Size]byte]*replayed
	// asked counts the requests that the target was asked.
	asked int
}

type replayed struct {
	status int
	header http.Header
	body   []byte
}

// newReplayer listens on this machine.
func newReplayer(target string) (*replayer, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("start replayer: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start replayer: %w", err)
	}
	r := &replayer{target: to, url: "http://" + listener.Addr().String(), answers: map[[sha256.Size]byte]*replayed{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(listener) }() // it ends with close
	return r, nil
}

// misses is how many requests the target was asked.
func (r *replayer) misses() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func (r *replayer) close() error { return r.server.Close() }

// ServeHTTP answers as before, or as the target does.
func (r *replayer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxReplayed))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	key := question(req, body)
	r.mu.Lock()
	answer := r.answers[key]
	r.mu.Unlock()
	if answer == nil {
		if answer, err = r.ask(req, body); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		r.mu.Lock()
		r.answers[key] = answer
		r.asked++
		r.mu.Unlock()
	}
	for name, values := range answer.header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body) // whoever has gone needs no answer
}

// question is what a request asks: everything but when, and by which signature.
func question(req *http.Request, body []byte) [sha256.Size]byte {
	_, scope, _ := strings.Cut(req.Header.Get("Authorization"), "Credential=")
	scope, _, _ = strings.Cut(scope, ",")
	parts := strings.Split(scope, "/") // key, date, region, service
	if len(parts) > 2 {
		parts = parts[2:]
	}
	h := sha256.New()
	for _, text := range []string{req.Method, req.URL.RequestURI(), strings.Join(parts, "/"), req.Header.Get("X-Amz-Target"), string(body)} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(text), text) // a hash takes everything
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func (r *replayer) ask(req *http.Request, body []byte) (answer *replayed, err error) {
	out := req.Clone(req.Context())
	out.RequestURI, out.URL.Scheme, out.URL.Host, out.Host = "", r.target.Scheme, r.target.Host, r.target.Host
	out.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	answer = &replayed{status: resp.StatusCode, header: resp.Header}
	if answer.body, err = io.ReadAll(io.LimitReader(resp.Body, maxReplayed)); err != nil {
		return nil, err
	}
	answer.header.Del("Transfer-Encoding")
	answer.header.Del("Connection")
	return answer, nil
}
