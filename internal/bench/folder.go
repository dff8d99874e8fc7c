package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/towline/terraform-provider-towline/internal/demo"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

// Exit statuses of plan -detailed-exitcode: they say that both planned the same.
const (
	planEmpty   = 0
	planChanges = 2
)

// folder is a working directory that terraform and towline share.
type folder struct {
	b     *bench
	dir   string
	cache string
	env   []string
}

// folder makes a working directory with a configuration and has terraform
// initialise it. Schemas that towline keeps are kept for this folder only.
func (b *bench) folder(ctx context.Context, w *demo.World, name, source string) (*folder, error) {
	dir := filepath.Join(b.opts.Dir, "folders", name)
	f := &folder{b: b, dir: dir, cache: dir + ".cache"}
	f.env = append(w.Beside(), "XDG_CACHE_HOME="+f.cache)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	if err := f.write(source); err != nil {
		return nil, err
	}
	_, err := f.terraform(planEmpty, "init", "-input=false")(ctx)
	return f, err
}

func (f *folder) write(source string) error {
	if err := os.WriteFile(filepath.Join(f.dir, "main.tf"), []byte(source), 0o600); err != nil {
		return fmt.Errorf("write a configuration: %w", err)
	}
	return nil
}

// terraform and towline return runs of the programs here that must end with a status.
func (f *folder) terraform(want int, args ...string) func(context.Context) (usage, error) {
	return func(ctx context.Context) (usage, error) {
		return measure(ctx, command{dir: f.dir, env: f.env, args: append([]string{"terraform"}, args...), want: want})
	}
}

func (f *folder) towline(want int, args ...string) func(context.Context) (usage, error) {
	return func(ctx context.Context) (usage, error) {
		return measure(ctx, command{dir: f.dir, env: f.env, args: append([]string{f.b.programs.Towline()}, args...), want: want})
	}
}

func planArgs() []string { return []string{"plan", "-input=false", "-detailed-exitcode"} }

func applyArgs() []string { return []string{"apply", "-input=false", "-auto-approve"} }

// plans plans by turns.
func (f *folder) plans(ctx context.Context, want int) (pair, error) {
	return f.b.inTurn(ctx, f.terraform(want, planArgs()...), f.towline(want, planArgs()...))
}

// fresh makes a run begin without state, and checks how many objects it leaves.
func (f *folder) fresh(objects int, run func(context.Context) (usage, error)) func(context.Context) (usage, error) {
	return func(ctx context.Context) (usage, error) {
		if err := f.forget(); err != nil {
			return usage{}, err
		}
		u, err := run(ctx)
		if err != nil {
			return u, err
		}
		return u, f.holds(objects)
	}
}

// forget removes the state. What it recorded must have lived in the state only.
func (f *folder) forget() error {
	for _, name := range []string{workdir.DefaultStateFile, workdir.DefaultStateFile + ".backup"} {
		if err := os.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("forget the state: %w", err)
		}
	}
	return nil
}

// state reads what is recorded.
func (f *folder) state() (*states.State, error) {
	state, diags := workdir.ReadState(filepath.Join(f.dir, workdir.DefaultStateFile))
	return state, diags.Err()
}

func (f *folder) holds(objects int) error {
	state, err := f.state()
	if err == nil && state.Count() != objects {
		err = fmt.Errorf("the state holds %d objects, not %d", state.Count(), objects)
	}
	return err
}
