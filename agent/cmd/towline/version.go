package main

import (
	"context"
	"flag"
	"runtime"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/plugin/lockfile"
	"github.com/towline/terraform-provider-towline/internal/states"
)

func (a *app) versionCommand() *command {
	flags := flag.NewFlagSet("version", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print JSON")
	return &command{
		synopsis: "Print the version", usage: "[options]", flags: flags,
		run: func(context.Context, []string) int {
			if *asJSON {
				if err := a.versionJSON(); err != nil {
					a.fail("Failed to print version", err)
					return exitFailed
				}
				return exitOK
			}
			a.printf("Towline v%s\non %s_%s\nreproduces Terraform v%s\n", agent.Version, runtime.GOOS, runtime.GOARCH, states.TerraformVersion)
			return exitOK
		},
	}
}

// versionJSON prints the version and those of the locked providers.
func (a *app) versionJSON() error {
	locks, diags := lockfile.Read(lockfile.Name)
	if diags.HasErrors() {
		return diags.Err()
	}
	selections := map[string]string{}
	for addr, lock := range locks {
		selections[addr.String()] = lock.Version.String()
	}
	return a.printJSON(map[string]any{
		"towline_version": agent.Version, "terraform_version": states.TerraformVersion, "platform": runtime.GOOS + "_" + runtime.GOARCH,
		"provider_selections": selections, "terraform_outdated": false,
	})
}
