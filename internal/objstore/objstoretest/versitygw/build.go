package versitygw

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const command = "github.com/versity/versitygw/cmd/versitygw"

// Build makes sure that bin/versitygw of the module around the working directory
// is up to date, and returns its path. Concurrent calls wait for each other.
func Build(ctx context.Context) (string, error) {
	module, err := moduleDir()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(module, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", fmt.Errorf("build versitygw: %w", err)
	}
	lock := flock.New(filepath.Join(bin, ".versitygw.lock"))
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return "", fmt.Errorf("build versitygw: wait for another build: %w", err)
	}
	defer lock.Close()
	binary := filepath.Join(bin, "versitygw")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, command)
	build.Dir = filepath.Join(module, "tools")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build versitygw: %w: %s", err, output)
	}
	return binary, nil
}

// moduleDir is the nearest folder upwards that holds tools/go.mod.
func moduleDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "tools", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("build versitygw: no folder upwards holds tools/go.mod")
		}
	}
}
