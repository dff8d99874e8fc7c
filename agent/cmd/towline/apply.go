package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/planfile"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

func (a *app) applyCommand() *command   { return a.applyVerb("apply") }
func (a *app) destroyCommand() *command { return a.applyVerb("destroy") }

// applyVerb is apply, or destroy, which is apply -destroy.
func (a *app) applyVerb(verb string) *command {
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	var in inputFlags
	in.register(flags)
	in.registerJSON(flags)
	approve := flags.Bool("auto-approve", false, "do not ask before applying")
	destroy := flags.Bool("destroy", verb == "destroy", "destroy all objects")
	refreshOnly := flags.Bool("refresh-only", false, "only take up into the state how the real objects are")
	return &command{
		synopsis: map[string]string{"apply": "Create or change real objects as the configuration says", "destroy": "Destroy all objects of the configuration"}[verb],
		usage:    "[options] [PLAN]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			in.apply(a)
			mode, ok := a.mode(*destroy, *refreshOnly)
			if !ok || a.show(in.check(mode)) {
				return exitFailed
			}
			if len(args) > 1 || (len(args) == 1 && verb == "destroy") {
				a.refuseArguments(verb, args)
				return exitFailed
			}
			if in.json && !*approve && len(args) == 0 {
				a.fail("Plan file or auto-approve required", errors.New("with -json nobody can be asked; give a saved plan, or use -auto-approve"))
				return exitFailed
			}
			in.plans = len(args) == 0
			s, ok := a.openSession(ctx, &in, "OperationTypeApply")
			if !ok {
				return exitFailed
			}
			defer s.close()
			var plan *plans.Plan
			if len(args) == 1 {
				plan, ok = s.saved(args[0])
			} else {
				plan, ok = s.approved(ctx, mode, *approve)
			}
			if !ok {
				return exitFailed
			}
			return s.apply(ctx, plan, verb == "destroy")
		},
	}
}

// approved makes a plan and asks whether to apply it.
func (s *session) approved(ctx context.Context, mode plans.Mode, auto bool) (*plans.Plan, bool) {
	if auto {
		plan, diags := s.planned(ctx, mode)
		if diags.HasErrors() {
			s.tell(diags)
			return nil, false
		}
		if plan.Mode != plans.RefreshOnlyMode || plan.Applyable() {
			diags = withoutChecks(diags)
		}
		s.held = append(s.held, diags...)
		return plan, true
	}
	plan, ok := s.plan(ctx, mode)
	if !ok || !plan.Applyable() {
		return plan, ok
	}
	question := "\nDo you want to perform these actions?\n  Towline will perform the actions described above."
	if mode == plans.DestroyMode {
		question = "\nDo you really want to destroy all resources?\n  Towline will destroy all your managed infrastructure, as shown above.\n  There is no undo."
	}
	if !s.in.input {
		s.app.fail("Approval needed", errors.New("the plan has changes and -input=false forbids asking; review the plan and use -auto-approve, or save it with plan -out and apply the file"))
		return nil, false
	}
	yes, err := s.app.ask(question)
	if err != nil {
		s.app.fail("Approval needed", err)
		return nil, false
	}
	if !yes {
		s.app.printf("Apply cancelled.\n")
	}
	return plan, yes
}

// withoutChecks leaves out what check blocks found, since the apply checks again.
func withoutChecks(diags tfdiags.Diagnostics) tfdiags.Diagnostics {
	return slices.DeleteFunc(diags, func(d tfdiags.Diagnostic) bool {
		return d.Severity == tfdiags.Warning && strings.HasPrefix(d.Summary, "Check block assertion ")
	})
}

// saved reads a plan file and refuses it if what it was made from has changed.
func (s *session) saved(path string) (*plans.Plan, bool) {
	saved, err := planfile.Read(path)
	if err != nil {
		s.app.fail(fmt.Sprintf("Failed to load %q as a plan file", path), err)
		return nil, false
	}
	switch {
	case saved.Serial != s.state.State.Serial || (saved.Lineage != "" && saved.Lineage != s.state.State.Lineage):
		s.app.fail("Saved plan is stale", errors.New("the given plan file can no longer be applied because the state was changed by another operation after the plan was created; plan again"))
		return nil, false
	case saved.ConfigDigest != configDigest(s.config):
		s.app.fail("Saved plan is stale", errors.New("the configuration was changed after the plan was created, and a plan is applied only with the configuration it was made from; plan again"))
		return nil, false
	}
	if s.app.stream != nil {
		s.app.stream.Saved(saved.Plan)
	}
	diags := s.checkGiven(saved.Plan)
	s.held = append(s.held, diags...)
	if diags.HasErrors() {
		return nil, false
	}
	return saved.Plan, true
}

// imported is the part of the last line that counts adopted objects, if there are any.
func imported(plan *plans.Plan) string {
	if n := plan.Count().Import; n > 0 {
		return fmt.Sprintf("%d imported, ", n)
	}
	return ""
}

// apply applies a plan that a person has approved and keeps the state. What it
// says in the end depends on whether destroying was asked for now: a saved plan is
// applied, whatever it does.
func (s *session) apply(ctx context.Context, plan *plans.Plan, destroying bool) int {
	counter := &counting{Hook: s.app.hook()}
	s.engine.SetHook(counter)
	state, diags := s.engine.Apply(ctx, s.config, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: s.state.Journal, Variables: s.variables})
	if state != nil {
		s.state.KeepEmpty = !diags.HasErrors()
		if err := s.state.Save(state); err != nil {
			s.app.fail("Failed to save state", fmt.Errorf("%w; what was done is in the journal beside the state file and will be taken up by the next run", err))
			return exitFailed
		}
	}
	if s.tell(diags) {
		return exitFailed
	}
	if s.app.stream != nil {
		n := plans.Counts{Import: plan.Count().Import, Add: int(counter.added.Load()), Change: int(counter.changed.Load()), Destroy: int(counter.destroyed.Load())}
		s.app.stream.Done(n, destroying)
	}
	if destroying {
		s.app.printf("\n%s\n", s.app.paint("\x1b[1;32m", fmt.Sprintf("Destroy complete! Resources: %d destroyed.", counter.destroyed.Load())))
		return exitOK
	}
	s.app.printf("\n%s\n", s.app.paint("\x1b[1;32m", fmt.Sprintf("Apply complete! Resources: %s%d added, %d changed, %d destroyed.", imported(plan), counter.added.Load(), counter.changed.Load(), counter.destroyed.Load())))
	return s.app.finalOutputs(state)
}

// finalOutputs tells the outputs at the end of an operation.
func (a *app) finalOutputs(state *states.State) int {
	err := error(nil)
	if a.stream != nil {
		err = errors.Join(a.stream.Outputs(state.Outputs), a.stream.Err())
	} else {
		if len(state.Outputs) > 0 {
			a.printf("\nOutputs:\n\n")
		}
		err = a.renderOutputs(state)
	}
	if err != nil {
		a.fail("Failed to show outputs", err)
		return exitFailed
	}
	return exitOK
}
