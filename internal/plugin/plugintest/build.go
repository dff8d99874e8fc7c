package plugintest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// The providers that [Build] knows.
const (
	// Proto5 is a well-behaved provider of protocol 5, of our own.
	Proto5 = "./proto5"
	// Fault is a provider of protocol 6 that breaks rules on request, of our own.
	Fault = "./fault"
	// Time is hashicorp/time, as it is published.
	Time = "github.com/hashicorp/terraform-provider-time"
)

var builds = struct {
	sync.Mutex
	done map[string]func() (string, error)
}{done: make(map[string]func() (string, error))}

// Build compiles a provider once for each test binary and returns its program.
func Build(tb testing.TB, name string) string {
	tb.Helper()
	builds.Lock()
	build, ok := builds.done[name]
	if !ok {
		build = sync.OnceValues(func() (string, error) { return compile(name) })
		builds.done[name] = build
	}
	builds.Unlock()
	path, err := build()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// compile builds into a folder in the user's cache. The program is moved into
// place, so that test binaries which run at the same time do not disturb each other;
// and nothing but its sources goes into it, since lock files know it by its digest.
func compile(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "towline-test-providers")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot make a folder for test providers: %w", err)
	}
	path := filepath.Join(dir, "terraform-provider-"+strings.TrimPrefix(filepath.Base(name), "terraform-provider-"))
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", fresh, name) //nolint:gosec // names are constants of this package
	cmd.Dir = providersDir()
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build test provider %s: %w\n%s", name, err, out)
	}
	if err := os.Rename(fresh, path); err != nil {
		return "", fmt.Errorf("cannot place test provider %s: %w", name, err)
	}
	return path, nil
}

// providersDir is the folder of the module with the test providers, next to this file.
func providersDir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "providers")
}
