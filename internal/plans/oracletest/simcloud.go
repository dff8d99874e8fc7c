package oracletest

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/simcloud"
	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Cloud is a bench with a simulated cloud and its provider, for both sides.
type Cloud struct {
	*Bench

	// Hand changes objects behind terraform's back.
	Hand *client.Client
	url  string
}

// NewCloud starts a simulated cloud and makes its provider available.
func NewCloud(tb testing.TB) *Cloud {
	tb.Helper()
	running, err := simcloud.New(simcloud.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewServer(running)
	tb.Cleanup(func() {
		server.Close()
		_ = running.Close()
	})
	hand, err := client.New(client.Config{Endpoint: server.URL, Actor: "hand", Token: "all"})
	if err != nil {
		tb.Fatal(err)
	}
	program, err := buildProvider()
	if err != nil {
		tb.Fatal(err)
	}
	b := New(tb)
	b.Env = []string{"TF_CLI_CONFIG_FILE=" + mirror(tb, program)}
	pool := plugin.NewPool(locator(program), plugin.Options{})
	tb.Cleanup(func() { _ = pool.Close() })
	b.Providers = pool
	return &Cloud{Bench: b, Hand: hand, url: server.URL}
}

// With returns a configuration for this cloud.
func (c *Cloud) With(config string) string {
	return fmt.Sprintf(`terraform {
  required_providers {
    simcloud = {
      source  = "towline/simcloud"
      version = "~> 1.0"
    }
  }
}
provider "simcloud" {
  endpoint = %q
}
`, c.url) + config
}

// locator always finds the same program.
type locator string

func (l locator) Locate(context.Context, addrs.Provider) (install.Executable, tfdiags.Diagnostics) {
	return install.Executable{Path: string(l)}, nil
}

// mirror lays out a filesystem mirror with the provider and returns the path of
// a CLI configuration that names it.
func mirror(tb testing.TB, program string) string {
	tb.Helper()
	root := tb.TempDir()
	dir := filepath.Join(root, "registry.terraform.io", "towline", "simcloud", "1.0.0", runtime.GOOS+"_"+runtime.GOARCH)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(dir, "terraform-provider-simcloud_v1.0.0")); err != nil {
		tb.Fatal(err)
	}
	config := filepath.Join(root, "terraform.rc")
	content := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", root)
	if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
	return config
}

// buildProvider compiles the provider once for each test binary. The program is
// moved into place, so that test binaries that run at the same time do not
// disturb each other.
var buildProvider = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "towline-test-providers")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for test providers: %w", err)
	}
	path := filepath.Join(dir, "terraform-provider-simcloud")
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	cmd := exec.Command("go", "build", "-o", fresh, "github.com/towline/terraform-provider-towline/internal/simcloud/cmd/terraform-provider-simcloud")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the simcloud provider: %w\n%s", err, out)
	}
	if err := os.Rename(fresh, path); err != nil {
		return "", fmt.Errorf("place the simcloud provider: %w", err)
	}
	return path, nil
})
