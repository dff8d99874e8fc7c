package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
)

const (
	// tailLines and tailBytes bound what is kept of a provider's stderr: enough
	// for a panic's message and the goroutine that it happened in.
	tailLines = 40
	tailBytes = 16 << 10
	// lineBytes bounds one line; go-plugin hands on longer ones in parts.
	lineBytes = 64 << 10
)

// stderrSink takes a provider's stderr. Log lines in hclog's JSON form go to
// the debug log alone, since they may hold what requests hold; other lines,
// such as those of a panic, are also kept for the diagnostic about a crash.
type stderrSink struct {
	log *slog.Logger

	mu      sync.Mutex
	partial []byte
	tail    []string
	size    int
}

// Write implements io.Writer. It never fails.
func (s *stderrSink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(p)
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			s.keepPartial(p)
			return n, nil
		}
		s.keepPartial(p[:end])
		s.line(strings.TrimRight(string(s.partial), "\r"))
		s.partial = s.partial[:0]
		p = p[end+1:]
	}
}

func (s *stderrSink) keepPartial(p []byte) {
	s.partial = append(s.partial, p[:min(len(p), lineBytes-min(lineBytes, len(s.partial)))]...)
}

func (s *stderrSink) line(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	if s.logEntry(line) {
		return
	}
	s.log.Debug("provider wrote to stderr", "line", line)
	s.tail = append(s.tail, line)
	s.size += len(line)
	for len(s.tail) > 1 && (len(s.tail) > tailLines || s.size > tailBytes) {
		s.size -= len(s.tail[0])
		s.tail = s.tail[1:]
	}
}

// logEntry hands on a line in hclog's JSON form, and tells whether it was one.
func (s *stderrSink) logEntry(line string) bool {
	if !strings.HasPrefix(line, "{") {
		return false
	}
	if !s.log.Enabled(context.Background(), slog.LevelDebug) && strings.HasPrefix(line, `{"@`) {
		return true // nobody reads it, and decoding costs more than most calls
	}
	var entry map[string]any
	if json.Unmarshal([]byte(line), &entry) != nil {
		return false
	}
	message, isEntry := entry["@message"].(string)
	if !isEntry {
		return false
	}
	if !s.log.Enabled(context.Background(), slog.LevelDebug) {
		return true
	}
	attrs := make([]any, 0, 2*len(entry))
	for key, value := range entry {
		if key != "@message" && key != "@timestamp" {
			attrs = append(attrs, slog.Any(strings.TrimPrefix(key, "@"), value))
		}
	}
	s.log.Debug(message, slog.Group("provider_log", attrs...))
	return true
}

// last returns the end of what the provider wrote, from a panic on if there is one.
func (s *stderrSink) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.tail
	for i, line := range lines {
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			lines = lines[i:]
			break
		}
	}
	return strings.Join(lines, "\n")
}
