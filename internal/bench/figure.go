package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Sample are the values of several runs of the same work.
type Sample []float64

// Median is the middle value, 0 without any.
func (s Sample) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

// Unit is what a value counts.
type Unit int

// The units: seconds, bytes, and percent of one core.
const (
	Seconds Unit = iota
	Bytes
	Percent
)

// format writes a value for people.
func (u Unit) format(v float64) string {
	switch {
	case u == Bytes:
		return fmt.Sprintf("%.0f MB", v/1e6)
	case u == Percent:
		return fmt.Sprintf("%.2f %%", v)
	case v >= 10:
		return fmt.Sprintf("%.1f s", v)
	case v >= 1:
		return fmt.Sprintf("%.2f s", v)
	case v >= 1e-4:
		return fmt.Sprintf("%.1f ms", v*1e3)
	default:
		return fmt.Sprintf("%.1f µs", v*1e6)
	}
}

// Target is what a figure must reach. The zero value asks for nothing.
type Target struct {
	kind  targetKind
	value float64
}

type targetKind int

const (
	noTarget targetKind = iota
	faster
	share
	below
)

// Faster asks that the reference takes at least n times as long as towline.
func Faster(n float64) Target { return Target{faster, n} }

// Share asks that towline takes at most this share of the reference.
func Share(n float64) Target { return Target{share, n} }

// Below asks that towline's own value is under a bound.
func Below(n float64) Target { return Target{below, n} }

// Figure is one line of the table.
type Figure struct {
	// Row is the number in the list of what must be reached.
	Row  int
	Work string
	Unit Unit
	// Against says what Reference measured: terraform, a raw client, a bound.
	Against            string
	Reference, Towline Sample
	Target             Target
}

// ratio is the quotient that the target speaks of.
func (f Figure) ratio() float64 {
	reference, ours := f.Reference.Median(), f.Towline.Median()
	switch {
	case f.Target.kind == below || len(f.Reference) == 0:
		return ours
	case f.Target.kind == faster && ours > 0:
		return reference / ours
	case f.Target.kind != faster && reference > 0:
		return ours / reference
	default:
		return 0
	}
}

// Met tells whether the figure reaches its target.
func (f Figure) Met() bool {
	switch f.Target.kind {
	case faster:
		return f.ratio() >= f.Target.value
	case share, below:
		return f.ratio() <= f.Target.value
	default:
		return true
	}
}

// cells are the columns of a figure. Verdicts on reduced inputs mean nothing, so
// they are left out.
func (f Figure) cells(judge bool) []string {
	out := []string{fmt.Sprint(f.Row), f.Work, f.Against, "", f.Unit.format(f.Towline.Median()), "", "", ""}
	if len(f.Reference) > 0 {
		out[3] = f.Unit.format(f.Reference.Median())
	}
	switch f.Target.kind {
	case faster:
		out[5], out[6] = fmt.Sprintf("%.1f x", f.ratio()), fmt.Sprintf("≥ %g x", f.Target.value)
	case share:
		out[5], out[6] = fmt.Sprintf("%.2f", f.ratio()), fmt.Sprintf("≤ %g", f.Target.value)
	case below:
		out[6] = "< " + f.Unit.format(f.Target.value)
	default:
		if len(f.Reference) > 0 {
			out[5] = fmt.Sprintf("%.2f", f.ratio())
		}
	}
	if judge && f.Target.kind != noTarget {
		out[7] = "missed"
		if f.Met() {
			out[7] = "met"
		}
	}
	return out
}

// heads are the columns of the table.
var heads = []string{"row", "work", "against", "reference", "towline", "ratio", "target", "verdict"}

// WriteTable writes figures as a Markdown table.
func WriteTable(out io.Writer, figures []Figure, judge bool) error {
	rules := slices.Repeat([]string{"---"}, len(heads))
	lines := [][]string{heads, rules}
	for _, f := range figures {
		lines = append(lines, f.cells(judge))
	}
	for _, cells := range lines {
		if _, err := fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
	}
	return nil
}
