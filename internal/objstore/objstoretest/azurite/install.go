package azurite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/process"
)

// programEnv names the script of an Azurite that is installed already.
const programEnv = "TOWLINE_AZURITE"

// Install makes sure that Azurite is installed as the lock file in tools/azurite says, and
// returns the script that node runs. Concurrent calls wait for each other.
func Install(ctx context.Context) (string, error) {
	if program := os.Getenv(programEnv); program != "" {
		return program, nil
	}
	script, err := install(ctx)
	if err != nil {
		return "", fmt.Errorf("install Azurite: %w; it needs node and npm, or %s naming the script azurite-blob", err, programEnv)
	}
	return script, nil
}

func install(ctx context.Context) (string, error) {
	module, err := process.ModuleDir()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	lock, err := os.ReadFile(filepath.Join(module, "tools", "azurite", "package-lock.json"))
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(lock)
	dir := filepath.Join(cache, "towline", "azurite-"+hex.EncodeToString(digest[:6]))
	unlock, err := process.Lock(ctx, dir, "install")
	if err != nil {
		return "", err
	}
	defer unlock()
	script := filepath.Join(dir, "node_modules", "azurite", "dist", "src", "blob", "main.js")
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return script, nil
	}
	return script, npmInstall(ctx, filepath.Join(module, "tools", "azurite"), dir)
}

// npmInstall installs exactly what the lock file says; nothing of it runs meanwhile.
func npmInstall(ctx context.Context, from, dir string) error {
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = dir
	if output, err := npm.CombinedOutput(); err != nil {
		return errors.Join(err, errors.New(string(output)))
	}
	return os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644)
}
