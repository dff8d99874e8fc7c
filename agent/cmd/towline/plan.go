package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"slices"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/planfile"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

func (a *app) planCommand() *command {
	flags := flag.NewFlagSet("plan", flag.ContinueOnError)
	var in inputFlags
	in.register(flags)
	in.registerJSON(flags)
	out := flags.String("out", "", "write the plan to a `file` for apply")
	destroy := flags.Bool("destroy", false, "plan the destruction of all objects")
	refreshOnly := flags.Bool("refresh-only", false, "plan only to take up into the state how the real objects are")
	generate := flags.String("generate-config-out", "", "write resource blocks for the import blocks that have none to a new `file`")
	detailed := flags.Bool("detailed-exitcode", false, "exit with 2 if there are changes")
	return &command{
		synopsis: "Show what apply would change", usage: "[options]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			in.apply(a)
			if a.refuseArguments("plan", args) {
				return exitFailed
			}
			mode, ok := a.mode(*destroy, *refreshOnly)
			if !ok || a.show(in.check(mode)) {
				return exitFailed
			}
			in.plans, in.state.looks = true, true
			s, ok := a.openSession(ctx, &in, "OperationTypePlan")
			if !ok {
				return exitFailed
			}
			defer s.close()
			if *generate != "" && !s.generate(ctx, *generate) {
				return exitFailed
			}
			plan, ok := s.plan(ctx, mode)
			if *out != "" && plan != nil && !plan.Refused {
				ok = s.write(plan, *out) && ok
			}
			switch {
			case !ok:
				return exitFailed
			case *detailed && plan.Applyable():
				return exitChanges
			default:
				return exitOK
			}
		},
	}
}

func (a *app) mode(destroy, refreshOnly bool) (plans.Mode, bool) {
	switch {
	case destroy && refreshOnly:
		a.fail("Incompatible plan mode options", fmt.Errorf("-destroy and -refresh-only are mutually exclusive"))
		return "", false
	case destroy:
		return plans.DestroyMode, true
	case refreshOnly:
		return plans.RefreshOnlyMode, true
	default:
		return plans.NormalMode, true
	}
}

// session is a workspace with its state, locked, for one verb.
type session struct {
	*workspace
	app   *app
	in    *inputFlags
	place *place
	state *workdir.State
	// held are warnings that are told with the problems that come later, so that
	// similar ones are joined: of the configuration, and of a plan that is applied
	// without asking.
	held tfdiags.Diagnostics
	// generated are the resource blocks that were written for import blocks, by address.
	generated map[string]string
}

// openSession opens the workspace and the state, and settles what an earlier
// process left without an answer.
func (a *app) openSession(ctx context.Context, in *inputFlags, operation string) (*session, bool) {
	s, ok := a.openUnsettled(ctx, in, operation)
	if ok && !(s.askVariables() && s.settle(ctx)) {
		s.close()
		return nil, false
	}
	return s, ok
}

// openUnsettled opens the workspace and the state as they are.
func (a *app) openUnsettled(ctx context.Context, in *inputFlags, operation string) (*session, bool) {
	w, diags := a.openWorkspace(a.hook(), in.parallelism)
	if diags.HasErrors() {
		a.show(diags)
		return nil, false
	}
	s := &session{workspace: w, app: a, in: in, held: diags}
	p, diags := findPlace(ctx, w.config.Module.Backend, in.state.path)
	s.held = slices.Concat(s.held, diags, w.collect(in.given, a.sources))
	if s.held.HasErrors() {
		s.close()
		return nil, false
	}
	s.place = p
	prepared := s.prepare(ctx)
	s.state, diags = p.open(ctx, &in.state, operation)
	<-prepared
	if s.held = append(s.held, diags...); diags.HasErrors() {
		s.close()
		return nil, false
	}
	return s, true
}

// prepare prepares the engine while the state is locked and fetched. The channel is closed when that is done.
func (w *workspace) prepare(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.engine.Prepare(ctx, w.config)
	}()
	return done
}

// tell shows problems with those that were held, and tells whether any is an error.
func (s *session) tell(diags tfdiags.Diagnostics) (failed bool) {
	diags = append(s.held, diags...)
	s.held = nil
	return s.app.show(diags)
}

// close ends everything, and tells what was not told yet.
func (s *session) close() {
	var diags tfdiags.Diagnostics
	if s.state != nil {
		diags = append(diags, tfdiags.FromError("Failed to unlock state", s.state.Close())...)
	}
	diags = append(diags, tfdiags.FromError("Failed to end providers", s.workspace.close())...)
	s.tell(diags)
}

// settle finds out how calls ended that an earlier process left open. Creates whose object
// was not there stay in the journal, to be looked for again in later runs.
func (s *session) settle(ctx context.Context) bool {
	if len(s.state.Open) == 0 {
		return true
	}
	open, before := journal.Split(s.state.Open)
	if len(open) > 0 {
		s.app.printf("An earlier run ended in the middle of %d changes; finding out what became of them...\n", len(open))
	}
	settled, diags := s.engine.Settle(ctx, s.config, s.state.State, s.state.Open, engine.PlanOptions{Variables: s.variables})
	if len(open) == 0 {
		diags = diags.Warnings() // nothing has to be known before anything else is done
	}
	if err := s.state.Settle(settled.State, slices.Concat(settled.Open, settled.Absent)); err != nil {
		s.app.fail("Failed to save state", err)
		return false
	}
	return !s.tell(append(diags, absentWarnings(before, settled.Absent)...)) && len(settled.Open) == 0
}

// absentWarnings tells of creates whose object was not there when it was looked for, once.
func absentWarnings(before, absent []journal.Intent) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, intent := range absent {
		if slices.ContainsFunc(before, func(i journal.Intent) bool { return i.ID == intent.ID }) {
			continue
		}
		diags = append(diags, tfdiags.New(tfdiags.Warning, "Object of an interrupted creation is not there",
			fmt.Sprintf("The creation of %[1]s was begun at %[2]s by a run that ended before the answer came, and there is no such object, so it is to be created now. Should that call be under way after all, the object appears later: for a day each run looks for it, and says so if there are two by then. Once you know that it was not created, end that with \"towline settle -absent %[1]s\".",
				intent.Address, intent.Time.Format("2006-01-02 15:04:05 MST"))).WithAddress(intent.Address)...)
	}
	return diags
}

// plan makes a plan and shows it with its problems.
func (s *session) plan(ctx context.Context, mode plans.Mode) (*plans.Plan, bool) {
	plan, diags := s.planned(ctx, mode)
	return plan, !s.tell(diags) && plan != nil
}

// planned makes a plan and shows it, but not its problems.
func (s *session) planned(ctx context.Context, mode plans.Mode) (*plans.Plan, tfdiags.Diagnostics) {
	opts, diags := s.in.planOptions(s.variables)
	if mode == plans.RefreshOnlyMode && opts.SkipRefresh {
		diags = append(diags, tfdiags.New(tfdiags.Error, "Incompatible refresh options",
			"-refresh-only only reads the real objects and -refresh=false forbids it, so there is nothing to do. Give one of the two.")...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	opts.Mode, opts.Generated = mode, s.generated
	if mode != plans.DestroyMode && !configs.HasFiles(".") {
		return nil, tfdiags.New(tfdiags.Error, "No configuration files",
			"Planning without configuration would mark everything for destruction, which is normally not what is desired. To destroy everything, use -destroy; otherwise create a .tf file first.")
	}
	plan, diags := s.engine.Plan(ctx, s.config, s.state.State, opts)
	if plan.Refused {
		return plan, diags
	}
	if s.app.stream != nil {
		s.app.stream.Plan(plan)
		return plan, diags
	}
	return plan, append(diags, tfdiags.FromError("Failed to show plan", s.app.renderPlan(ctx, s.engine, plan))...)
}

// write keeps a plan in a file.
func (s *session) write(plan *plans.Plan, path string) bool {
	err := planfile.Write(path, planfile.Saved{Plan: plan, ConfigDigest: configDigest(s.config), Lineage: s.state.State.Lineage, Serial: s.state.State.Serial})
	if err != nil {
		s.app.fail("Failed to write plan file", err)
		return false
	}
	if plan.Errored { // it can be looked at, not applied
		return true
	}
	s.app.printf("\nSaved the plan to: %[1]s\n\nTo perform exactly these actions, run the following command to apply:\n    towline apply %[1]q\n", path)
	return true
}

// configDigest identifies a configuration by all its files.
func configDigest(config *configs.Config) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(config.Sources)) {
		_, _ = fmt.Fprintf(h, "%d:%s%d:", len(name), name, len(config.Sources[name])) // a hash takes everything
		_, _ = h.Write(config.Sources[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}
