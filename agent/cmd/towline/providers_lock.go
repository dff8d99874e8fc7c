package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/backend"
	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/registry"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// platformFlag is the flag that names platforms; without it, that of this machine counts.
type platformFlag struct{ list []registry.Platform }

func (f *platformFlag) register(flags *flag.FlagSet) {
	flags.Func("platform", "a platform as `OS_ARCH`; may be repeated", func(text string) error {
		system, arch, ok := strings.Cut(text, "_")
		if !ok || system == "" || arch == "" {
			return fmt.Errorf("%q is no platform such as linux_amd64", text)
		}
		f.list = append(f.list, registry.Platform{OS: system, Arch: arch})
		return nil
	})
}

func (f *platformFlag) platforms() []registry.Platform {
	if len(f.list) == 0 {
		return []registry.Platform{{OS: runtime.GOOS, Arch: runtime.GOARCH}}
	}
	return f.list
}

func (a *app) providersLockCommand() *command {
	flags := flag.NewFlagSet("providers lock", flag.ContinueOnError)
	var platforms platformFlag
	platforms.register(flags)
	return &command{
		synopsis: "Lock the packages of providers for more platforms", usage: "[options] [PROVIDER...]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			installation, wanted, ok := a.lockedProviders(ctx, args)
			if !ok {
				return exitFailed
			}
			diags := installation.Packages(ctx, wanted, platforms.platforms(), true, func(p install.Package) error {
				a.printf("- Retrieved %s %s for %s\n", p.Addr.ForDisplay(), p.Version, p.Platform)
				return installation.AddHashes(p.Addr, p.Hashes)
			})
			if a.show(diags) {
				return exitFailed
			}
			a.printf("\n%s\n", a.paint("\x1b[1;32m", "Success! Towline has updated the lock file."))
			return exitOK
		},
	}
}

// lockedProviders prepares the providers that the arguments name, or all that the
// configuration needs, and installs those that are not locked yet.
func (a *app) lockedProviders(ctx context.Context, args []string) (*install.Installation, []addrs.Provider, bool) {
	config, diags := configs.Load(".")
	a.sources = config.Sources
	if a.show(diags) {
		return nil, nil, false
	}
	installation, diags := install.Open(".", cliconfig.OSEnvironment())
	if !diags.HasErrors() {
		_, moreDiags := installation.Install(ctx, config.ProviderRequirements(), install.Options{})
		diags = append(diags, moreDiags...)
	}
	if a.show(diags) {
		return nil, nil, false
	}
	wanted, diags := installation.Locked()
	if len(args) > 0 {
		wanted = nil
	}
	for _, arg := range args {
		addr, err := addrs.ParseProviderSource(arg)
		if err != nil {
			diags = append(diags, tfdiags.FromError("Invalid provider argument", err)...)
		}
		wanted = append(wanted, addr)
	}
	return installation, wanted, !a.show(diags)
}

func (a *app) providersMirrorCommand() *command {
	flags := flag.NewFlagSet("providers mirror", flag.ContinueOnError)
	var platforms platformFlag
	platforms.register(flags)
	return &command{
		synopsis: "Put the locked packages of providers into a folder, as a mirror", usage: "[options] DIR", flags: flags,
		run: func(ctx context.Context, args []string) int {
			if len(args) != 1 {
				a.fail("No output directory specified", errors.New("providers mirror takes the folder to put packages into"))
				return exitFailed
			}
			installation, wanted, ok := a.lockedProviders(ctx, nil)
			if !ok {
				return exitFailed
			}
			diags := installation.Packages(ctx, wanted, platforms.platforms(), true, func(p install.Package) error {
				a.printf("- Mirroring %s %s for %s\n", p.Addr.ForDisplay(), p.Version, p.Platform)
				return mirrorPackage(args[0], p)
			})
			if a.show(diags) {
				return exitFailed
			}
			return exitOK
		},
	}
}

// mirrorPackage adds a package to a folder that can serve as a mirror from files or
// over the network.
func mirrorPackage(root string, p install.Package) error {
	dir := filepath.Join(root, p.Addr.Hostname.ForDisplay(), p.Addr.Namespace, p.Addr.Type)
	if err := copyFile(p.Path, filepath.Join(dir, p.Name())); err != nil {
		return err
	}
	var index struct {
		Versions map[string]struct{} `json:"versions"`
	}
	if err := updateDocument(filepath.Join(dir, "index.json"), &index, func() {
		if index.Versions == nil {
			index.Versions = map[string]struct{}{}
		}
		index.Versions[p.Version.String()] = struct{}{}
	}); err != nil {
		return err
	}
	type archive struct {
		URL    string   `json:"url"`
		Hashes []string `json:"hashes"`
	}
	var release struct {
		Archives map[string]archive `json:"archives"`
	}
	return updateDocument(filepath.Join(dir, p.Version.String()+".json"), &release, func() {
		if release.Archives == nil {
			release.Archives = map[string]archive{}
		}
		hashes := slices.DeleteFunc(slices.Clone(p.Hashes), func(h string) bool { return !strings.HasPrefix(h, "h1:") })
		release.Archives[p.Platform.String()] = archive{p.Name(), hashes}
	})
}

// maxMirrorDocument bounds what is read of a mirror's documents.
const maxMirrorDocument = 16 << 20

// updateDocument changes a JSON file, or makes it.
func updateDocument(path string, into any, change func()) error {
	data, err := bounds.ReadFile(path, maxMirrorDocument)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read %s: %w", path, err)
	}
	change()
	if data, err = json.MarshalIndent(into, "", "  "); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return backend.WriteFile(path, data)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy package: %w", err)
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("copy package: %w", err)
	}
	out, err := os.CreateTemp(filepath.Dir(to), ".package-*")
	if err != nil {
		return fmt.Errorf("copy package: %w", err)
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Chmod(0o644), out.Close())
	if err == nil {
		err = os.Rename(out.Name(), to)
	}
	if err != nil {
		return fmt.Errorf("copy package: %w", errors.Join(err, os.Remove(out.Name())))
	}
	return nil
}
