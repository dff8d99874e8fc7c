package tfdiags

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/mitchellh/go-wordwrap"
)

// Format is how diagnostics are written for people.
type Format struct {
	// Color allows ANSI colours.
	Color bool
	// Width is the number of columns to wrap details at; 0 means no wrapping.
	Width int
	// Sources are the bytes of source files by name, for snippets; may be nil.
	Sources map[string][]byte
}

// Write writes each diagnostic in a frame, warnings first, as Terraform does.
func (f Format) Write(w io.Writer, diags Diagnostics) error {
	sorted := slices.Clone(diags)
	slices.SortStableFunc(sorted, func(a, b Diagnostic) int { return int(b.Severity) - int(a.Severity) })
	for _, d := range sorted {
		if _, err := io.WriteString(w, f.one(d)); err != nil {
			return err
		}
	}
	return nil
}

func (f Format) one(d Diagnostic) string {
	title, color := "Error: ", "\x1b[31m"
	if d.Severity == Warning {
		title, color = "Warning: ", "\x1b[33m"
	}
	paint := func(code, text string) string {
		if !f.Color {
			return text
		}
		return code + text + "\x1b[0m"
	}
	var body bytes.Buffer
	body.WriteString(paint(color, title) + paint("\x1b[1m", d.Summary) + "\n\n")
	if d.Address != "" {
		fmt.Fprintf(&body, "  with %s,\n", d.Address)
	}
	body.WriteString(f.snippet(d))
	if d.Detail != "" {
		body.WriteString(wrap(d.Detail, f.Width-2))
	}
	rule := paint(color, "│ ")
	var out strings.Builder
	out.WriteString(paint(color, "╷") + "\n")
	for line := range strings.Lines(strings.TrimRight(body.String(), "\n") + "\n") {
		out.WriteString(strings.TrimRight(rule+line, " \n") + "\n")
	}
	out.WriteString(paint(color, "╵") + "\n")
	return out.String()
}

// snippet names the source range and shows its lines.
func (f Format) snippet(d Diagnostic) string {
	if d.Subject == nil || d.Subject.Filename == "" {
		if d.Address != "" {
			return "\n"
		}
		return ""
	}
	context, lines := sourceLines(f.Sources, d.Subject)
	var out strings.Builder
	fmt.Fprintf(&out, "  on %s line %d", d.Subject.Filename, d.Subject.Start.Line)
	if context != "" {
		out.WriteString(", in " + context)
	}
	if len(lines) == 0 {
		return out.String() + "\n\n"
	}
	out.WriteString(":\n")
	for i, line := range lines {
		fmt.Fprintf(&out, "  %d: %s\n", d.Subject.Start.Line+i, line)
	}
	return out.String() + "\n"
}

// maxSnippetLines bounds how much source one diagnostic shows.
const maxSnippetLines = 5

// sourceLines returns the header of the block around a range and the range's lines.
func sourceLines(sources map[string][]byte, at *hcl.Range) (context string, lines []string) {
	src, ok := sources[at.Filename]
	if !ok {
		return "", nil
	}
	if file, _ := hclparse.NewParser().ParseHCL(src, at.Filename); file != nil && strings.HasSuffix(at.Filename, ".tf") {
		if block := file.OutermostBlockAtPos(at.Start); block != nil {
			context = blockHeader(block)
		}
	}
	scanner := hcl.NewRangeScanner(src, at.Filename, scanLines)
	for scanner.Scan() {
		line := scanner.Range()
		if line.Start.Line >= at.Start.Line && line.Start.Line <= max(at.End.Line, at.Start.Line) && len(lines) < maxSnippetLines {
			lines = append(lines, string(scanner.Bytes()))
		}
	}
	return context, lines
}

func blockHeader(block *hcl.Block) string {
	header := block.Type
	for _, label := range block.Labels {
		header += fmt.Sprintf(" %q", label)
	}
	return header
}

// scanLines splits at line ends, which belong to no token.
func scanLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, bytes.TrimRight(data[:i], "\r"), nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
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

// MarshalJSON writes the form of Terraform's machine-readable output.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	type position struct {
		Line   int `json:"line"`
		Column int `json:"column"`
		Byte   int `json:"byte"`
	}
	type sourceRange struct {
		Filename string   `json:"filename"`
		Start    position `json:"start"`
		End      position `json:"end"`
	}
	out := struct {
		Severity string       `json:"severity"`
		Summary  string       `json:"summary"`
		Detail   string       `json:"detail"`
		Address  string       `json:"address,omitempty"`
		Range    *sourceRange `json:"range,omitempty"`
	}{Severity: d.Severity.String(), Summary: d.Summary, Detail: d.Detail, Address: d.Address}
	if d.Subject != nil {
		out.Range = &sourceRange{
			Filename: d.Subject.Filename,
			Start:    position{d.Subject.Start.Line, d.Subject.Start.Column, d.Subject.Start.Byte},
			End:      position{d.Subject.End.Line, d.Subject.End.Column, d.Subject.End.Byte},
		}
	}
	return json.Marshal(out)
}
