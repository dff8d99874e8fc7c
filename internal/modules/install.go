package modules

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	tfaddr "github.com/hashicorp/terraform-registry-address"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/modulesource"
	"github.com/towline/terraform-provider-towline/internal/registry"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Bounds on the tree of modules, as for loading it.
const (
	maxDepth   = 64
	maxModules = 20_000
)

// Event is told of one module during an installation.
type Event struct {
	Key string
	// Package is set when a package is about to be fetched, with Version if it is a registry's.
	Package, Version string
	// Dir is set once the module is in place.
	Dir string
}

// Installer installs the modules of one root module.
type Installer struct {
	// Dir is the root module's folder, DataDir the one for what is installed.
	Dir, DataDir string
	Registry     *registry.Client
	// Report is told what happens; nil means nobody.
	Report func(Event)
}

// Install installs every module that the root module calls, directly or not. Those
// that are installed stay unless upgrade is set or they do not fit any more. The
// source files are for diagnostics.
func (i *Installer) Install(ctx context.Context, upgrade bool) (map[string][]byte, tfdiags.Diagnostics) {
	installed, err := ReadManifest(i.DataDir)
	if err != nil {
		installed = map[string]Record{} // everything is installed anew
	}
	in := &installation{
		Installer: i, upgrade: upgrade, installed: installed, fetcher: fetcher{done: map[string]string{}},
		records: map[string]Record{"": {Dir: "."}}, sources: map[string][]byte{}, versions: map[tfaddr.ModulePackage][]string{},
	}
	if i.Report == nil {
		i.Report = func(Event) {}
	}
	diags := in.descend(ctx, nil, i.Dir, "")
	if len(in.records) == 1 && len(installed) == 0 {
		return in.sources, diags // there is nothing to keep
	}
	return in.sources, append(diags, tfdiags.FromError("Failed to update module manifest", writeManifest(i.DataDir, in.records))...)
}

// installation is one run of an installer.
type installation struct {
	*Installer
	fetcher
	upgrade   bool
	installed map[string]Record
	records   map[string]Record
	sources   map[string][]byte
	// versions are the versions that registries have, by package.
	versions map[tfaddr.ModulePackage][]string
}

// descend installs what the module in dir calls. root is the folder of the fetched
// package that it came in, out of which paths must not lead; "" if it is the user's own.
func (in *installation) descend(ctx context.Context, path addrs.Module, dir, root string) tfdiags.Diagnostics {
	if err := ctx.Err(); err != nil {
		return tfdiags.FromError("Installation interrupted", err)
	}
	module, sources, diags := configs.LoadModule(dir)
	for name, src := range sources {
		in.sources[name] = src
	}
	if diags.HasErrors() {
		return diags
	}
	for _, call := range sortedCalls(module) {
		child := path.Child(call.Name)
		if len(child) > maxDepth || len(in.records) > maxModules {
			return append(diags, tfdiags.At(call.SourceRange, "Module loop",
				"Modules call each other without end, or far too many of them are nested. Every chain of calls must end.")...)
		}
		childDir, childRoot, moreDiags := in.install(ctx, child, call, dir, root)
		if diags = append(diags, moreDiags...); !moreDiags.HasErrors() {
			diags = append(diags, in.descend(ctx, child, childDir, childRoot)...)
		}
	}
	return diags
}

func sortedCalls(module *configs.Module) []*configs.ModuleCall {
	calls := make([]*configs.ModuleCall, 0, len(module.ModuleCalls))
	for _, call := range module.ModuleCalls {
		if call.Source != "" {
			calls = append(calls, call)
		}
	}
	slices.SortFunc(calls, func(a, b *configs.ModuleCall) int { return strings.Compare(a.Name, b.Name) })
	return calls
}

// install puts one called module in place and returns its folder and its package's.
func (in *installation) install(ctx context.Context, path addrs.Module, call *configs.ModuleCall, callerDir, callerRoot string) (dir, root string, diags tfdiags.Diagnostics) {
	src := call.Address
	if src.Local != "" {
		dir, diags := localDir(call, src, callerDir, callerRoot)
		if !diags.HasErrors() {
			in.record(path, src, "", dir)
		}
		return dir, callerRoot, diags
	}
	version, diags := in.chooseVersion(ctx, path, call, src)
	if diags.HasErrors() {
		return "", "", diags
	}
	if dir, ok := in.reusable(path, src, version); ok {
		in.records[key(path)] = in.installed[key(path)]
		return dir, in.packageDir(path), diags
	}
	dir, err := in.fetchModule(ctx, path, src, version)
	if err != nil {
		return "", "", append(diags, tfdiags.At(call.SourceRange, "Failed to download module",
			fmt.Sprintf("The module %q cannot be fetched from %s: %s.", call.Name, src, strings.TrimSuffix(strings.TrimSpace(err.Error()), ".")))...)
	}
	in.record(path, src, version, dir)
	return dir, in.packageDir(path), diags
}

// localDir finds a module that lies beside its caller.
func localDir(call *configs.ModuleCall, src modulesource.Source, callerDir, callerRoot string) (string, tfdiags.Diagnostics) {
	dir := filepath.Join(callerDir, filepath.FromSlash(src.Local))
	inside, err := filepath.Rel(callerRoot, dir)
	if callerRoot != "" && (err != nil || !filepath.IsLocal(inside)) {
		return "", tfdiags.At(call.SourceRange, "Local module path escapes module package",
			fmt.Sprintf("The path %q leads out of the package that the calling module came in. Only what came with it can be called by a path.", src.Local))
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", tfdiags.At(call.SourceRange, "Unreadable module directory",
			fmt.Sprintf("There is no folder %s, to which the source of module %q points. The path is relative to the calling module.", dir, call.Name))
	}
	return dir, nil
}

func key(path addrs.Module) string { return strings.Join(path, ".") }

// packageDir is where the package of a module at a path is put.
func (in *installation) packageDir(path addrs.Module) string {
	return filepath.Join(in.DataDir, "modules", key(path))
}

// record notes a module that is in place.
func (in *installation) record(path addrs.Module, src modulesource.Source, version, dir string) {
	relative, err := filepath.Rel(in.Dir, dir)
	if err != nil {
		relative = dir
	}
	r := Record{Key: key(path), Source: src.String(), Version: version, Dir: filepath.ToSlash(relative)}
	if old, ok := in.installed[r.Key]; !ok || old != r || in.upgrade {
		in.Report(Event{Key: r.Key, Dir: r.Dir})
	}
	in.records[r.Key] = r
}

// reusable tells whether a module is installed as it is wanted.
func (in *installation) reusable(path addrs.Module, src modulesource.Source, version string) (string, bool) {
	r, ok := in.installed[key(path)]
	if in.upgrade || !ok || r.Source != src.String() || r.Version != version {
		return "", false
	}
	dir := filepath.Join(in.Dir, filepath.FromSlash(r.Dir))
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// fetchModule fetches a module's package and returns the module's folder.
func (in *installation) fetchModule(ctx context.Context, path addrs.Module, src modulesource.Source, version string) (string, error) {
	pkg, subdir := src.Remote, src.Subdir
	shown := pkg
	if src.Registry != nil {
		shown = src.Registry.Package.ForDisplay()
		location, err := in.Registry.ModuleSource(ctx, src.Registry.Package, version)
		if err != nil {
			return "", err
		}
		found, err := modulesource.ParseRemote(location)
		if err != nil {
			return "", fmt.Errorf("the registry sends to %q: %w", location, err)
		}
		pkg, subdir = found.Remote, filepath.Join(found.Subdir, src.Registry.Subdir)
	}
	in.Report(Event{Key: key(path), Package: shown, Version: version})
	root := in.packageDir(path)
	if err := os.RemoveAll(root); err != nil {
		return "", fmt.Errorf("remove the module installed before: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(root), 0o755); err != nil {
		return "", fmt.Errorf("make room for modules: %w", err)
	}
	if err := in.fetch(ctx, pkg, root); err != nil {
		return "", err
	}
	return subfolder(root, subdir)
}

// subfolder finds a folder of a package; its name may be a pattern that matches one.
func subfolder(root, subdir string) (string, error) {
	if subdir == "" || subdir == "." {
		return root, nil
	}
	found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(subdir)))
	switch {
	case err != nil:
		return "", fmt.Errorf("the folder %q of the package is a malformed pattern", subdir)
	case len(found) == 0:
		return "", fmt.Errorf("the package has no folder %q", subdir)
	case len(found) > 1:
		return "", fmt.Errorf("the package has more than one folder %q", subdir)
	}
	if info, err := os.Stat(found[0]); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%q is no folder of the package", subdir)
	}
	return found[0], nil
}

// chooseVersion finds the version of a registry's module: the installed one while it
// fits, otherwise the newest that does.
func (in *installation) chooseVersion(ctx context.Context, path addrs.Module, call *configs.ModuleCall, src modulesource.Source) (string, tfdiags.Diagnostics) {
	if src.Registry == nil {
		return "", nil
	}
	if r, ok := in.installed[key(path)]; ok && !in.upgrade && r.Source == src.String() {
		if v, err := versions.ParseVersion(r.Version); err == nil && call.Allowed.Has(v) {
			return r.Version, nil
		}
	}
	known, err := in.knownVersions(ctx, src.Registry.Package)
	if errors.Is(err, registry.ErrNotFound) {
		return "", tfdiags.At(call.SourceRange, "Module not found",
			fmt.Sprintf("The module %q is %s, which the registry %s does not have. Check the address.", call.Name, src, src.Registry.Package.Host.ForDisplay()))
	}
	if err != nil {
		return "", tfdiags.At(call.SourceRange, "Error accessing remote module registry",
			fmt.Sprintf("The versions of the module %q cannot be found out: %s.", call.Name, err))
	}
	return newest(call, known)
}

func (in *installation) knownVersions(ctx context.Context, pkg tfaddr.ModulePackage) ([]string, error) {
	if known, ok := in.versions[pkg]; ok {
		return known, nil
	}
	known, err := in.Registry.ModuleVersions(ctx, pkg)
	if err == nil {
		in.versions[pkg] = known
	}
	return known, err
}

func newest(call *configs.ModuleCall, known []string) (string, tfdiags.Diagnostics) {
	best, found := versions.Unspecified, false
	for _, text := range known {
		v, err := versions.ParseVersion(text)
		if err != nil || !call.Allowed.Has(v) || (v.Prerelease != "" && call.Version == "") {
			continue
		}
		if !found || v.GreaterThan(best) {
			best, found = v, true
		}
	}
	if !found {
		return "", tfdiags.At(call.SourceRange, "Unresolvable module version constraint",
			fmt.Sprintf("The registry has no version of the module %q that meets the constraint %q; it has %s. Change the constraint.", call.Name, call.Version, strings.Join(known, ", ")))
	}
	return best.String(), nil
}
