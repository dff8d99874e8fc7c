package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// BuildTool makes sure that bin/ of the module around the working directory holds a
// command of the module in tools/, up to date, and returns its path. Concurrent calls
// wait for each other.
func BuildTool(ctx context.Context, command string) (string, error) {
	module, err := ModuleDir()
	if err != nil {
		return "", err
	}
	name, bin := path.Base(command), filepath.Join(module, "bin")
	unlock, err := Lock(ctx, bin, name)
	if err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	defer unlock()
	binary := filepath.Join(bin, name)
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, command)
	build.Dir = filepath.Join(module, "tools")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", name, err, output)
	}
	return binary, nil
}

// Lock waits for others, of all processes, who make something of a name in a folder,
// which is created if it is missing.
func Lock(ctx context.Context, dir, name string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, "."+name+".lock"))
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return nil, fmt.Errorf("wait for another who makes it: %w", err)
	}
	return func() { lock.Close() }, nil
}

// ModuleDir is the nearest folder upwards that holds tools/go.mod.
func ModuleDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "tools", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no folder upwards holds tools/go.mod")
		}
	}
}
