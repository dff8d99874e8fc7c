package parity

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
)

// stepsFile is the file of a case that says what is done.
const stepsFile = "steps"

// Case is a configuration and what is done with it.
//
// The file "steps" has one step a line, in words that are quoted as in a shell;
// lines that begin with # say what the case is for. Steps are:
//
//	plan FLAGS...           plan, keep the plan and show it
//	apply FLAGS...          the same, then apply the kept plan
//	destroy FLAGS...        apply -destroy
//	run ARGUMENTS...        any other subcommand
//	console EXPRESSION      evaluate an expression
//	load                    validate a configuration of which nothing is installed
//	init FLAGS...           initialise; without this step it is done unasked where modules or providers need it
//	overlay FOLDER          copy a folder of the case over the configuration
//	remove FILES...         remove files
//	env NAME=VALUE          set an environment variable from here on
//	hand ARGUMENTS...       change a real object behind the programs' backs
//	cloud NAME ARGUMENTS... have a cloud and its provider: simcloud or aws
//
// A step that terraform must refuse has the word "fails" before it, one whose
// calls must come in the same order the word "ordered". A line
//
//	known "ENTRY" PATTERN
//
// (or "sometimes" instead of "known", for what terraform does at random)
// says that the next step is known to differ where the path of the difference
// matches the pattern; ENTRY begins a row of docs/internals/differences.md. It
// is an error if nothing differs there that is known, and not only sometimes.
type Case struct {
	// Name is HEADING/CASE, Dir the folder.
	Name, Dir string
	Steps     []Step
}

// Step is one line of a case.
type Step struct {
	Line    int
	Verb    string
	Args    []string
	Fails   bool
	Ordered bool
	Known   []Known
}

// Known is a difference that is left on purpose.
type Known struct {
	Entry string
	At    *regexp.Regexp
	// Sometimes tells that it need not differ.
	Sometimes bool
}

// String is the step as it was written.
func (s Step) String() string {
	return fmt.Sprintf("line %d: %s", s.Line, strings.Join(append([]string{s.Verb}, s.Args...), " "))
}

// Cases reads all cases below a folder, HEADING/CASE each.
func Cases(root string) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(root, "*", "*", stepsFile))
	if err != nil {
		return nil, fmt.Errorf("find cases: %w", err)
	}
	cases := make([]Case, len(files))
	for i, file := range files {
		dir := filepath.Dir(file)
		name, err := filepath.Rel(root, dir)
		if err != nil {
			return nil, fmt.Errorf("find cases: %w", err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read case %s: %w", name, err)
		}
		cases[i] = Case{Name: filepath.ToSlash(name), Dir: dir}
		if cases[i].Steps, err = parseSteps(text); err != nil {
			return nil, fmt.Errorf("read case %s: %w", name, err)
		}
	}
	return cases, nil
}

// parseSteps reads a file of steps.
func parseSteps(text []byte) ([]Step, error) {
	var steps []Step
	var known []Known
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		words, err := shellquote.Split(string(line))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if words[0] == "known" || words[0] == "sometimes" {
			k, err := parseKnown(words)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			known = append(known, k)
			continue
		}
		step, err := parseStep(number, words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		step.Known, known = known, nil
		steps = append(steps, step)
	}
	if len(steps) == 0 || known != nil {
		return nil, errors.New("the last line must be a step")
	}
	return steps, nil
}

func parseKnown(words []string) (Known, error) {
	if len(words) != 3 {
		return Known{}, errors.New("a known difference is written: known \"ENTRY\" PATTERN")
	}
	at, err := regexp.Compile(words[2])
	if err != nil {
		return Known{}, fmt.Errorf("read the place of a known difference: %w", err)
	}
	return Known{Entry: words[1], At: at, Sometimes: words[0] == "sometimes"}, nil
}

func parseStep(line int, words []string) (Step, error) {
	step := Step{Line: line}
	for ; len(words) > 1 && (words[0] == "fails" || words[0] == "ordered"); words = words[1:] {
		step.Fails = step.Fails || words[0] == "fails"
		step.Ordered = step.Ordered || words[0] == "ordered"
	}
	step.Verb, step.Args = words[0], words[1:]
	if _, ok := verbs[step.Verb]; !ok {
		return step, fmt.Errorf("%q is no step", step.Verb)
	}
	return step, nil
}

// overlays are the folders of a case that are laid over the configuration later.
func (c *Case) overlays() []string {
	var names []string
	for _, s := range c.Steps {
		if s.Verb == "overlay" && len(s.Args) == 1 {
			names = append(names, s.Args[0])
		}
	}
	return names
}

// cloud is the name of the cloud that a case needs, if any.
func (c *Case) cloud() string {
	for _, s := range c.Steps {
		if s.Verb == "cloud" && len(s.Args) == 1 {
			return s.Args[0]
		}
	}
	return ""
}

// Recorded tells whether towline is compared with what was recorded of
// terraform, because terraform takes long.
func (c *Case) Recorded() bool { return c.cloud() == "aws" }

// lastApply is the index of the last step that applies, -1 if none does.
func (c *Case) lastApply() int {
	for i, s := range slices.Backward(c.Steps) {
		if (s.Verb == "apply" || s.Verb == "destroy") && !s.Fails {
			return i
		}
	}
	return -1
}

// lastShown is the index of the step after which the state is shown: the last
// that leaves objects to be shown, or the last of all if none does. It is -1 where
// terraform is slow.
func (c *Case) lastShown() int {
	if c.Recorded() {
		return -1
	}
	for i, s := range slices.Backward(c.Steps) {
		if s.Verb == "apply" && !slices.Contains(s.Args, "-destroy") {
			return i
		}
	}
	return len(c.Steps) - 1
}

// has tells whether a verb is among the steps.
func (c *Case) has(verb string) bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Verb == verb })
}
