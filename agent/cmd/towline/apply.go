package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/planfile"
)

func (a *app) applyCommand() *command   { return a.applyVerb("apply") }
func (a *app) destroyCommand() *command { return a.applyVerb("destroy") }

// applyVerb is apply, or destroy, which is apply -destroy.
func (a *app) applyVerb(verb string) *command {
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	var in inputFlags
	in.register(flags)
	approve := flags.Bool("auto-approve", false, "do not ask before applying")
	destroy := flags.Bool("destroy", verb == "destroy", "destroy all objects")
	refreshOnly := flags.Bool("refresh-only", false, "only take up into the state how the real objects are")
	return &command{
		synopsis: map[string]string{"apply": "Create or change real objects as the configuration says", "destroy": "Destroy all objects of the configuration"}[verb],
		usage:    "[options] [PLAN]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			in.apply(a)
			mode, ok := a.mode(*destroy, *refreshOnly)
			if !ok {
				return exitFailed
			}
			if len(args) > 1 || (len(args) == 1 && verb == "destroy") {
				a.refuseArguments(verb, args)
				return exitFailed
			}
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
			return s.apply(ctx, plan)
		},
	}
}

// approved makes a plan and asks whether to apply it.
func (s *session) approved(ctx context.Context, mode plans.Mode, auto bool) (*plans.Plan, bool) {
	plan, ok := s.plan(ctx, mode)
	if !ok || auto || !plan.Applyable() {
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
	yes, err := s.app.ask(ctx, question)
	if err != nil {
		s.app.fail("Approval needed", err)
		return nil, false
	}
	if !yes {
		s.app.printf("Apply cancelled.\n")
	}
	return plan, yes
}

// saved reads a plan file and refuses it if what it was made from has changed.
func (s *session) saved(path string) (*plans.Plan, bool) {
	saved, err := planfile.Read(path)
	if err != nil {
		s.app.fail("Failed to load plan file", err)
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
	return saved.Plan, true
}

// imported is the part of the last line that counts adopted objects, if there are any.
func imported(plan *plans.Plan) string {
	if n := plan.Count().Import; n > 0 {
		return fmt.Sprintf("%d imported, ", n)
	}
	return ""
}

// apply applies a plan that a person has approved and keeps the state.
func (s *session) apply(ctx context.Context, plan *plans.Plan) int {
	counter := &counting{progress: newProgress(s.app)}
	s.engine.SetHook(counter)
	state, diags := s.engine.Apply(ctx, s.config, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: s.state.Journal, Variables: s.variables})
	if state != nil {
		if err := s.state.Save(state); err != nil {
			s.app.fail("Failed to save state", fmt.Errorf("%w; what was done is in the journal beside the state file and will be taken up by the next run", err))
			return exitFailed
		}
	}
	if s.app.show(diags) {
		return exitFailed
	}
	if plan.Mode == plans.DestroyMode {
		s.app.printf("\n%s\n", s.app.paint("\x1b[1;32m", fmt.Sprintf("Destroy complete! Resources: %d destroyed.", counter.destroyed.Load())))
		return exitOK
	}
	s.app.printf("\n%s\n", s.app.paint("\x1b[1;32m", fmt.Sprintf("Apply complete! Resources: %s%d added, %d changed, %d destroyed.", imported(plan), counter.added.Load(), counter.changed.Load(), counter.destroyed.Load())))
	if len(state.Outputs) > 0 {
		s.app.printf("\nOutputs:\n\n")
	}
	if err := s.app.renderOutputs(state); err != nil {
		s.app.fail("Failed to show outputs", err)
		return exitFailed
	}
	return exitOK
}
