package main

import (
	"context"
	"flag"
	"maps"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

func (a *app) refreshCommand() *command {
	flags := flag.NewFlagSet("refresh", flag.ContinueOnError)
	var in inputFlags
	in.register(flags)
	in.registerJSON(flags)
	return &command{
		synopsis: "Take up into the state how the real objects are", usage: "[options]", flags: flags,
		long: "  This is apply -refresh-only -auto-approve: nobody is asked. Prefer\n  apply -refresh-only, which shows first what it found.",
		run: func(ctx context.Context, args []string) int {
			in.apply(a)
			if a.refuseArguments("refresh", args) || a.show(in.check(plans.NormalMode)) {
				return exitFailed
			}
			in.plans = true
			s, ok := a.openSession(ctx, &in, "OperationTypeRefresh")
			if !ok {
				return exitFailed
			}
			defer s.close()
			return s.refresh(ctx)
		},
	}
}

// refresh reads the real objects and keeps what it found.
func (s *session) refresh(ctx context.Context) int {
	if s.state.State.Count() == 0 {
		s.held = append(s.held, tfdiags.New(tfdiags.Warning, "Empty or non-existent state", "The state records no objects, so there is nothing to refresh.")...)
	}
	opts, diags := s.in.planOptions(s.variables)
	if s.tell(diags) {
		return exitFailed
	}
	opts.Mode = plans.RefreshOnlyMode
	recorded := maps.Clone(s.state.State.Outputs)
	plan, diags := s.engine.Plan(ctx, s.config, s.state.State, opts)
	if s.tell(diags) {
		return exitFailed
	}
	state := plan.Prior
	if plan.Applyable() {
		s.engine.SetHook(engine.NoHook{})
		state, diags = s.engine.Apply(ctx, s.config, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: s.state.Journal, Variables: s.variables})
		keepUnknownOutputs(state, plan, recorded)
	} else {
		diags = nil
	}
	if state != nil {
		if err := s.state.Save(state); err != nil {
			s.app.fail("Failed to save state", err)
			return exitFailed
		}
	}
	if s.tell(diags) {
		return exitFailed
	}
	return s.app.finalOutputs(state)
}

// keepUnknownOutputs leaves outputs as they are recorded whose values the real objects
// do not tell wholly. Terraform's refresh does so, and its apply -refresh-only records nulls.
func keepUnknownOutputs(state *states.State, plan *plans.Plan, recorded map[string]*states.Output) {
	for _, o := range plan.Outputs {
		if state == nil || o.After == cty.NilVal || o.After.IsWhollyKnown() {
			continue
		}
		delete(state.Outputs, o.Name)
		if before, ok := recorded[o.Name]; ok {
			state.Outputs[o.Name] = before
		}
	}
}
