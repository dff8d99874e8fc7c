package main

import (
	"context"
	"flag"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
)

func (a *app) initCommand() *command {
	flags := flag.NewFlagSet("init", flag.ContinueOnError)
	upgrade := flags.Bool("upgrade", false, "choose the newest allowed provider versions, whatever is locked")
	lockMode := flags.String("lockfile", "", "`readonly` makes any change of the dependency lock file an error")
	get := flags.Bool("get", true, "install modules")
	noColor := flags.Bool("no-color", false, "no colours in the output")
	var backend backendFlags
	backend.register(flags)
	return &command{
		synopsis: "Set up the backend and install what the configuration needs", usage: "[options]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			if a.refuseArguments("init", args) {
				return exitFailed
			}
			a.color = a.color && !*noColor
			return a.initialise(ctx, &backend, *get, install.Options{Upgrade: *upgrade, ReadonlyLock: *lockMode == "readonly"})
		},
	}
}

// initialise sets up the backend, installs modules and providers and writes the lock file.
func (a *app) initialise(ctx context.Context, backend *backendFlags, get bool, opts install.Options) int {
	if !configs.HasFiles(".") {
		a.printf("Towline initialized in an empty directory!\n\nThe directory has no Terraform configuration files. You may begin working\nwith Towline immediately by creating Terraform configuration files.\n")
		return exitOK
	}
	module, sources, diags := configs.LoadModule(".")
	a.sources = sources
	if a.show(diags) {
		return exitFailed
	}
	if diags, ok := a.initBackend(ctx, module, backend); !ok {
		a.show(diags)
		return exitFailed
	}
	if get && len(module.ModuleCalls) > 0 {
		a.printf("%s modules...\n", map[bool]string{true: "Upgrading", false: "Initializing"}[opts.Upgrade])
		if !a.installModules(ctx, opts.Upgrade) {
			return exitFailed
		}
	}
	config, diags := configs.Load(".")
	a.sources = config.Sources
	if a.show(diags) {
		return exitFailed
	}
	installation, diags := install.Open(".", cliconfig.OSEnvironment())
	if a.show(diags) {
		return exitFailed
	}
	a.printf("Initializing provider plugins...\n")
	result, diags := installation.Install(ctx, config.ProviderRequirements(), opts)
	for _, p := range result.Providers {
		verb := "Installed"
		switch {
		case p.Present:
			verb = "Using previously-installed"
		case p.Reused:
			verb = "Reused the locked version:"
		}
		from := ""
		if p.From != "" && !p.Present {
			from = " from " + p.From
		}
		a.printf("- %s %s v%s%s\n", verb, p.Addr.ForDisplay(), p.Version, from)
	}
	if a.show(diags) {
		return exitFailed
	}
	if result.LockCreated || result.LockChanged {
		a.printf("\nThe dependency lock file .terraform.lock.hcl was %s. Include it in your version control\nrepository, so that the same versions are chosen everywhere.\n",
			map[bool]string{true: "created", false: "changed"}[result.LockCreated])
	}
	a.printf("\n%s\n", strings.TrimSpace(`
Towline has been successfully initialized!

You may now begin working with Towline. Try running "towline plan" to see
any changes that are required for your infrastructure.`))
	return exitOK
}
