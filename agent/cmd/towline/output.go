package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// none stands for what is not there in tables.
const none = "-"

// maxCell keeps one long message from making a table unreadable, in characters.
const maxCell = 200

// table writes rows in columns to stdout.
func (a *app) table(header []string, rows [][]string) {
	out := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	for _, row := range append([][]string{header}, rows...) {
		cells := make([]string, len(row))
		for i, text := range row {
			cells[i] = cell(text)
		}
		_, _ = fmt.Fprintln(out, strings.Join(cells, "\t")) // a closed stdout ends the process by signal
	}
	_ = out.Flush()
}

// cell is a text on one line. What others wrote must not move the cursor.
func cell(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
	if runes := []rune(text); len(runes) > maxCell {
		text = string(runes[:maxCell-1]) + "…"
	}
	if text == "" {
		return none
	}
	return text
}

// printJSON writes a value to stdout. A list that is empty is [], never null.
func (a *app) printJSON(value any) error {
	encoder := json.NewEncoder(a.stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// age tells a time as people do: "3m ago", "in 25m".
func age(at, now time.Time) string {
	if at.IsZero() {
		return none
	}
	if at.After(now) {
		return "in " + span(at.Sub(now))
	}
	return span(now.Sub(at)) + " ago"
}

// span is a duration in its largest unit.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// size is a number of bytes for people.
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, suffix := float64(n)/unit, "KiB"
	if value >= unit {
		value, suffix = value/unit, "MiB"
	}
	return fmt.Sprintf("%.1f %s", value, suffix)
}

// short is the part of a digest that people compare.
func short(digest string) string { return digest[:min(len(digest), 12)] }

// plural is a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
