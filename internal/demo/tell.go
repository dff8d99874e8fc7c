package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// edit is a change that somebody makes by hand.
type edit struct {
	// what says it to people; address is the Terraform address of what is changed.
	what, address string
	make          func(ctx context.Context) error
	// stands tells whether the real object is still as the edit left it.
	stands func(ctx context.Context) (bool, error)
}

// Stage is a cloud with a configuration for it and people who change things.
type Stage interface {
	cloud
	// introduce names the cloud.
	introduce() string
	// example is the root module, a folder of examples/.
	example() string
	// check asks the cloud, not the agent, whether the objects that a round made are
	// there, and says what it found.
	check(ctx context.Context, made int) (string, error)
	// edits are three edits: of an attribute that the configuration sets, of one
	// that it does not set, and a deletion. emergency is one for break-glass.
	edits() []edit
	emergency() edit
}

// step is a part of the demonstration.
type step struct {
	title string
	run   func(context.Context) error
}

// story is the demonstration while it runs.
type story struct {
	world *World
	stage Stage
	out   io.Writer
	// grant is the break-glass grant that is open.
	grant string
}

// Tell runs the demonstration in a fresh world and says what happens. Every step
// checks what it says; the first that is not true is the error.
func Tell(ctx context.Context, opts Options, stage Stage, out io.Writer) error {
	s := &story{stage: stage, out: out}
	begin := time.Now()
	s.world = NewWorld(opts, stage)
	defer s.world.Close()
	if err := s.world.Start(ctx); err != nil {
		return err
	}
	s.say("A cloud: %s", stage.introduce())
	s.say("A store: %s", s.world.place())
	steps := []step{
		{"Enrol an environment: terraform apply", s.enrol},
		{"Publish a signed revision", s.publish},
		{"Start the agent inside the network", s.converge},
		{"Change three objects by hand", s.drift},
		{"See them corrected", s.correct},
		{"Break the glass", s.breakGlass},
		{"Give it back", s.giveBack},
		{"Is it live?", s.status},
	}
	if on, ok := stage.(sharing); ok {
		steps = slices.Insert(steps, 4, step{"Share an object with other writers", func(ctx context.Context) error { return s.share(ctx, on) }})
		steps = slices.Insert(steps, len(steps)-1, step{"Adopt a change", func(ctx context.Context) error { return s.adopt(ctx, on) }})
	}
	for i, step := range steps {
		s.printf("\n[%d/%d] %s\n", i+1, len(steps), step.title)
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, step.title, err)
		}
	}
	s.printf("\nAll of it took %s. Everything that was started is being stopped and removed.\n", time.Since(begin).Round(time.Second))
	return nil
}

func (s *story) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, format, args...) // a story that nobody hears is still checked
}

func (s *story) say(format string, args ...any) { s.printf("  "+format+"\n", args...) }

// show prints a command and what it said, as on a terminal.
func (s *story) show(r Result, lines ...string) {
	s.printf("  $ %s\n", r.Command)
	text := strings.TrimRight(r.Stderr+r.Stdout, "\n")
	if len(lines) > 0 {
		text = strings.Join(lines, "\n")
	}
	for line := range strings.Lines(text) {
		s.printf("  %s\n", strings.TrimRight(line, " \n"))
	}
}

// linesWith are the lines of a text that hold one of the phrases.
func linesWith(text string, phrases ...string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(line, phrase) }) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

func (s *story) enrol(ctx context.Context) error {
	result, err := s.world.Enrol(ctx)
	if err != nil {
		return err
	}
	s.show(result, linesWith(result.Stdout, "Creation complete", "Apply complete", "fingerprint =")...)
	s.say("A second plan is empty. Neither the signing key nor the join token is in the state.")
	return nil
}

func (s *story) publish(ctx context.Context) error {
	initialised, err := s.world.Prepare(ctx, s.stage.example())
	if err != nil {
		return err
	}
	s.show(initialised, linesWith(initialised.Stdout, "- ")...)
	published, err := s.world.Publish(ctx, s.stage.example(), "first revision")
	if err != nil {
		return err
	}
	s.show(published)
	again, err := s.world.Publish(ctx, s.stage.example(), "first revision")
	if err != nil {
		return err
	}
	s.show(again, linesWith(again.Stdout, "Nothing to publish")...)
	if !strings.Contains(again.Stdout, "Nothing to publish") {
		return again.failure()
	}
	return nil
}

func (s *story) converge(ctx context.Context) error {
	begin := time.Now()
	if err := s.world.StartAgent(ctx); err != nil {
		return err
	}
	s.printf("  $ towline agent run -config agent/agent.hcl &\n")
	applied, err := s.world.Await(ctx, 0, "the first revision is applied", func(r control.Receipt) bool { return r.Outcome == control.OutcomeApplied })
	if err != nil {
		return err
	}
	if _, err := s.world.Await(ctx, applied.Sequence, "a round finds nothing to do", converged); err != nil {
		return err
	}
	took := time.Since(begin).Round(100 * time.Millisecond)
	found, err := s.stage.check(ctx, len(applied.Changes))
	if err != nil {
		return err
	}
	s.say("Converged after %s, enrolment included: %d objects made, and the next round found nothing to do.", took, len(applied.Changes))
	s.say("Asking the cloud itself: %s.", found)
	return nil
}

// drift makes the edits, and expects to read of each before it is corrected.
func (s *story) drift(ctx context.Context) error {
	after, err := s.world.Newest(ctx)
	if err != nil {
		return err
	}
	told := len(s.world.inbox.messages(0))
	var addresses []string
	for _, e := range s.stage.edits() {
		if err := e.make(ctx); err != nil {
			return fmt.Errorf("edit by hand: %w", err)
		}
		s.say("by hand: %s", e.what)
		addresses = append(addresses, e.address)
	}
	if _, err := s.world.Await(ctx, after, "a receipt tells of all three edits", decided("in-grace", addresses...)); err != nil {
		return err
	}
	result, err := s.world.TryTowline(ctx, "drift")
	if err != nil {
		return err
	}
	s.show(result)
	for _, address := range addresses {
		if !strings.Contains(result.Stdout, address) {
			return fmt.Errorf("%s is not shown as drift: %w", address, result.failure())
		}
	}
	return s.hear(ctx, told, addresses)
}

// hear expects one message that names every address.
func (s *story) hear(ctx context.Context, told int, addresses []string) error {
	return until(ctx, patience, "people are told of the drift", func() (bool, error) {
		for _, message := range s.world.inbox.messages(told) {
			if !slices.ContainsFunc(addresses, func(address string) bool { return !strings.Contains(message, address) }) {
				s.say("Slack:")
				s.printf("    %s\n", strings.ReplaceAll(strings.TrimSpace(message), "\n", "\n    "))
				return true, nil
			}
		}
		return false, nil
	})
}

// correct waits until no edit stands and a round has found nothing to do.
func (s *story) correct(ctx context.Context) error {
	for _, e := range s.stage.edits() {
		if err := s.gone(ctx, e); err != nil {
			return err
		}
	}
	return s.settle(ctx)
}

func (s *story) gone(ctx context.Context, e edit) error {
	err := until(ctx, patience, e.address+" is corrected", func() (bool, error) {
		stands, err := e.stands(ctx)
		return !stands, err
	})
	if err == nil {
		s.say("corrected: %s", e.address)
	}
	return err
}

func (s *story) settle(ctx context.Context) error {
	after, err := s.world.Newest(ctx)
	if err != nil {
		return err
	}
	_, err = s.world.Await(ctx, after, "a round finds nothing to do", idle)
	return err
}

// breakGlass opens a grant, makes an edit, and expects it to stand for longer than
// the grace time after the agent has seen it.
func (s *story) breakGlass(ctx context.Context) error {
	e := s.stage.emergency()
	opened, err := s.world.Towline(ctx, "break-glass", "open", "-environment", environment, "-policy", policy, "-target", e.address,
		"-for", "10m", "-reason", "incident 4711", "-key", s.world.path("on-call"))
	if err != nil {
		return err
	}
	s.show(opened)
	if s.grant, err = s.openGrant(ctx); err != nil {
		return err
	}
	after, err := s.world.Newest(ctx)
	if err != nil {
		return err
	}
	// The agent must have read of the grant before the edit: a person in an incident sees it in the status.
	if _, err := s.world.Await(ctx, after, "the agent knows of the grant", func(r control.Receipt) bool { return len(r.Grants) == 1 }); err != nil {
		return err
	}
	if err := e.make(ctx); err != nil {
		return fmt.Errorf("edit by hand: %w", err)
	}
	s.say("by hand: %s", e.what)
	return s.held(ctx, e)
}

func (s *story) openGrant(ctx context.Context) (string, error) {
	listed, err := s.world.Towline(ctx, "break-glass", "list", "-json")
	if err != nil {
		return "", err
	}
	var grants []struct{ ID, Phase string }
	if err := json.Unmarshal([]byte(listed.Stdout), &grants); err != nil {
		return "", fmt.Errorf("read the list of grants: %w", err)
	}
	if len(grants) != 1 || grants[0].Phase != "open" {
		return "", fmt.Errorf("one open grant is expected: %s", listed.Stdout)
	}
	return grants[0].ID, nil
}

func (s *story) held(ctx context.Context, e edit) error {
	first, err := s.world.Await(ctx, 0, "the edit is held by the grant", decided("held", e.address))
	if err != nil {
		return err
	}
	long := first.Finished.Add(s.world.opts.Grace + s.world.opts.Poll)
	last, err := s.world.Await(ctx, first.Sequence, "the edit has stood for longer than the grace time", func(r control.Receipt) bool { return r.Started.After(long) })
	if err != nil {
		return err
	}
	stands, err := e.stands(ctx)
	if err != nil {
		return err
	}
	if !stands || !decided("held", e.address)(last) {
		return fmt.Errorf("the edit of %s does not stand: %+v", e.address, last)
	}
	result, err := s.world.TryTowline(ctx, "drift")
	if err != nil {
		return err
	}
	s.show(result)
	s.say("%d rounds later it still stands.", last.Sequence-first.Sequence)
	return nil
}

// giveBack ends the grant and expects the edit to be corrected.
func (s *story) giveBack(ctx context.Context) error {
	closed, err := s.world.Towline(ctx, "break-glass", "close", "-environment", environment, "-key", s.world.path("on-call"), s.grant)
	if err != nil {
		return err
	}
	s.show(closed)
	if err := s.gone(ctx, s.stage.emergency()); err != nil {
		return err
	}
	return s.settle(ctx)
}

// status expects that everything is live, and that the records of all rounds hold.
func (s *story) status(ctx context.Context) error {
	for _, args := range [][]string{
		{"status"},
		{"receipts", "-environment", environment, "-agent", agentName, "-n", "8", "-verify"},
	} {
		result, err := s.world.Towline(ctx, args...)
		if err != nil {
			return err
		}
		s.show(result)
	}
	return nil
}
