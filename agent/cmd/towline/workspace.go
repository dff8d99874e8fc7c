package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/provisioners"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

// workspace is the working directory of a mirrored verb, ready to plan and apply.
type workspace struct {
	config    *configs.Config
	variables map[string]cty.Value
	pool      *plugin.Pool
	engine    *engine.Engine
	durations *engine.Durations
}

// cacheDir is a folder of the user that keeps what can be computed again, "" if there is none.
func cacheDir(name string) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "" // a service without a home does without
	}
	return filepath.Join(cache, "towline", name)
}

// durationsFile keeps, beside the installed providers, how long calls took.
const durationsFile = ".terraform/towline-durations.json"

// openWorkspace loads the configuration in the current directory and prepares
// the providers that init installed.
func (a *app) openWorkspace(hook engine.Hook, parallelism int) (*workspace, tfdiags.Diagnostics) {
	return a.openChecked(hook, parallelism, (*install.Installation).Check)
}

// openChecked is openWorkspace with a check of what is installed.
func (a *app) openChecked(hook engine.Hook, parallelism int, check func(*install.Installation, install.Requirements) tfdiags.Diagnostics) (*workspace, tfdiags.Diagnostics) {
	name, _, err := workdir.At(".", os.Getenv).Workspace(os.Getenv)
	if err != nil {
		return nil, tfdiags.FromError("Failed to find the selected workspace", err)
	}
	config, diags := configs.Load(".")
	a.sources = maps.Clone(config.Sources) // more may come that is no configuration
	if diags.HasErrors() {
		return nil, diags
	}
	installation, moreDiags := install.Settings{Hashes: cacheDir("packages")}.Open(".", cliconfig.OSEnvironment())
	diags = append(diags, moreDiags...)
	if diags.HasErrors() {
		return nil, diags
	}
	diags = append(diags, check(installation, config.ProviderRequirements())...)
	if diags.HasErrors() {
		return nil, diags
	}
	w := &workspace{config: config, pool: plugin.NewPool(installation, plugin.Options{SchemaDir: cacheDir("schemas")})}
	data, err := os.ReadFile(durationsFile)
	if err != nil {
		data = nil // estimates are no more than that: without them the order of work is a guess
	}
	if w.durations, err = engine.NewDurations(data); err != nil {
		moreDiags = tfdiags.FromError("Durations of earlier runs not readable", err).Warnings()
		diags = append(diags, moreDiags...)
	}
	w.engine = engine.New(engine.Options{Providers: w.pool, Parallelism: parallelism, Hook: hook, Durations: w.durations, Workspace: name, Provisioners: provisioners.Builtin()})
	return w, diags
}

// collect gathers the values of the root module's variables, and the files they stand in.
func (w *workspace) collect(given []configs.VariableOption, read map[string][]byte) tfdiags.Diagnostics {
	values, diags := configs.CollectVariables(w.config.Module, configs.VariableSources{Dir: ".", Environ: os.Environ(), Given: given, Read: read})
	w.variables = values
	if diags.HasErrors() { // nothing else will look at them
		diags = append(diags, engine.CheckVariables(w.config, values)...)
	}
	return diags
}

// missing returns the variables that need a value and have none, by name.
func (w *workspace) missing() []*configs.Variable {
	var out []*configs.Variable
	declared := w.config.Module.Variables
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if _, given := w.variables[name]; !given && declared[name].Required() {
			out = append(out, declared[name])
		}
	}
	return out
}

func (w *workspace) close() error {
	return errors.Join(w.keepDurations(), w.engine.Close(), w.pool.Close())
}

// keepDurations writes the estimates for the next run, if init made the folder.
func (w *workspace) keepDurations() error {
	if info, err := os.Stat(filepath.Dir(durationsFile)); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // without the folder there is nowhere to keep them
	}
	data, err := w.durations.Marshal()
	if err != nil {
		return err
	}
	return os.WriteFile(durationsFile, data, 0o600)
}

// inputFlags are the flags of verbs that plan.
type inputFlags struct {
	given       []configs.VariableOption
	targets     []string
	replace     []string
	state       stateFlags
	parallelism int
	refresh     bool
	input       bool
	noColor     bool
	json        bool
	// plans tells that the verb makes a plan now, for which it needs all variables.
	plans bool
}

// register adds the flags to a set.
func (f *inputFlags) register(flags *flag.FlagSet) {
	flags.Func("var", "set a variable of the root module, as `name=value`; may be repeated", func(text string) error {
		f.given = append(f.given, configs.VariableOption{Assignment: text})
		return nil
	})
	flags.Func("var-file", "read variables from a `file`; may be repeated", func(path string) error {
		f.given = append(f.given, configs.VariableOption{File: path})
		return nil
	})
	flags.Func("target", "plan only this `address` and what it needs; may be repeated", func(text string) error {
		f.targets = append(f.targets, text)
		return nil
	})
	flags.Func("replace", "replace the object at this `address`; may be repeated", func(text string) error {
		f.replace = append(f.replace, text)
		return nil
	})
	f.state.register(flags)
	flags.Func("parallelism", "fix the `number` of concurrent calls to one provider configuration; 0, or leaving it out, has the number adapt", func(text string) (err error) {
		f.parallelism, err = strconv.Atoi(text)
		return err
	})
	flags.BoolVar(&f.refresh, "refresh", true, "read the real objects before planning")
	flags.BoolVar(&f.input, "input", true, "ask for what is missing")
	flags.BoolVar(&f.noColor, "no-color", false, "no colours in the output")
}

// registerJSON adds the flag of verbs that can tell programs what they do.
func (f *inputFlags) registerJSON(flags *flag.FlagSet) {
	flags.BoolVar(&f.json, "json", false, "print what happens as messages for programs, one JSON object a line")
}

// check refuses flags that do not go together, or that nobody can mean.
func (f *inputFlags) check(mode plans.Mode) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	if f.parallelism < 0 {
		diags = append(diags, tfdiags.New(tfdiags.Error, "Invalid parallelism value",
			fmt.Sprintf("The number of concurrent calls cannot be %d. Give a positive number, or leave -parallelism out.", f.parallelism))...)
	}
	if mode != plans.NormalMode && len(f.replace) > 0 {
		diags = append(diags, tfdiags.New(tfdiags.Error, "Unsupported plan mode",
			"-replace makes objects anew, and with -destroy or -refresh-only nothing is made. Leave one of them out.")...)
	}
	if f.state.path != "" {
		diags = append(diags, tfdiags.New(tfdiags.Warning, "Deprecated flag: -state",
			"Where the state is belongs into the configuration, so that nobody forgets it: set path in a backend block of type local.")...)
	}
	return diags
}

// planOptions turns the flags into the engine's options.
func (f *inputFlags) planOptions(variables map[string]cty.Value) (engine.PlanOptions, tfdiags.Diagnostics) {
	opts := engine.PlanOptions{Variables: variables, SkipRefresh: !f.refresh}
	var diags tfdiags.Diagnostics
	for _, text := range f.targets {
		target, moreDiags := addrs.ParseTarget(text)
		diags = append(diags, renamed(moreDiags, "Invalid target", text)...)
		opts.Targets = append(opts.Targets, target)
	}
	for _, text := range f.replace {
		addr, moreDiags := addrs.ParseResourceInstance(text)
		if !moreDiags.HasErrors() && addr.Resource.Mode != addrs.Managed {
			moreDiags = tfdiags.New(tfdiags.Error, "Invalid address", "Only objects that are managed can be replaced; what a data source reads cannot.")
		}
		diags = append(diags, renamed(moreDiags, "Invalid force-replace address", text)...)
		opts.ForceReplace = append(opts.ForceReplace, addr)
	}
	return opts, diags
}

// renamed gives problems of one option a summary that names what was given.
func renamed(diags tfdiags.Diagnostics, summary, given string) tfdiags.Diagnostics {
	for i := range diags {
		diags[i].Summary = fmt.Sprintf("%s %q", summary, given)
	}
	return diags
}

// apply takes the flags that change how the program speaks.
func (f *inputFlags) apply(a *app) {
	if f.noColor {
		a.color = false
	}
	if f.json {
		a.startStream()
	}
}

// refuseArguments reports arguments of a verb that takes none.
func (a *app) refuseArguments(verb string, args []string) bool {
	if len(args) == 0 {
		return false
	}
	a.fail("Too many command line arguments", fmt.Errorf("\"towline %s\" takes no argument, but got %s; to work in another directory use -chdir=DIR before the verb", verb, strings.Join(args, " ")))
	return true
}
