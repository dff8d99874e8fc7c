package tfdiags

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/mitchellh/go-wordwrap"
)

// Format is how diagnostics are written for people: with colours each in a frame,
// without them as plain paragraphs, as Terraform does.
type Format struct {
	// Color allows ANSI colours.
	Color bool
	// Width is the number of columns to wrap details at; 0 means no wrapping.
	Width int
	// Sources are the bytes of source files by name, for snippets; may be nil.
	Sources map[string][]byte
}

// Write writes the diagnostics, warnings first, then by place. Similar warnings are
// written once, with their number.
func (f Format) Write(w io.Writer, diags Diagnostics) error {
	for _, s := range joined(diags) {
		text := f.plain(s.counted())
		if f.Color {
			text = f.framed(s.counted())
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// byPlace puts warnings before errors, and what has no place before what has one.
func byPlace(a, b Diagnostic) int {
	if c := cmp.Compare(b.Severity, a.Severity); c != 0 || (a.Subject == nil && b.Subject == nil) {
		return c
	}
	switch {
	case a.Subject == nil:
		return -1
	case b.Subject == nil:
		return 1
	default:
		return cmp.Or(strings.Compare(a.Subject.Filename, b.Subject.Filename), cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte))
	}
}

// The ANSI codes in use.
const (
	bold      = "1"
	underline = "4"
	red       = "31"
	yellow    = "33"
	darkGray  = "90"
)

func (f Format) paint(code, text string) string {
	if !f.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (d *Diagnostic) title() (text, color string) {
	if d.Severity == Warning {
		return "Warning: ", yellow
	}
	return "Error: ", red
}

// plain writes a diagnostic as paragraphs.
func (f Format) plain(d *Diagnostic) string {
	title, _ := d.title()
	return "\n" + title + d.Summary + "\n\n" + f.place(d) + f.detail(d, f.Width)
}

// framed writes a diagnostic beside a coloured rule.
func (f Format) framed(d *Diagnostic) string {
	title, color := d.title()
	body := f.paint(color, title) + f.paint(bold, d.Summary) + "\n\n" + f.place(d) + f.detail(d, f.Width-2)
	var out strings.Builder
	out.WriteString(f.paint(color, "╷") + "\n")
	for line := range strings.Lines(strings.TrimRight(body, "\n") + "\n") {
		out.WriteString(f.paint(color, "│") + " " + line)
	}
	out.WriteString(f.paint(color, "╵") + "\n")
	return out.String()
}

func (f Format) detail(d *Diagnostic, width int) string {
	if d.Detail == "" {
		return ""
	}
	return strings.TrimRight(wrap(d.Detail, width), "\n") + "\n"
}

// place says what a diagnostic is about: the address, the source with its lines
// and the values in it.
func (f Format) place(d *Diagnostic) string {
	var out strings.Builder
	if d.Address != "" {
		fmt.Fprintf(&out, "  with %s,\n", d.Address)
	}
	if d.Subject != nil && d.Subject.Filename != "" {
		out.WriteString(f.source(d))
	}
	if out.Len() == 0 {
		return ""
	}
	return out.String() + "\n"
}

// source shows the lines of a diagnostic's source.
func (f Format) source(d *Diagnostic) string {
	var out strings.Builder
	fmt.Fprintf(&out, "  on %s line %d", d.Subject.Filename, d.Subject.Start.Line)
	s := f.snippet(d)
	if s == nil {
		out.WriteString(":\n  (source code not available)\n")
		return out.String()
	}
	if s.Context != nil {
		out.WriteString(", in " + *s.Context)
	}
	out.WriteString(":\n")
	code := s.Code[:s.HighlightStart] + "\x00" + s.Code[s.HighlightStart:s.HighlightEnd] + "\x01" + s.Code[s.HighlightEnd:]
	for i, line := range strings.Split(code, "\n") {
		fmt.Fprintf(&out, "%4d: %s\n", s.StartLine+i, f.highlight(line))
	}
	out.WriteString(f.values(s))
	return out.String()
}

// highlight replaces the marks around what is wrong; without colours nothing
// stands for them. Only the part on the first line is underlined.
func (f Format) highlight(line string) string {
	start, end := strings.IndexByte(line, 0), strings.IndexByte(line, 1)
	switch {
	case start >= 0 && end > start:
		return line[:start] + f.paint(underline, line[start+1:end]) + line[end+1:]
	case start >= 0:
		return line[:start] + f.paint(underline, line[start+1:])
	case end >= 0:
		return line[:end] + line[end+1:]
	default:
		return line
	}
}

// values lists the values that an expression used.
func (f Format) values(s *snippet) string {
	if len(s.Values) == 0 && s.Call == nil {
		return ""
	}
	var out strings.Builder
	out.WriteString("    " + f.paint(darkGray, "├────────────────") + "\n")
	rule := "    " + f.paint(darkGray, "│") + " "
	if s.Call != nil {
		out.WriteString(rule + "while calling " + f.paint(bold, s.Call.CalledAs) + "(" + s.Call.parameters() + ")\n")
	}
	for _, v := range s.Values {
		out.WriteString(rule + f.paint(bold, v.Traversal) + " " + v.Statement + "\n")
	}
	return out.String()
}

// wrap breaks paragraphs at width. Lines that begin with a space are kept as they are.
func wrap(text string, width int) string {
	if width < 20 {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, " ") {
			out.WriteString(line)
			continue
		}
		out.WriteString(wordwrap.WrapString(line, uint(width)))
	}
	return out.String()
}
