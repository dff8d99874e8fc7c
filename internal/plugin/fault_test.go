package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

var noOptions plugin.Options

func startFault(t *testing.T, opts plugin.Options) providers.Interface {
	t.Helper()
	p := startIn(t, newPool(t, plugintest.Build(t, plugintest.Fault), opts))
	configure(t, p, vals{"region": cty.StringVal("north")})
	return p
}

func faulty(t *testing.T, p providers.Interface, fault string) cty.Value {
	t.Helper()
	f := cty.NullVal(cty.String)
	if fault != "" {
		f = cty.StringVal(fault)
	}
	return object(t, p, "fault_object", vals{"id": cty.StringVal("1"), "name": cty.StringVal("n"), "fault": f, "size": cty.NumberIntVal(1)})
}

func read(ctx context.Context, t *testing.T, p providers.Interface, fault string) providers.ReadResourceResponse {
	t.Helper()
	return p.ReadResource(ctx, providers.ReadResourceRequest{TypeName: "fault_object", PriorState: faulty(t, p, fault)})
}

func apply(ctx context.Context, t *testing.T, p providers.Interface, fault string) providers.ApplyResourceChangeResponse {
	t.Helper()
	v := faulty(t, p, fault)
	return p.ApplyResourceChange(ctx, providers.ApplyResourceChangeRequest{
		TypeName: "fault_object", PriorState: cty.NullVal(v.Type()), PlannedState: v, Config: v,
	})
}

// only checks that there is one error, with the given summary and detail.
func only(t *testing.T, diags tfdiags.Diagnostics, summary, detail string) {
	t.Helper()
	if len(diags) != 1 || diags[0].Severity != tfdiags.Error || diags[0].Summary != summary || !strings.Contains(diags[0].Detail, detail) {
		t.Errorf("got %+v\nwant one error %q with %q", diags, summary, detail)
	}
	if strings.Contains(fmt.Sprint(diags), "S3CRET") {
		t.Errorf("a secret shows in %v", diags)
	}
}

func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	p := startFault(t, noOptions)
	tests := map[string]struct{ fault, summary, detail string }{
		"not the type":        {"type", "Invalid provider response", "cannot decode a value"},
		"not the attributes":  {"attribute", "Invalid provider response", "cannot decode a value"},
		"truncated":           {"truncated", "Invalid provider response", "damaged"},
		"announces too much":  {"huge", "Invalid provider response", "damaged"},
		"damaged json":        {"bad-json", "Invalid provider response", "cannot decode a value"},
		"write-only value":    {"secret", "Provider produced invalid object", "write-only"},
		"error":               {"error", "Plugin error", "an error that is no diagnostic"},
		"error in the answer": {"nonsense", "Plugin error", "there is no fault"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			only(t, read(t.Context(), t, p, test.fault+"@read").Diagnostics, test.summary, test.detail)
		})
	}
}

// The framework of the test provider notices a deferral as well and reports it first.
func TestDeferralIsRefused(t *testing.T) {
	t.Parallel()
	diags := read(t.Context(), t, startFault(t, noOptions), "defer@read").Diagnostics
	if len(diags) == 0 {
		t.Fatal("a deferred answer passed")
	}
	only(t, diags[len(diags)-1:], "Invalid provider response", "ABSENT_PREREQ")
}

func TestAnswersThatAreRight(t *testing.T) {
	t.Parallel()
	p := startFault(t, noOptions)
	t.Run("json", func(t *testing.T) {
		t.Parallel()
		resp := read(t.Context(), t, p, "json@read")
		mustPass(t, resp.Diagnostics)
		if resp.NewState.GetAttr("name").AsString() != "json" || len(resp.Encoded) == 0 {
			t.Errorf("got %#v", resp.NewState)
		}
	})
	t.Run("absent is null", func(t *testing.T) {
		t.Parallel()
		resp := read(t.Context(), t, p, "absent@read")
		mustPass(t, resp.Diagnostics)
		if !resp.NewState.IsNull() {
			t.Errorf("got %#v", resp.NewState)
		}
	})
	t.Run("unknown after apply is the engine's to judge", func(t *testing.T) {
		t.Parallel()
		resp := apply(t.Context(), t, p, "unknown@apply")
		mustPass(t, resp.Diagnostics)
		if resp.NewState.GetAttr("size").IsKnown() {
			t.Errorf("got %#v", resp.NewState)
		}
	})
	t.Run("configuration and version arrive", func(t *testing.T) {
		t.Parallel()
		resp := apply(t.Context(), t, p, "")
		mustPass(t, resp.Diagnostics)
		if got := resp.NewState.GetAttr("config").AsString(); got != "north 1.11.4" {
			t.Errorf("config = %q", got)
		}
	})
	t.Run("destroy is planned by the provider", func(t *testing.T) {
		t.Parallel()
		v := faulty(t, p, "")
		null := cty.NullVal(v.Type())
		resp := p.PlanResourceChange(t.Context(), providers.PlanResourceChangeRequest{TypeName: "fault_object", PriorState: v, ProposedNewState: null, Config: null})
		mustPass(t, resp.Diagnostics)
		if string(resp.PlannedPrivate) != "destroy planned" {
			t.Errorf("private = %q", resp.PlannedPrivate)
		}
	})
	t.Run("move", func(t *testing.T) {
		t.Parallel()
		resp := p.MoveResourceState(t.Context(), providers.MoveResourceStateRequest{
			TargetType: "fault_object", SourceProvider: "registry.terraform.io/a/b", SourceType: "b_old", SourcePrivate: []byte("p"),
			SourceJSON: []byte(`{"id":"1","name":"n","fault":null,"size":null,"secret":null,"config":null,"pin":null,"items":null,"labels":null,"disk":[],"tag":[],"more":1}`),
		})
		mustPass(t, resp.Diagnostics)
		if got := resp.TargetState.GetAttr("config").AsString(); got != "registry.terraform.io/a/b b_old" || string(resp.TargetPrivate) != "p" {
			t.Errorf("moved with %q and private %q", got, resp.TargetPrivate)
		}
	})
}

func TestCrashIsToldAndRepaired(t *testing.T) {
	t.Parallel()
	var log logBuffer
	p := startFault(t, plugin.Options{Logger: debugLog(&log)})
	diags := read(t.Context(), t, p, "panic@read").Diagnostics
	only(t, diags, "Plugin did not respond", "panic: fault: this provider is broken")
	if !strings.Contains(diags[0].Detail, "main.commit") {
		t.Errorf("the stack is missing in %s", diags[0].Detail)
	}
	// The next call starts a new process and configures it as the old one was.
	resp := apply(t.Context(), t, p, "")
	mustPass(t, resp.Diagnostics)
	if got := resp.NewState.GetAttr("config").AsString(); got != "north 1.11.4" {
		t.Errorf("the new process is configured with %q", got)
	}
	if text := log.String(); !strings.Contains(text, "fault provider starts") || !strings.Contains(text, "provider is started again") {
		t.Errorf("the log lacks the provider's own lines or the restart:\n%s", text)
	}
}

func TestUnansweredChangeIsTold(t *testing.T) {
	t.Parallel()
	p := startFault(t, noOptions)
	for fault, want := range map[string]bool{"exit@apply": true, "panic@apply": true, "error@apply": true, "truncated@apply": true, "": false} {
		if resp := apply(t.Context(), t, p, fault); resp.Unanswered != want {
			t.Errorf("%q: unanswered %t, want %t: %v", fault, resp.Unanswered, want, resp.Diagnostics)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if resp := apply(ctx, t, p, ""); resp.Unanswered || !resp.Diagnostics.HasErrors() {
		t.Errorf("a call that was never sent: %+v", resp)
	}
}

func TestQuietExitIsTold(t *testing.T) {
	t.Parallel()
	p := startFault(t, noOptions)
	only(t, read(t.Context(), t, p, "exit@read").Diagnostics, "Plugin did not respond", "wrote nothing about the reason")
}

// All calls in flight fail when the process ends, and all that follow share one restart.
func TestCrashWithCallsInFlight(t *testing.T) {
	t.Parallel()
	p := startFault(t, noOptions)
	var wait sync.WaitGroup
	for range 5 {
		wait.Go(func() {
			if resp := read(t.Context(), t, p, "stuck@read"); !resp.Diagnostics.HasErrors() {
				t.Error("a call to a crashed provider passed")
			}
		})
	}
	only(t, read(t.Context(), t, p, "panic@read").Diagnostics, "Plugin did not respond", "panic")
	wait.Wait()
	for range 5 {
		wait.Go(func() {
			if err := read(t.Context(), t, p, "").Diagnostics.Err(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

func TestRestartsAreLimited(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	p := startFault(t, plugin.Options{Now: clock})
	for range 4 {
		only(t, read(t.Context(), t, p, "exit@read").Diagnostics, "Plugin did not respond", "process ended")
	}
	only(t, read(t.Context(), t, p, "").Diagnostics, "Provider keeps crashing", "more than 3 times")
	mu.Lock()
	now = now.Add(time.Hour)
	mu.Unlock()
	mustPass(t, read(t.Context(), t, p, "").Diagnostics)
}

func TestCancelling(t *testing.T) {
	t.Parallel()
	p := startFault(t, noOptions)
	t.Run("read is given up", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		only(t, read(ctx, t, p, "hang@read").Diagnostics, "Request cancelled", "ReadResource")
	})
	t.Run("deadline", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		only(t, read(ctx, t, p, "hang@read").Diagnostics, "Plugin did not respond", "in time")
	})
	t.Run("apply in flight runs to its end", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		resp := apply(ctx, t, p, "ignore-cancel@apply")
		mustPass(t, resp.Diagnostics)
		if ctx.Err() == nil || resp.NewState.GetAttr("config").AsString() != "north 1.11.4" {
			t.Errorf("cancelled %v, result %#v", ctx.Err(), resp.NewState)
		}
	})
	t.Run("apply is not begun", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		v := faulty(t, p, "")
		cancel()
		resp := p.ApplyResourceChange(ctx, providers.ApplyResourceChangeRequest{
			TypeName: "fault_object", PriorState: cty.NullVal(v.Type()), PlannedState: v, Config: v,
		})
		only(t, resp.Diagnostics, "Request cancelled", "")
		if resp.NewState != cty.NilVal {
			t.Errorf("got %#v", resp.NewState)
		}
	})
}

func TestStopAndClose(t *testing.T) {
	t.Parallel()
	var log logBuffer
	pool := newPool(t, plugintest.Build(t, plugintest.Fault), plugin.Options{Logger: debugLog(&log)})
	p := startIn(t, pool)
	configure(t, p, vals{})
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(log.String(), "asked to stop") {
		t.Error("the provider was not asked to stop")
	}
	only(t, read(t.Context(), t, p, "").Diagnostics, "Provider is closed", "ReadResource")
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
	if _, diags := pool.Start(t.Context(), testAddr); len(diags) != 1 || diags[0].Summary != "Provider is closed" {
		t.Errorf("starting in a closed pool gives %v", diags)
	}
}

// A provider that is stuck in a call must not keep its process alive.
func TestCloseKillsWhatIsStuck(t *testing.T) {
	t.Parallel()
	pool := newPool(t, plugintest.Build(t, plugintest.Fault), noOptions)
	p := startIn(t, pool)
	configure(t, p, vals{})
	result := make(chan tfdiags.Diagnostics)
	go func() { result <- apply(context.WithoutCancel(t.Context()), t, p, "stuck@apply").Diagnostics }()
	time.AfterFunc(100*time.Millisecond, func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	only(t, <-result, "Provider is closed", "ApplyResourceChange")
}

// script wraps the fault provider so that it gets an environment of its own.
func script(t *testing.T, env string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "provider")
	text := "#!/bin/sh\n" + env + " exec " + plugintest.Build(t, plugintest.Fault) + "\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // it must be executable
		t.Fatal(err)
	}
	return path
}

func TestFailedStarts(t *testing.T) {
	t.Parallel()
	notAProvider := filepath.Join(t.TempDir(), "echo")
	if err := os.WriteFile(notAProvider, []byte("#!/bin/sh\necho 'why not' >&2; echo hello\n"), 0o700); err != nil { //nolint:gosec // it must be executable
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ path, detail string }{
		"fails":          {script(t, "FAULT_AT_START=1"), "told to fail at the start"},
		"not a provider": {notAProvider, "why not"},
		"missing":        {filepath.Join(t.TempDir(), "none"), "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := newPool(t, test.path, noOptions).Start(t.Context(), testAddr)
			only(t, diags, "Failed to start provider", test.detail)
			if len(diags) == 1 && diags[0].Address != testAddr.String() {
				t.Errorf("address = %q", diags[0].Address)
			}
		})
	}
}

func TestStartIsGivenUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sleeper")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 1\n"), 0o700); err != nil { //nolint:gosec // it must be executable
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, diags := newPool(t, path, noOptions).Start(ctx, testAddr)
	only(t, diags, "Request cancelled", "")
}

func TestBadSchemas(t *testing.T) {
	t.Parallel()
	p := start(t, script(t, "FAULT_SCHEMA=type"))
	schema, diags := p.Schema(t.Context())
	mustPass(t, diags)
	if got := schema.ResourceTypes.Get("fault_schema"); got == nil || got.Invalid == nil {
		t.Errorf("a bad schema is taken as %+v", got)
	}
	only(t, p.ValidateResourceConfig(t.Context(), "fault_schema", cty.EmptyObjectVal), "Invalid provider schema", "id: must be optional")
	only(t, p.ValidateResourceConfig(t.Context(), "fault_missing", cty.EmptyObjectVal), "Invalid resource type", "fault_missing")
	configure(t, p, vals{})
	imported := p.ImportResourceState(t.Context(), providers.ImportResourceStateRequest{TypeName: "fault_object", ID: "other-type"})
	only(t, imported.Diagnostics, "Invalid resource type", "fault_missing")

	for _, kind := range []string{"write-only-set", "write-only-set-block"} { // which terraform refuses as well
		p := start(t, script(t, "FAULT_SCHEMA="+kind))
		only(t, p.ValidateResourceConfig(t.Context(), "fault_schema", cty.EmptyObjectVal), "Invalid provider schema", "write-only")
	}

	_, diags = start(t, script(t, "FAULT_SCHEMA=refuse")).Schema(t.Context())
	only(t, diags, "No schema today", "")
}

func TestEphemeral(t *testing.T) {
	t.Parallel()
	p := startFault(t, noOptions)
	config := cty.ObjectVal(vals{"name": cty.StringVal("n"), "token": cty.NullVal(cty.String), "pin": cty.NullVal(cty.String)})
	mustPass(t, p.ValidateEphemeralConfig(t.Context(), "fault_token", config))
	opened := p.OpenEphemeral(t.Context(), providers.OpenEphemeralRequest{TypeName: "fault_token", Config: config})
	mustPass(t, opened.Diagnostics)
	if opened.Result.GetAttr("token").AsString() != "t-n" || opened.RenewAt.Year() != 2030 {
		t.Errorf("opened %+v", opened)
	}
	renewed := p.RenewEphemeral(t.Context(), providers.RenewEphemeralRequest{TypeName: "fault_token", Private: opened.Private})
	mustPass(t, renewed.Diagnostics)
	if !renewed.RenewAt.IsZero() {
		t.Errorf("renew at %s", renewed.RenewAt)
	}
	closed := p.CloseEphemeral(t.Context(), providers.CloseEphemeralRequest{TypeName: "fault_token", Private: renewed.Private})
	if len(closed) != 1 || closed[0].Severity != tfdiags.Warning || closed[0].Detail != "11" {
		t.Errorf("closing gives %+v", closed)
	}
}

func TestCallFunction(t *testing.T) {
	t.Parallel()
	p := start(t, plugintest.Build(t, plugintest.Fault)) // functions need no configuration
	unknown := cty.UnknownVal(cty.String)
	tests := map[string]struct {
		name string
		args []cty.Value
		want cty.Value
		err  string
		arg  int
	}{
		"call":                {"shout", []cty.Value{cty.StringVal("hi")}, cty.StringVal("HI"), "", 0},
		"unknown":             {"shout", []cty.Value{unknown}, unknown, "", 0},
		"unknown more":        {"shout", []cty.Value{cty.StringVal("hi"), unknown}, unknown, "", 0},
		"null more":           {"shout", []cty.Value{cty.StringVal("hi"), cty.NullVal(cty.String)}, cty.StringVal("HI"), "", 0},
		"null":                {"shout", []cty.Value{cty.NullVal(cty.String)}, cty.NilVal, "must not be null", 0},
		"refused argument":    {"shout", []cty.Value{cty.StringVal("fail")}, cty.NilVal, "will not shout that", 0},
		"wrong result":        {"shout", []cty.Value{cty.StringVal("number")}, cty.NilVal, "Invalid provider response", -1},
		"too few":             {"shout", nil, cty.NilVal, "takes 1 arguments", -1},
		"no such function":    {"whisper", nil, cty.NilVal, "has no function", -1},
		"argument of no type": {"shout", []cty.Value{cty.EmptyObjectVal}, cty.NilVal, "cannot encode", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := p.CallFunction(t.Context(), test.name, test.args)
			if test.err == "" {
				if err != nil || !got.RawEquals(test.want) {
					t.Errorf("got %#v, %v, want %#v", got, err, test.want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Fatalf("got %v, want %q", err, test.err)
			}
			var argErr function.ArgError
			if errors.As(err, &argErr) != (test.arg >= 0) {
				t.Errorf("the error names an argument: %v, want %v", errors.As(err, &argErr), test.arg >= 0)
			}
		})
	}
}

func TestMarkedValuesAreNotSent(t *testing.T) {
	t.Parallel()
	p := startFault(t, noOptions)
	resp := p.ReadResource(t.Context(), providers.ReadResourceRequest{TypeName: "fault_object", PriorState: faulty(t, p, "").Mark("m")})
	only(t, resp.Diagnostics, "Invalid provider request", "marks")
}
