package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
)

// argumentsVariable is the environment variable with words for every command line.
// With a subcommand behind it, as in TF_CLI_ARGS_state_list, it is for that one.
const argumentsVariable = "TF_CLI_ARGS"

// extended adds to a command line what the environment wants on it, between the
// subcommand and its own arguments, which therefore win.
func (a *app) extended(args []string) ([]string, error) {
	words := a.subcommandWords(args)
	if words == 0 {
		return args, nil
	}
	own := argumentsVariable + "_" + strings.ReplaceAll(strings.Join(args[:words], "_"), "-", "_")
	for _, variable := range []string{argumentsVariable, own} {
		more, err := shellquote.Split(os.Getenv(variable))
		if err != nil {
			return nil, mistake("Error parsing extra CLI args from "+variable, fmt.Sprintf("The words in this environment variable cannot be told apart: %s. Close every quotation mark.", err))
		}
		args = slices.Insert(slices.Clone(args), words, more...)
	}
	return args, nil
}

// subcommandWords is how many words at the beginning of a command line are the
// name of a subcommand.
func (a *app) subcommandWords(args []string) int {
	known := a.commands()
	for n := min(len(args), 3); n > 0; n-- {
		if known[strings.Join(args[:n], " ")] != nil {
			return n
		}
	}
	return 0
}
