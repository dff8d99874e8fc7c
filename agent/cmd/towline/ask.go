package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/towline/terraform-provider-towline/internal/configs"
)

// inputVariable is the environment variable that forbids to ask for variables.
const inputVariable = "TF_INPUT"

// asks tells whether missing variables are asked for.
func (f *inputFlags) asks() bool {
	allowed, err := strconv.ParseBool(os.Getenv(inputVariable))
	return f.plans && f.input && !f.json && (err != nil || allowed)
}

// askVariables asks for the variables that need a value and have none. What is
// answered counts as if it had been given with -var; without an answer a variable
// stays without a value. It tells whether all answers can be read.
func (s *session) askVariables() bool {
	if !s.in.asks() {
		return true
	}
	asked := false
	for _, v := range s.missing() {
		s.app.printf("var.%s\n", v.Name)
		if v.Description != "" {
			s.app.printf("  %s\n\n", v.Description)
		}
		s.app.printf("  Enter a value: ")
		text, err := s.app.readAnswer(v.Sensitive)
		if err != nil {
			break
		}
		s.app.printf("\n")
		s.in.given = append(s.in.given, configs.VariableOption{Assignment: v.Name + "=" + text})
		asked = true
	}
	return !asked || !s.app.show(s.collect(s.in.given, s.app.sources))
}

// ask puts a yes-or-no question to the person at the terminal.
func (a *app) ask(question string) (bool, error) {
	a.printf("%s\n\n  Only 'yes' will be accepted to approve.\n\n  Enter a value: ", question)
	answer, err := a.readAnswer(false)
	if err != nil {
		return false, fmt.Errorf("no answer could be read: %w; use -auto-approve to go on without one", err)
	}
	a.printf("\n")
	return answer == "yes", nil
}

// readAnswer reads one line and nothing behind it, since another question may
// follow. On a terminal a secret is not shown.
func (a *app) readAnswer(secret bool) (string, error) {
	if file, ok := a.stdin.(*os.File); ok && secret && term.IsTerminal(int(file.Fd())) {
		line, err := term.ReadPassword(int(file.Fd()))
		return string(line), err
	}
	var line strings.Builder
	for one := make([]byte, 1); line.Len() < maxLine; {
		n, err := a.stdin.Read(one)
		switch {
		case n == 1 && one[0] == '\n', errors.Is(err, io.EOF) && line.Len() > 0:
			return strings.TrimSuffix(line.String(), "\r"), nil
		case n == 1:
			line.WriteByte(one[0])
		case err != nil:
			return "", err
		}
	}
	return "", fmt.Errorf("the answer has more than %d bytes", maxLine)
}
