package plugin_test

import (
	"context"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// packaged is a provider's program with the hash of a package.
type packaged struct{ path string }

func (p packaged) Locate(context.Context, addrs.Provider) (install.Executable, tfdiags.Diagnostics) {
	return install.Executable{Path: p.path, PackageHash: "h1:test"}, nil
}

// The process that works is asked for its schema only if nothing else knows it.
func TestWhoIsAskedForTheSchema(t *testing.T) {
	t.Parallel()
	program := plugintest.Build(t, plugintest.Fault)
	tests := map[string]struct {
		largeFrom int64
		// first and then are how often the process that works was asked, with nothing on disk and with the answer.
		first, then int64
	}{
		"a small program": {0, 1, 0},
		"a large program": {1, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, want := range []int64{test.first, test.then} {
				pool := plugin.NewPool(packaged{program}, plugin.Options{LargeProgram: test.largeFrom, SchemaDir: dir})
				p := startIn(t, pool)
				configure(t, p, vals{"region": cty.StringVal("north")})
				resp := read(t.Context(), t, p, "described@read")
				mustPass(t, resp.Diagnostics)
				if got, _ := resp.NewState.GetAttr("size").AsBigFloat().Int64(); got != want {
					t.Errorf("the process was asked %d times, want %d", got, want)
				}
				if err := pool.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A program that ends when it is asked fails the call, and the pool closes.
func TestDescribingFails(t *testing.T) {
	t.Setenv("FAULT_SCHEMA", "refuse")
	pool := newPool(t, plugintest.Build(t, plugintest.Fault), plugin.Options{LargeProgram: 1})
	p := startIn(t, pool)
	if _, diags := p.Schema(t.Context()); !diags.HasErrors() {
		t.Error("a provider without a schema was accepted")
	}
}
