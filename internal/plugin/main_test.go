package plugin_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

var testAddr = addrs.Provider{Hostname: "registry.terraform.io", Namespace: "towline", Type: "test"}

// located is a Locator of one program.
type located install.Executable

func (l located) Locate(context.Context, addrs.Provider) (install.Executable, tfdiags.Diagnostics) {
	return install.Executable(l), nil
}

// logBuffer keeps log lines for a test.
type logBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

// newPool returns a pool for one program that ends with the test.
func newPool(t *testing.T, path string, opts plugin.Options) *plugin.Pool {
	t.Helper()
	pool := plugin.NewPool(located{Path: path}, opts)
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return pool
}

func start(t *testing.T, path string) providers.Interface {
	t.Helper()
	return startIn(t, newPool(t, path, plugin.Options{}))
}

func startIn(t *testing.T, pool *plugin.Pool) providers.Interface {
	t.Helper()
	p, diags := pool.Start(t.Context(), testAddr)
	mustPass(t, diags)
	return p
}

func mustPass(t *testing.T, diags tfdiags.Diagnostics) {
	t.Helper()
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
}

// configure configures a provider with the given attributes, all others unset.
func configure(t *testing.T, p providers.Interface, attrs map[string]cty.Value) {
	t.Helper()
	schema, diags := p.Schema(t.Context())
	mustPass(t, diags)
	config, err := schema.Provider.CoerceValue(cty.ObjectVal(attrs))
	if err != nil {
		t.Fatal(err)
	}
	mustPass(t, p.ValidateProviderConfig(t.Context(), config))
	mustPass(t, p.Configure(t.Context(), config))
}

func debugLog(b *logBuffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
