package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/backend"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

func (a *app) stateMvCommand() *command {
	flags := flag.NewFlagSet("state mv", flag.ContinueOnError)
	var f stateFlags
	f.register(flags)
	backupOut := flags.String("backup-out", "", "keep the other state before in this `file`")
	dryRun := flags.Bool("dry-run", false, "only say what would be moved")
	return &command{
		synopsis: "Move objects in the state to another address, or to another state", usage: "[options] SOURCE DESTINATION", flags: flags,
		run: func(ctx context.Context, args []string) int {
			if len(args) != 2 {
				a.fail("Exactly two arguments expected", errors.New("state mv takes the address of a module, a resource or an instance, and the address to move it to"))
				return exitFailed
			}
			from, diags := addrs.ParseTarget(args[0])
			to, moreDiags := addrs.ParseTarget(args[1])
			if a.show(append(diags, moreDiags...)) {
				return exitFailed
			}
			move := stateMove{app: a, from: from, to: to, dryRun: *dryRun, other: f.out, backupOut: *backupOut, flags: f}
			f.out = ""
			return move.run(ctx, &f)
		},
	}
}

// stateMove moves something within a state or to that in another file.
type stateMove struct {
	app              *app
	from, to         addrs.Target
	dryRun           bool
	other, backupOut string
	flags            stateFlags
}

func (m stateMove) run(ctx context.Context, f *stateFlags) int {
	return m.app.editDated(ctx, f, "state-mv", func(_ *place, s *workdir.State) int {
		if m.other == "" {
			state := s.State.Copy()
			return m.finish(m.move(state, state), func() bool { return m.app.save(s, state) })
		}
		out, diags := m.openOther(ctx)
		if m.app.show(diags) {
			return exitFailed
		}
		source, target := s.State.Copy(), out.State.Copy()
		// What is moved must never be in neither state.
		code := m.finish(m.move(source, target), func() bool { return m.app.save(out, target) && m.app.save(s, source) })
		if err := out.Close(); err != nil {
			m.app.fail("Failed to unlock state", err)
			return exitFailed
		}
		return code
	})
}

func (m stateMove) openOther(ctx context.Context) (*workdir.State, tfdiags.Diagnostics) {
	f := stateFlags{backup: m.backupOut, lock: m.flags.lock, lockTimeout: m.flags.lockTimeout}
	f.datedBackup(m.other)
	p := &place{dir: workdir.At(".", func(string) string { return "" }), store: backend.File(m.other)}
	return p.open(ctx, &f, "state-mv")
}

func (m stateMove) move(source, target *states.State) error { return source.Move(m.from, target, m.to) }

// finish tells of a move and keeps it.
func (m stateMove) finish(err error, save func() bool) int {
	if err != nil {
		m.app.show(m.refused(err))
		return exitFailed
	}
	if m.dryRun {
		m.app.printf("Would move %q to %q\n", m.from, m.to)
		return exitOK
	}
	m.app.printf("Move %q to %q\n", m.from, m.to)
	if !save() {
		return exitFailed
	}
	m.app.printf("Successfully moved 1 object(s).\n")
	return exitOK
}

func (m stateMove) refused(err error) tfdiags.Diagnostics {
	summary := "Invalid target address"
	switch {
	case errors.Is(err, states.ErrNothingThere):
		summary = "Invalid source address"
	case errors.Is(err, states.ErrKind) && m.from.Resource != (addrs.Resource{}) && m.to.Resource != (addrs.Resource{}) && m.from.Resource.Type != m.to.Resource.Type:
		summary = "Invalid state move request"
	}
	return tfdiags.New(tfdiags.Error, summary, fmt.Sprintf("Cannot move %s to %s: %s. Nothing was moved; \"towline state list\" lists what is recorded.", m.from, m.to, err))
}

// editDated is [app.editState] with a backup of its own.
func (a *app) editDated(ctx context.Context, f *stateFlags, operation string, change func(p *place, s *workdir.State) int) int {
	path := f.path
	if path == "" {
		p, ok := a.openPlace(ctx, "")
		if !ok {
			return exitFailed
		}
		file, isFile := p.store.(*backend.FileStore)
		if !isFile {
			return a.editState(ctx, f, operation, change)
		}
		path = file.Path()
	}
	f.datedBackup(path)
	return a.editState(ctx, f, operation, change)
}

func (a *app) stateRmCommand() *command {
	flags := flag.NewFlagSet("state rm", flag.ContinueOnError)
	var f stateFlags
	f.register(flags)
	dryRun := flags.Bool("dry-run", false, "only say what would be removed")
	return &command{
		synopsis: "Forget objects without destroying them", usage: "[options] ADDRESS...", flags: flags,
		run: func(ctx context.Context, args []string) int {
			if len(args) == 0 {
				a.fail("At least one address is required", errors.New("state rm takes addresses of modules, resources or instances; \"towline state list\" lists them"))
				return exitFailed
			}
			var targets []addrs.Target
			var diags tfdiags.Diagnostics
			for _, arg := range args {
				target, moreDiags := addrs.ParseTarget(arg)
				targets, diags = append(targets, target), append(diags, moreDiags...)
			}
			if a.show(diags) {
				return exitFailed
			}
			return a.editDated(ctx, &f, "state-rm", func(_ *place, s *workdir.State) int { return a.forget(s, targets, *dryRun) })
		},
	}
}

// forget removes what the targets cover from a state.
func (a *app) forget(s *workdir.State, targets []addrs.Target, dryRun bool) int {
	state := s.State.Copy()
	count := 0
	for _, target := range targets {
		for _, addr := range state.Matching(target) {
			a.printf("%s %s\n", map[bool]string{true: "Would remove", false: "Removed"}[dryRun], addr)
			state.Forget(addr)
			count++
		}
	}
	switch {
	case dryRun && count == 0:
		a.printf("Would have removed nothing.\n")
		return exitOK
	case dryRun:
		return exitOK
	case count == 0:
		a.fail("Invalid target address", errors.New("no matching objects found; \"towline state list\" lists the instances that are recorded"))
		return exitFailed
	case !a.save(s, state):
		return exitFailed
	}
	a.printf("Successfully removed %d resource instance(s).\n", count)
	return exitOK
}

func (a *app) stateReplaceProviderCommand() *command {
	flags := flag.NewFlagSet("state replace-provider", flag.ContinueOnError)
	var f stateFlags
	f.register(flags)
	approve := flags.Bool("auto-approve", false, "do not ask before replacing")
	return &command{
		synopsis: "Have another provider manage the objects of one", usage: "[options] FROM_PROVIDER_FQN TO_PROVIDER_FQN", flags: flags,
		run: func(ctx context.Context, args []string) int {
			if len(args) != 2 {
				a.fail("Exactly two arguments expected", errors.New("state replace-provider takes the source address of the recorded provider and of the one to replace it"))
				return exitFailed
			}
			from, diags := providerArgument("from", args[0])
			to, moreDiags := providerArgument("to", args[1])
			if a.show(append(diags, moreDiags...)) {
				return exitFailed
			}
			return a.editDated(ctx, &f, "state-replace-provider", func(_ *place, s *workdir.State) int { return a.replaceProvider(s, from, to, *approve) })
		},
	}
}

func providerArgument(which, text string) (addrs.Provider, tfdiags.Diagnostics) {
	p, err := addrs.ParseProviderSource(text)
	if err != nil {
		return p, tfdiags.New(tfdiags.Error, fmt.Sprintf("Invalid %q provider %q", which, text),
			fmt.Sprintf("%s. A provider's source address has the form [HOSTNAME/]NAMESPACE/TYPE.", err))
	}
	return p, nil
}

func (a *app) replaceProvider(s *workdir.State, from, to addrs.Provider, approved bool) int {
	state := s.State.Copy()
	changed := state.ReplaceProvider(from, to)
	if len(changed) == 0 {
		a.printf("No matching resources found.\n")
		return exitOK
	}
	names := make([]string, 0, len(changed))
	for _, r := range changed {
		names = append(names, strings.TrimPrefix(r.Module.String()+"."+r.Addr.String(), "."))
	}
	slices.Sort(names)
	a.printf("Towline will perform the following actions:\n\n  ~ Updating provider:\n    - %s\n    + %s\n\nChanging %d resources:\n\n  %s\n\n", from, to, len(names), strings.Join(names, "\n  "))
	if !approved {
		yes, err := a.confirm("Do you want to make these changes?")
		if err != nil {
			a.fail("Approval needed", err)
			return exitFailed
		}
		if !yes {
			a.printf("Cancelled replacing providers.\n")
			return exitOK
		}
		a.printf("\n")
	}
	if !a.save(s, state) {
		return exitFailed
	}
	a.printf("Successfully replaced provider for %d resources.\n", len(names))
	return exitOK
}
