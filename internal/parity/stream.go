package parity

import (
	"fmt"
	"path/filepath"
	"strings"
)

// ok is the exit code of success, as it is compared.
const ok = "0"

// told are the messages that a program printed with -json, without what is told
// by the clock or in its own words: times, and the details of problems.
func (s *side) told(out output) ([]any, error) {
	messages := []any{}
	for line := range strings.Lines(out.stdout) {
		doc, err := decode([]byte(line))
		if err != nil {
			return nil, fmt.Errorf("decode what %s printed: %w\n%s%s", filepath.Base(s.program), err, out.stdout, out.stderr)
		}
		message, _ := doc.(map[string]any)
		switch message["type"] {
		case "version", "log", "apply_progress", "ephemeral_op_progress", "refresh_start", "refresh_complete":
			continue // of the program, of time that passes, or of how often objects are read
		case "diagnostic":
			if message["diagnostic"] = essence(message["diagnostic"]); message["diagnostic"] == nil {
				continue
			}
		}
		for key := range message {
			if strings.HasPrefix(key, "@") && key != "@level" {
				delete(message, key)
			}
		}
		if hook, ok := message["hook"].(map[string]any); ok {
			delete(hook, "elapsed_seconds")
		}
		messages = append(messages, s.names.in(message))
	}
	return messages, nil
}

// overridden is a warning about how the AWS provider is found here.
const overridden = "Provider development overrides are in effect"

// essence is what is compared of a problem: its kind and place. nil leaves it out.
func essence(diagnostic any) any {
	if field(diagnostic, "summary") == overridden {
		return nil
	}
	out := map[string]any{"summary": comparable(text(field(diagnostic, "summary")))}
	out["severity"] = field(diagnostic, "severity")
	if at := field(diagnostic, "range"); at != nil {
		out["range"] = at
	} else if addr := field(diagnostic, "address"); addr != nil { // towline names it beside the range as well
		out["address"] = addr
	}
	return out
}

// withoutDetails leaves of the problems in a document, as validate prints one, what
// is compared of them.
func withoutDetails(doc any) any {
	problems, ok := field(doc, "diagnostics").([]any)
	if !ok {
		return doc
	}
	for i, one := range problems {
		problems[i] = essence(one)
	}
	sortByText(problems)
	return doc
}

// calls are the messages about calls to providers in the order in which they came.
func calls(messages []any) any {
	out := []any{}
	for _, message := range messages {
		switch kind := text(field(message, "type")); kind {
		case "apply_start", "apply_complete", "apply_errored":
			hook := field(message, "hook")
			out = append(out, strings.Join([]string{kind, text(field(hook, "action")), text(field(field(hook, "resource"), "addr"))}, " "))
		}
	}
	return out
}
