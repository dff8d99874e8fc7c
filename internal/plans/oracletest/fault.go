package oracletest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// RequiredProviders is the terraform block for the providers of [NewFault].
const RequiredProviders = `terraform {
  required_providers {
    fault = { source = "towline/fault" }
    v5    = { source = "towline/v5" }
  }
}
`

// NewFault returns a bench with the providers of package plugintest for both
// sides: towline/fault of protocol 6, which breaks rules on request, and
// towline/v5 of protocol 5, which keeps them.
func NewFault(tb testing.TB) *Bench {
	tb.Helper()
	b := New(tb)
	programs := map[string]string{"fault": plugintest.Build(tb, plugintest.Fault), "v5": plugintest.Build(tb, plugintest.Proto5)}
	b.Env = []string{"TF_CLI_CONFIG_FILE=" + overrides(tb, programs)}
	pool := plugin.NewPool(byType(programs), plugin.Options{})
	tb.Cleanup(func() { _ = pool.Close() })
	b.Providers = pool
	return b
}

// overrides writes a configuration with which terraform runs the programs as they are.
func overrides(tb testing.TB, programs map[string]string) string {
	tb.Helper()
	dir := tb.TempDir()
	text := "provider_installation {\n  dev_overrides {\n"
	for name, program := range programs {
		link := filepath.Join(dir, name, "terraform-provider-"+name)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.Symlink(program, link); err != nil {
			tb.Fatal(err)
		}
		text += "    \"towline/" + name + "\" = \"" + filepath.Dir(link) + "\"\n"
	}
	path := filepath.Join(dir, "terraform.rc")
	if err := os.WriteFile(path, []byte(text+"  }\n  direct {}\n}\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// byType finds programs by the provider's type.
type byType map[string]string

// Locate implements [plugin.Locator].
func (t byType) Locate(_ context.Context, addr addrs.Provider) (install.Executable, tfdiags.Diagnostics) {
	if path, ok := t[addr.Type]; ok {
		return install.Executable{Path: path}, nil
	}
	return install.Executable{}, tfdiags.New(tfdiags.Error, "Provider not found", "There is no provider "+addr.String()+" in this test.")
}
