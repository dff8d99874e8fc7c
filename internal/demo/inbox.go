package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// maxPost bounds a message to the inbox, in bytes.
const maxPost = 1 << 20

// inbox takes what is posted to an incoming webhook, as Slack would.
type inbox struct {
	url    string
	server *http.Server

	mu    sync.Mutex
	posts []string
}

func newInbox(host string) (*inbox, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("start inbox: %w", err)
	}
	i := &inbox{url: "http://" + listener.Addr().String() + "/services/T0/B0/secret"}
	i.server = &http.Server{Handler: i, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = i.server.Serve(listener) }() // it ends when it is closed
	return i, nil
}

// ServeHTTP takes one message.
func (i *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var post struct {
		Text string `json:"text"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, maxPost)).Decode(&post); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.posts = append(i.posts, post.Text)
}

// messages returns all that was posted after the first n.
func (i *inbox) messages(n int) []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]string(nil), i.posts[min(n, len(i.posts)):]...)
}

func (i *inbox) close() { _ = i.server.Close() } // nothing is written
