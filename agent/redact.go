package agent

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/plans"
)

// Providers quote what they were given: in problems, in their logs, and when they crash.
// So every text that an agent writes goes through its secrets: what it knows to be
// sensitive is taken out, whatever the text.

const (
	// minSecret is the length in bytes from which a value is looked for: shorter ones,
	// such as "false", would be found in every text.
	minSecret = 6
	// minLine is the same for a line of a value with several: logs are made of lines.
	minLine = 16
	// maxSecrets and maxSecret bound what is looked for, in number and in bytes.
	maxSecrets = 200_000
	maxLooked  = 64 << 10
	// redacted stands in the place of a secret.
	redacted = "(sensitive value)"
)

// Secrets are the values that must not be told. They are safe for concurrent use.
type Secrets struct {
	mu sync.RWMutex
	// environ are the forms of what the environment holds, known those of everything.
	environ, known map[string]bool
	// last are the changes that values were taken from last, by the agent's own rounds.
	last []*plans.Change
	// replacer is nil until it is needed.
	replacer *strings.Replacer
}

// NewSecrets knows those of a process's environment, as NAME=VALUE.
func NewSecrets(environ []string) *Secrets {
	s := &Secrets{known: map[string]bool{}, environ: map[string]bool{}}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if secretName(name) {
			s.learn(value)
		}
	}
	s.environ = maps.Clone(s.known)
	return s
}

// secretName tells whether a variable of the environment holds a secret by its name.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"SECRET", "TOKEN", "PASSWORD", "PASSPHRASE", "PRIVATE", "CREDENTIAL", "WEBHOOK", "API_KEY", "APIKEY"},
		func(part string) bool { return strings.Contains(name, part) })
}

// learn takes values, in the forms in which texts quote them.
func (s *Secrets) learn(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range values {
		if value = strings.TrimSpace(value); s.known[value] {
			continue
		}
		if len(s.known) > maxSecrets { // what is still in use is learnt again in the next round
			s.known, s.last = maps.Clone(s.environ), nil
		}
		for _, form := range formsOf(value) {
			s.known[form], s.replacer = true, nil
		}
	}
}

// formsOf are a value itself, its lines, and the value as it is quoted and encoded.
func formsOf(value string) []string {
	if len(value) < minSecret || len(value) > maxLooked {
		return nil
	}
	quoted := strconv.Quote(value)
	forms := []string{value, quoted[1 : len(quoted)-1], url.QueryEscape(value), base64.StdEncoding.EncodeToString([]byte(value))}
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= minLine {
				forms = append(forms, line)
			}
		}
	}
	return forms
}

// Redact takes the secrets out of a text.
func (s *Secrets) Redact(text string) string {
	if text == "" {
		return text
	}
	return s.current().Replace(text)
}

func (s *Secrets) current() *strings.Replacer {
	s.mu.RLock()
	replacer := s.replacer
	s.mu.RUnlock()
	if replacer != nil {
		return replacer
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	forms := make([]string, 0, len(s.known))
	for form := range s.known {
		forms = append(forms, form)
	}
	// Of several that begin at one place the first given counts: the longest.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, redacted)
	}
	s.replacer = strings.NewReplacer(pairs...)
	return s.replacer
}

// Logger returns a logger that writes what another one does, without the secrets.
func (s *Secrets) Logger(log *slog.Logger) *slog.Logger {
	return slog.New(redactingHandler{log.Handler(), s})
}

type redactingHandler struct {
	slog.Handler
	secrets *Secrets
}

// Handle implements [slog.Handler].
func (h redactingHandler) Handle(ctx context.Context, record slog.Record) error {
	out := slog.NewRecord(record.Time, record.Level, h.secrets.Redact(record.Message), record.PC)
	record.Attrs(func(attr slog.Attr) bool {
		out.AddAttrs(h.attr(attr))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs implements [slog.Handler].
func (h redactingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := make([]slog.Attr, len(attrs))
	for i, attr := range attrs {
		out[i] = h.attr(attr)
	}
	return redactingHandler{h.Handler.WithAttrs(out), h.secrets}
}

// WithGroup implements [slog.Handler].
func (h redactingHandler) WithGroup(name string) slog.Handler {
	return redactingHandler{h.Handler.WithGroup(name), h.secrets}
}

func (h redactingHandler) attr(attr slog.Attr) slog.Attr {
	attr.Value = attr.Value.Resolve()
	switch attr.Value.Kind() {
	case slog.KindGroup:
		inner := attr.Value.Group()
		out := make([]slog.Attr, len(inner))
		for i := range inner {
			out[i] = h.attr(inner[i])
		}
		attr.Value = slog.GroupValue(out...)
	case slog.KindString:
		attr.Value = slog.StringValue(h.secrets.Redact(attr.Value.String()))
	case slog.KindAny:
		text := fmt.Sprint(attr.Value.Any())
		if clean := h.secrets.Redact(text); clean != text {
			attr.Value = slog.StringValue(clean)
		}
	}
	return attr
}

// redactedProblems takes the secrets out of a round's problems.
func (s *Secrets) redactedProblems(problems []control.Problem) []control.Problem {
	for i := range problems {
		p := &problems[i]
		p.Summary, p.Detail, p.Address = s.Redact(p.Summary), s.Redact(p.Detail), s.Redact(p.Address)
	}
	return problems
}
