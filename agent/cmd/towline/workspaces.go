package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/backend"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

// workspaceVerb is a verb about workspaces: it works on the place of the state and
// on the list of workspaces.
func (a *app) workspaceVerb(name, synopsis, usage string, wanted int, flags *flag.FlagSet, run func(ctx context.Context, p *place, known []string, name string) error) *command {
	return &command{
		synopsis: synopsis, usage: usage, flags: flags,
		run: func(ctx context.Context, args []string) int {
			if len(args) != wanted {
				a.fail("Expected a single argument: NAME", fmt.Errorf("\"towline workspace %s\" got %d arguments", name, len(args)))
				return exitFailed
			}
			p, ok := a.openPlace(ctx, "")
			if !ok {
				return exitFailed
			}
			known, err := p.backend.Workspaces(ctx)
			if err == nil {
				err = run(ctx, p, known, append(args, "")[0])
			}
			if err != nil {
				verb := strings.Replace(name, "new", "create", 1)
				a.fail("Failed to "+verb+" workspace", err)
				return exitFailed
			}
			return exitOK
		},
	}
}

func (a *app) workspaceListCommand() *command {
	flags := flag.NewFlagSet("workspace list", flag.ContinueOnError)
	return a.workspaceVerb("list", "List the workspaces", "", 0, flags, func(_ context.Context, p *place, known []string, _ string) error {
		for _, name := range known {
			mark := "  "
			if name == p.workspace {
				mark = "* "
			}
			a.printf("%s%s\n", mark, name)
		}
		a.printf("\n")
		return nil
	})
}

func (a *app) workspaceShowCommand() *command {
	return &command{
		synopsis: "Print the name of the selected workspace",
		run: func(_ context.Context, args []string) int {
			if a.refuseArguments("workspace show", args) {
				return exitFailed
			}
			name, _, err := workdir.At(".", os.Getenv).Workspace(os.Getenv)
			if err != nil {
				a.fail("Failed to show workspace", err)
				return exitFailed
			}
			a.printf("%s\n", name)
			return exitOK
		},
	}
}

// Reasons why a workspace cannot be worked with.
var (
	errWorkspaceName     = errors.New("the name of a workspace may hold only characters that need no escaping in a URL, and no slashes")
	errWorkspaceFixed    = errors.New("TF_WORKSPACE decides which workspace is selected; unset it first")
	errWorkspaceSelected = errors.New("it is the selected workspace; select another one first")
)

func (a *app) workspaceNewCommand() *command {
	flags := flag.NewFlagSet("workspace new", flag.ContinueOnError)
	var f stateFlags
	f.register(flags)
	return a.workspaceVerb("new", "Create a workspace and select it", "[options] NAME", 1, flags, func(ctx context.Context, p *place, known []string, name string) error {
		if slices.Contains(known, name) {
			return fmt.Errorf("workspace %q already exists", name)
		}
		if err := a.createWorkspace(ctx, p, name, &f); err != nil {
			return err
		}
		if f.path == "" {
			return nil
		}
		return a.copyInto(ctx, p.backend.Store(name), f.path, name)
	})
}

// creator is a backend in which a workspace exists without a state.
type creator interface {
	Create(ctx context.Context, workspace string) error
}

// createWorkspace makes a workspace and selects it.
func (a *app) createWorkspace(ctx context.Context, p *place, name string, f *stateFlags) error {
	switch {
	case !backend.ValidWorkspace(name):
		return errWorkspaceName
	case p.overridden:
		return errWorkspaceFixed
	}
	if c, ok := p.backend.(creator); ok {
		if err := c.Create(ctx, name); err != nil {
			return err
		}
	} else if err := emptyState(ctx, p, name, f); err != nil {
		return err
	}
	if err := p.dir.SelectWorkspace(name); err != nil {
		return err
	}
	a.printf("%s\n\n%s\n", a.paint("\x1b[1;32m", fmt.Sprintf("Created and switched to workspace %q!", name)),
		"You're now on a new, empty workspace. Workspaces isolate their state,\nso if you run \"towline plan\" Towline will not see any existing state\nfor this configuration.")
	return nil
}

// emptyState writes a state with nothing in it, so that the backend lists the workspace.
func emptyState(ctx context.Context, p *place, name string, f *stateFlags) error {
	fresh := *p
	fresh.workspace, fresh.store = name, p.backend.Store(name)
	s, diags := fresh.open(ctx, f, "init")
	if diags.HasErrors() {
		return diags.Err()
	}
	err := s.Push(workdir.NewState(1))
	return errors.Join(err, s.Close())
}

// copyInto starts a workspace with the state in a file.
func (a *app) copyInto(ctx context.Context, store backend.Store, path, name string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("read the state to begin with: %w", err)
	}
	state, diags := workdir.ReadState(path)
	if diags.HasErrors() {
		return diags.Err()
	}
	s, diags := workdir.Open(ctx, store, workdir.Options{Operation: "workspace-new", Journal: workdir.At(".", os.Getenv).Journal(store, name)})
	if diags.HasErrors() {
		return diags.Err()
	}
	state.TerraformVersion = states.TerraformVersion
	return errors.Join(s.Push(state), s.Close())
}

func (a *app) workspaceSelectCommand() *command {
	flags := flag.NewFlagSet("workspace select", flag.ContinueOnError)
	create := flags.Bool("or-create", false, "create the workspace if it does not exist")
	return a.workspaceVerb("select", "Select a workspace", "[options] NAME", 1, flags, func(ctx context.Context, p *place, known []string, name string) error {
		switch {
		case !backend.ValidWorkspace(name):
			return errWorkspaceName
		case p.overridden:
			return errWorkspaceFixed
		case name == p.workspace:
			return nil
		case !slices.Contains(known, name) && *create:
			return a.createWorkspace(ctx, p, name, &stateFlags{lock: true})
		case !slices.Contains(known, name):
			return fmt.Errorf("workspace %q doesn't exist; create it with \"towline workspace new\" or with -or-create", name)
		}
		if err := p.dir.SelectWorkspace(name); err != nil {
			return err
		}
		a.printf("%s\n", a.paint("\x1b[32m", fmt.Sprintf("Switched to workspace %q.", name)))
		return nil
	})
}

func (a *app) workspaceDeleteCommand() *command {
	flags := flag.NewFlagSet("workspace delete", flag.ContinueOnError)
	var f stateFlags
	f.registerLock(flags)
	force := flags.Bool("force", false, "delete it even if its state records objects, which then nobody manages")
	return a.workspaceVerb("delete", "Delete a workspace and its state", "[options] NAME", 1, flags, func(ctx context.Context, p *place, known []string, name string) error {
		switch {
		case name == p.workspace:
			return fmt.Errorf("workspace %q: %w", name, errWorkspaceSelected)
		case !slices.Contains(known, name):
			return fmt.Errorf("workspace %q doesn't exist", name)
		}
		if err := deleteWorkspace(ctx, p, name, &f, *force); err != nil {
			return err
		}
		a.printf("%s\n", a.paint("\x1b[32m", fmt.Sprintf("Deleted workspace %q!", name)))
		return nil
	})
}

// deleteWorkspace removes a workspace, locked until it is known to be empty.
func deleteWorkspace(ctx context.Context, p *place, name string, f *stateFlags, force bool) error {
	doomed := *p
	doomed.workspace, doomed.store = name, p.backend.Store(name)
	s, diags := doomed.open(ctx, f, "workspace-delete")
	if diags.HasErrors() {
		return diags.Err()
	}
	n := s.State.Count()
	if err := s.Close(); err != nil {
		return err
	}
	if n > 0 && !force {
		return mistake("Workspace is not empty", fmt.Sprintf("The state of workspace %q records %d objects. Destroy them first, or use -force to delete the workspace and have nobody manage them any more.", name, n))
	}
	return p.backend.Delete(ctx, name)
}

func (a *app) forceUnlockCommand() *command {
	flags := flag.NewFlagSet("force-unlock", flag.ContinueOnError)
	force := flags.Bool("force", false, "do not ask before unlocking")
	return &command{
		synopsis: "Remove a lock that its holder left behind", usage: "[options] LOCK_ID", flags: flags,
		long: "  Only do so when the holder is gone for certain: the lock keeps two of them\n  from changing the same objects.",
		run: func(ctx context.Context, args []string) int {
			if len(args) != 1 {
				a.fail("Expected a single argument: LOCK_ID", errors.New("the message about the taken lock tells the ID of the lock"))
				return exitFailed
			}
			p, ok := a.openPlace(ctx, "")
			if !ok {
				return exitFailed
			}
			return a.unlock(ctx, p, args[0], *force)
		},
	}
}

func (a *app) unlock(ctx context.Context, p *place, id string, force bool) int {
	if _, isFile := p.store.(*backend.FileStore); !isFile && !force {
		yes, err := a.confirm("Do you really want to force-unlock?\nThis removes the lock on the state. Others may be working with it.")
		if err != nil {
			a.fail("Approval needed", err)
			return exitFailed
		}
		if !yes {
			a.printf("force-unlock cancelled.\n")
			return exitFailed
		}
	}
	if err := p.store.Unlock(ctx, id); err != nil {
		a.fail("Failed to unlock state", err)
		return exitFailed
	}
	a.printf("%s\n\nThe state has been unlocked, and commands should now be able to\nobtain a new lock on it.\n", a.paint("\x1b[1;32m", "The state has been successfully unlocked!"))
	return exitOK
}
