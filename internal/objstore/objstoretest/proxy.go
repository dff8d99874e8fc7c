package objstoretest

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// Harm is what a network or a store does to requests. Nil parts do nothing.
type Harm struct {
	// Request changes what the server gets.
	Request func(*http.Request)
	// Instead answers in the server's place, if it returns true.
	Instead func(http.ResponseWriter, *http.Request) bool
	// Answer changes what the client gets; an error loses the answer.
	Answer func(*http.Response) error
}

// Proxy starts a proxy in front of a server, which does harm, and returns its URL.
func Proxy(t *testing.T, server string, harm Harm) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it may be signed
			if harm.Request != nil {
				harm.Request(r.Out)
			}
		},
		ModifyResponse: harm.Answer,
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if harm.Instead == nil || !harm.Instead(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// Conditional tells whether a request writes under a condition, in any vendor's words.
func Conditional(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead &&
		(r.Header.Get("If-None-Match")+r.Header.Get("If-Match") != "" || r.URL.Query().Has("ifGenerationMatch"))
}

// LoseAnswers loses the answers to the first conditional writes, after the server has
// carried them out, and counts all of them.
func LoseAnswers(first int64) (Harm, *atomic.Int64) {
	var seen atomic.Int64
	return Harm{Answer: func(resp *http.Response) error {
		if Conditional(resp.Request) && seen.Add(1) <= first {
			return errors.New("the answer is lost")
		}
		return nil
	}}, &seen
}

// AnswerWith answers the first requests with a status in the server's place.
func AnswerWith(status int, first int64) (Harm, *atomic.Int64) {
	var seen atomic.Int64
	return Harm{Instead: func(w http.ResponseWriter, r *http.Request) bool {
		if seen.Add(1) > first {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body) // a client that is still sending may not read the answer
		w.WriteHeader(status)
		return true
	}}, &seen
}

// Truncate ends the bodies of the first answers to readings after a number of bytes,
// though more were announced.
func Truncate(bytes, first int64) (Harm, *atomic.Int64) {
	var seen atomic.Int64
	return Harm{Answer: func(resp *http.Response) error {
		if resp.Request.Method == http.MethodGet && seen.Add(1) <= first {
			resp.Body = struct {
				io.Reader
				io.Closer
			}{io.LimitReader(resp.Body, bytes), resp.Body}
		}
		return nil
	}}, &seen
}

// Hang never answers.
func Hang() Harm {
	return Harm{Instead: func(_ http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		return true
	}}
}

// endless is a server that sends more than it announced to have.
func endless() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Transfer-Encoding", "chunked")
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
}
