package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/demo"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// options are those of a run in a test's folder, with the race detector and without a
// clock that can be turned: it would have all be compiled twice.
func options(t *testing.T) *Options {
	t.Helper()
	dir := t.TempDir()
	programs, err := demo.Build(t.Context(), filepath.Join(dir, "bin"))
	if err != nil {
		t.Fatal(err)
	}
	opts := &Options{Dir: dir, Programs: programs, Seed: 3, Faults: 6, Sites: 1, Out: t.Output()}
	t.Cleanup(func() {
		if opts.s3 != nil {
			opts.s3.Stop()
		}
	})
	return opts
}

// TestChecksFindViolations has an agent make a revision true and then breaks one thing
// after the other: checks that found nothing would prove nothing.
func TestChecksFindViolations(t *testing.T) {
	t.Parallel()
	opts := options(t)
	if err := opts.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := newSite(t.Context(), opts, 1, &Report{Faults: map[string]int{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(false); err != nil {
			t.Error(err)
		}
	})
	if err := s.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, choose := range []func(*site) fault{killAtCall, storeError} {
		if _, _, err := s.strike(t.Context(), choose); err != nil {
			t.Fatal(err)
		}
	}
	s.members[0].kill()
	// In this order: each leaves what those after it look at as it was.
	for _, test := range []struct {
		name   string
		damage func() error
		want   string
	}{
		{"nothing", func() error { return nil }, ""},
		{"state of nobody", func() error {
			_, err := s.store.Put(t.Context(), s.shard().StateKey(9, 1), []byte("{}"))
			return err
		}, "no agent has signed the newest state"},
		{"object created once more", func() error { return s.createOnceMore(t.Context()) }, "was created"},
		{"epoch in other hands", func() error {
			_, err := s.store.Put(t.Context(), s.shard().LeaseKey(1), []byte(`{"version":1,"epoch":1,"holder":"somebody"}`))
			return err
		}, "epoch 1 was held by"},
		{"object of nobody", func() error {
			_, err := s.hand.Create(t.Context(), cloudapi.Ref{Environment: s.name, Service: service, Kind: "config", Name: "foreign"}, map[string]any{"data": map[string]any{"a": "b"}})
			return err
		}, "objects exist"},
	} {
		if err := test.damage(); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		err := s.check(t.Context())
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (!errors.Is(err, ErrViolated) || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want a violation: %s", test.name, err, test.want)
		}
	}
}

// createOnceMore deletes a declared object and makes it again as it was.
func (s *site) createOnceMore(ctx context.Context) error {
	asHolder, err := client.New(client.Config{Endpoint: s.cloudURL, Actor: "agent-1"})
	if err != nil {
		return err
	}
	for _, o := range s.declared.objects {
		there, err := s.hand.Get(ctx, o.ref)
		if err != nil {
			return err
		}
		if err := asHolder.Delete(ctx, o.ref); err != nil {
			return err
		}
		_, err = asHolder.Create(ctx, o.ref, there.Attributes)
		return err
	}
	return errors.New("nothing is declared")
}

// TestSecondCreationIsFound has the log tell of an object that is made while it is there.
func TestSecondCreationIsFound(t *testing.T) {
	t.Parallel()
	l := newLedger(nil)
	if err := l.addEvent(cloudapi.Event{Sequence: 1, Action: cloudapi.ActionCreate}); err != nil {
		t.Fatal(err)
	}
	if err := l.addEvent(cloudapi.Event{Sequence: 2, Action: cloudapi.ActionCreate}); !errors.Is(err, ErrViolated) {
		t.Errorf("a second creation: %v", err)
	}
}

// TestChangeByAnotherIsFound has the log tell of a change by an agent that was followed.
func TestChangeByAnotherIsFound(t *testing.T) {
	t.Parallel()
	l, noon := newLedger(nil), time.Now()
	l.reigns = []reign{{"agent-1/a", noon}, {"agent-2/b", noon.Add(time.Minute)}}
	l.underWay = map[string]bool{"7": true}
	for i, test := range []struct {
		after time.Duration
		actor string
		name  string
		found bool
	}{
		{time.Second, "agent-1", "slot-1", false}, {time.Second, "agent-2", "slot-1", true},
		{2 * time.Minute, "agent-2", "slot-1", false}, {2 * time.Minute, "agent-1", "slot-8-71", true},
		{2 * time.Minute, "agent-1", "slot-7-81", false}, // it was under way
	} {
		err := l.addEvent(cloudapi.Event{Sequence: int64(i), Time: noon.Add(test.after), Actor: test.actor, Action: cloudapi.ActionUpdate, Ref: cloudapi.Ref{Name: test.name}})
		if errors.Is(err, ErrViolated) != test.found {
			t.Errorf("%s changes something %s after the first epoch: %v", test.actor, test.after, err)
		}
	}
}

// TestTakeoverAtTheWrongTimeIsFound has one agent follow another too late, or too early.
func TestTakeoverAtTheWrongTimeIsFound(t *testing.T) {
	t.Parallel()
	silence := lease.Silence(period)
	for name, test := range map[string]struct {
		// words are when the first agent speaks, before the second takes over.
		words []time.Duration
		want  string
	}{
		"in time":                               {[]time.Duration{4 * period, silence}, ""},
		"at the last moment":                    {[]time.Duration{3*period - 1}, ""},
		"late":                                  {[]time.Duration{3 * period}, "after its last word"},
		"early":                                 {[]time.Duration{3 * period, silence - 1}, "never silent for longer"},
		"words came after its last look":        {[]time.Duration{silence + period/4, period / 4, period / 8}, ""},
		"was silent once, and has spoken since": {[]time.Duration{4 * period, 2 * period, period}, "never silent for longer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &site{report: &Report{}, members: []*member{{name: "agent-1"}, {name: "agent-2"}}}
			noon := time.Now()
			for _, before := range test.words {
				s.members[0].spoke(noon.Add(-before))
			}
			s.members[0].spoke(noon.Add(period)) // it has gone on since
			l := newLedger(s)
			l.reigns = []reign{{"agent-1/a", noon.Add(-time.Hour)}, {"agent-2/b", noon}}
			err := l.succession()
			if errors.Is(err, ErrViolated) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if last := test.words[len(test.words)-1]; s.report.Takeovers != 1 || s.report.Longest != last {
				t.Errorf("the report has %d takeovers, the longest %s", s.report.Takeovers, s.report.Longest)
			}
		})
	}
}

// TestSeedRepeats: the same seed gives the same revisions and faults.
func TestSeedRepeats(t *testing.T) {
	t.Parallel()
	plan := func(seed uint64) string {
		s := &site{pair: true, random: rand.New(rand.NewPCG(seed, 1)), declared: newDeclared("site-1")}
		var out strings.Builder
		for range 50 {
			s.declared.change(s.random)
			fmt.Fprintln(&out, s.choose().what, s.declared.configuration())
		}
		return out.String()
	}
	first, again := plan(1), plan(1)
	if first != again {
		t.Error("the same seed gave two plans")
	}
	if first == plan(2) {
		t.Error("two seeds gave the same plan")
	}
}
