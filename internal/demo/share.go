package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// sharing is a stage on which the agent owns some attributes of an object only.
type sharing interface {
	// foreign is an edit of an attribute that another writer owns, watched one of an attribute
	// of the same object that the agent observes and does not correct.
	foreign() edit
	watched() edit
	// attribute is the one that watched changes.
	attribute() string
	// rewrite is what a revision says otherwise of the attribute of which foreign changes
	// a part; rewritten asks the cloud whether it is so.
	rewrite() (before, after string)
	rewritten(ctx context.Context) (bool, error)
}

// share makes an edit that is none of the agent's business and one that it only observes,
// and expects to read of the second alone.
func (s *story) share(ctx context.Context, on sharing) error {
	after, err := s.world.Newest(ctx)
	if err != nil {
		return err
	}
	watched := on.watched()
	for _, e := range []edit{on.foreign(), watched} {
		if err := e.make(ctx); err != nil {
			return fmt.Errorf("edit by hand: %w", err)
		}
		s.say("by hand: %s", e.what)
	}
	receipt, err := s.world.Await(ctx, after, "what is observed is reported", decided("observed", watched.address))
	if err != nil {
		return err
	}
	at := slices.IndexFunc(receipt.Drift, func(item control.DriftItem) bool { return item.Address == watched.address })
	if got := receipt.Drift[at].Attributes; !slices.Equal(got, []string{on.attribute()}) {
		return fmt.Errorf("%s is reported to have drifted in %v; want %s only", watched.address, got, on.attribute())
	}
	s.say("reported: %s.%s, which is observed. Nothing of what another writer owns.", watched.address, on.attribute())
	return nil
}

// adopt writes what is observed into the configuration, as somebody inside does, and
// publishes that with a change of the attribute that has two writers.
func (s *story) adopt(ctx context.Context, on sharing) error {
	if err := s.stand(ctx, on); err != nil {
		return err
	}
	state, dir := s.world.path("seen.tfstate"), s.world.path(s.stage.example())
	if err := copyFile(s.world.path("agent", "data", "state.json"), state, 0o600); err != nil {
		return err
	}
	adopted, err := s.world.Within(ctx, dir, "drift", "adopt", "-write", "-state="+state, on.watched().address+"."+on.attribute())
	if err != nil {
		return err
	}
	s.show(adopted)
	if err := s.revise(filepath.Join(dir, "main.tf"), on); err != nil {
		return err
	}
	after, err := s.world.Newest(ctx)
	if err != nil {
		return err
	}
	published, err := s.world.Publish(ctx, s.stage.example(), "what was changed by hand, and another tag")
	if err != nil {
		return err
	}
	s.show(published)
	if after, err = s.applied(ctx, after, on.watched().address); err != nil {
		return err
	}
	if _, err := s.world.Await(ctx, after, "nothing has drifted any more", converged); err != nil {
		return err
	}
	if done, err := on.rewritten(ctx); err != nil || !done {
		return fmt.Errorf("what the revision says is not so: %w", err)
	}
	return s.stand(ctx, on)
}

// stand expects that neither edit was touched.
func (s *story) stand(ctx context.Context, on sharing) error {
	for _, e := range []edit{on.foreign(), on.watched()} {
		stands, err := e.stands(ctx)
		if err != nil {
			return err
		}
		if !stands {
			return fmt.Errorf("it does not stand any more that %s", e.what)
		}
		s.say("still so: %s", e.what)
	}
	return nil
}

// revise changes the configuration where the stage says.
func (s *story) revise(file string, on sharing) error {
	source, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("revise the configuration: %w", err)
	}
	before, after := on.rewrite()
	if n := strings.Count(string(source), before); n != 1 {
		return fmt.Errorf("revise the configuration: it has %q %d times", before, n)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(source), before, after, 1)), 0o600); err != nil {
		return fmt.Errorf("revise the configuration: %w", err)
	}
	return nil
}

// applied waits for a round that has changed an object, and returns its sequence.
func (s *story) applied(ctx context.Context, after int64, address string) (int64, error) {
	receipt, err := s.world.Await(ctx, after, "the revision is applied", func(r control.Receipt) bool {
		return r.Outcome == control.OutcomeApplied && slices.ContainsFunc(r.Changes, func(c control.Change) bool { return c.Address == address })
	})
	return receipt.Sequence, err
}
