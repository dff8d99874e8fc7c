package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// modulesDir is where init puts modules, below a root module.
const modulesDir = ".terraform/modules"

// vendoredModules lists what has to travel so that the agent finds the installed
// modules that a configuration calls.
func vendoredModules(dir string, config *configs.Config) []string {
	var out []string
	var visit func(c *configs.Config)
	visit = func(c *configs.Config) {
		if path, err := filepath.Rel(dir, c.Module.Dir); err == nil {
			// The package of a module is the folder below modulesDir.
			if inside, err := filepath.Rel(modulesDir, path); err == nil && filepath.IsLocal(inside) && inside != "." {
				first := inside
				for parent := filepath.Dir(first); parent != "."; parent = filepath.Dir(first) {
					first = parent
				}
				out = append(out, modulesDir+"/"+filepath.ToSlash(first))
			}
		}
		for _, child := range c.Children {
			visit(child)
		}
	}
	visit(config)
	if len(out) == 0 {
		return nil
	}
	slices.Sort(out)
	return append(slices.Compact(out), modulesDir+"/modules.json")
}

// storePackages stores the packages of the locked providers that a configuration needs
// and returns their list; nil if it needs none, or has no lock file that names them.
func (p *publisher) storePackages(ctx context.Context, r *repository.Repository, dir string, config *configs.Config) ([]byte, error) {
	installation, diags := install.Open(dir, cliconfig.OSEnvironment())
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	if _, err := os.Stat(installation.LockFile()); errors.Is(err, os.ErrNotExist) {
		return nil, nil // it was warned of
	}
	var list []repository.Package
	var uploaded int64
	diags = installation.Packages(ctx, neededProviders(installation, config), p.platforms.platforms(), false, func(found install.Package) error {
		file, err := os.Open(found.Path)
		if err != nil {
			return err
		}
		defer file.Close()
		stored, n, err := r.PutPackage(ctx, file, repository.Package{Provider: found.Addr.String(), Version: found.Version.String(), Platform: found.Platform.String()})
		list, uploaded = append(list, stored), uploaded+n
		return err
	})
	if diags.HasErrors() {
		return nil, fmt.Errorf("%w; publish with -packages=false if agents find it in a folder of their machines", diags.Err())
	}
	if len(list) == 0 {
		return nil, nil
	}
	p.app.note("Published %s of providers, %s of which were new.", plural(len(list), "package"), size(uploaded))
	return repository.EncodePackages(list)
}

// neededProviders are the providers of a configuration whose packages can travel.
func neededProviders(installation *install.Installation, config *configs.Config) []addrs.Provider {
	var out []addrs.Provider
	for addr := range config.ProviderRequirements() {
		if !installation.Overridden(addr) {
			out = append(out, addr)
		}
	}
	slices.SortFunc(out, func(a, b addrs.Provider) int { return strings.Compare(a.String(), b.String()) })
	return out
}
