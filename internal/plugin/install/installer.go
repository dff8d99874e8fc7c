package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin/lockfile"
	"github.com/towline/terraform-provider-towline/internal/plugin/version"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Options change how [Installation.Install] works.
type Options struct {
	// Upgrade chooses the newest versions anew, whatever is locked.
	Upgrade bool
	// ReadonlyLock leaves the lock file as it is: providers that it lacks, or that are not
	// needed, are errors, other differences warnings.
	ReadonlyLock bool
}

// Installed is one provider after an installation.
type Installed struct {
	Addr    addrs.Provider
	Version version.Version
	// Reused says that the version was locked before, Present that the package
	// was installed before. From names the place that it came from.
	Reused, Present bool
	From            string
	// LocalOnly says that nothing but the hash of the package that was installed is known.
	LocalOnly bool
}

// Result is the outcome of an installation.
type Result struct {
	Providers []Installed
	// LockCreated and LockChanged tell what became of the lock file.
	LockCreated, LockChanged bool
}

// Install installs what a configuration needs into the working directory and
// brings the lock file up to date. Versions that are locked stay unless asked
// otherwise. On an error the lock file is not touched.
func (i *Installation) Install(ctx context.Context, reqs Requirements, opts Options) (Result, tfdiags.Diagnostics) {
	old, diags := lockfile.Read(i.LockFile())
	if diags.HasErrors() {
		return Result{}, diags
	}
	var result Result
	locks := lockfile.Locks{}
	for _, addr := range sortedAddrs(reqs) {
		if err := ctx.Err(); err != nil {
			return Result{}, append(diags, tfdiags.FromError("Installation interrupted", err)...)
		}
		constraints, moreDiags := i.constraintsOf(addr, reqs[addr])
		diags = append(diags, moreDiags...)
		if moreDiags.HasErrors() || i.Overridden(addr) {
			continue
		}
		installed, lock, moreDiags := i.installOne(ctx, addr, constraints, old, opts)
		diags = append(diags, moreDiags...)
		if !moreDiags.HasErrors() {
			result.Providers = append(result.Providers, installed)
			locks[addr] = lock
		}
	}
	if diags.HasErrors() {
		return result, diags
	}
	diags = append(diags, i.updateLockFile(old, locks, opts, &result)...)
	return result, append(diags, i.warnOverrides(reqs)...)
}

func (i *Installation) constraintsOf(addr addrs.Provider, texts []string) (version.Constraints, tfdiags.Diagnostics) {
	constraints, diags := parseConstraints(addr, texts)
	if addr.IsBuiltIn() && constraints.String() != "" {
		diags = append(diags, tfdiags.New(tfdiags.Error, "Invalid dependency on built-in provider",
			fmt.Sprintf("The provider %s is built in and has no versions of its own. Remove the version constraint.", addr.ForDisplay()))...)
	}
	return constraints, diags
}

func (i *Installation) updateLockFile(old, locks lockfile.Locks, opts Options, result *Result) tfdiags.Diagnostics {
	// Terraform keeps the locks of overridden providers, which are used again later.
	for addr, lock := range old {
		if i.Overridden(addr) {
			locks[addr] = lock
		}
	}
	if old.Selects(locks) {
		return nil
	}
	if opts.ReadonlyLock {
		return readonlyLock(old, locks)
	}
	result.LockCreated, result.LockChanged = len(old) == 0, len(old) > 0
	diags := tfdiags.FromError("Failed to update dependency lock file", locks.Write(i.LockFile()))
	return append(diags, incomplete(result.Providers)...)
}

// readonlyLock tells what the lock file would have to be changed for: other providers are
// refused, others of their versions or checksums are just not kept.
func readonlyLock(old, locks lockfile.Locks) tfdiags.Diagnostics {
	if !slices.Equal(sortedAddrs(old), sortedAddrs(locks)) {
		return tfdiags.New(tfdiags.Error, "Provider dependency changes detected",
			"The dependency lock file does not fit the configuration and would have to change, which -lockfile=readonly forbids. Run \"towline init\" without it and keep the new lock file.")
	}
	return tfdiags.New(tfdiags.Warning, "Provider lock file not updated",
		"What is installed differs from what the dependency lock file says, and -lockfile=readonly keeps it as it is. Run \"towline init\" without it to record the difference.")
}

// incomplete warns of providers that only the checksum of this platform's package is locked of.
func incomplete(providers []Installed) tfdiags.Diagnostics {
	var lines []string
	for _, p := range providers {
		if p.LocalOnly {
			lines = append(lines, "\n  - "+p.Addr.ForDisplay())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return tfdiags.New(tfdiags.Warning, "Incomplete lock file information for providers",
		"The places that these providers came from have no signed checksums of them:"+strings.Join(lines, "")+
			fmt.Sprintf("\n\nThe dependency lock file has only those of the packages for %s, so that machines of other platforms cannot install them. Add theirs with \"towline providers lock -platform=OS_ARCH\".", platform))
}

// installOne installs one provider and returns its new lock.
func (i *Installation) installOne(ctx context.Context, addr addrs.Provider, constraints version.Constraints, old lockfile.Locks, opts Options) (Installed, lockfile.Lock, tfdiags.Diagnostics) {
	locked, isLocked := old[addr]
	reuse := isLocked && !opts.Upgrade
	if reuse && !constraints.Allows(locked.Version) {
		return Installed{}, lockfile.Lock{}, tfdiags.New(tfdiags.Error, "Failed to query available provider packages",
			fmt.Sprintf("The locked provider %s %s does not match the configured version constraint %s. Use -upgrade to choose another version.", addr, locked.Version, constraints))
	}
	out := Installed{Addr: addr, Reused: reuse}
	if reuse && i.present(addr, locked) {
		out.Version, out.Present = locked.Version, true
		return out, locked, nil
	}
	wanted := constraints
	if reuse {
		wanted = exactly(locked.Version)
	}
	chosen, diags := i.choose(ctx, addr, wanted)
	if diags.HasErrors() {
		return Installed{}, lockfile.Lock{}, diags
	}
	out.Version, out.From = chosen.version, chosen.from.String()
	if locked.Version != chosen.version {
		locked = lockfile.Lock{}
	}
	hashes, err := i.deploy(ctx, addr, chosen, locked.Hashes)
	if err != nil {
		return Installed{}, lockfile.Lock{}, installFailed(addr, chosen.version, err)
	}
	out.LocalOnly = len(hashes) == 1 && (len(locked.Hashes) == 0 || slices.Equal(locked.Hashes, hashes))
	// Hashes that were locked for the same version stay: they may be those of other platforms.
	hashes = append(slices.Clone(locked.Hashes), hashes...)
	return out, lockfile.Lock{Version: chosen.version, Constraints: constraints, Hashes: hashes}, nil
}

func installFailed(addr addrs.Provider, v version.Version, err error) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Failed to install provider", fmt.Sprintf("The provider %s %s could not be installed: %s.", addr, v, err))
}

// exactly returns the constraint that allows one version.
func exactly(v version.Version) version.Constraints {
	c, err := version.ParseConstraints(v.String())
	if err != nil {
		return version.Constraints{} // cannot be: versions print as they parse
	}
	return c
}

// present tells whether the package that is locked is installed already.
func (i *Installation) present(addr addrs.Provider, lock lockfile.Lock) bool {
	if len(lock.Hashes) == 0 {
		return false // nothing says that it is the right one
	}
	_, err := i.verify(addr, lock, i.hashes.anew)
	return err == nil
}

// choose picks the newest version that is offered and allowed.
func (i *Installation) choose(ctx context.Context, addr addrs.Provider, constraints version.Constraints) (offer, tfdiags.Diagnostics) {
	offers, err := i.places.offers(ctx, addr)
	var available []version.Version
	for _, o := range offers {
		available = append(available, o.version)
	}
	newest, ok := constraints.Newest(available)
	if ok {
		for _, o := range offers {
			if o.version == newest {
				return o, nil
			}
		}
	}
	why := fmt.Sprintf("no available releases match the given constraints %s", constraints)
	if err != nil {
		why = err.Error()
	} else if len(offers) == 0 {
		why = "no versions of it were found for " + platform
	}
	return offer{}, tfdiags.New(tfdiags.Error, "Failed to query available provider packages",
		fmt.Sprintf("No version of the provider %s can be installed: %s. It was looked for in: %s.", addr, why, i.places.describe(addr)))
}

// deploy puts a package where the working directory expects it, after checking
// it against what is locked, and returns the hashes to lock: that of the package and
// those that came with it.
func (i *Installation) deploy(ctx context.Context, addr addrs.Provider, chosen offer, locked []string) ([]string, error) {
	target := packageDir(i.providersDir(), addr, chosen.version)
	if hash, ok := i.cached(addr, chosen.version, locked); ok {
		return []string{hash}, link(packageDir(i.cacheDir, addr, chosen.version), target)
	}
	found, err := chosen.from.fetch(ctx, addr, chosen.version, here)
	if err != nil {
		return nil, err
	}
	defer found.discard()
	hash, err := i.place(found, packageDir(i.cacheDir, addr, chosen.version), target, locked)
	return append(found.hashes, hash), err
}

// cached tells whether the shared cache has a package that is locked.
func (i *Installation) cached(addr addrs.Provider, v version.Version, locked []string) (string, bool) {
	if i.cacheDir == "" || len(locked) == 0 {
		return "", false // nothing says that it is the right one
	}
	hash, err := i.hashes.anew(packageDir(i.cacheDir, addr, v))
	return hash, err == nil && matches(locked, hash)
}

// place puts a package into the working directory, through the cache if there is one,
// and returns its h1 hash.
func (i *Installation) place(found location, cached, target string, locked []string) (string, error) {
	if !found.packed {
		hash, err := i.hashes.anew(found.path)
		if err != nil {
			return "", err
		}
		if !matches(locked, hash) {
			return "", errMismatch
		}
		return hash, link(found.path, target)
	}
	if i.cacheDir == "" {
		return unpackChecked(found.path, target, locked)
	}
	hash, err := unpackChecked(found.path, cached, locked)
	if err != nil {
		return "", err
	}
	return hash, link(cached, target)
}

var errMismatch = errors.New("the package does not match any of the checksums recorded in the dependency lock file; it may have been changed, or the recorded checksums may be those of other platforms")

// unpackChecked unpacks an archive next to its target, checks it, and then
// moves it there, so that a target is always complete. It returns the h1 hash.
func unpackChecked(archive, target string, locked []string) (hash string, err error) {
	packed, err := hashZip(archive)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // as Terraform makes it
		return "", fmt.Errorf("cannot make room for the provider package: %w", err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(target), ".unpack-*")
	if err != nil {
		return "", fmt.Errorf("cannot make room for the provider package: %w", err)
	}
	defer os.RemoveAll(temp) //nolint:errcheck // it is gone if all went well
	if err := unpack(archive, temp); err != nil {
		return "", err
	}
	hash, err = hashDir(temp)
	if err != nil {
		return "", err
	}
	if !matches(locked, packed, hash) {
		return "", errMismatch
	}
	return hash, errors.Join(os.Chmod(temp, 0o755), replace(temp, target)) //nolint:gosec // as Terraform makes it
}

// link makes target a symbolic link to a package, or a copy where links are not possible.
func link(dir, target string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("cannot place the provider package: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(target); err == nil {
		if same, err := filepath.EvalSymlinks(dir); err == nil && same == resolved {
			return nil
		}
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // as Terraform makes it
		return fmt.Errorf("cannot place the provider package: %w", err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(target), ".link-*")
	if err != nil {
		return fmt.Errorf("cannot place the provider package: %w", err)
	}
	defer os.RemoveAll(temp) //nolint:errcheck // it is gone if all went well
	fresh := filepath.Join(temp, "package")
	if os.Symlink(dir, fresh) != nil {
		if err := os.CopyFS(fresh, os.DirFS(dir)); err != nil {
			return fmt.Errorf("cannot copy the provider package: %w", err)
		}
	}
	return replace(fresh, target)
}

// replace moves a complete package into place, over what may be there.
func replace(fresh, target string) error {
	if err := os.RemoveAll(target); err != nil {
		return fmt.Errorf("cannot replace the provider package: %w", err)
	}
	if err := os.Rename(fresh, target); err != nil {
		return fmt.Errorf("cannot place the provider package: %w", err)
	}
	return nil
}
