package tfdiags

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// similar is a problem with the number of others that it stands for.
type similar struct {
	Diagnostic

	more int
}

// joined orders problems and lets the first of several warnings with the same
// summary stand for all of them, as terraform does: what a configuration does
// wrong everywhere would hide the rest. Those without a place may each say
// something else, and errors are what somebody has to mend one by one.
func joined(diags Diagnostics) []similar {
	sorted := slices.Clone(diags)
	slices.SortStableFunc(sorted, byPlace)
	var out []similar
	first := map[string]int{} // where a summary stands in out
	for _, d := range sorted {
		at, known := first[d.Summary]
		switch {
		case d.Severity != Warning || d.Subject == nil:
			out = append(out, similar{Diagnostic: d})
		case known:
			out[at].more++
		default:
			first[d.Summary] = len(out)
			out = append(out, similar{Diagnostic: d})
		}
	}
	return out
}

// counted is the problem with a last paragraph about those that it stands for.
func (s similar) counted() *Diagnostic {
	d := s.Diagnostic
	switch s.more {
	case 0:
		return &d
	case 1:
		d.Detail += "\n\n(and one more similar warning elsewhere)"
	default:
		d.Detail += fmt.Sprintf("\n\n(and %d more similar warnings elsewhere)", s.more)
	}
	return &d
}

// WriteCompact writes warnings with a line or two each. Where there is an error,
// everything is written as by [Format.Write].
func (f Format) WriteCompact(w io.Writer, diags Diagnostics) error {
	if len(diags) == 0 || diags.HasErrors() {
		return f.Write(w, diags)
	}
	var out strings.Builder
	out.WriteString("\n" + f.paint(yellow, "Warnings:") + "\n\n")
	for _, s := range joined(diags) {
		fmt.Fprintf(&out, "- %s\n", s.Summary)
		if s.Subject == nil || s.Subject.Filename == "" {
			continue
		}
		fmt.Fprintf(&out, "  on %s line %d", s.Subject.Filename, s.Subject.Start.Line)
		if s.more > 0 {
			fmt.Fprintf(&out, " (and %d more)", s.more)
		}
		out.WriteString("\n")
	}
	out.WriteString("\nTo see the warnings in full, leave out -compact-warnings.\n")
	_, err := io.WriteString(w, out.String())
	return err
}
