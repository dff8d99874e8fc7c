package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/towline/terraform-provider-towline/internal/adopt"
	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// driftAdopter is what "drift adopt" is told.
type driftAdopter struct {
	app   *app
	in    inputFlags
	plan  string
	write bool
	// imports are objects that nobody manages, and into is the new file for them.
	imports repeated
	into    string
}

func (a *app) driftAdoptCommand() *command {
	flags := flag.NewFlagSet("drift adopt", flag.ContinueOnError)
	d := &driftAdopter{app: a}
	d.in.register(flags)
	flags.StringVar(&d.plan, "plan", "", "`FILE` with Terraform's plan JSON, as \"towline plans show -values -json\" and \"towline show -json\" print it; the objects are not read then")
	flags.Var(&d.imports, "import", "`TYPE.NAME=ID` of an object that nobody manages and is to be imported; may be repeated; what drifted is left then")
	flags.StringVar(&d.into, "into", "adopted.tf", "new `FILE` for what is imported")
	flags.BoolVar(&d.write, "write", false, "change the files, instead of printing a patch")
	a.jsonFlag(flags)
	return &command{
		synopsis: "Change the configuration to what somebody has changed by hand", usage: "[options] [ADDRESS[.ATTRIBUTE]...]", flags: flags,
		long: `  The configuration in this directory is changed as little as possible so that it
  declares the real values of what drifted: of everything, or of the objects and
  attributes that are named. Comments and layout stay. A patch is printed, for
  "git apply" or "patch -p1".

  A value that comes from a variable, a local value or a module is not changed: the
  place is named. Sensitive values are never written. For objects that were deleted
  the block is replaced by a removed block.

  Objects that nobody manages, as "towline drift" lists them, are named with -import:
  they get an import block, and configuration as the provider describes them, in a new
  file. Look through it before you apply.

  Exit status: 0 if all of it could be adopted, 1 otherwise; what could be is
  printed or written all the same.

  JSON: files (a list of name, patch), refused (a list of address, summary, detail).`,
		run: d.run,
	}
}

func (d *driftAdopter) run(ctx context.Context, args []string) int {
	d.in.apply(d.app)
	if d.app.show(d.in.check(plans.NormalMode)) {
		return exitFailed
	}
	if len(d.imports) > 0 {
		if len(args) > 0 || d.plan != "" {
			d.app.show(explain(mistake("Conflicting arguments", "With -import, objects that nobody manages are adopted, and nothing else. Adopt what drifted in a command of its own.")))
			return exitFailed
		}
		return d.adoptUnmanaged(ctx)
	}
	config, document, ok := d.read(ctx)
	if !ok {
		return exitFailed
	}
	drift, err := adopt.Read(document)
	if err == nil {
		drift, err = chosen(drift, args)
	}
	if err != nil {
		d.app.show(explain(err))
		return exitFailed
	}
	if len(drift) == 0 {
		d.app.note("Nothing has drifted that the configuration could declare.")
	}
	files, refused := adopt.Rewrite(config, drift)
	if err := d.finish(config, files, refused); err != nil {
		d.app.show(explain(err))
		return exitFailed
	}
	if refused.HasErrors() {
		return exitFailed
	}
	return exitOK
}

// read returns the configuration and the plan JSON to look for drift in.
func (d *driftAdopter) read(ctx context.Context) (*configs.Config, []byte, bool) {
	if d.plan != "" {
		document, err := bounds.ReadFile(d.plan, maxPlan)
		config, diags := configs.Load(".")
		if err != nil {
			diags = append(diags, tfdiags.FromError("Failed to read plan", err)...)
		}
		d.app.sources = config.Sources
		return config, document, !d.app.show(diags)
	}
	d.in.plans = true
	s, ok := d.app.openSession(ctx, &d.in, "OperationTypePlan")
	if !ok {
		return nil, nil, false
	}
	defer s.close()
	s.engine.SetHook(engine.NoHook{}) // nothing but the patch goes to stdout
	opts, diags := d.in.planOptions(s.variables)
	if s.tell(diags) {
		return nil, nil, false
	}
	plan, diags := s.engine.Plan(ctx, s.config, s.state.State, opts)
	if s.tell(diags) {
		return nil, nil, false
	}
	document, err := s.planDocument(ctx, plan)
	if err != nil {
		d.app.show(explain(err))
		return nil, nil, false
	}
	return s.config, document, true
}

// chosen leaves what the arguments name: objects, or attributes of objects and what is in them.
func chosen(drift []adopt.Drift, names []string) ([]adopt.Drift, error) {
	if len(names) == 0 {
		return drift, nil
	}
	used := map[string]bool{}
	out := slices.DeleteFunc(slices.Clone(drift), func(d adopt.Drift) bool {
		for _, name := range names {
			if rest, ok := strings.CutPrefix(d.Name(), name); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				used[name] = true
				return false
			}
		}
		return true
	})
	for _, name := range names {
		if !used[name] {
			return nil, mistake("Nothing drifted there", fmt.Sprintf("No drift of %s was found that the configuration could declare. Without arguments all of it is shown.", name))
		}
	}
	return out, nil
}

// adoptResult is what was adopted, in JSON.
type adoptResult struct {
	Files   []adoptFile    `json:"files"`
	Refused []adoptRefusal `json:"refused"`
}

type adoptFile struct {
	Name  string `json:"name"`
	Patch string `json:"patch"`
}

type adoptRefusal struct {
	Address string `json:"address"`
	Summary string `json:"summary"`
	Detail  string `json:"detail"`
}

// finish prints or writes what was changed.
func (d *driftAdopter) finish(config *configs.Config, files map[string][]byte, refused tfdiags.Diagnostics) error {
	result := adoptResult{Files: []adoptFile{}, Refused: []adoptRefusal{}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		result.Files = append(result.Files, adoptFile{filepath.ToSlash(name), patchOf(name, config.Sources[name], files[name])})
		if d.write {
			if err := d.put(name, files[name]); err != nil {
				return err
			}
		}
	}
	if d.app.json {
		for _, diag := range refused {
			result.Refused = append(result.Refused, adoptRefusal{diag.Address, diag.Summary, diag.Detail})
		}
		return d.app.printJSON(result)
	}
	for _, file := range result.Files {
		if d.write {
			d.app.note("Wrote %s.", file.Name)
			continue
		}
		d.app.printf("%s", file.Patch)
	}
	d.app.show(refused)
	return nil
}

// put writes a file that is there, or the new one.
func (d *driftAdopter) put(name string, content []byte) error {
	if len(d.imports) > 0 {
		return writeNew(name, content, 0o644)
	}
	return overwrite(name, content)
}

// patchOf is what git apply and patch -p1 take. A file that was not there has no text before.
func patchOf(name string, before, after []byte) string {
	name = filepath.ToSlash(name)
	from := "a/" + name
	if before == nil {
		from = "/dev/null"
	}
	_, hunks, _ := bytes.Cut(diff.Diff(from, before, "b/"+name, after), []byte("\n")) // the first line names both files once more
	return string(hunks)
}
