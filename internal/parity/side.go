package parity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// commandLimit bounds one run of a program.
const commandLimit = 3 * time.Minute

// keptPlan and keptState are the files that a plan and the state are in.
const (
	keptPlan  = "plan.bin"
	keptState = "terraform.tfstate"
)

// Observation is what a program showed at a step, by what it is: the exit code,
// the problems, the plan as JSON and as text, the state.
type Observation map[string]any

// side is one of the programs at work in a directory of its own.
type side struct {
	program string
	dir     string
	env     map[string]string
	names   *names
	cloud   cloud
	// flags are those of the last apply that a plan afterwards needs as well.
	flags []string
	// stale tells that modules and providers may have to be installed.
	stale bool
	// terse leaves out the text of plans that are applied: where terraform is slow,
	// it is compared at steps that only plan.
	terse bool
	// install is the subcommand that installs them, needs what makes it necessary.
	install string
	needs   *regexp.Regexp
}

// output is what one run of a program printed.
type output struct {
	stdout, stderr string
	code           int
}

// exit is the exit code as it is compared.
func (o output) exit() string { return strconv.Itoa(o.code) }

// run runs the program once.
func (s *side) run(ctx context.Context, stdin string, args ...string) (output, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Dir, cmd.Stdin = s.dir, strings.NewReader(stdin)
	for _, name := range slices.Sorted(maps.Keys(s.env)) {
		cmd.Env = append(cmd.Env, name+"="+s.env[name])
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		return output{}, fmt.Errorf("run %s %s: %w", filepath.Base(s.program), strings.Join(args, " "), errors.Join(err, ctx.Err()))
	}
	return output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}, nil
}

// do carries out a step.
func (s *side) do(ctx context.Context, c *Case, step Step) (Observation, error) {
	return verbs[step.Verb].do(ctx, s, c, step)
}

// verb is one kind of step.
type verb struct {
	// do carries the step out; what it returns is compared.
	do func(ctx context.Context, s *side, c *Case, step Step) (Observation, error)
	// initialised tells that the working directory must be.
	initialised bool
}

// verbs are the kinds of steps by name.
var verbs map[string]verb

func init() {
	verbs = map[string]verb{
		"plan":    {planStep, true},
		"apply":   {applyStep, true},
		"destroy": {destroyStep, true},
		"run":     {runStep, true},
		"console": {consoleStep, true},
		"load":    {loadStep, false},
		"init":    {initStep, false},
		"overlay": {overlayStep, false},
		"remove":  {removeStep, false},
		"env":     {envStep, false},
		"hand":    {handStep, false},
		"cloud":   {cloudStep, false},
	}
}

// cloudStep does nothing: clouds are started before the first step.
func cloudStep(context.Context, *side, *Case, Step) (Observation, error) { return nil, nil }

func planStep(ctx context.Context, s *side, _ *Case, step Step) (Observation, error) {
	s.terse = false
	return s.plan(ctx, step.Args)
}

// plan plans and shows what was kept of it.
func (s *side) plan(ctx context.Context, flags []string) (Observation, error) {
	kept := filepath.Join(s.dir, keptPlan)
	if err := os.Remove(kept); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the plan before: %w", err)
	}
	out, err := s.run(ctx, "", append([]string{"plan", "-json", "-input=false", "-out=" + keptPlan}, flags...)...)
	if err != nil {
		return nil, err
	}
	messages, err := s.told(out)
	if err != nil {
		return nil, err
	}
	sortByText(messages)
	seen := Observation{"exit": out.exit(), "messages": messages}
	if _, err := os.Stat(kept); err != nil {
		return seen, nil //nolint:nilerr // a plan that is refused is not kept
	}
	if seen["plan"], err = s.document(ctx, "show", "-json", keptPlan); err != nil {
		return nil, err
	}
	if s.terse {
		return seen, nil
	}
	text, err := s.run(ctx, "", "show", "-no-color", keptPlan)
	if err != nil {
		return nil, err
	}
	seen["text"] = s.names.replace(withoutProse(text.stdout))
	return seen, nil
}

// document runs a command that prints one JSON document.
func (s *side) document(ctx context.Context, args ...string) (any, error) {
	out, err := s.run(ctx, "", args...)
	if err != nil {
		return nil, err
	}
	if out.code != 0 {
		return nil, fmt.Errorf("%s %s: exit status %d\n%s%s", filepath.Base(s.program), strings.Join(args, " "), out.code, out.stdout, out.stderr)
	}
	doc, err := decode([]byte(out.stdout))
	if err != nil {
		return nil, fmt.Errorf("decode what %s %s printed: %w", filepath.Base(s.program), strings.Join(args, " "), err)
	}
	if object, ok := doc.(map[string]any); ok {
		delete(object, "timestamp")
		if relevant, ok := object["relevant_attributes"].([]any); ok {
			sortByText(relevant)
		}
	}
	return s.names.in(doc), nil
}

func applyStep(ctx context.Context, s *side, c *Case, step Step) (Observation, error) {
	s.terse = c.Recorded()
	seen, err := s.plan(ctx, step.Args)
	if err != nil || seen["exit"] != ok {
		return seen, err
	}
	out, err := s.run(ctx, "", "apply", "-json", "-input=false", keptPlan)
	if err != nil {
		return nil, err
	}
	s.flags = slices.DeleteFunc(slices.Clone(step.Args), func(flag string) bool { return !strings.HasPrefix(strings.TrimLeft(flag, "-"), "var") })
	if seen["state"], err = s.state(); err != nil {
		return nil, err
	}
	messages, err := s.told(out)
	if step.Ordered {
		seen["calls"] = calls(messages)
	}
	sortByText(messages)
	seen["applied"], seen["exit"] = messages, out.exit()
	return seen, err
}

func destroyStep(ctx context.Context, s *side, c *Case, step Step) (Observation, error) {
	step.Args = append([]string{"-destroy"}, step.Args...)
	return applyStep(ctx, s, c, step)
}

// state reads the state file and learns the names of what is in it.
func (s *side) state() (any, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, keptState))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	doc, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	s.names.learn(doc)
	object, ok := doc.(map[string]any)
	if !ok {
		return nil, errors.New("the state is no object")
	}
	delete(object, "lineage")
	delete(object, "serial") // counts writes, of which one program may need more
	sortUnordered(object)
	return s.names.in(doc), nil
}

// show adds to what was seen how the program shows the state, if there is one, to
// people and to programs.
func (s *side) show(ctx context.Context, seen Observation) (Observation, error) {
	if _, err := os.Stat(filepath.Join(s.dir, keptState)); err != nil {
		return seen, nil //nolint:nilerr // nothing was recorded
	}
	shown := maps.Clone(seen)
	if shown == nil {
		shown = Observation{}
	}
	for as, flag := range map[string]string{"shown text": "-no-color", "shown document": "-json"} {
		out, err := s.observe(ctx, "", []string{"show", flag})
		if err != nil {
			return nil, err
		}
		delete(out, "state")
		if text, ok := out["stdout"].(string); ok {
			out["stdout"] = withoutProse(text)
		}
		shown[as] = map[string]any(out)
	}
	return shown, nil
}

// sortUnordered sorts what terraform writes into a state in no order.
func sortUnordered(state any) {
	checks, _ := field(state, "check_results").([]any)
	for _, check := range checks {
		objects, _ := field(check, "objects").([]any)
		sortByText(objects)
	}
	sortByText(checks)
	resources, _ := field(state, "resources").([]any)
	for _, r := range resources {
		instances, _ := field(r, "instances").([]any)
		for _, instance := range instances {
			paths, _ := field(instance, "sensitive_attributes").([]any)
			sortByText(paths)
		}
	}
}

// decode reads JSON and keeps numbers as they were written.
func decode(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var doc any
	err := decoder.Decode(&doc)
	return doc, err
}

func runStep(ctx context.Context, s *side, _ *Case, step Step) (Observation, error) {
	return s.observe(ctx, "", step.Args)
}

// loadStep validates a configuration whose modules and providers are not installed.
func loadStep(ctx context.Context, s *side, _ *Case, step Step) (Observation, error) {
	return s.observe(ctx, "", append([]string{"validate", "-json"}, step.Args...))
}

func consoleStep(ctx context.Context, s *side, _ *Case, step Step) (Observation, error) {
	return s.observe(ctx, strings.Join(step.Args, " ")+"\n", []string{"console", "-no-color"})
}

// observe runs a command and compares all that it prints.
func (s *side) observe(ctx context.Context, stdin string, args []string) (Observation, error) {
	out, err := s.run(ctx, stdin, args...)
	if err != nil {
		return nil, err
	}
	seen := Observation{"exit": out.exit(), "problems": s.problems(out)}
	if seen["state"], err = s.state(); err != nil {
		return nil, err
	}
	operates := slices.Contains([]string{"plan", "apply", "destroy", "refresh"}, args[0])
	switch doc, err := decode([]byte(out.stdout)); {
	case operates && slices.Contains(args, "-json"):
		messages, err := s.told(out)
		seen["messages"] = messages
		return seen, err
	case err == nil:
		seen["stdout"] = s.names.in(withoutDetails(doc))
	case args[0] == "import": // tells in each program's words that it was done
	case operates:
		seen["stdout"] = s.names.replace(withoutProse(out.stdout))
	case out.code == 0:
		seen["stdout"] = s.names.replace(ownName(out.stdout))
	}
	return seen, nil
}

func initStep(ctx context.Context, s *side, _ *Case, step Step) (Observation, error) {
	out, err := s.run(ctx, "", append([]string{"init", "-input=false", "-no-color"}, step.Args...)...)
	if err != nil {
		return nil, err
	}
	return Observation{"exit": out.exit(), "problems": s.problems(out)}, nil
}

func overlayStep(_ context.Context, s *side, c *Case, step Step) (Observation, error) {
	if len(step.Args) != 1 {
		return nil, errors.New("overlay takes one folder")
	}
	from := filepath.Join(c.Dir, step.Args[0])
	if _, err := os.Stat(from); err != nil {
		return nil, fmt.Errorf("find the overlay: %w", err)
	}
	return nil, copyFolder(s.dir, from, nil)
}

func removeStep(_ context.Context, s *side, _ *Case, step Step) (Observation, error) {
	for _, name := range step.Args {
		if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
			return nil, fmt.Errorf("remove a file: %w", err)
		}
	}
	return nil, nil
}

func envStep(_ context.Context, s *side, _ *Case, step Step) (Observation, error) {
	for _, assignment := range step.Args {
		name, value, _ := strings.Cut(assignment, "=")
		s.env[name] = os.Expand(value, func(v string) string { return s.env[v] })
	}
	return nil, nil
}

func handStep(ctx context.Context, s *side, _ *Case, step Step) (Observation, error) {
	if s.cloud == nil {
		return nil, errors.New("there is no cloud to change; a step \"cloud\" has one started")
	}
	return nil, s.cloud.hand(ctx, s, step.Args)
}

// attribute is an attribute in the state, named ADDRESS.ATTRIBUTE; "" if there is none.
func (s *side) attribute(name string) string {
	data, err := os.ReadFile(filepath.Join(s.dir, keptState))
	if err != nil {
		return ""
	}
	doc, err := decode(data)
	if err != nil {
		return ""
	}
	resources, _ := field(doc, "resources").([]any)
	for _, r := range resources {
		attribute, ok := strings.CutPrefix(name, text(field(r, "type"))+"."+text(field(r, "name"))+".")
		instances, _ := field(r, "instances").([]any)
		if ok && len(instances) > 0 {
			return text(field(field(instances[0], "attributes"), attribute))
		}
	}
	return ""
}

// copyFiles copies the files of a folder, without those of folders in it.
func copyFiles(to, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("copy a case: %w", err)
	}
	var folders []string
	for _, entry := range entries {
		if entry.IsDir() {
			folders = append(folders, entry.Name())
		}
	}
	return copyFolder(to, from, folders)
}

// copyFolder copies the files of a folder but those at the top that are left out.
func copyFolder(to, from string, leaveOut []string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("copy a case: %w", err)
	}
	for _, entry := range entries {
		source, target := filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())
		switch {
		case slices.Contains(leaveOut, entry.Name()):
		case entry.IsDir():
			if err := os.MkdirAll(target, 0o755); err != nil {
				return fmt.Errorf("copy a case: %w", err)
			}
			if err := copyFolder(target, source, nil); err != nil {
				return err
			}
		default:
			data, err := os.ReadFile(source)
			if err == nil {
				err = os.WriteFile(target, data, 0o600)
			}
			if err != nil {
				return fmt.Errorf("copy a case: %w", err)
			}
		}
	}
	return nil
}
