package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// shapes are configurations of n instances that stress the engine in different ways.
var shapes = map[string]func(n int) string{
	"layers":     layersShape,
	"correlated": correlatedShape,
	"chain":      chainShape,
}

// layersShape has 50 layers of counted resources, each referring to the layer before.
func layersShape(n int) string {
	var b strings.Builder
	for layer := range 50 {
		input := `"start"`
		if layer > 0 {
			input = fmt.Sprintf("terraform_data.l%d[count.index].id", layer-1)
		}
		fmt.Fprintf(&b, "resource \"terraform_data\" \"l%d\" {\n  count = %d\n  input = %s\n}\n", layer, n/50, input)
	}
	return b.String()
}

func correlatedShape(n int) string {
	return fmt.Sprintf("resource \"terraform_data\" \"a\" {\n  count = %[1]d\n}\nresource \"terraform_data\" \"b\" {\n  count = %[1]d\n  input = terraform_data.a[count.index].id\n}\n", n/2)
}

func chainShape(n int) string {
	var b strings.Builder
	b.WriteString("resource \"terraform_data\" \"r0\" {}\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "resource \"terraform_data\" \"r%d\" {\n  input = terraform_data.r%d.id\n}\n", i, i-1)
	}
	return b.String()
}

func BenchmarkShapes(b *testing.B) {
	for name, shape := range shapes {
		for _, n := range []int{1000, 5000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) { benchmarkShape(b, shape(n)) })
		}
	}
}

// benchmarkShape measures a first plan, an apply and a plan without changes. Plans
// are made by engines that know nothing yet, as commands make them.
func benchmarkShape(b *testing.B, source string) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(source), 0o600); err != nil {
		b.Fatal(err)
	}
	config, diags := configs.Load(dir)
	if diags.HasErrors() {
		b.Fatal(diags.Err())
	}
	e := engine.New(engine.Options{})
	b.Cleanup(func() { _ = e.Close() })
	plan, diags := e.Plan(b.Context(), config, states.New(), engine.PlanOptions{})
	if diags.HasErrors() {
		b.Fatal(diags.Err())
	}
	state := states.New()
	fresh := func(b *testing.B, state *states.State, applyable bool) {
		b.Helper()
		e := engine.New(engine.Options{})
		defer e.Close() //nolint:errcheck // no provider process was started
		if plan, diags := e.Plan(b.Context(), config, state, engine.PlanOptions{}); diags.HasErrors() || plan.Applyable() != applyable {
			b.Fatal("planned something else", diags.Err())
		}
	}
	b.Run("plan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			fresh(b, states.New(), true)
		}
	})
	b.Run("apply", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			j, _, err := journal.Open(filepath.Join(b.TempDir(), "journal"))
			if err != nil {
				b.Fatal(err)
			}
			if state, diags = e.Apply(b.Context(), config, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: j}); diags.HasErrors() {
				b.Fatal(diags.Err())
			}
			if err := j.Remove(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("no-op", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			fresh(b, state, false)
		}
	})
}

// BenchmarkWarmRound measures a round in which nothing has changed, of an engine
// that knows everything: what an agent does all day.
func BenchmarkWarmRound(b *testing.B) {
	benchmarkRounds(b, func(*states.State) {})
}

// BenchmarkChangedRound measures a round in which the record of one object is
// another: all is walked, and almost everything is known.
func BenchmarkChangedRound(b *testing.B) {
	benchmarkRounds(b, func(state *states.State) {
		r := state.Resources()[0]
		for key, inst := range r.Instances {
			state.SetObject(addrs.ResourceInstance{Module: r.Module, Resource: r.Addr, Key: key}, r.Provider, inst.Current.WithTaint(false))
			return
		}
	})
}

func benchmarkRounds(b *testing.B, change func(*states.State)) {
	b.Helper()
	for name, shape := range shapes {
		for _, n := range []int{5000, 50000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) { benchmarkRound(b, shape(n), change) })
		}
	}
}

func benchmarkRound(b *testing.B, source string, change func(*states.State)) {
	b.Helper()
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(source), 0o600); err != nil {
		b.Fatal(err)
	}
	config, diags := configs.Load(dir)
	if diags.HasErrors() {
		b.Fatal(diags.Err())
	}
	e := engine.New(engine.Options{})
	b.Cleanup(func() { _ = e.Close() })
	plan, diags := e.Plan(b.Context(), config, states.New(), engine.PlanOptions{})
	if diags.HasErrors() {
		b.Fatal(diags.Err())
	}
	j, _, err := journal.Open(filepath.Join(dir, "journal"))
	if err != nil {
		b.Fatal(err)
	}
	state, diags := e.Apply(b.Context(), config, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: j})
	if diags.HasErrors() {
		b.Fatal(diags.Err())
	}
	round := func() {
		change(state)
		plan, diags := e.Plan(b.Context(), config, state, engine.PlanOptions{})
		if diags.HasErrors() || plan.Applyable() {
			b.Fatal("a round in which nothing had changed planned changes", diags.Err())
		}
		state = plan.Prior
	}
	round()
	b.ReportAllocs()
	for b.Loop() {
		round()
	}
}
