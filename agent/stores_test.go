package agent_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/circuit"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
)

// unconditional is a store that ignores the condition of creations.
type unconditional struct{ objstore.Store }

func (s unconditional) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.Put(ctx, key, data)
}

// TestStoreThatIgnoresConditions: an agent finds out before it takes the lease, whether it
// enrols there or was at work before, and touches nothing.
func TestStoreThatIgnoresConditions(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(*world){
		"new agent":      func(*world) {},
		"agent at work":  func(w *world) { w.round(control.OutcomeApplied) },
		"agent enrolled": func(w *world) { w.round(control.OutcomeApplied); w.remove("one") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publish(`resource "cloud_thing" "one" { name = "one" }`)
			before(w)
			want := w.names()
			w.store.Store = unconditional{w.store.Store}
			var log bytes.Buffer
			if got := w.roundLogged(&log); got != control.OutcomeFailed {
				t.Errorf("outcome %q; want %q", got, control.OutcomeFailed)
			}
			if !strings.Contains(log.String(), "ignores conditions") {
				t.Errorf("the log does not tell why:\n%s", log.String())
			}
			if got := w.names(); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("the cloud holds %v; want %v, as before", got, want)
			}
		})
	}
}

// TestRoundFromMirror: while the store is away an agent that is at work takes a new
// revision from a mirror, says so, and catches up with its reports.
func TestRoundFromMirror(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(`resource "cloud_thing" "one" { name = "one" }`)
	w.round(control.OutcomeApplied)
	w.publish(`resource "cloud_thing" "two" { name = "two" }`)
	mirror := mem.New("mirror")
	for info, err := range w.store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		object, err := w.store.Get(t.Context(), info.Key, 1<<20)
		if err == nil {
			_, err = mirror.Put(t.Context(), info.Key, object.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.mirrors = []objstore.Store{mirror}
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.store.set(true)
	w.advance(time.Minute)
	if got := w.agent.Round(t.Context()); got != control.OutcomeApplied {
		t.Errorf("outcome %q; want %q", got, control.OutcomeApplied)
	}
	if got := w.names(); len(got) != 1 || got[0] != "two" {
		t.Errorf("the cloud holds %v; want two", got)
	}
	w.store.set(false)
	w.round(control.OutcomeConverged)
	receipts := w.receipts()
	if len(receipts) != 3 || !strings.Contains(problems(receipts[1]), "Repository read from a mirror") {
		t.Errorf("%d receipts; the second has the problems: %s", len(receipts), problems(receipts[1]))
	}
	if strings.Contains(problems(receipts[2]), "mirror") {
		t.Errorf("with the store back there are problems: %s", problems(receipts[2]))
	}
}

// hanging is a store that never answers.
type hanging struct{ objstore.Store }

func (hanging) wait(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (h hanging) Get(ctx context.Context, _ string, _ int64) (objstore.Object, error) {
	return objstore.Object{}, h.wait(ctx)
}

func (h hanging) Put(ctx context.Context, _ string, _ []byte) (objstore.Version, error) {
	return "", h.wait(ctx)
}

func (h hanging) PutIfAbsent(ctx context.Context, _ string, _ []byte) (objstore.Version, error) {
	return "", h.wait(ctx)
}

// TestRoundWithHangingStore: a store that never answers takes a round a minute once, and
// protection goes on with what was verified last.
func TestRoundWithHangingStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(`resource "cloud_thing" "one" { name = "one" }`)
	w.round(control.OutcomeApplied)
	w.stop()
	w.remove("one")
	synctest.Test(t, func(t *testing.T) {
		a, err := agent.New(agent.Config{Environment: "prod", Agent: "a1", TrustedRoot: filepath.Join(w.dir, "root.json"), DataDir: filepath.Join(w.dir, "data")},
			agent.Options{Store: circuit.New(hanging{w.store}, time.Now), Now: w.clock, Providers: w.providers, HTTP: &http.Client{Transport: noNetwork{}}})
		if err != nil {
			t.Fatal(err)
		}
		started := time.Now()
		if got := a.Round(t.Context()); got != control.OutcomeApplied {
			t.Errorf("outcome %q; want %q", got, control.OutcomeApplied)
		}
		if took := time.Since(started); took > 70*time.Second {
			t.Errorf("the round took %s; want about a minute", took)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	if got := w.names(); len(got) != 1 {
		t.Errorf("the cloud holds %v; want what was removed by hand", got)
	}
}

// noNetwork refuses every request.
type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("there is no network")
}
