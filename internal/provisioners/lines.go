package provisioners

import (
	"bytes"
	"strings"
	"sync"
)

const (
	// maxLine bounds a line of output that is passed on at once; longer ones are cut in pieces.
	maxLine = 64 << 10
	// maxTail bounds the end of the output that an error repeats.
	maxTail = 8 << 10
)

// lines passes on what is written to it line by line, and keeps the end of it.
type lines struct {
	output func(string)

	mu      sync.Mutex
	partial []byte
	last    []byte
}

func newLines(output func(string)) *lines { return &lines{output: output} }

// Write implements [io.Writer].
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = append(l.last, p...)
	if extra := len(l.last) - maxTail; extra > 0 {
		l.last = append(l.last[:0], l.last[extra:]...)
	}
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		l.partial = append(l.partial, line...)
		if ended || len(l.partial) > maxLine {
			l.pass()
		}
		rest = after
	}
	return len(p), nil
}

// pass passes the collected line on. The caller holds mu.
func (l *lines) pass() {
	l.output(strings.TrimSuffix(string(l.partial), "\r"))
	l.partial = l.partial[:0]
}

// flush passes on a last line that has no end.
func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.partial) > 0 {
		l.pass()
	}
}

// tail returns the end of what was written.
func (l *lines) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.last)
}
