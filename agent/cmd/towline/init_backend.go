package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/towline/terraform-provider-towline/internal/backend"
	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

// maxBackendConfig bounds a file with arguments of a backend.
const maxBackendConfig = 1 << 20

// backendFlags are init's flags about the backend.
type backendFlags struct {
	enabled                         bool
	given                           []string
	reconfigure, migrate, forceCopy bool
	input                           bool
	state                           stateFlags
}

func (f *backendFlags) register(flags *flag.FlagSet) {
	flags.BoolVar(&f.enabled, "backend", true, "set up the backend that the configuration asks for")
	flags.Func("backend-config", "an argument of the backend as `NAME=VALUE`, or a file with arguments; may be repeated", func(text string) error {
		f.given = append(f.given, text)
		return nil
	})
	flags.BoolVar(&f.reconfigure, "reconfigure", false, "set up the backend anew and leave states where they are")
	flags.BoolVar(&f.migrate, "migrate-state", false, "copy the states that exist to the new backend")
	flags.BoolVar(&f.forceCopy, "force-copy", false, "copy states without asking; implies -migrate-state")
	flags.BoolVar(&f.input, "input", true, "ask for what is missing")
	f.state.registerLock(flags)
}

// overrides are the arguments given on the command line.
func (f *backendFlags) overrides() ([]hcl.Body, tfdiags.Diagnostics) {
	parser := hclparse.NewParser()
	var out []hcl.Body
	var diags tfdiags.Diagnostics
	for _, text := range f.given {
		file, moreDiags := overrideFile(parser, text)
		if diags = append(diags, moreDiags...); !moreDiags.HasErrors() {
			out = append(out, file.Body)
		}
	}
	return out, diags
}

func overrideFile(parser *hclparse.Parser, text string) (*hcl.File, tfdiags.Diagnostics) {
	if name, value, isPair := strings.Cut(text, "="); isPair {
		// Without anything to evaluate, JSON's strings are taken as they are.
		src, err := json.Marshal(map[string]string{strings.TrimSpace(name): strings.TrimSpace(value)})
		if err != nil {
			return nil, tfdiags.FromError("Invalid backend configuration argument", err)
		}
		file, hclDiags := parser.ParseJSON(src, "-backend-config="+name)
		return file, tfdiags.FromHCL(hclDiags)
	}
	src, err := bounds.ReadFile(text, maxBackendConfig)
	if err != nil {
		return nil, tfdiags.FromError("Failed to read file", fmt.Errorf("read the backend's arguments: %w", err))
	}
	check, parse := bounds.HCL, parser.ParseHCL
	if strings.HasSuffix(text, ".json") {
		check, parse = bounds.HCLJSON, parser.ParseJSON
	}
	if hclDiags := check(src, text); hclDiags.HasErrors() {
		return nil, tfdiags.FromHCL(hclDiags)
	}
	file, hclDiags := parse(src, text)
	return file, tfdiags.FromHCL(hclDiags)
}

// initBackend sets up the backend that the configuration asks for.
func (a *app) initBackend(ctx context.Context, module *configs.Module, f *backendFlags) (tfdiags.Diagnostics, bool) {
	if !f.enabled {
		return nil, true
	}
	a.step("initializing_backend_message", "Initializing the backend...")
	dir := workdir.At(".", os.Getenv)
	var selected *backend.Settings
	var diags tfdiags.Diagnostics
	if !f.reconfigure {
		if selected, diags = dir.Selected(); diags.HasErrors() {
			return diags, false
		}
	}
	wanted, diags := f.wanted(module)
	if diags.HasErrors() {
		return diags, false
	}
	if unchanged(selected, wanted) {
		return diags, true
	}
	change := backendChange{app: a, dir: dir, flags: f, from: selected, to: wanted}
	if moreDiags := change.run(ctx); moreDiags.HasErrors() {
		return append(diags, moreDiags...), false
	}
	return diags, true
}

// wanted are the settings that the configuration and the command line ask for, nil without a backend.
func (f *backendFlags) wanted(module *configs.Module) (*backend.Settings, tfdiags.Diagnostics) {
	if module.Backend == nil {
		if len(f.given) > 0 {
			return nil, tfdiags.New(tfdiags.Warning, "Missing backend configuration",
				"-backend-config was used, but the root module has no backend block, so it does nothing. Add an empty block for the kind of backend that is meant.")
		}
		return nil, nil
	}
	overrides, diags := f.overrides()
	if diags.HasErrors() {
		return nil, diags
	}
	settings, diags := backend.Decode(module.Backend.Type, module.Backend.Config, overrides...)
	return &settings, diags
}

func unchanged(selected, wanted *backend.Settings) bool {
	if selected == nil || wanted == nil {
		return selected == wanted
	}
	return selected.Equal(*wanted) && selected.Hash == wanted.Hash
}

// backendChange takes the place of states from one backend to another. Nil stands
// for files in the working directory without a backend block.
type backendChange struct {
	app      *app
	dir      workdir.Dir
	flags    *backendFlags
	from, to *backend.Settings
}

func settingsOr(s *backend.Settings) backend.Settings {
	if s == nil {
		return backend.Default()
	}
	return *s
}

func (c backendChange) run(ctx context.Context) tfdiags.Diagnostics {
	from, to := settingsOr(c.from), settingsOr(c.to)
	if c.from != nil && !from.Equal(to) && !c.flags.migrate && !c.flags.forceCopy {
		return tfdiags.New(tfdiags.Error, "Backend configuration changed",
			"The configuration asks for another backend than init set up before. Nothing was read or written. Use -migrate-state to copy the states that exist to the new backend, or -reconfigure to leave them where they are.")
	}
	target, diags := backend.Open(ctx, ".", to)
	if diags.HasErrors() {
		return diags
	}
	if !c.flags.reconfigure && !from.Equal(to) {
		source, diags := backend.Open(ctx, ".", from)
		if diags.HasErrors() {
			return diags
		}
		if diags := c.migrate(ctx, source, target); diags.HasErrors() {
			return diags
		}
	}
	if _, err := target.Workspaces(ctx); err != nil {
		return tfdiags.FromError("Failed to get existing workspaces", err)
	}
	if err := c.dir.Select(c.to); err != nil {
		return tfdiags.FromError("Failed to record the backend", err)
	}
	if c.to == nil {
		c.app.step("backend_unset_message", "\n"+c.app.paint("\x1b[32m", fmt.Sprintf("Successfully unset the backend %q. States are kept in this directory from now on.", from.Type)))
		return nil
	}
	c.app.step("backend_configured_message", "\n"+c.app.paint("\x1b[32m", fmt.Sprintf("Successfully configured the backend %q! It is used until the backend\nconfiguration changes.", to.Type)))
	return nil
}

// migrate copies the states that exist, if the user wants it.
func (c backendChange) migrate(ctx context.Context, source, target backend.Backend) tfdiags.Diagnostics {
	found, err := statesOf(ctx, source)
	if err != nil {
		return tfdiags.FromError("Failed to read existing states", err)
	}
	if len(found) == 0 {
		return nil
	}
	if !c.flags.forceCopy {
		yes, diags := c.ask(found)
		if diags.HasErrors() || !yes {
			return diags
		}
	}
	for _, name := range found {
		if source.Store(name).String() == target.Store(name).String() {
			continue // both keep it in the same file
		}
		if err := c.copy(ctx, source.Store(name), target.Store(name), name); err != nil {
			return tfdiags.FromError("Error copying state", fmt.Errorf("copy the state of workspace %s: %w", name, err))
		}
	}
	return nil
}

func (c backendChange) ask(found []string) (bool, tfdiags.Diagnostics) {
	if !c.flags.input {
		return false, tfdiags.New(tfdiags.Error, "Error asking for state migration action",
			"There are states in the backend in use so far, and -input=false forbids asking what to do about them. Use -force-copy to copy them to the new backend, or -reconfigure to leave them where they are.")
	}
	yes, err := c.app.confirm(fmt.Sprintf("Do you want to copy existing state to the new backend?\nThere are states of the workspaces %s.", strings.Join(found, ", ")))
	return yes, tfdiags.FromError("Error asking for state migration action", err)
}

// statesOf lists the workspaces that have a state.
func statesOf(ctx context.Context, b backend.Backend) ([]string, error) {
	names, err := b.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		data, err := b.Store(name).Read(ctx)
		if err != nil {
			return nil, err
		}
		state, diags := states.Decode(data)
		if diags.HasErrors() {
			return nil, diags.Err()
		}
		if !state.Empty() {
			out = append(out, name)
		}
	}
	return out, nil
}

// errOtherState keeps a state from being replaced by an unrelated one.
var errOtherState = errors.New("the new backend has another state of this workspace already; nothing was copied to it. Decide which of the two is right, then use -force-copy or -reconfigure")

// copy copies one state, both locked.
func (c backendChange) copy(ctx context.Context, source, target backend.Store, name string) (err error) {
	from, diags := c.open(ctx, source, name)
	if diags.HasErrors() {
		return diags.Err()
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, diags := c.open(ctx, target, name)
	if diags.HasErrors() {
		return diags.Err()
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if !to.State.Empty() && !c.flags.forceCopy && mayPush(to.State, from.State) != nil {
		return errOtherState
	}
	return to.Push(from.State)
}

func (c backendChange) open(ctx context.Context, store backend.Store, name string) (*workdir.State, tfdiags.Diagnostics) {
	return workdir.Open(ctx, store, workdir.Options{
		Operation: "migrate-state", NoLock: !c.flags.state.lock, LockTimeout: c.flags.state.lockTimeout,
		Journal: c.dir.Journal(store, name), Backup: workdir.Backup(store),
	})
}
