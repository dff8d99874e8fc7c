package main

import (
	"context"
	"encoding/json"
	"flag"
	"runtime"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/states"
)

func (a *app) versionCommand() *command {
	flags := flag.NewFlagSet("version", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print JSON")
	return &command{
		synopsis: "Print the version", usage: "[options]", flags: flags,
		run: func(context.Context, []string) int {
			if *asJSON {
				out, err := json.MarshalIndent(map[string]string{
					"towline_version": agent.Version, "terraform_version": states.TerraformVersion, "platform": runtime.GOOS + "_" + runtime.GOARCH,
				}, "", "  ")
				if err != nil {
					a.fail("Failed to print version", err)
					return exitFailed
				}
				a.printf("%s\n", out)
				return exitOK
			}
			a.printf("Towline v%s\non %s_%s\nreproduces Terraform v%s\n", agent.Version, runtime.GOOS, runtime.GOARCH, states.TerraformVersion)
			return exitOK
		},
	}
}
