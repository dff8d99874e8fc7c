package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/cli"
	"golang.org/x/term"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/stream"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Exit codes. The mirrored verbs use terraform's: 2 only with -detailed-exitcode.
const (
	exitOK      = 0
	exitFailed  = 1
	exitChanges = 2
)

// app is what all subcommands share.
type app struct {
	stdout, stderr io.Writer
	stdin          io.Reader
	// color tells whether standard output takes ANSI colours; width is its columns.
	color bool
	// compact tells warnings in a line each.
	compact bool
	width   int
	// terminal tells whether standard output is one.
	terminal bool
	// sources are the source files read so far, for diagnostics.
	sources map[string][]byte
	// json makes results JSON.
	json bool
	// stream takes what happens as messages; nil outside of -json.
	stream *stream.Stream
}

// command is one subcommand.
type command struct {
	// synopsis is one line; usage is what follows "towline NAME" in the usage line.
	synopsis, usage string
	// long explains; it may be empty.
	long  string
	flags *flag.FlagSet
	run   func(ctx context.Context, args []string) int
}

// commands lists every subcommand by its words.
func (a *app) commands() map[string]func() *command {
	all := a.mirroredCommands()
	maps.Copy(all, a.ownCommands())
	return all
}

// mirroredCommands are those that terraform has too.
func (a *app) mirroredCommands() map[string]func() *command {
	return map[string]func() *command{
		"init":                   a.initCommand,
		"get":                    a.getCommand,
		"fmt":                    a.fmtCommand,
		"validate":               a.validateCommand,
		"plan":                   a.planCommand,
		"apply":                  a.applyCommand,
		"destroy":                a.destroyCommand,
		"show":                   a.showCommand,
		"output":                 a.outputCommand,
		"state":                  a.group("state", "Look at the state"),
		"state list":             a.stateListCommand,
		"state show":             a.stateShowCommand,
		"state mv":               a.stateMvCommand,
		"state rm":               a.stateRmCommand,
		"state pull":             a.statePullCommand,
		"state push":             a.statePushCommand,
		"refresh":                a.refreshCommand,
		"console":                a.consoleCommand,
		"graph":                  a.graphCommand,
		"providers":              a.providersCommand,
		"import":                 a.importCommand,
		"taint":                  a.taintCommand,
		"untaint":                a.untaintCommand,
		"force-unlock":           a.forceUnlockCommand,
		"state replace-provider": a.stateReplaceProviderCommand,
		"providers schema":       a.providersSchemaCommand,
		"providers lock":         a.providersLockCommand,
		"providers mirror":       a.providersMirrorCommand,
		"workspace":              a.group("workspace", "Keep several states for one configuration"),
		"workspace list":         a.workspaceListCommand,
		"workspace show":         a.workspaceShowCommand,
		"workspace new":          a.workspaceNewCommand,
		"workspace select":       a.workspaceSelectCommand,
		"workspace delete":       a.workspaceDeleteCommand,
	}
}

// ownCommands are those that are about repositories and agents.
func (a *app) ownCommands() map[string]func() *command {
	return map[string]func() *command{
		"version":              a.versionCommand,
		"state fetch":          a.stateFetchCommand,
		"state rewrap":         a.stateRewrapCommand,
		"settle":               a.settleCommand,
		"agent run":            a.agentRunCommand,
		"agent settle":         a.agentSettleCommand,
		"agent":                a.group("agent", "Run the agent of an environment"),
		"repository":           a.group("repository", "Create repositories and keep them fresh"),
		"repository check":     a.repositoryCheckCommand,
		"repository init":      a.repositoryInitCommand,
		"repository refresh":   a.repositoryRefreshCommand,
		"repository keys":      a.repositoryKeysCommand,
		"repository keys new":  a.repositoryKeysNewCommand,
		"repository keys show": a.repositoryKeysShowCommand,
		"repository rotate":    a.repositoryRotateCommand,
		"publish":              a.publishCommand,
		"revisions":            a.revisionsCommand,
		"status":               a.statusCommand,
		"drift":                a.driftCommand,
		"authority":            a.authorityCommand,
		"receipts":             a.receiptsCommand,
		"drift adopt":          a.driftAdoptCommand,
		"plans":                a.group("plans", "See and approve what agents propose"),
		"plans list":           a.plansListCommand,
		"plans show":           a.plansShowCommand,
		"plans approve":        a.plansDecideCommand(control.VerdictApprove),
		"plans reject":         a.plansDecideCommand(control.VerdictReject),
		"signal":               a.signalCommand,
		"break-glass":          a.group("break-glass", "Suspend the correction of objects in an emergency"),
		"break-glass open":     a.breakGlassOpenCommand,
		"break-glass approve":  a.breakGlassApproveCommand,
		"break-glass extend":   a.breakGlassExtendCommand,
		"break-glass close":    a.breakGlassCloseCommand,
		"break-glass list":     a.breakGlassListCommand,
		"break-glass show":     a.breakGlassShowCommand,
	}
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string) int {
	log.SetOutput(io.Discard) // libraries that find services and fetch modules chat there
	a := &app{stdout: os.Stdout, stderr: os.Stderr, stdin: os.Stdin, sources: map[string][]byte{}}
	a.terminal = term.IsTerminal(int(os.Stdout.Fd()))
	a.color = a.terminal && os.Getenv("NO_COLOR") == ""
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		a.width = width
	}
	args = a.takeStyle(args)
	args, err := chdir(args)
	if err != nil {
		a.fail("Failed to change directory", err)
		return exitFailed
	}
	if err := a.checkCommand(args); err != nil {
		a.show(explain(err))
		return exitFailed
	}
	if args, err = a.extended(args); err != nil {
		a.show(explain(err))
		return exitFailed
	}
	args = a.takeStyle(args)
	dispatcher := cli.CLI{
		Name: "towline", Version: "Towline v" + agent.Version, Args: args, Commands: map[string]cli.CommandFactory{},
		HelpWriter: a.stdout, ErrorWriter: a.stderr, HelpFunc: helpText,
	}
	for name, build := range a.commands() {
		dispatcher.Commands[name] = func() (cli.Command, error) { return &adapter{ctx, a, name, build()}, nil }
	}
	code, err := dispatcher.Run()
	if err != nil {
		a.fail("Failed to run command", err)
		return exitFailed
	}
	return code
}

// helpText lists the subcommands, and the options that stand before or in any of them.
func helpText(commands map[string]cli.CommandFactory) string {
	return strings.TrimRight(cli.BasicHelpFunc("towline")(commands), "\n") + `

Options of every command:
    -chdir=DIR         Work in another directory; stands before the command
    -no-color          No colours in the output
    -compact-warnings  Only the summaries of warnings
    -help              What a command does and which options it has
`
}

// takeStyle carries out -no-color and -compact-warnings, which every subcommand
// takes anywhere.
func (a *app) takeStyle(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		switch arg {
		case "-no-color", "--no-color":
			a.color = false
		case "-compact-warnings", "--compact-warnings":
			a.compact = true
		default:
			return false
		}
		return true
	})
}

// chdir carries out -chdir=DIR, which stands before the subcommand.
func chdir(args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	dir, ok := strings.CutPrefix(strings.TrimPrefix(args[0], "-"), "-chdir=")
	if !ok {
		dir, ok = strings.CutPrefix(args[0], "-chdir=")
	}
	if !ok {
		return args, nil
	}
	return args[1:], os.Chdir(dir)
}

// adapter makes a command one of the dispatcher's.
type adapter struct {
	ctx  context.Context
	app  *app
	name string
	*command
}

// Run implements cli.Command.
func (c *adapter) Run(args []string) int {
	if c.flags == nil {
		c.flags = flag.NewFlagSet(c.name, flag.ContinueOnError)
	}
	c.flags.SetOutput(io.Discard)
	c.flags.Usage = func() {}
	rest, err := parseInterspersed(c.flags, args)
	if errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprintln(c.app.stdout, c.Help())
		return exitOK
	}
	if err != nil {
		c.app.fail("Failed to parse command-line flags", fmt.Errorf("%w; \"towline %s -help\" lists what is known", err, c.name))
		return exitFailed
	}
	return c.command.run(c.ctx, rest)
}

// parseInterspersed parses flags before and after arguments.
func parseInterspersed(flags *flag.FlagSet, args []string) ([]string, error) {
	var rest []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		args = flags.Args()
		if len(args) == 0 {
			return rest, nil
		}
		rest = append(rest, args[0])
		args = args[1:]
	}
}

// hasFlags tells whether a set has any flag.
func hasFlags(flags *flag.FlagSet) bool {
	found := false
	if flags != nil {
		flags.VisitAll(func(*flag.Flag) { found = true })
	}
	return found
}

// Synopsis implements cli.Command.
func (c *adapter) Synopsis() string { return c.synopsis }

// Help implements cli.Command.
func (c *adapter) Help() string {
	var out strings.Builder
	fmt.Fprintf(&out, "Usage: towline %s %s\n\n  %s\n", c.name, c.usage, c.synopsis)
	if c.long != "" {
		out.WriteString("\n" + c.long + "\n")
	}
	if hasFlags(c.flags) {
		out.WriteString("\nOptions:\n\n")
		c.flags.SetOutput(&out)
		c.flags.PrintDefaults()
	}
	return strings.TrimRight(out.String(), "\n")
}

// startStream makes standard output a stream of messages. What is for people goes nowhere.
func (a *app) startStream() {
	a.stream = stream.New(a.stdout, time.Now)
	a.stdout = io.Discard
	a.color = false
	a.stream.Version(agent.Version)
}

// hook is who tells what an operation does.
func (a *app) hook() engine.Hook {
	if a.stream != nil {
		return a.stream
	}
	return newProgress(a)
}

// show writes diagnostics to stderr and tells whether any is an error.
func (a *app) show(diags tfdiags.Diagnostics) (failed bool) {
	if a.stream != nil {
		a.stream.Diagnostics(diags, a.sources)
		return diags.HasErrors()
	}
	format := tfdiags.Format{Color: a.color, Width: a.width, Sources: a.sources}
	write := format.Write
	if a.compact {
		write = format.WriteCompact
	}
	_ = write(a.stderr, diags) // nowhere left to say that stderr is gone
	return diags.HasErrors()
}

// refused shows problems if there is an error, and tells so. Warnings about the
// configuration alone are for what works with it: they would hide what was asked for.
func (a *app) refused(diags tfdiags.Diagnostics) bool { return diags.HasErrors() && a.show(diags) }

// fail shows one error.
func (a *app) fail(summary string, err error) { a.show(tfdiags.FromError(summary, err)) }

// paint wraps text in an ANSI colour where colours are allowed.
func (a *app) paint(code, text string) string {
	if !a.color {
		return text
	}
	return code + text + "\x1b[0m"
}

// printf writes to stdout.
func (a *app) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(a.stdout, format, args...) // a closed stdout ends the process by signal
}
