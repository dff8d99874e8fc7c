package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	building "github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/process"
)

// Programs are the commands of this module as they are now.
type Programs struct {
	// Root is the module's folder, Dir the one with the programs.
	Root, Dir string
}

// The programs by name.
const (
	towlineProgram   = "towline"
	simcloudProgram  = "simcloud"
	providerTowline  = "terraform-provider-towline"
	providerSimcloud = "terraform-provider-simcloud"
)

// providerVersion is the version under which the mirror offers our providers.
const providerVersion = "0.1.0"

// Build compiles the commands, with flags of go build, and copies them into dir. They are linked
// once for all who ask for the same: go leaves alone what it finds up to date in the
// module's bin.
func Build(ctx context.Context, dir string, flags ...string) (Programs, error) {
	root, err := moduleRoot()
	if err != nil {
		return Programs{}, err
	}
	kind := "programs"
	if raceDetector {
		kind += "-race"
	}
	if len(flags) > 0 {
		kind += "-flags"
	}
	linked := filepath.Join(root, "bin", kind)
	unlock, err := building.Lock(ctx, linked, kind)
	if err != nil {
		return Programs{}, fmt.Errorf("build the programs: %w", err)
	}
	defer unlock()
	// Only towline is worth the detector: what is shared between goroutines is in there.
	race := fmt.Sprintf("-race=%t", raceDetector)
	for _, args := range [][]string{
		{race, "./agent/cmd/" + towlineProgram},
		{"./provider/cmd/" + providerTowline, "./internal/simcloud/cmd/" + simcloudProgram, "./internal/simcloud/cmd/" + providerSimcloud},
	} {
		cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-o", linked + string(filepath.Separator)}, flags, args)...)
		cmd.Dir = root
		_, stderr, status, err := run(ctx, cmd)
		if err != nil {
			return Programs{}, err
		}
		if status != 0 {
			return Programs{}, fmt.Errorf("build %v: %s", args, stderr)
		}
	}
	for _, name := range []string{towlineProgram, providerTowline, simcloudProgram, providerSimcloud} {
		if err := copyFile(filepath.Join(linked, name), filepath.Join(dir, name), 0o755); err != nil {
			return Programs{}, err
		}
	}
	return Programs{Root: root, Dir: dir}, nil
}

// moduleRoot is the nearest folder upwards with the module's go.mod and examples.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "examples", "quickstart")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("find the module: no folder upwards holds examples/quickstart; run this inside a clone")
		}
	}
}

// Towline is the path of the towline command.
func (p Programs) Towline() string { return p.path(towlineProgram) }

func (p Programs) path(name string) string { return filepath.Join(p.Dir, name) }

// Mirror lays the providers out as a filesystem mirror in dir.
func (p Programs) Mirror(dir string) error {
	for provider, program := range map[string]string{"towline": providerTowline, "simcloud": providerSimcloud} {
		target := filepath.Join(dir, "registry.terraform.io", "towline", provider, providerVersion, runtime.GOOS+"_"+runtime.GOARCH, program+"_v"+providerVersion)
		if err := copyFile(p.path(program), target, 0o755); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	source, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	_, err = io.Copy(target, source)
	if err := errors.Join(err, target.Close()); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return nil
}
