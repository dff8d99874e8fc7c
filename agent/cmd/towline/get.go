package main

import (
	"context"
	"flag"
	"os"

	"github.com/towline/terraform-provider-towline/internal/modules"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/registry"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

func (a *app) getCommand() *command {
	flags := flag.NewFlagSet("get", flag.ContinueOnError)
	update := flags.Bool("update", false, "fetch modules anew, in the newest versions that are allowed")
	noColor := flags.Bool("no-color", false, "no colours in the output")
	return &command{
		synopsis: "Install the modules that the configuration calls", usage: "[options]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			a.color = a.color && !*noColor
			if a.refuseArguments("get", args) || !a.installModules(ctx, *update) {
				return exitFailed
			}
			return exitOK
		},
	}
}

// installModules installs the modules of the working directory and tells which.
func (a *app) installModules(ctx context.Context, upgrade bool) bool {
	config, diags := cliconfig.Load(cliconfig.OSEnvironment())
	if a.show(diags) {
		return false
	}
	dir := workdir.At(".", os.Getenv)
	installer := modules.Installer{
		Dir: dir.Path, DataDir: dir.Data, Registry: registry.New(registry.Options{Services: config.Services, Tokens: config.Tokens}),
		Report: func(ev modules.Event) {
			switch {
			case ev.Package != "" && ev.Version != "":
				a.mention("Downloading %s %s for %s...", ev.Package, ev.Version, ev.Key)
			case ev.Package != "":
				a.mention("Downloading %s for %s...", ev.Package, ev.Key)
			default:
				a.mention("- %s in %s", ev.Key, ev.Dir)
			}
		},
	}
	sources, diags := installer.Install(ctx, upgrade)
	a.sources = sources
	return !a.show(diags)
}
