package tfdiags

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"
)

type jsonPosition struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

type jsonRange struct {
	Filename string       `json:"filename"`
	Start    jsonPosition `json:"start"`
	End      jsonPosition `json:"end"`
}

type jsonDiagnostic struct {
	Severity string     `json:"severity"`
	Summary  string     `json:"summary"`
	Detail   string     `json:"detail"`
	Address  string     `json:"address,omitempty"`
	Range    *jsonRange `json:"range,omitempty"`
	Snippet  *snippet   `json:"snippet,omitempty"`
}

// MarshalJSON writes the form of Terraform's machine-readable output, without
// the source, see [Format.JSON].
func (d Diagnostic) MarshalJSON() ([]byte, error) { return Format{}.JSON(d) }

// JSON writes the form of Terraform's machine-readable output, with the source
// as far as it is at hand.
func (f Format) JSON(d Diagnostic) ([]byte, error) {
	out := jsonDiagnostic{Severity: d.Severity.String(), Summary: d.Summary, Detail: d.Detail, Address: d.Address}
	if d.Subject != nil {
		out.Range = newJSONRange(d.Subject)
		out.Snippet = f.snippet(&d)
	}
	return json.Marshal(out)
}

func newJSONRange(r *hcl.Range) *jsonRange {
	end := r.End
	if r.Empty() {
		end.Byte++
		end.Column++
	}
	return &jsonRange{
		Filename: r.Filename,
		Start:    jsonPosition{r.Start.Line, r.Start.Column, r.Start.Byte},
		End:      jsonPosition{end.Line, end.Column, end.Byte},
	}
}
