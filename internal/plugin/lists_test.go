package plugin_test

import (
	"context"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

func listProto5(t *testing.T, p providers.Interface, req providers.ListResourcesRequest) providers.ListResourcesResponse {
	t.Helper()
	req.TypeName, req.Config = "v5_thing", cty.ObjectVal(vals{"prefix": cty.StringVal("p")})
	return p.ListResources(t.Context(), req)
}

func TestProto5Lists(t *testing.T) {
	t.Parallel()
	p := startProto5(t)
	resp := listProto5(t, p, providers.ListResourcesRequest{})
	mustPass(t, resp.Diagnostics)
	if len(resp.Listed) != 3 || resp.Full || len(resp.RequiredIdentity) != 1 || resp.RequiredIdentity[0] != "id" {
		t.Fatalf("got %+v", resp)
	}
	want := cty.ObjectVal(vals{"id": cty.StringVal("p1"), "endpoint": cty.StringVal("https://e")})
	if got := resp.Listed[1]; !got.Identity.RawEquals(want) || got.DisplayName != "Thing p1" || got.Resource != cty.NilVal {
		t.Errorf("got %#v", got)
	}
	whole := listProto5(t, p, providers.ListResourcesRequest{IncludeResource: true, Limit: 2})
	mustPass(t, whole.Diagnostics)
	if len(whole.Listed) != 2 || !whole.Full {
		t.Fatalf("of at most two got %d", len(whole.Listed))
	}
	if got := whole.Listed[0].Resource; !got.RawEquals(object(t, p, "v5_thing", vals{"id": cty.StringVal("p0"), "name": cty.StringVal("p0")})) {
		t.Errorf("the object is %#v", got)
	}
}

func TestListConfigIsValidated(t *testing.T) {
	t.Parallel()
	p := startProto5(t)
	if diags := p.ValidateListConfig(t.Context(), "v5_thing", cty.ObjectVal(vals{"prefix": cty.StringVal("p")})); len(diags) > 0 {
		t.Error(diags.Err())
	}
	only(t, p.ValidateListConfig(t.Context(), "v5_thing", cty.ObjectVal(vals{"prefix": cty.StringVal("bad")})), "Bad prefix", "")
	only(t, p.ValidateListConfig(t.Context(), "v5_none", cty.EmptyObjectVal), "Invalid list resource", "does not support the list resource v5_none")
}

func listFaulty(ctx context.Context, p providers.Interface, typeName, fault string) providers.ListResourcesResponse {
	return p.ListResources(ctx, providers.ListResourcesRequest{
		TypeName: typeName, Config: cty.ObjectVal(vals{"fault": cty.StringVal(fault)}), IncludeResource: true,
	})
}

// TestListingsThatEndBadlyAreErrors: whatever was listed before, nothing of it is there.
func TestListingsThatEndBadlyAreErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ typeName, fault, summary, detail string }{
		"wrong type":             {"fault_object", "type", "Invalid provider response", "cannot decode a value"},
		"unknown identity":       {"fault_object", "unknown", "Invalid provider response", "without saying what identifies it"},
		"no identity":            {"fault_object", "unidentified", "Invalid provider response", "without saying what identifies it"},
		"wrong object":           {"fault_object", "object", "Invalid provider response", "cannot decode a value"},
		"error":                  {"fault_object", "error", "Plugin error", "an error that is no diagnostic"},
		"error in the middle":    {"fault_object", "fail", "Failed", "The fault says so."},
		"crash in the middle":    {"fault_object", "crash", "Plugin did not respond", "ended during the ListResource call"},
		"remarks without end":    {"fault_object", "remarks", "Invalid provider response", "name no object"},
		"more than can be kept":  {"fault_object", "large", "Invalid provider response", "more than 32 MiB"},
		"one larger than may be": {"fault_object", "huge", "Plugin error", "larger than max"},
		"not offered":            {"fault_none", "", "Invalid list resource", "does not support the list resource fault_none"},
		"no resource type":       {"fault_nothing", "", "Invalid resource type", "fault_nothing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp := listFaulty(t.Context(), startFault(t, noOptions), test.typeName, test.fault)
			diags := resp.Diagnostics
			if test.fault == "remarks" && len(diags) > 0 {
				diags = diags[len(diags)-1:] // the warnings before it are kept
			}
			only(t, diags, test.summary, test.detail)
			if len(resp.Listed) > 0 {
				t.Errorf("%d objects were listed all the same", len(resp.Listed))
			}
		})
	}
}

func TestListingsEnd(t *testing.T) {
	t.Parallel()
	t.Run("at the limit", func(t *testing.T) {
		t.Parallel()
		resp := listFaulty(t.Context(), startFault(t, noOptions), "fault_object", "endless")
		mustPass(t, resp.Diagnostics)
		if len(resp.Listed) != providers.MaxListed || !resp.Full {
			t.Errorf("got %d objects", len(resp.Listed))
		}
	})
	t.Run("with a warning", func(t *testing.T) {
		t.Parallel()
		resp := listFaulty(t.Context(), startFault(t, noOptions), "fault_object", "warn")
		mustPass(t, resp.Diagnostics)
		if len(resp.Listed) != 2 || len(resp.Diagnostics) != 1 {
			t.Errorf("got %+v", resp)
		}
	})
	t.Run("in time", func(t *testing.T) {
		t.Parallel()
		resp := listFaulty(t.Context(), startFault(t, plugin.Options{CallTimeout: time.Second}), "fault_object", "hang")
		only(t, resp.Diagnostics, "Plugin did not respond", "did not answer the ListResource call within 1s")
	})
	t.Run("when cancelled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		p := startFault(t, noOptions)
		time.AfterFunc(200*time.Millisecond, cancel)
		only(t, listFaulty(ctx, p, "fault_object", "hang").Diagnostics, "Request cancelled", "ListResource")
	})
	// A provider that is asked to stop ends its streams as if that were all.
	t.Run("when stopped", func(t *testing.T) {
		t.Parallel()
		p := startFault(t, noOptions)
		done := make(chan providers.ListResourcesResponse, 1)
		go func() { done <- listFaulty(context.WithoutCancel(t.Context()), p, "fault_object", "hang") }()
		for {
			if err := p.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			select {
			case resp := <-done:
				only(t, resp.Diagnostics, "Request cancelled", "ListResource")
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
}

// TestListingNeedsIdentities: without them no object of a listing can be told from another.
func TestListingNeedsIdentities(t *testing.T) {
	t.Setenv("FAULT_SCHEMA", "no-identity")
	resp := listFaulty(t.Context(), start(t, plugintest.Build(t, plugintest.Fault)), "fault_object", "")
	only(t, resp.Diagnostics, "Invalid provider response", "does not say what identifies one")
}
