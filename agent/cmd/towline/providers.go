package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans/planjson"
	"github.com/towline/terraform-provider-towline/internal/plugin/version"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

func (a *app) providersCommand() *command {
	flags := flag.NewFlagSet("providers", flag.ContinueOnError)
	var f stateFlags
	f.registerRead(flags)
	return &command{
		synopsis: "Show which providers the configuration and the state need", usage: "[options]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			if len(args) > 0 {
				a.show(explain(a.unknown("providers " + args[0])))
				return exitFailed
			}
			config, diags := configs.Load(".")
			a.sources = config.Sources
			if a.show(diags) {
				return exitFailed
			}
			p, diags := findPlace(ctx, config.Module.Backend, f.path)
			if a.show(diags) {
				return exitFailed
			}
			state, diags := workdir.Read(ctx, p.store)
			if a.show(diags) {
				return exitFailed
			}
			a.printf("\nProviders required by configuration:\n.\n%s\n", providerTree(config, ""))
			if used := stateProviders(state); len(used) > 0 {
				a.printf("Providers required by state:\n\n")
				for _, text := range sortedProviders(used) {
					a.printf("    provider[%s]\n\n", text)
				}
			}
			return exitOK
		},
	}
}

func sortedProviders[V any](used map[addrs.Provider]V) []string {
	var out []string
	for p := range used {
		out = append(out, p.String())
	}
	slices.Sort(out)
	return out
}

// providerTree draws what a module and those below it need.
func providerTree(config *configs.Config, indent string) string {
	var labels []string
	own := config.OwnRequirements()
	for _, text := range sortedProviders(own) {
		p, err := addrs.ParseProviderSource(text)
		if err != nil {
			continue // cannot be: it was one before
		}
		label := fmt.Sprintf("provider[%s]", text)
		if constraints, err := version.ParseConstraints(own[p]...); err == nil && constraints.String() != "" {
			label += " " + constraints.String()
		}
		labels = append(labels, label)
	}
	for _, name := range slices.Sorted(maps.Keys(config.Children)) {
		labels = append(labels, "module."+name)
	}
	var out strings.Builder
	for i, label := range labels {
		corner, rail := "├── ", "│   "
		if i == len(labels)-1 {
			corner, rail = "└── ", "    "
		}
		out.WriteString(indent + corner + label + "\n")
		if name, isModule := strings.CutPrefix(label, "module."); isModule {
			out.WriteString(providerTree(config.Children[name], indent+rail))
		}
	}
	return out.String()
}

func (a *app) providersSchemaCommand() *command {
	flags := flag.NewFlagSet("providers schema", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print JSON; required")
	return &command{
		synopsis: "Print the schemas of the configuration's providers", usage: "-json", flags: flags,
		run: func(ctx context.Context, args []string) int {
			if a.refuseArguments("providers schema", args) {
				return exitFailed
			}
			if !*asJSON {
				a.fail("The `terraform providers schema` command requires the `-json` flag", errors.New("schemas are printed for programs only, so say -json"))
				return exitFailed
			}
			w, diags := a.openWorkspace(engine.NoHook{}, 0)
			if a.refused(diags) {
				return exitFailed
			}
			out, err := a.allSchemas(ctx, w)
			if err = errors.Join(err, w.close()); err != nil {
				a.fail("Failed to get provider schemas", err)
				return exitFailed
			}
			a.printf("%s\n", out)
			return exitOK
		},
	}
}

func (a *app) allSchemas(ctx context.Context, w *workspace) ([]byte, error) {
	p, diags := findPlace(ctx, w.config.Module.Backend, "")
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	state, diags := workdir.Read(ctx, p.store)
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	used := stateProviders(state)
	for addr := range w.config.AllRequirements() {
		used[addr] = true
	}
	schemas, err := schemasOf(ctx, w.engine, used)
	if err != nil {
		return nil, err
	}
	return planjson.ProviderSchemas(schemas)
}
