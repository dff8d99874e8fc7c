package plugin_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
)

var _ plugin.Locator = (*install.Installation)(nil)

func open(t *testing.T, vars map[string]string) *install.Installation {
	t.Helper()
	i, diags := install.Open(t.TempDir(), cliconfig.Environment{Getenv: func(name string) string { return vars[name] }})
	mustPass(t, diags)
	return i
}

// mirrorConfig writes a CLI configuration that names one mirror.
func mirrorConfig(t *testing.T, mirror string) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rc")
	text := "provider_installation {\n filesystem_mirror {\n path = \"" + mirror + "\"\n }\n}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"TF_CLI_CONFIG_FILE": path}
}

func TestInstalledProviderRuns(t *testing.T) {
	t.Parallel()
	mirror := t.TempDir()
	dir := filepath.Join(mirror, "registry.terraform.io/hashicorp/time/0.13.1", runtime.GOOS+"_"+runtime.GOARCH)
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a mirror of packages
		t.Fatal(err)
	}
	program, err := os.ReadFile(plugintest.Build(t, plugintest.Time))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "terraform-provider-time_v0.13.1_x5"), program, 0o755); err != nil { //nolint:gosec // it must be executable
		t.Fatal(err)
	}
	addr := addrs.DefaultProvider("time")
	installation := open(t, mirrorConfig(t, mirror))
	_, diags := installation.Install(t.Context(), install.Requirements{addr: {"~> 0.13"}}, install.Options{})
	mustPass(t, diags)

	pool := plugin.NewPool(installation, plugin.Options{})
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	p, diags := pool.Start(t.Context(), addr)
	mustPass(t, diags)
	schema, diags := p.Schema(t.Context())
	mustPass(t, diags)
	if schema.ResourceTypes.Get("time_sleep") == nil {
		t.Errorf("types are %v", schema.ResourceTypes.Names())
	}
	if _, diags := pool.Start(t.Context(), addrs.DefaultProvider("none")); !diags.HasErrors() || diags[0].Address != "registry.terraform.io/hashicorp/none" {
		t.Errorf("a provider that is not installed gives %v", diags)
	}
}

// A provider that somebody else runs is used, and not ended.
func TestReattach(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(script(t, "FAULT_DEBUG=1"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended if this fails
		_ = cmd.Wait()         // killed
	})
	value := ""
	for lines := bufio.NewScanner(out); value == "" && lines.Scan(); {
		if _, after, ok := strings.Cut(lines.Text(), install.ReattachVariable+"='"); ok {
			value = strings.TrimSuffix(strings.TrimSpace(after), "'")
		}
	}
	addr := addrs.Provider{Hostname: "registry.terraform.io", Namespace: "towline", Type: "fault"}
	pool := plugin.NewPool(open(t, map[string]string{install.ReattachVariable: value}), plugin.Options{})
	for range 2 {
		p, diags := pool.Start(t.Context(), addr)
		mustPass(t, diags)
		configure(t, p, vals{"region": cty.StringVal("debug")})
		resp := apply(t.Context(), t, p, "")
		mustPass(t, resp.Diagnostics)
		if got := resp.NewState.GetAttr("config").AsString(); got != "debug 1.11.4" {
			t.Errorf("config = %q", got)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	p, diags := pool.Start(t.Context(), addr)
	mustPass(t, diags)
	configure(t, p, vals{})
	only(t, read(t.Context(), t, p, "exit@read").Diagnostics, "Plugin did not respond", "process ended")
	only(t, read(t.Context(), t, p, "").Diagnostics, "Plugin did not respond", "was not started by Towline")
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
}
