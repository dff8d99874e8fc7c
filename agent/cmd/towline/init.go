package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

func (a *app) initCommand() *command {
	flags := flag.NewFlagSet("init", flag.ContinueOnError)
	upgrade := flags.Bool("upgrade", false, "choose the newest allowed provider versions, whatever is locked")
	lockMode := flags.String("lockfile", "", "`readonly` keeps the dependency lock file as it is and refuses other providers than it has")
	get := flags.Bool("get", true, "install modules")
	noColor := flags.Bool("no-color", false, "no colours in the output")
	asJSON := flags.Bool("json", false, "print messages for programs, one JSON object a line; nothing is asked")
	var backend backendFlags
	backend.register(flags)
	return &command{
		synopsis: "Set up the backend and install what the configuration needs", usage: "[options]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			if a.refuseArguments("init", args) {
				return exitFailed
			}
			if *upgrade && *lockMode == "readonly" {
				a.show(tfdiags.New(tfdiags.Error, "The -upgrade flag conflicts with -lockfile=readonly.",
					"Newer versions would have to be written to the dependency lock file. Leave out one of both."))
				return exitFailed
			}
			a.color = a.color && !*noColor
			if *asJSON {
				backend.input = false
				a.startStream()
			}
			return a.initialise(ctx, &backend, *get, install.Options{Upgrade: *upgrade, ReadonlyLock: *lockMode == "readonly"})
		},
	}
}

// initialise sets up the backend, installs modules and providers and writes the lock file.
func (a *app) initialise(ctx context.Context, backend *backendFlags, get bool, opts install.Options) int {
	if !configs.HasFiles(".") {
		a.step("output_init_empty_message", "Towline initialized in an empty directory!\n\nThe directory has no Terraform configuration files. You may begin working\nwith Towline immediately by creating Terraform configuration files.")
		return exitOK
	}
	module, sources, diags := configs.LoadModule(".")
	a.sources = sources
	if a.show(diags) {
		return exitFailed
	}
	diags, ok := a.initBackend(ctx, module, backend)
	if a.show(diags); !ok {
		return exitFailed
	}
	if get && len(module.ModuleCalls) > 0 {
		if opts.Upgrade {
			a.step("upgrading_modules_message", "Upgrading modules...")
		} else {
			a.step("initializing_modules_message", "Initializing modules...")
		}
		if !a.installModules(ctx, opts.Upgrade) {
			return exitFailed
		}
	}
	if !a.installProviders(ctx, opts) {
		return exitFailed
	}
	a.step("output_init_success_message", "\nTowline has been successfully initialized!")
	a.step("output_init_success_cli_message", "\nYou may now begin working with Towline. Try running \"towline plan\" to see\nany changes that are required for your infrastructure.")
	return exitOK
}

// installProviders installs what the whole configuration needs.
func (a *app) installProviders(ctx context.Context, opts install.Options) bool {
	config, diags := configs.Load(".")
	a.sources = config.Sources
	if a.show(diags) {
		return false
	}
	installation, diags := install.Settings{Hashes: cacheDir("packages")}.Open(".", cliconfig.OSEnvironment())
	if a.show(diags) {
		return false
	}
	a.step("initializing_provider_plugin_message", "Initializing provider plugins...")
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
		a.mention("- %s %s v%s%s", verb, p.Addr.ForDisplay(), p.Version, from)
	}
	if diags.HasErrors() {
		a.show(diags)
		return false
	}
	if result.LockCreated || result.LockChanged {
		a.step("lock_info", fmt.Sprintf("\nThe dependency lock file .terraform.lock.hcl was %s. Include it in your version control\nrepository, so that the same versions are chosen everywhere.",
			map[bool]string{true: "created", false: "changed"}[result.LockCreated]))
	}
	a.show(diags)
	return true
}

// step tells of a step of init; code names it to programs.
func (a *app) step(code, text string) {
	if a.stream != nil {
		a.stream.Initialising(code, strings.TrimSpace(text))
		return
	}
	a.printf("%s\n", text)
}

// mention tells of something that was done in a step.
func (a *app) mention(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if a.stream != nil {
		a.stream.Log(text)
		return
	}
	a.printf("%s\n", text)
}
