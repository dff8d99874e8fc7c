package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/towline/terraform-provider-towline/internal/backend"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

// place is where the state of the working directory's workspace is.
type place struct {
	dir       workdir.Dir
	backend   backend.Backend
	workspace string
	// overridden tells that TF_WORKSPACE chose the workspace.
	overridden bool
	store      backend.Store
}

// stateFlags are the flags of verbs that work on the state.
type stateFlags struct {
	path, out, backup string
	lock              bool
	// looks tells that the verb writes no state.
	looks       bool
	lockTimeout time.Duration
}

// registerRead adds the flag of verbs that only read the state.
func (f *stateFlags) registerRead(flags *flag.FlagSet) {
	flags.StringVar(&f.path, "state", "", "path of a state `file` to use instead of the backend's")
}

// registerLock adds the flags about the lock.
func (f *stateFlags) registerLock(flags *flag.FlagSet) {
	flags.BoolVar(&f.lock, "lock", true, "lock the state; without it others may change it at the same time")
	flags.DurationVar(&f.lockTimeout, "lock-timeout", 0, "how long to wait for whoever holds the lock")
	_ = flags.Bool("ignore-remote-version", false, "kept for compatibility")
}

// register adds the flags of verbs that change the state.
func (f *stateFlags) register(flags *flag.FlagSet) {
	f.registerRead(flags)
	f.registerLock(flags)
	flags.StringVar(&f.out, "state-out", "", "write the state to another `file`")
	flags.StringVar(&f.backup, "backup", "", "keep the state before in this `file`; - keeps none")
}

// openPlace finds the state: in the backend that init chose, or in a file.
func (a *app) openPlace(ctx context.Context, file string) (*place, bool) {
	module, sources, diags := configs.LoadModule(".")
	for name, source := range sources {
		a.sources[name] = source
	}
	if a.refused(diags) {
		return nil, false
	}
	p, diags := findPlace(ctx, module.Backend, file)
	return p, !a.show(diags)
}

func findPlace(ctx context.Context, block *configs.Backend, file string) (*place, tfdiags.Diagnostics) {
	p := &place{dir: workdir.At(".", os.Getenv)}
	var err error
	if p.workspace, p.overridden, err = p.dir.Workspace(os.Getenv); err != nil {
		return nil, tfdiags.FromError("Failed to find the selected workspace", err)
	}
	settings, diags := p.dir.Settings(block)
	if diags.HasErrors() {
		return nil, diags
	}
	if p.backend, diags = backend.Open(ctx, ".", settings); diags.HasErrors() {
		return nil, diags
	}
	p.store = p.backend.Store(p.workspace)
	if file != "" {
		p.store = backend.File(file)
	}
	return p, diags
}

// open locks and reads the state.
func (p *place) open(ctx context.Context, f *stateFlags, operation string) (*workdir.State, tfdiags.Diagnostics) {
	opts := workdir.Options{
		Operation: operation, NoLock: !f.lock, LockTimeout: f.lockTimeout, LookOnly: f.looks,
		Journal: p.dir.Journal(p.store, p.workspace), Backup: workdir.Backup(p.store),
	}
	switch f.backup {
	case "":
	case "-":
		opts.Backup = ""
	default:
		opts.Backup = f.backup
	}
	if f.out != "" {
		opts.Out = backend.File(f.out)
	}
	return workdir.Open(ctx, p.store, opts)
}

// editState opens the state for a verb that changes nothing but it, lets change do
// so and writes it. A dated backup is kept, as terraform does for these verbs.
func (a *app) editState(ctx context.Context, f *stateFlags, operation string, change func(p *place, s *workdir.State) int) int {
	p, ok := a.openPlace(ctx, f.path)
	if !ok {
		return exitFailed
	}
	s, diags := p.open(ctx, f, operation)
	if a.show(diags) {
		return exitFailed
	}
	code := change(p, s)
	if err := s.Close(); err != nil {
		a.fail("Failed to unlock state", err)
		return exitFailed
	}
	return code
}

// datedBackup chooses a backup of its own for the state, unless a file was named.
func (f *stateFlags) datedBackup(path string) {
	if f.backup == "" {
		f.backup = fmt.Sprintf("%s.%d.backup", path, time.Now().Unix())
	}
}

// save writes a state that a verb changed.
func (a *app) save(s *workdir.State, state *states.State) bool {
	if err := s.Settle(state, s.Open); err != nil {
		a.fail("Failed to write state", err)
		return false
	}
	return true
}

// readState reads the state for showing; "no state" is told apart from an empty one.
func (a *app) readState(ctx context.Context, f *stateFlags) (*states.State, bool) {
	p, ok := a.openPlace(ctx, f.path)
	if !ok {
		return nil, false
	}
	state, diags := workdir.Read(ctx, p.store)
	if a.show(diags) {
		return nil, false
	}
	if state.Empty() && state.Lineage == "" {
		a.fail("No state file was found!", fmt.Errorf("there is no state in %s; state management commands need one, so apply first or give its path with -state", p.store))
		return nil, false
	}
	return state, true
}
