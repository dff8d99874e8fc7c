package tfdiags

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
)

// snippet is the source of a problem, in the form of Terraform's JSON output.
// The highlight's offsets count bytes of Code.
type snippet struct {
	Context        *string         `json:"context"`
	Code           string          `json:"code"`
	StartLine      int             `json:"start_line"`
	HighlightStart int             `json:"highlight_start_offset"`
	HighlightEnd   int             `json:"highlight_end_offset"`
	Values         []usedValue     `json:"values"`
	Call           *calledFunction `json:"function_call,omitempty"`
}

// maxSnippetLines bounds how much source one diagnostic shows.
const maxSnippetLines = 20

// snippet returns the source of a diagnostic, or nil if it is not at hand.
func (f Format) snippet(d *Diagnostic) *snippet {
	src, ok := f.Sources[d.Subject.Filename]
	if !ok {
		return nil
	}
	marked, shown := *d.Subject, *d.Subject
	if d.Context != nil && d.Context.Filename == shown.Filename {
		shown = hcl.RangeOver(shown, *d.Context)
	}
	if marked.Empty() {
		marked.End.Byte++
		marked.End.Column++
	}
	if shown.Empty() {
		shown.End.Byte++
		shown.End.Column++
	}
	out := &snippet{Context: blockAround(src, d.Subject), StartLine: shown.Start.Line, Values: usedValues(d), Call: functionCall(d)}
	first, code := linesOf(src, shown)
	out.Code = code
	out.HighlightStart = clamp(marked.Start.Byte-first, len(code))
	out.HighlightEnd = max(clamp(marked.End.Byte-first, len(code)), out.HighlightStart)
	return out
}

func clamp(n, most int) int { return max(0, min(n, most)) }

// linesOf returns the lines that a range touches and the offset of the first.
func linesOf(src []byte, at hcl.Range) (first int, code string) {
	var lines []string
	scanner := hcl.NewRangeScanner(src, at.Filename, scanLines)
	for scanner.Scan() && len(lines) < maxSnippetLines {
		line := scanner.Range()
		if !line.Overlaps(at) {
			continue
		}
		if len(lines) == 0 {
			first = line.Start.Byte
		}
		lines = append(lines, string(scanner.Bytes()))
	}
	return first, strings.Join(lines, "\n")
}

// blockAround returns the header of the outermost block that a range is inside
// of, or nil; what begins a block is not inside.
func blockAround(src []byte, at *hcl.Range) *string {
	if !strings.HasSuffix(at.Filename, ".tf") && !strings.HasSuffix(at.Filename, ".tfvars") {
		return nil
	}
	file, _ := hclparse.NewParser().ParseHCL(src, at.Filename) // as far as it can be parsed
	if file == nil {
		return nil
	}
	before := at.Start
	before.Byte--
	block := file.OutermostBlockAtPos(before)
	if block == nil {
		return nil
	}
	header := block.Type
	for _, label := range block.Labels {
		header += fmt.Sprintf(" %q", label)
	}
	return &header
}

// scanLines splits at line ends, which belong to no line.
func scanLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, bytes.TrimRight(data[:i], "\r"), nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// usedValue says what a reference in an expression stands for.
type usedValue struct {
	Traversal string `json:"traversal"`
	Statement string `json:"statement"`
}

// usedValues lists what an expression's references stand for, ordered and each
// once. Sensitive values and those of which nothing is known are left out.
func usedValues(d *Diagnostic) []usedValue {
	out := []usedValue{}
	if d.Expression == nil || d.EvalContext == nil {
		return out
	}
	for _, traversal := range d.Expression.Variables() {
		for ; len(traversal) > 1; traversal = traversal[:len(traversal)-1] {
			val, diags := traversal.TraverseAbs(d.EvalContext)
			if diags.HasErrors() {
				continue // what is wrong with it may be the problem that is told
			}
			if statement := describe(val); statement != "" {
				out = append(out, usedValue{traversalText(traversal), statement})
			}
			break
		}
	}
	slices.SortFunc(out, func(a, b usedValue) int { return strings.Compare(a.Traversal, b.Traversal) })
	return slices.CompactFunc(out, func(a, b usedValue) bool { return a.Traversal == b.Traversal })
}
