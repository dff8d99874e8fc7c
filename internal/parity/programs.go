package parity

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// providerVersion is the version under which the mirror offers all providers.
const providerVersion = "1.0.0"

// Build compiles the programs into a folder and finds terraform. The providers
// are programs by their source address.
func Build(ctx context.Context, dir string, providers map[string]string) (*Bench, error) {
	terraform, err := exec.LookPath("terraform")
	if err != nil {
		return nil, fmt.Errorf("find the terraform binary, which decides what is right: %w", err)
	}
	const module = "github.com/towline/terraform-provider-towline"
	build := exec.CommandContext(ctx, "go", "build", "-o", dir+string(filepath.Separator),
		module+"/agent/cmd/towline", module+"/internal/simcloud/cmd/terraform-provider-simcloud")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	b := &Bench{Terraform: terraform, Towline: filepath.Join(dir, "towline"), Scratch: dir, CLIConfig: filepath.Join(dir, "cli.tfrc")}
	b.AWSConfig = filepath.Join(dir, "aws.tfrc")
	all := map[string]string{"towline/simcloud": filepath.Join(dir, "terraform-provider-simcloud")}
	for source, program := range providers {
		all[source] = program
	}
	return b, b.mirrored(all)
}

// OverrideAWS has the AWS provider used where it is, without installing it: it is
// a large program, and copying and hashing it would be most of the work.
func (b *Bench) OverrideAWS(program string) error {
	b.override.Do(func() {
		content := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"hashicorp/aws\" = %q\n  }\n  direct {}\n}\n", filepath.Dir(program))
		b.overridden = os.WriteFile(b.AWSConfig, []byte(content), 0o600)
	})
	if b.overridden != nil {
		return fmt.Errorf("write the CLI configuration: %w", b.overridden)
	}
	return nil
}

// mirrored lays the providers out as a filesystem mirror, and writes a CLI
// configuration that names it and nothing else.
func (b *Bench) mirrored(programs map[string]string) error {
	root := filepath.Join(b.Scratch, "mirror")
	for source, program := range programs {
		folder := filepath.Join(root, "registry.terraform.io", source, providerVersion, runtime.GOOS+"_"+runtime.GOARCH)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("place a provider: %w", err)
		}
		name := "terraform-provider-" + filepath.Base(source) + "_v" + providerVersion
		if err := os.Symlink(program, filepath.Join(folder, name)); err != nil {
			return fmt.Errorf("place a provider: %w", err)
		}
	}
	content := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", root)
	if err := os.WriteFile(b.CLIConfig, []byte(content), 0o600); err != nil {
		return fmt.Errorf("write the CLI configuration: %w", err)
	}
	return nil
}
