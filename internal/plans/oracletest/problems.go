package oracletest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// event is what matters of a line that terraform prints with -json.
type event struct {
	Type       string  `json:"type"`
	Diagnostic problem `json:"diagnostic"`
}

type problem struct {
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Range    *struct {
		Start struct {
			Line int `json:"line"`
		} `json:"start"`
	} `json:"range"`
}

// Problems runs the binary with -json and returns the problems it reports, as
// "severity: summary", sorted. Those about how it was set up here are left out.
func (b *Bench) Problems(args ...string) []string {
	b.tb.Helper()
	stdout, stderr, _ := b.Run(append(args, "-json")...)
	var out []string
	note := func(p problem) {
		if !strings.Contains(p.Summary, "development overrides") {
			out = append(out, p.Severity+": "+p.Summary)
		}
	}
	var whole struct { // what validate prints
		Diagnostics []problem `json:"diagnostics"`
	}
	if json.Unmarshal([]byte(stdout), &whole) == nil {
		for _, p := range whole.Diagnostics {
			note(p)
		}
		slices.Sort(out)
		return out
	}
	for line := range strings.Lines(stdout) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			b.tb.Fatalf("terraform %s printed %q: %v\n%s", strings.Join(args, " "), line, err, stderr)
		}
		if e.Type == "diagnostic" {
			note(e.Diagnostic)
		}
	}
	slices.Sort(out)
	return out
}

// PlanProblems plans with the engine what stands in the folder, whether or not it can
// be loaded, and returns the problems in the form of [Bench.Problems].
func (b *Bench) PlanProblems(opts engine.PlanOptions) []string {
	b.tb.Helper()
	config, diags := configs.Load(b.Dir)
	if diags.HasErrors() {
		return Summaries(diags)
	}
	eng := engine.New(engine.Options{Providers: b.Providers})
	b.tb.Cleanup(func() { _ = eng.Close() })
	_, moreDiags := eng.Plan(b.tb.Context(), config, b.State(), opts)
	return Summaries(append(diags, moreDiags...))
}

// ValidateProblems is [Bench.PlanProblems] for the validation of a configuration.
func (b *Bench) ValidateProblems() []string {
	b.tb.Helper()
	config, diags := configs.Load(b.Dir)
	if diags.HasErrors() {
		return Summaries(diags)
	}
	eng := engine.New(engine.Options{Providers: b.Providers})
	b.tb.Cleanup(func() { _ = eng.Close() })
	return Summaries(append(diags, eng.Validate(b.tb.Context(), config)...))
}

// Summaries lists problems in the form of [Bench.Problems].
func Summaries(diags tfdiags.Diagnostics) []string {
	var out []string
	for _, d := range diags {
		severity := "error"
		if d.Severity == tfdiags.Warning {
			severity = "warning"
		}
		out = append(out, severity+": "+d.Summary)
	}
	slices.Sort(out)
	return out
}
