package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/providers/providerstest"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// token declares an ephemeral resource of the fault provider.
func token(label, body string) string {
	return fmt.Sprintf("ephemeral \"fault_token\" %q {\n  %s\n}\n", label, body)
}

// TestEphemeralResourcesAsTerraform compares what is said of ephemeral resources,
// among it the warning that closing an object gives.
func TestEphemeralResourcesAsTerraform(t *testing.T) {
	t.Parallel()
	named := func(name string) string { return token("t", fmt.Sprintf("name = %q", name)) }
	user := "resource \"fault_object\" \"o\" {\n  name   = \"x\"\n  secret = ephemeral.fault_token.t.token\n}\n"
	tests := map[string]string{
		"unused":               named("a"),
		"used":                 named("a") + user,
		"unknown":              "resource \"terraform_data\" \"d\" {}\n" + token("t", "name = terraform_data.d.id") + user,
		"pending":              "resource \"terraform_data\" \"d\" {}\n" + token("t", "name = \"a\"\n  depends_on = [terraform_data.d]") + user,
		"depended on":          named("a") + "resource \"terraform_data\" \"d\" {\n  depends_on = [ephemeral.fault_token.t]\n}\n",
		"none":                 token("t", "count = 0\n  name = \"a\""),
		"several":              token("t", "for_each = toset([\"a\", \"b\"])\n  name = each.key") + "resource \"fault_object\" \"o\" {\n  name   = \"x\"\n  secret = ephemeral.fault_token.t[\"b\"].token\n}\n",
		"kept":                 named("a") + "resource \"terraform_data\" \"d\" {\n  input = ephemeral.fault_token.t\n}\n",
		"kept instance":        token("t", "count = 2\n  name = \"a\"") + "resource \"terraform_data\" \"d\" {\n  input = ephemeral.fault_token.t[0].token\n}\n",
		"given out":            named("a") + "output \"o\" {\n  value = ephemeral.fault_token.t.name\n}\n",
		"given out as null":    named("a") + "output \"o\" {\n  value = ephemeralasnull(ephemeral.fault_token.t)\n}\n",
		"instances given out":  token("t", "count = 2\n  name = \"a\"") + "output \"o\" {\n  value = ephemeral.fault_token.t[*].name\n}\n",
		"configures":           "provider \"fault\" {\n  alias = \"x\"\n}\nprovider \"fault\" {\n  region = ephemeral.fault_token.t.token\n}\n" + token("t", "provider = fault.x\n  name = \"a\"") + "resource \"fault_object\" \"o\" {\n  name = \"x\"\n}\n",
		"needs another":        named("a") + token("u", "name = ephemeral.fault_token.t.token"),
		"precondition":         token("t", "name = \"a\"\n  lifecycle {\n  "+condition("precondition", "path.module == \"y\"", `"no"`)+"\n  }"),
		"not supported":        "ephemeral \"fault_nope\" \"t\" {}\n",
		"argument missing":     token("t", ""),
		"undeclared":           "locals {\n  a = ephemeral.fault_token.zz\n}\n",
		"wrong lifecycle":      token("t", "name = \"a\"\n  lifecycle {\n    create_before_destroy = true\n  }"),
		"invalid":              named("invalid"),
		"refused":              named("refused"),
		"opens nothing":        named("null"),
		"opens something else": named("renamed"),
		"opens the unknown":    named("unknown"),
		"crashes":              named("panic"),
	}
	for name, config := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := oracletest.NewFault(t)
			b.Write(map[string]string{"main.tf": oracletest.RequiredProviders + config})
			want, got := b.Problems("plan", "-input=false"), b.PlanProblems(engine.PlanOptions{})
			if slices.ContainsFunc(want, func(p string) bool { return strings.HasPrefix(p, "error: ") }) {
				// Terraform leaves open what a failed walk has opened.
				got = slices.DeleteFunc(got, func(p string) bool { return p == "warning: closed" })
			}
			if diff := cmp.Diff(comparable(want), comparable(got)); diff != "" {
				t.Errorf("the plan's problems differ (-terraform +towline):\n%s", diff)
			}
			if diff := cmp.Diff(b.Problems("validate"), b.ValidateProblems()); diff != "" {
				t.Errorf("the problems of the validation differ (-terraform +towline):\n%s", diff)
			}
		})
	}
}

// cloud is a fake provider with resources that take a token, and tokens.
func ephemeralCloud() *providerstest.Provider {
	block := func() *providers.Block {
		return &providers.Block{Attributes: map[string]*providers.Attribute{
			"id": {Type: cty.String, Computed: true}, "name": {Type: cty.String, Optional: true},
			"secret": {Type: cty.String, Optional: true, WriteOnly: true},
		}}
	}
	return providerstest.New(&providers.Schema{
		Provider:      &providers.Block{Attributes: map[string]*providers.Attribute{"key": {Type: cty.String, Optional: true}}},
		ResourceTypes: providers.SchemaMap{"cloud_thing": {Block: block()}}, DataSources: providers.SchemaMap{"cloud_thing": {Block: block()}},
		Ephemerals: providers.SchemaMap{"cloud_token": {Block: block()}},
	})
}

// events are the calls about tokens and changes, in order.
func events(p *providerstest.Provider) []string {
	var out []string
	for _, call := range p.Calls("OpenEphemeral", "RenewEphemeral", "CloseEphemeral", "ApplyResourceChange") {
		name := call.Method
		switch req := call.Request.(type) {
		case providers.OpenEphemeralRequest:
			name = "open " + req.Config.GetAttr("name").AsString()
		case providers.RenewEphemeralRequest:
			name = "renew " + string(req.Private)
		case providers.CloseEphemeralRequest:
			name = "close " + string(req.Private)
		case providers.ApplyResourceChangeRequest:
			name = "change with " + secretOf(req.Config)
		}
		out = append(out, name)
	}
	return out
}

func secretOf(config cty.Value) string {
	if config.IsNull() || config.GetAttr("secret").IsNull() {
		return "nothing"
	}
	return config.GetAttr("secret").AsString()
}

// openNamed opens tokens whose id and private data are their name.
func openNamed(_ context.Context, req providers.OpenEphemeralRequest) providers.OpenEphemeralResponse {
	vals := req.Config.AsValueMap()
	vals["id"] = vals["name"]
	if vals["name"].AsString() == "refused" {
		return providers.OpenEphemeralResponse{Diagnostics: tfdiags.New(tfdiags.Error, "No token", "")}
	}
	return providers.OpenEphemeralResponse{Result: cty.ObjectVal(vals), Private: []byte(vals["name"].AsString())}
}

func TestEphemeralResourcesAreClosedAfterUse(t *testing.T) {
	t.Parallel()
	const requirement = "terraform {\n  required_providers {\n    cloud = { source = \"towline/cloud\" }\n  }\n}\n"
	token := func(label, name string) string {
		return fmt.Sprintf("ephemeral \"cloud_token\" %q {\n  name = %s\n}\n", label, name)
	}
	tests := map[string]struct {
		config string
		want   []string // of an apply, after its plan
		failed bool
	}{
		"by a resource": {
			config: token("t", `"a"`) + "resource \"cloud_thing\" \"x\" {\n  secret = ephemeral.cloud_token.t.id\n}\n",
			want:   []string{"open a", "change with a", "close a"},
		},
		"through a local and a module": {
			config: token("t", `"a"`) + "locals {\n  l = ephemeral.cloud_token.t.id\n}\nmodule \"m\" {\n  source = \"./m\"\n  s = local.l\n}\n",
			want:   []string{"open a", "change with a", "close a"},
		},
		"from inside a module": {
			config: "module \"n\" {\n  source = \"./n\"\n}\nresource \"cloud_thing\" \"x\" {\n  secret = module.n.o\n}\n",
			want:   []string{"open inner", "change with inner", "close inner"},
		},
		"one after the other": {
			config: token("t", `"a"`) + token("u", `"${ephemeral.cloud_token.t.id}b"`) + "resource \"cloud_thing\" \"x\" {\n  secret = ephemeral.cloud_token.u.id\n}\n",
			want:   []string{"open a", "open ab", "change with ab", "close a", "close ab"},
		},
		"known only after another change": {
			config: "resource \"cloud_thing\" \"y\" {\n  name = \"y\"\n}\n" + token("t", "cloud_thing.y.id") + "resource \"cloud_thing\" \"x\" {\n  secret = ephemeral.cloud_token.t.id\n}\n",
			want:   []string{"change with nothing", "open cloud_thing-1", "change with cloud_thing-1", "close cloud_thing-1"},
		},
		"although the change fails": {
			config: token("t", `"a"`) + "resource \"cloud_thing\" \"x\" {\n  name   = \"fails\"\n  secret = ephemeral.cloud_token.t.id\n}\n",
			want:   []string{"open a", "change with a", "close a"}, failed: true,
		},
		"although a condition fails": {
			config: "ephemeral \"cloud_token\" \"t\" {\n  name = \"a\"\n  lifecycle {\n  " + condition("postcondition", "self.id != \"a\" || !terraform.applying", `"no"`) + "\n  }\n}\nresource \"cloud_thing\" \"x\" {\n  secret = ephemeral.cloud_token.t.id\n}\n",
			want:   []string{"open a", "close a"}, failed: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cloud := ephemeralCloud()
			cloud.OpenHook = openNamed
			cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
				if v := req.Config.GetAttr("name"); !v.IsNull() && v.AsString() == "fails" {
					return providers.ApplyResourceChangeResponse{Diagnostics: tfdiags.New(tfdiags.Error, "Failed", "")}
				}
				return cloud.ApplyDefault(req)
			}
			b := newBench(t, source{"cloud": func() providers.Interface { return cloud }})
			b.write(map[string]string{
				"main.tf": requirement + test.config,
				"m/m.tf":  requirement + "variable \"s\" {\n  ephemeral = true\n}\nresource \"cloud_thing\" \"x\" {\n  secret = var.s\n}\n",
				"n/n.tf":  requirement + token("t", `"inner"`) + "output \"o\" {\n  value     = ephemeral.cloud_token.t.id\n  ephemeral = true\n}\n",
			})
			plan := b.mustPlan(engine.PlanOptions{})
			wantClosed(t, events(cloud))
			cloud.ResetCalls()
			if diags := b.applyPlan(plan); diags.HasErrors() != test.failed {
				t.Fatal(diags.Err())
			}
			if diff := cmp.Diff(test.want, events(cloud)); diff != "" {
				t.Errorf("calls differ (-want +got):\n%s", diff)
			}
			for _, r := range b.state.Resources() {
				if strings.Contains(r.Addr.String(), "ephemeral") {
					t.Errorf("the state holds %s", r.Addr)
				}
			}
		})
	}
}

// wantClosed checks that what was opened was closed.
func wantClosed(t *testing.T, events []string) {
	t.Helper()
	var open []string
	for _, e := range events {
		verb, name, _ := strings.Cut(e, " ")
		switch verb {
		case "open":
			open = append(open, name)
		case "close":
			open = slices.DeleteFunc(open, func(o string) bool { return o == name })
		}
	}
	if len(open) > 0 {
		t.Errorf("%q were left open by %q", open, events)
	}
}

// A provider may be called at any time of a walk, so what it is configured with
// stays open as long.
func TestEphemeralResourceOfAProviderOutlivesIt(t *testing.T) {
	t.Parallel()
	vault, cloud := ephemeralCloud(), ephemeralCloud()
	vault.OpenHook = openNamed
	b := newBench(t, source{"cloud": func() providers.Interface { return cloud }, "vault": func() providers.Interface { return vault }})
	const header = "terraform {\n  required_providers {\n    cloud = { source = \"towline/cloud\" }\n    vault = { source = \"towline/vault\" }\n  }\n}\n" +
		"ephemeral \"cloud_token\" \"t\" {\n  provider = vault\n  name = \"a\"\n}\nprovider \"cloud\" {\n  key = ephemeral.cloud_token.t.id\n}\n"
	closed := func() int { return len(vault.Calls("CloseEphemeral")) }
	cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		if closed() != 1 { // by the plan
			t.Error("the object is changed after the provider's token was closed")
		}
		return cloud.ApplyDefault(req)
	}
	b.write(map[string]string{"main.tf": header + "resource \"cloud_thing\" \"x\" {}\n"})
	b.mustApply(engine.PlanOptions{})
	if closed() != 2 {
		t.Errorf("the token was closed %d times, want twice", closed())
	}
	vault.ResetCalls()
	b.mustApply(engine.PlanOptions{Mode: plans.DestroyMode})
	if closed() != 2 || len(cloud.IDs("cloud_thing")) != 0 {
		t.Errorf("the token was closed %d times, want twice; objects left: %v", closed(), cloud.IDs("cloud_thing"))
	}
}

// handClock is a clock that a test moves.
type handClock struct {
	mu    sync.Mutex
	now   time.Time
	waits chan time.Time // who waits tells until when
	ring  chan struct{}
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) waitUntil(ctx context.Context, at time.Time) bool {
	select {
	case c.waits <- at:
	case <-ctx.Done():
		return false
	}
	select {
	case <-c.ring:
		c.mu.Lock()
		c.now = at
		c.mu.Unlock()
		return true
	case <-ctx.Done():
		return false
	}
}

func TestEphemeralResourcesAreRenewed(t *testing.T) {
	t.Parallel()
	clock := &handClock{now: time.Unix(1_000_000, 0), waits: make(chan time.Time), ring: make(chan struct{})}
	cloud := ephemeralCloud()
	cloud.OpenHook = func(ctx context.Context, req providers.OpenEphemeralRequest) providers.OpenEphemeralResponse {
		resp := openNamed(ctx, req)
		resp.RenewAt = clock.Now().Add(time.Hour)
		return resp
	}
	renewals := 0
	cloud.RenewHook = func(_ context.Context, req providers.RenewEphemeralRequest) providers.RenewEphemeralResponse {
		renewals++
		resp := providers.RenewEphemeralResponse{Private: append(slices.Clone(req.Private), '+'), RenewAt: clock.Now().Add(time.Hour)}
		if renewals == 2 {
			resp.RenewAt = clock.Now().Add(-time.Hour) // at once, which is a mistake
		}
		return resp
	}
	wait := make(chan struct{})
	cloud.ApplyHook = func(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
		<-wait
		return cloud.ApplyDefault(req)
	}
	b := newBench(t, source{"cloud": func() providers.Interface { return cloud }})
	b.engine = engine.New(engine.Options{Providers: source{"cloud": func() providers.Interface { return cloud }}, Now: clock.Now, WaitUntil: clock.waitUntil})
	b.write(map[string]string{"main.tf": "terraform {\n  required_providers {\n    cloud = { source = \"towline/cloud\" }\n  }\n}\n" +
		"ephemeral \"cloud_token\" \"t\" {\n  name = terraform_data.d.id == \"\" ? \"\" : \"a\"\n}\nresource \"terraform_data\" \"d\" {}\nresource \"cloud_thing\" \"x\" {\n  secret = ephemeral.cloud_token.t.id\n}\n"})
	plan := b.mustPlan(engine.PlanOptions{})
	done := make(chan tfdiags.Diagnostics)
	go func() { done <- b.applyPlan(plan) }()
	start := clock.Now()
	for _, want := range []time.Duration{time.Hour, 2 * time.Hour, 2*time.Hour + time.Second} {
		if got := (<-clock.waits).Sub(start); got != want {
			t.Errorf("the next renewal is after %s, want %s", got, want)
		}
		clock.ring <- struct{}{}
	}
	<-clock.waits
	close(wait)
	if diags := <-done; diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	want := []string{"open a", "renew a", "renew a+", "renew a++", "change with a", "close a+++"}
	got := events(cloud)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls differ (-want +got):\n%s", diff)
	}
}

func TestEphemeralResourcesAreClosedWhenCancelled(t *testing.T) {
	t.Parallel()
	cloud := ephemeralCloud()
	cloud.OpenHook = openNamed
	ctx, cancel := context.WithCancel(t.Context())
	cloud.DataHook = func(ctx context.Context, _ providers.ReadDataSourceRequest) providers.ReadDataSourceResponse {
		cancel()
		<-ctx.Done()
		return providers.ReadDataSourceResponse{Diagnostics: tfdiags.New(tfdiags.Error, "Request cancelled", "")}
	}
	b := newBench(t, source{"cloud": func() providers.Interface { return cloud }})
	b.write(map[string]string{"main.tf": "terraform {\n  required_providers {\n    cloud = { source = \"towline/cloud\" }\n  }\n}\n" +
		"ephemeral \"cloud_token\" \"t\" {\n  name = \"a\"\n}\ndata \"cloud_thing\" \"d\" {\n  depends_on = [ephemeral.cloud_token.t]\n}\n"})
	_, diags := b.engine.Plan(ctx, b.load(), b.state, engine.PlanOptions{})
	if !diags.HasErrors() {
		t.Error("a cancelled plan ends without an error")
	}
	if diff := cmp.Diff([]string{"open a", "close a"}, events(cloud)); diff != "" {
		t.Errorf("calls differ (-want +got):\n%s", diff)
	}
}

// An engine that stays running opens an object anew in every plan, and one that
// gives something else each time makes no change of what is only written.
func TestEphemeralResourcesAreOpenedInEveryPlan(t *testing.T) {
	t.Parallel()
	cloud := ephemeralCloud()
	opened := 0
	cloud.OpenHook = func(_ context.Context, req providers.OpenEphemeralRequest) providers.OpenEphemeralResponse {
		opened++
		vals := req.Config.AsValueMap()
		vals["id"] = cty.StringVal(fmt.Sprint("token-", opened))
		return providers.OpenEphemeralResponse{Result: cty.ObjectVal(vals)}
	}
	b := newBench(t, source{"cloud": func() providers.Interface { return cloud }})
	b.write(map[string]string{"main.tf": "terraform {\n  required_providers {\n    cloud = { source = \"towline/cloud\" }\n  }\n}\n" +
		"ephemeral \"cloud_token\" \"t\" {\n  name = \"a\"\n}\nresource \"cloud_thing\" \"x\" {\n  secret = ephemeral.cloud_token.t.id\n}\n"})
	b.mustApply(engine.PlanOptions{})
	config := b.load()
	for range 3 {
		before := opened
		plan, diags := b.engine.Plan(t.Context(), config, b.state, engine.PlanOptions{})
		if diags.HasErrors() {
			t.Fatal(diags.Err())
		}
		b.wantActions(plan)
		if opened != before+1 {
			t.Errorf("the object was opened %d times in a plan, want once", opened-before)
		}
	}
}
