package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/planfile"
	"github.com/towline/terraform-provider-towline/internal/plans/planjson"
	"github.com/towline/terraform-provider-towline/internal/plans/render"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

func (a *app) showCommand() *command {
	flags := flag.NewFlagSet("show", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print JSON")
	noColor := flags.Bool("no-color", false, "no colours in the output")
	return &command{
		synopsis: "Show the state, or a saved plan", usage: "[options] [FILE]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			a.color = a.color && !*noColor
			if len(args) > 1 {
				a.fail("Too many command line arguments", errors.New("show takes one file at most: a saved plan or a state"))
				return exitFailed
			}
			path := append(args, "")[0]
			w, diags := a.openWorkspace(engine.NoHook{}, 0)
			if a.refused(diags) {
				return exitFailed
			}
			err := a.showFile(ctx, w, path, *asJSON)
			if err = errors.Join(err, w.close()); err != nil {
				a.fail("Failed to show "+path, err)
				return exitFailed
			}
			return exitOK
		},
	}
}

// showInstance shows a state that holds one instance.
func (a *app) showInstance(ctx context.Context, state *states.State) int {
	w, diags := a.openWorkspace(engine.NoHook{}, 0)
	if a.refused(diags) {
		return exitFailed
	}
	schemas, err := schemasOf(ctx, w.engine, stateProviders(state))
	if err == nil {
		err = render.State(a.stdout, state, render.SchemasOf(schemas), a.renderOptions())
	}
	if err = errors.Join(err, w.close()); err != nil {
		a.fail("Failed to show state", err)
		return exitFailed
	}
	return exitOK
}

// showFile shows a plan file, or a state file if it is not one.
func (a *app) showFile(ctx context.Context, w *workspace, path string, asJSON bool) error {
	if path != "" {
		saved, err := planfile.Read(path)
		if err == nil {
			return a.showPlan(ctx, w, saved.Plan, asJSON)
		}
		if !errors.Is(err, planfile.ErrNotPlan) {
			return err
		}
	}
	state, err := a.shownState(ctx, w, path)
	if err != nil {
		return err
	}
	schemas, err := schemasOf(ctx, w.engine, stateProviders(state))
	if err != nil {
		return err
	}
	if !asJSON {
		return render.State(a.stdout, state, render.SchemasOf(schemas), a.renderOptions())
	}
	out, err := planjson.State(state, schemas)
	if err == nil {
		a.printf("%s\n", out)
	}
	return err
}

// shownState reads the state in a file, or that of the workspace.
func (a *app) shownState(ctx context.Context, w *workspace, path string) (*states.State, error) {
	p, diags := findPlace(ctx, w.config.Module.Backend, path)
	if err := diags.Err(); err != nil {
		return nil, err
	}
	state, diags := workdir.Read(ctx, p.store)
	return state, diags.Err()
}

func (a *app) showPlan(ctx context.Context, w *workspace, plan *plans.Plan, asJSON bool) error {
	if !asJSON {
		return a.renderPlan(ctx, w.engine, plan)
	}
	out, err := w.planDocument(ctx, plan)
	if err == nil {
		a.printf("%s\n", out)
	}
	return err
}

// planDocument is Terraform's plan JSON.
func (w *workspace) planDocument(ctx context.Context, plan *plans.Plan) ([]byte, error) {
	schemas, diags := w.engine.PlanSchemas(ctx, w.config, plan)
	if err := diags.Err(); err != nil {
		return nil, fmt.Errorf("get schemas: %w", err)
	}
	return planjson.Plan(plan, w.config, schemas)
}

func (a *app) renderOptions() render.Options { return render.Options{Color: a.color, Width: a.width} }

// renderPlan shows a plan to a person.
func (a *app) renderPlan(ctx context.Context, e *engine.Engine, plan *plans.Plan) error {
	schemas, err := schemasOf(ctx, e, plan.Providers())
	if err != nil {
		return err
	}
	return render.Plan(a.stdout, plan, render.SchemasOf(schemas), a.renderOptions())
}

// renderTo writes a value as an expression.
func renderTo(w io.Writer, v cty.Value) error { return render.Value(w, v) }

// renderOutputs shows the outputs in a state.
func (a *app) renderOutputs(state *states.State) error {
	return render.Outputs(a.stdout, state.Outputs, a.renderOptions())
}

func stateProviders(state *states.State) map[addrs.Provider]bool {
	used := map[addrs.Provider]bool{}
	for _, r := range state.Resources() {
		used[r.Provider.Provider] = true
	}
	return used
}

// schemasOf returns the schemas of the given providers.
func schemasOf(ctx context.Context, e *engine.Engine, used map[addrs.Provider]bool) (map[addrs.Provider]*providers.Schema, error) {
	all, diags := e.Schemas(ctx, slices.Collect(maps.Keys(used)))
	if err := diags.Err(); err != nil {
		return nil, fmt.Errorf("get schemas: %w", err)
	}
	return all, nil
}
