package oracletest

import (
	"path/filepath"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// ApplyProblems plans and, if that can be done, applies with the engine what stands
// in the folder. It returns the problems in the form of [Bench.Problems] and the
// state afterwards, which it writes nowhere.
func (b *Bench) ApplyProblems(opts engine.PlanOptions) ([]string, *states.State) {
	b.tb.Helper()
	config, diags := configs.Load(b.Dir)
	if diags.HasErrors() {
		return Summaries(diags), b.State()
	}
	eng := engine.New(engine.Options{Providers: b.Providers})
	b.tb.Cleanup(func() { _ = eng.Close() })
	plan, moreDiags := eng.Plan(b.tb.Context(), config, b.State(), opts)
	if diags = append(diags, moreDiags...); diags.HasErrors() {
		return Summaries(diags), b.State()
	}
	j, _, err := journal.Open(filepath.Join(b.tb.TempDir(), "journal"))
	if err != nil {
		b.tb.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	state, moreDiags := eng.Apply(b.tb.Context(), config, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: j, Variables: opts.Variables})
	return Summaries(append(diags, moreDiags...)), state
}
