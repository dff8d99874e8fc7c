package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		at   time.Time
		want string
	}{
		"never":      {time.Time{}, "-"},
		"now":        {now, "0s ago"},
		"seconds":    {now.Add(-59 * time.Second), "59s ago"},
		"minutes":    {now.Add(-3*time.Minute - 59*time.Second), "3m ago"},
		"hours":      {now.Add(-47 * time.Hour), "47h ago"},
		"days":       {now.Add(-49 * time.Hour), "2d ago"},
		"the future": {now.Add(25*time.Minute + time.Second), "in 25m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := age(test.at, now); got != test.want {
				t.Errorf("age is %q; want %q", got, test.want)
			}
		})
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for want, n := range map[string]int64{"0 B": 0, "1023 B": 1023, "1.0 KiB": 1024, "1.5 KiB": 1536, "1.0 MiB": 1 << 20, "2048.0 MiB": 2 << 30} {
		if got := size(n); got != want {
			t.Errorf("size(%d) is %q; want %q", n, got, want)
		}
	}
}

// What an agent or an approver wrote reaches a terminal; it must not control it.
func TestTableControlCharacters(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &app{stdout: &out}
	a.table([]string{"NAME", "MESSAGE"}, [][]string{{"web", "\x1b[2Jgone\nprod  db  live\t\x9b2J"}, {"db", strings.Repeat("é", 3*maxCell)}, {"app", ""}})
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines; want a header and three rows:\n%s", len(lines), out.String())
	}
	if strings.ContainsAny(out.String(), "\x1b\u009b\t") {
		t.Errorf("control characters reached the table: %q", out.String())
	}
	if got := len([]rune(strings.TrimPrefix(lines[2], "db    "))); got != maxCell {
		t.Errorf("a long cell has %d characters; want %d", got, maxCell)
	}
	if lines[3] != "app   -" {
		t.Errorf("an empty cell is written as %q", lines[3])
	}
}
