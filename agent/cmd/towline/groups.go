package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/hashicorp/cli"
)

// group is a word that only other subcommands begin with.
func (a *app) group(name, synopsis string) func() *command {
	return func() *command {
		return &command{
			synopsis: synopsis, usage: "<subcommand> [options]",
			run: func(_ context.Context, args []string) int {
				if len(args) == 0 {
					return cli.RunResultHelp
				}
				a.show(explain(a.unknown(name + " " + args[0])))
				return exitFailed
			},
		}
	}
}

// checkCommand refuses a first word with which no subcommand begins. Without any
// word the dispatcher shows help.
func (a *app) checkCommand(args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil
	}
	for name := range a.commands() {
		if first, _, _ := strings.Cut(name, " "); first == args[0] {
			return nil
		}
	}
	return a.unknown(args[0])
}

// maxTypos is how many letters a suggestion may differ in.
const maxTypos = 2

// unknown says that there is no such subcommand, and which one may be meant.
func (a *app) unknown(name string) error {
	hint := "\"towline -help\" lists the subcommands."
	for _, known := range slices.Sorted(maps.Keys(a.commands())) {
		if levenshtein.Distance(name, known, nil) <= maxTypos {
			hint = fmt.Sprintf("Did you mean \"towline %s\"? %s", known, hint)
			break
		}
	}
	return mistake("Unknown subcommand", fmt.Sprintf("Towline has no subcommand %q. %s", name, hint))
}
