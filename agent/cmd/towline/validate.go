package main

import (
	"context"
	"encoding/json"
	"flag"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

func (a *app) validateCommand() *command {
	flags := flag.NewFlagSet("validate", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print the result as JSON")
	noColor := flags.Bool("no-color", false, "no colours in the output")
	return &command{
		synopsis: "Check whether the configuration is valid", usage: "[options]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			if a.refuseArguments("validate", args) {
				return exitFailed
			}
			a.color = a.color && !*noColor
			diags := a.validate(ctx)
			if *asJSON {
				return a.validateJSON(diags)
			}
			if a.show(diags) {
				return exitFailed
			}
			a.printf("%s The configuration is valid%s.\n\n", a.paint("\x1b[32m", "Success!"), map[bool]string{true: ", but there were some validation warnings as shown above"}[len(diags) > 0])
			return exitOK
		},
	}
}

func (a *app) validate(ctx context.Context) tfdiags.Diagnostics {
	w, diags := a.openChecked(engine.NoHook{}, 0, (*install.Installation).CheckPresent)
	if diags.HasErrors() {
		return diags
	}
	diags = append(diags, w.engine.Validate(ctx, w.config)...)
	return append(diags, tfdiags.FromError("Failed to end providers", w.close())...)
}

// validateJSON prints terraform's form of the result.
func (a *app) validateJSON(diags tfdiags.Diagnostics) int {
	out := struct {
		FormatVersion string            `json:"format_version"`
		Valid         bool              `json:"valid"`
		ErrorCount    int               `json:"error_count"`
		WarningCount  int               `json:"warning_count"`
		Diagnostics   []json.RawMessage `json:"diagnostics"`
	}{FormatVersion: "1.0", Valid: !diags.HasErrors(), Diagnostics: []json.RawMessage{}}
	format := tfdiags.Format{Sources: a.sources}
	for _, d := range diags {
		encoded, err := format.JSON(d)
		if err != nil {
			a.fail("Failed to print result", err)
			return exitFailed
		}
		out.Diagnostics = append(out.Diagnostics, encoded)
		if d.Severity == tfdiags.Error {
			out.ErrorCount++
		} else {
			out.WarningCount++
		}
	}
	encoded, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		a.fail("Failed to print result", err)
		return exitFailed
	}
	a.printf("%s\n", encoded)
	if diags.HasErrors() {
		return exitFailed
	}
	return exitOK
}
