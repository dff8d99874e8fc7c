package parity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bench has the programs that are compared, and the clouds they work with.
type Bench struct {
	// Terraform and Towline are the paths of the programs.
	Terraform, Towline string
	// CLIConfig is a CLI configuration by which both find the test providers.
	CLIConfig string
	// AWSConfig is one by which they find the AWS provider.
	AWSConfig string
	// Scratch is a folder for working directories.
	Scratch string
	// Recording tells that what terraform shows in cases of slow providers is kept
	// anew, Crossing that both programs plan in each other's directory there as well.
	Recording, Crossing bool

	mocks mocks
	// override writes AWSConfig once; overridden is how that ended.
	override   sync.Once
	overridden error
}

// Close ends what the cases share.
func (b *Bench) Close() { b.mocks.close() }

// Run runs both programs through a case and compares what they show. A case of
// a slow provider is compared with what was recorded of terraform.
func (b *Bench) Run(ctx context.Context, c Case) ([]string, error) {
	if c.Recorded() {
		return b.runRecorded(ctx, c)
	}
	want, err := b.play(ctx, b.Terraform, c)
	if err != nil {
		return nil, err
	}
	return b.runAgainst(ctx, c, want)
}

// runAgainst runs towline and compares with what terraform has shown.
func (b *Bench) runAgainst(ctx context.Context, c Case, want *run) ([]string, error) {
	got, err := b.play(ctx, b.Towline, c)
	if err != nil {
		return nil, err
	}
	return slices.Concat(compareSteps(c, want.seen, got.seen), want.crossed, got.crossed), nil
}

// run is one program's way through a case.
type run struct {
	*side
	seen []Observation
	// crossed are the differences between plans of both programs in the directory of this one.
	crossed []string
}

// play takes one program through the steps of a case.
func (b *Bench) play(ctx context.Context, program string, c Case) (r *run, err error) {
	s, err := b.side(ctx, program, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r = &run{side: s}
	last, show := c.lastApply(), c.lastShown()
	for i, step := range c.Steps {
		seen, err := r.step(ctx, &c, step)
		if err == nil && i == show {
			seen, err = r.show(ctx, seen)
		}
		if err == nil && program == b.Terraform {
			err = expected(step, seen)
		}
		if err == nil && i == last && b.crosses(c) {
			r.crossed, err = b.cross(ctx, s)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step, err)
		}
		r.seen = append(r.seen, seen)
	}
	return r, nil
}

// step carries out one step, and before it what was left undone unasked.
func (r *run) step(ctx context.Context, c *Case, step Step) (Observation, error) {
	if r.stale && verbs[step.Verb].initialised && !c.has("init") {
		if err := r.initialise(ctx); err != nil {
			return nil, err
		}
		r.stale = false
	}
	r.stale = r.stale || step.Verb == "overlay"
	return r.do(ctx, c, step)
}

// expected checks that terraform refuses what a case says, and nothing else: two
// programs that fail for a mistake in the case would prove nothing.
func expected(step Step, seen Observation) error {
	if code, ok := seen["exit"].(string); ok && (code == "1") != step.Fails {
		return fmt.Errorf("terraform ended with %s: %s", code, encoded(map[string]any(seen)))
	}
	return nil
}

// side prepares a directory with the configuration of a case.
func (b *Bench) side(ctx context.Context, program string, c Case) (*side, error) {
	dir, err := os.MkdirTemp(b.Scratch, strings.ReplaceAll(c.Name, "/", "-")+"-")
	if err != nil {
		return nil, fmt.Errorf("make a working directory: %w", err)
	}
	if err := copyFiles(dir, filepath.Dir(c.Dir)); err != nil { // what all cases of a heading share
		return nil, err
	}
	if err := copyFolder(dir, c.Dir, append(c.overlays(), stepsFile, recordFile)); err != nil {
		return nil, err
	}
	s := &side{program: program, dir: dir, env: b.environ(), names: newNames(time.Now()), stale: true, install: "init", needs: needsInit}
	if s.cloud, err = b.startCloud(ctx, program, c); err != nil {
		return nil, err
	}
	if s.cloud != nil {
		maps.Copy(s.env, s.cloud.environ())
	}
	if c.Recorded() { // the provider is not installed, so only modules are left to get
		s.env["TF_CLI_CONFIG_FILE"], s.install, s.needs = b.AWSConfig, "get", needsGet
	}
	return s, nil
}

// environ is the environment of both programs: nothing of whoever runs the tests
// but where programs and temporary files are.
func (b *Bench) environ() map[string]string {
	return map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": b.Scratch, "TMPDIR": os.TempDir(),
		"TF_CLI_CONFIG_FILE": b.CLIConfig, "CHECKPOINT_DISABLE": "1", "AWS_EC2_METADATA_DISABLED": "true",
	}
}

// What has to be installed: modules, and what else init sees to.
var (
	needsGet  = regexp.MustCompile(`(?m)^\s*module\s+"|"module":`)
	needsInit = regexp.MustCompile(needsGet.String() + `|required_providers|backend\s+"`)
)

// initialise installs what a configuration needs, if anything.
func (s *side) initialise(ctx context.Context) error {
	files, err := filepath.Glob(filepath.Join(s.dir, "*.tf*"))
	if err != nil {
		return fmt.Errorf("find configuration files: %w", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read a configuration file: %w", err)
		}
		if s.needs.Match(data) {
			out, err := s.run(ctx, "", s.install, "-no-color")
			if err == nil && out.code != 0 {
				err = fmt.Errorf("%s %s: exit status %d\n%s%s", filepath.Base(s.program), s.install, out.code, out.stdout, out.stderr)
			}
			return err
		}
	}
	return nil
}

func (s *side) close() error {
	if s.cloud == nil {
		return nil
	}
	return s.cloud.close()
}

// compareSteps compares what was seen at each step, and tells differences that
// are known and gone.
func compareSteps(c Case, want, got []Observation) []string {
	var out []string
	for i, step := range c.Steps {
		found, gone := unexcused(differences("", map[string]any(want[i]), map[string]any(got[i])), step.Known)
		for _, d := range found {
			out = append(out, fmt.Sprintf("%s: %s", step, d))
		}
		for _, k := range gone {
			out = append(out, fmt.Sprintf("%s: the known difference %q is gone; remove it here and from the list", step, k.Entry))
		}
	}
	return out
}

// cross has the other program plan in the directory of one, which must plan the
// same: what one has written, the other takes up.
func (b *Bench) cross(ctx context.Context, s *side) ([]string, error) {
	other := *s
	other.program = b.Terraform
	if s.program == b.Terraform {
		other.program = b.Towline
	}
	plans := map[string]Observation{}
	for _, s := range []*side{s, &other} {
		s.terse = true // texts are compared at the steps
		seen, err := s.plan(ctx, s.flags)
		if err != nil {
			return nil, fmt.Errorf("plan in the directory of %s: %w", filepath.Base(s.program), err)
		}
		plans[s.program] = seen
	}
	var out []string
	for _, d := range differences("", map[string]any(plans[b.Terraform]), map[string]any(plans[b.Towline])) {
		out = append(out, fmt.Sprintf("after the last apply, both in the directory of %s: %s", filepath.Base(s.program), d))
	}
	return out, nil
}

// KnownEntries are the beginnings of the rows of docs/internals/differences.md.
func KnownEntries(page string) []string {
	var entries []string
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) > 2 {
			entries = append(entries, strings.TrimSpace(cells[1]))
		}
	}
	return slices.DeleteFunc(entries, func(entry string) bool { return entry == "Where" || strings.HasPrefix(entry, "---") })
}
