package tfdiags

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Severity says whether a problem stops the operation that found it.
type Severity rune

const (
	// Error means that the operation's result cannot be used.
	Error Severity = 'E'
	// Warning means that the operation goes on.
	Warning Severity = 'W'
)

// String returns "error" or "warning", as in Terraform's JSON output.
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is one problem, told to a user.
type Diagnostic struct {
	Severity Severity
	// Summary is a fixed text without names of the user's, so that equal
	// problems can be counted.
	Summary string
	// Detail says what is wrong, why, and what to do, in full sentences.
	Detail string
	// Subject is the tight source range of the problem, Context a wider range
	// that includes it. Both may be nil.
	Subject, Context *hcl.Range
	// Address is the resource instance, module or provider concerned, or "".
	Address string
	// Attribute is the path inside the object named by Address that a provider
	// complained about. Empty if the problem is not about one attribute.
	Attribute cty.Path
	// Expression and EvalContext let a renderer show the values involved. Both
	// may be nil; sensitive values are never shown.
	Expression  hcl.Expression
	EvalContext *hcl.EvalContext
	// Extra is what the expression language adds to a problem, such as the
	// function that was called; see hcl.Diagnostic.Extra.
	Extra any
}

// Diagnostics is a list of problems. The nil list is ready to use.
type Diagnostics []Diagnostic

// New returns a list with one problem that has no source range.
func New(severity Severity, summary, detail string) Diagnostics {
	return Diagnostics{{Severity: severity, Summary: summary, Detail: detail}}
}

// At returns a list with one error at a source range.
func At(subject hcl.Range, summary, detail string) Diagnostics {
	return Diagnostics{{Severity: Error, Summary: summary, Detail: detail, Subject: subject.Ptr()}}
}

// FromError turns an error into a list with one problem. Diagnostics that err
// wraps (see [Diagnostics.Err]) are returned as they were.
func FromError(summary string, err error) Diagnostics {
	if err == nil {
		return nil
	}
	var wrapped diagnosticsError
	if errors.As(err, &wrapped) {
		return wrapped.diags
	}
	return New(Error, summary, Sentence(err.Error()))
}

// FromHCL converts HCL's diagnostics.
func FromHCL(diags hcl.Diagnostics) Diagnostics {
	if len(diags) == 0 {
		return nil
	}
	out := make(Diagnostics, 0, len(diags))
	for _, d := range diags {
		severity := Error
		if d.Severity == hcl.DiagWarning {
			severity = Warning
		}
		summary, detail := explainFunction(d)
		out = append(out, Diagnostic{
			Severity: severity, Summary: summary, Detail: detail,
			Subject: d.Subject, Context: d.Context,
			Expression: d.Expression, EvalContext: d.EvalContext, Extra: d.Extra,
		})
	}
	return out
}

// explainFunction returns the summary and the detail of a problem, with words of
// our own for a function outside the language itself: the parser knows nothing of providers.
func explainFunction(d *hcl.Diagnostic) (summary, detail string) {
	unknown, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](d)
	if !ok || unknown.CalledFunctionNamespace() == "" {
		return d.Summary, d.Detail
	}
	const unknownFunction = "Unknown provider function"
	namespace, name := unknown.CalledFunctionNamespace(), unknown.CalledFunctionName()
	local, isProvider := strings.CutPrefix(strings.TrimSuffix(namespace, "::"), "provider::")
	switch {
	case namespace == "provider::":
		return unknownFunction, fmt.Sprintf("A function of a provider is called by the local name of the provider and its own, as in provider::NAME::%s(...).", name)
	case !isProvider:
		return unknownFunction, fmt.Sprintf("There is no namespace %q. A function of a provider is called by the local name of the provider and its own, as in provider::NAME::%s(...).", namespace, name)
	default:
		return unknownFunction, fmt.Sprintf("There is no function %s%s. Check that the module's required_providers block names the provider %q, and that this version of the provider has a function %q.", namespace, name, local, name)
	}
}

// HasErrors tells whether any problem is an error.
func (d Diagnostics) HasErrors() bool {
	for i := range d {
		if d[i].Severity == Error {
			return true
		}
	}
	return false
}

// WithAddress returns a copy in which every problem that names no address names this one.
func (d Diagnostics) WithAddress(addr string) Diagnostics {
	out := make(Diagnostics, len(d))
	copy(out, d)
	for i := range out {
		if out[i].Address == "" {
			out[i].Address = addr
		}
	}
	return out
}

// WithSubject returns a copy in which every problem without a source range has this one.
func (d Diagnostics) WithSubject(subject hcl.Range) Diagnostics {
	out := make(Diagnostics, len(d))
	copy(out, d)
	for i := range out {
		if out[i].Subject == nil {
			out[i].Subject = subject.Ptr()
		}
	}
	return out
}

// Warnings returns the list with every error turned into a warning.
func (d Diagnostics) Warnings() Diagnostics {
	out := make(Diagnostics, len(d))
	copy(out, d)
	for i := range out {
		out[i].Severity = Warning
	}
	return out
}

// Err returns the list as an error, or nil if it holds no error.
func (d Diagnostics) Err() error {
	if !d.HasErrors() {
		return nil
	}
	return diagnosticsError{d}
}

type diagnosticsError struct{ diags Diagnostics }

// Error lists the errors' summaries and details, one line each.
func (e diagnosticsError) Error() string {
	var lines []string
	for _, d := range e.diags {
		if d.Severity != Error {
			continue
		}
		line := d.Summary
		if d.Address != "" {
			line = d.Address + ": " + line
		}
		if d.Detail != "" {
			line += ": " + d.Detail
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Sentence gives an error's text the form of a detail: capital first, unless it begins with
// a path, an address or the like, and a full stop last.
func Sentence(text string) string {
	if text == "" {
		return text
	}
	if word, _, _ := strings.Cut(text, " "); !strings.ContainsAny(strings.TrimRight(word, ".:,"), "/._=") {
		first, size := utf8.DecodeRuneInString(text)
		text = string(unicode.ToUpper(first)) + text[size:]
	}
	if !strings.ContainsAny(text[len(text)-1:], ".!?") {
		text += "."
	}
	return text
}
