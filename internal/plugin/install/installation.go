package install

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/plugin/lockfile"
	"github.com/towline/terraform-provider-towline/internal/plugin/version"
	"github.com/towline/terraform-provider-towline/internal/registry"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Requirements are the providers that a configuration needs, with the version
// constraints that its modules put on them.
type Requirements map[addrs.Provider][]string

// Installation is a working directory with the providers installed in it. It is
// safe for concurrent use, except that nothing runs along with Install.
type Installation struct {
	dir      string
	dataDir  string
	cacheDir string
	dev      map[addrs.Provider]string
	reattach map[addrs.Provider]*Reattach
	places   places

	hashes hashMemory

	mu       sync.Mutex
	verified map[string]Executable // by package folder and hash set
}

// Settings change where providers come from.
type Settings struct {
	// Offline leaves out every place that is asked over the network.
	Offline bool
	// Mirrors are folders that are asked before every other place.
	Mirrors []string
	// Hashes is a folder that remembers the hashes of packages that have not
	// changed since they were computed. "" computes them every time.
	Hashes string
}

// Open prepares the use of providers in the working directory dir. Nothing is installed yet.
func Open(dir string, env cliconfig.Environment) (*Installation, tfdiags.Diagnostics) {
	return Settings{}.Open(dir, env)
}

// Open is [Open] with other settings.
func (s Settings) Open(dir string, env cliconfig.Environment) (*Installation, tfdiags.Diagnostics) {
	config, diags := cliconfig.Load(env)
	reattach, moreDiags := parseReattach(env.Getenv(ReattachVariable))
	diags = append(diags, moreDiags...)
	dataDir := env.Getenv("TF_DATA_DIR")
	if dataDir == "" {
		dataDir = ".terraform"
	}
	if !filepath.IsAbs(dataDir) {
		dataDir = filepath.Join(dir, dataDir)
	}
	i := &Installation{
		dir: dir, dataDir: dataDir, cacheDir: config.PluginCacheDir,
		dev: config.DevOverrides, reattach: reattach, hashes: hashMemory{s.Hashes, time.Now}, verified: make(map[string]Executable),
	}
	for _, dir := range s.Mirrors {
		i.places = append(i.places, place{mirror(dir), everything})
	}
	client := registry.New(registry.Options{Services: config.Services, Tokens: config.Tokens})
	if config.Explicit {
		for _, method := range config.Methods {
			i.places = append(i.places, place{s.sourceFor(method, client), method.Handles})
		}
	} else {
		i.places = append(i.places, s.impliedPlaces(dir, env, client)...)
	}
	return i, diags
}

func everything(addrs.Provider) bool { return true }

// impliedPlaces are where providers come from unless the user says otherwise:
// the folders for local plugins that exist, and the registry for what is in none of them.
func (s Settings) impliedPlaces(dir string, env cliconfig.Environment, client *registry.Client) places {
	dirs := []string{filepath.Join(dir, "terraform.d", "plugins")}
	if env.Home != "" {
		dirs = append(dirs, filepath.Join(env.Home, ".terraform.d", "plugins"))
	}
	data := env.Getenv("XDG_DATA_HOME")
	if data == "" && env.Home != "" {
		data = filepath.Join(env.Home, ".local", "share")
	}
	shared := env.Getenv("XDG_DATA_DIRS")
	if shared == "" {
		shared = "/usr/local/share:/usr/share"
	}
	for _, base := range append([]string{data}, strings.Split(shared, ":")...) {
		if base != "" {
			dirs = append(dirs, filepath.Join(base, "terraform", "plugins"))
		}
	}
	var out places
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			out = append(out, place{mirror(dir), everything})
		}
	}
	local := slices.Clone(out)
	return append(out, place{s.sourceFor(cliconfig.Method{Kind: cliconfig.Direct}, client), func(addr addrs.Provider) bool {
		return !slices.ContainsFunc(local, func(p place) bool {
			found, err := p.versions(context.Background(), addr)
			return err == nil && len(found) > 0
		})
	}})
}

// LockFile returns the path of the working directory's dependency lock file.
func (i *Installation) LockFile() string { return filepath.Join(i.dir, lockfile.Name) }

// Overridden tells whether the user says which program serves a provider, so
// that versions and locks do not matter.
func (i *Installation) Overridden(addr addrs.Provider) bool {
	return addr.IsBuiltIn() || i.reattach[addr] != nil || i.dev[addr] != ""
}

// packageDir is where the package of a version is installed below a folder.
func packageDir(base string, addr addrs.Provider, v version.Version) string {
	return filepath.Join(mirror(base).dir(addr), v.String(), platform)
}

func (i *Installation) providersDir() string { return filepath.Join(i.dataDir, "providers") }

// Locate returns the program of a provider as it is installed and locked. The
// package is checked against the lock file once.
func (i *Installation) Locate(_ context.Context, addr addrs.Provider) (Executable, tfdiags.Diagnostics) {
	if reattach := i.reattach[addr]; reattach != nil {
		return Executable{Reattach: reattach}, nil
	}
	if dir := i.dev[addr]; dir != "" {
		path, err := findProgram(dir, addr.Type)
		if err != nil {
			return Executable{}, tfdiags.New(tfdiags.Error, "Failed to start provider",
				fmt.Sprintf("The development override for %s cannot be used: %s. Build the provider into that folder, or correct dev_overrides in the CLI configuration.", addr.ForDisplay(), err))
		}
		return Executable{Path: path}, nil
	}
	locks, diags := lockfile.Read(i.LockFile())
	if diags.HasErrors() {
		return Executable{}, diags
	}
	lock, ok := locks[addr]
	if !ok {
		return Executable{}, append(diags, notLocked(addr)...)
	}
	exe, err := i.verify(addr, lock, i.hashes.of)
	if err != nil {
		return Executable{}, append(diags, tfdiags.New(tfdiags.Error, "Required plugins are not installed",
			fmt.Sprintf("The provider %s %s is not installed as the dependency lock file says: %s. Run \"towline init\" to install it.", addr, lock.Version, err))...)
	}
	return exe, diags
}

func notLocked(addr addrs.Provider) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Inconsistent dependency lock file",
		fmt.Sprintf("The configuration needs the provider %s, but the dependency lock file has no version of it. Run \"towline init\" to choose one.", addr))
}

// verify checks the installed package of a provider and returns its program.
func (i *Installation) verify(addr addrs.Provider, lock lockfile.Lock, hashOf func(dir string) (string, error)) (Executable, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	dir := packageDir(i.providersDir(), addr, lock.Version)
	key := dir + "\n" + strings.Join(lock.Hashes, "\n")
	if exe, ok := i.verified[key]; ok {
		return exe, nil
	}
	if _, err := os.Stat(dir); err != nil {
		return Executable{}, fmt.Errorf("there is no package in %s", i.providersDir())
	}
	exe := Executable{Version: lock.Version.String()}
	if len(lock.Hashes) > 0 {
		hash, err := hashOf(dir)
		if err != nil {
			return Executable{}, err
		}
		if !matches(lock.Hashes, hash) {
			return Executable{}, fmt.Errorf("the package in %s does not match any of the checksums recorded in the lock file", dir)
		}
		exe.PackageHash = hash
	}
	var err error
	if exe.Path, err = findProgram(dir, addr.Type); err == nil {
		i.verified[key] = exe
	}
	return exe, err
}

// Check tells whether what is locked fits what a configuration needs, and is
// installed. It also warns of development overrides.
func (i *Installation) Check(reqs Requirements) tfdiags.Diagnostics {
	locks, diags := lockfile.Read(i.LockFile())
	if diags.HasErrors() {
		return diags
	}
	var unfit, absent []string
	remedy := "towline init"
	for _, addr := range i.installed(reqs) {
		constraints, moreDiags := parseConstraints(addr, reqs[addr])
		diags = append(diags, moreDiags...)
		lock, ok := locks[addr]
		switch {
		case moreDiags.HasErrors():
		case !ok:
			unfit = append(unfit, fmt.Sprintf("%s is needed, and no version of it is selected", addr))
		case !constraints.Allows(lock.Version):
			remedy = "towline init -upgrade"
			unfit = append(unfit, fmt.Sprintf("%s is needed in a version %s, and %s is selected", addr, constraints, lock.Version))
		case !i.has(addr, lock.Version):
			absent = append(absent, fmt.Sprintf("%s %s has no package in %s", addr, lock.Version, i.providersDir()))
		}
	}
	const list = "\n  - "
	switch {
	case len(unfit) > 0:
		diags = append(diags, tfdiags.New(tfdiags.Error, "Inconsistent dependency lock file",
			"The dependency lock file does not select the providers that the configuration needs:"+list+strings.Join(unfit, list)+
				"\n\nRun \""+remedy+"\" where the configuration is kept.")...)
	case len(absent) > 0:
		diags = append(diags, tfdiags.New(tfdiags.Error, "Required plugins are not installed",
			"Providers that the dependency lock file selects are missing:"+list+strings.Join(absent, list)+"\n\nRun \"towline init\" to install them.")...)
	}
	return append(diags, i.warnOverrides(reqs)...)
}

// CheckPresent tells whether there is some version of each provider that a
// configuration needs, which is enough to validate it. It also warns of development
// overrides.
func (i *Installation) CheckPresent(reqs Requirements) tfdiags.Diagnostics {
	locks, diags := lockfile.Read(i.LockFile())
	if diags.HasErrors() {
		return diags
	}
	for _, addr := range i.installed(reqs) {
		if _, ok := locks[addr]; !ok {
			diags = append(diags, tfdiags.New(tfdiags.Error, "Missing required provider",
				fmt.Sprintf("The configuration needs the provider %s, which is not installed. Run \"towline init\" to install it.", addr))...)
		}
	}
	return append(diags, i.warnOverrides(reqs)...)
}

// installed are the providers that init has to install, sorted.
func (i *Installation) installed(reqs Requirements) []addrs.Provider {
	return slices.DeleteFunc(sortedAddrs(reqs), i.Overridden)
}

// has tells whether there is a package of a version.
func (i *Installation) has(addr addrs.Provider, v version.Version) bool {
	info, err := os.Stat(packageDir(i.providersDir(), addr, v))
	return err == nil && info.IsDir()
}

func (i *Installation) warnOverrides(reqs Requirements) tfdiags.Diagnostics {
	var lines []string
	for _, addr := range sortedAddrs(reqs) {
		if dir := i.dev[addr]; dir != "" {
			lines = append(lines, fmt.Sprintf("\n  - %s in %s", addr.ForDisplay(), dir))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return tfdiags.New(tfdiags.Warning, "Provider development overrides are in effect",
		"The CLI configuration says to use these programs, whatever versions the configuration needs and the lock file has:"+
			strings.Join(lines, "")+"\n\nThe behaviour may differ from that of any published version, and state may become incompatible with them.")
}

func parseConstraints(addr addrs.Provider, texts []string) (version.Constraints, tfdiags.Diagnostics) {
	constraints, err := version.ParseConstraints(texts...)
	if err != nil {
		return constraints, tfdiags.New(tfdiags.Error, "Invalid provider version constraints",
			fmt.Sprintf("The version constraints of the provider %s cannot be read: %s.", addr, err))
	}
	return constraints, nil
}

func sortedAddrs[V any](m map[addrs.Provider]V) []addrs.Provider {
	return slices.SortedFunc(maps.Keys(m), func(a, b addrs.Provider) int { return strings.Compare(a.String(), b.String()) })
}
