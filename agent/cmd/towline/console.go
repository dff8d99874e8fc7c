package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// maxLine bounds one line that is typed or piped in.
const maxLine = 1 << 20

func (a *app) consoleCommand() *command {
	flags := flag.NewFlagSet("console", flag.ContinueOnError)
	var in inputFlags
	in.register(flags)
	return &command{
		synopsis: "Try expressions on the configuration and its state", usage: "[options]", flags: flags,
		long: "  Expressions see objects as the state records them; what is not recorded is\n  unknown. From a pipe only the last result is printed.",
		run: func(ctx context.Context, args []string) int {
			in.apply(a)
			if a.refuseArguments("console", args) {
				return exitFailed
			}
			in.state.looks = true
			s, ok := a.openUnsettled(ctx, &in, "OperationTypeConsole")
			if !ok {
				return exitFailed
			}
			defer s.close()
			console, diags := s.engine.Console(ctx, s.config, s.state.State, s.variables)
			if a.show(diags); console == nil {
				return exitFailed
			}
			repl := repl{app: a, console: console}
			if file, isFile := a.stdin.(*os.File); isFile && a.terminal && term.IsTerminal(int(file.Fd())) {
				return repl.interactive(ctx, file)
			}
			return repl.piped(ctx)
		},
	}
}

// repl reads expressions and tells their values.
type repl struct {
	app     *app
	console *engine.Console
}

// errEnd says that the user wants to leave.
var errEnd = errors.New("end of console")

// answer returns what a line comes to.
func (r repl) answer(ctx context.Context, line string) (string, error) {
	switch line = strings.TrimSpace(line); line {
	case "":
		return "", nil
	case "exit":
		return "", errEnd
	case "help":
		return "Type an expression to see its value, with everything that the root module can refer to.\nObjects are as the state records them. type(EXPRESSION) tells a type.\nTo leave, type \"exit\" or press Control-D.", nil
	}
	val, diags := r.console.Eval(ctx, line)
	ty, isType, within := lang.TypeValue(val)
	if within && !diags.HasErrors() {
		diags = append(diags, tfdiags.New(tfdiags.Error, "Invalid use of type function", "The function type exists in the console only, and cannot be a part of an expression. Use it alone.")...)
	}
	if diags.HasErrors() {
		return "", diags.Err()
	}
	r.app.show(diags)
	if isType {
		return lang.TypeText(ty), nil
	}
	var out strings.Builder
	err := renderTo(&out, val)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// piped answers every line of standard input and prints the last answer.
func (r repl) piped(ctx context.Context) int {
	scanner := bufio.NewScanner(r.app.stdin)
	scanner.Buffer(nil, maxLine)
	last := ""
	for scanner.Scan() {
		answer, err := r.answer(ctx, scanner.Text())
		if errors.Is(err, errEnd) {
			return exitOK
		}
		if err != nil {
			r.app.fail("Failed to evaluate", err)
			return exitFailed
		}
		last = answer
	}
	if err := scanner.Err(); err != nil {
		r.app.fail("Failed to read standard input", err)
		return exitFailed
	}
	r.app.printf("%s\n", last)
	return exitOK
}

// interactive talks to a person, line by line; open brackets go on in the next line.
func (r repl) interactive(ctx context.Context, file *os.File) int {
	fd := int(file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		r.app.fail("Failed to open the terminal", err)
		return exitFailed
	}
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{file, r.app.stdout}, "> ")
	err = r.converse(ctx, terminal, func(work func()) {
		// Diagnostics and results are written to a terminal in its usual mode.
		if err := term.Restore(fd, before); err == nil {
			work()
		}
		_, _ = term.MakeRaw(fd) // the next line says so if it failed
	})
	if err = errors.Join(err, term.Restore(fd, before)); err != nil {
		r.app.fail("Failed to read from the terminal", err)
		return exitFailed
	}
	r.app.printf("\n")
	return exitOK
}

func (r repl) converse(ctx context.Context, terminal *term.Terminal, usual func(func())) error {
	pending := ""
	for {
		line, err := terminal.ReadLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read line: %w", err)
		}
		if pending += line; openBrackets(pending) && line != "" {
			pending += "\n"
			terminal.SetPrompt(": ")
			continue
		}
		var answer string
		usual(func() {
			if answer, err = r.answer(ctx, pending); err != nil && !errors.Is(err, errEnd) {
				r.app.fail("Failed to evaluate", err)
			} else if answer != "" {
				r.app.printf("%s\n", answer)
			}
		})
		if errors.Is(err, errEnd) {
			return nil
		}
		pending = ""
		terminal.SetPrompt("> ")
	}
}

// openBrackets tells whether more has been opened than closed, outside of quotes.
func openBrackets(text string) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		}
	}
	return depth > 0
}
