package cliconfig

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// maxSize bounds a configuration file.
const maxSize = 1 << 20

// Config says where providers come from.
type Config struct {
	// PluginCacheDir is a folder in which packages are shared between working directories, or "".
	PluginCacheDir string
	// DevOverrides are folders with programs to use for a provider, whatever its version.
	DevOverrides map[addrs.Provider]string
	// Methods are the places to install from, in order of preference. They are
	// meaningful if Explicit is set; otherwise the usual places count.
	Methods  []Method
	Explicit bool
	// Services are what host blocks say of hosts' services, so that nobody asks the hosts.
	Services map[svchost.Hostname]map[string]any
	// Tokens are credentials by host, from credentials blocks and the environment.
	Tokens map[svchost.Hostname]string
}

// Kind is what kind of place providers come from.
type Kind string

// The kinds of places.
const (
	FilesystemMirror Kind = "filesystem_mirror"
	NetworkMirror    Kind = "network_mirror"
	Direct           Kind = "direct"
)

// Method is a place to install providers from.
type Method struct {
	Kind Kind
	// Location is the folder or URL of a mirror.
	Location string
	// Include and Exclude say which providers the place is asked for; no Include means all.
	Include, Exclude []Pattern
}

// Handles tells whether the place is asked for a provider.
func (m Method) Handles(addr addrs.Provider) bool {
	for _, p := range m.Exclude {
		if p.Matches(addr) {
			return false
		}
	}
	for _, p := range m.Include {
		if p.Matches(addr) {
			return true
		}
	}
	return len(m.Include) == 0
}

// Pattern is a provider address in which parts may be "*".
type Pattern struct{ Hostname, Namespace, Type string }

// ParsePattern reads a pattern such as "example.com/*/*" or "hashicorp/aws".
func ParsePattern(text string) (Pattern, error) {
	parts := strings.Split(text, "/")
	if len(parts) > 3 {
		return Pattern{}, fmt.Errorf("%q has more than three parts", text)
	}
	full := append([]string{"registry.terraform.io", "hashicorp"}[:3-len(parts)], parts...)
	concrete := make([]string, len(full))
	for i, part := range full {
		concrete[i] = part
		if part == "*" {
			concrete[i] = []string{"example.com", "any", "any"}[i]
		}
	}
	addr, err := addrs.ParseProviderSource(strings.Join(concrete, "/"))
	if err != nil {
		return Pattern{}, fmt.Errorf("%q is not the address of a provider: %w", text, err)
	}
	normal := []string{addr.Hostname.String(), addr.Namespace, addr.Type}
	for i, part := range full {
		if part == "*" {
			normal[i] = part
		}
	}
	return Pattern{normal[0], normal[1], normal[2]}, nil
}

// Matches tells whether the pattern stands for a provider.
func (p Pattern) Matches(addr addrs.Provider) bool {
	matches := func(pattern, part string) bool { return pattern == "*" || pattern == part }
	return matches(p.Hostname, addr.Hostname.String()) && matches(p.Namespace, addr.Namespace) && matches(p.Type, addr.Type)
}

// Environment is where configuration is looked for.
type Environment struct {
	// Getenv is [os.Getenv] outside of tests.
	Getenv func(string) string
	// Environ lists all variables as NAME=VALUE, for those that name hosts.
	Environ []string
	// Home is the user's home directory, "" if there is none.
	Home string
}

// OSEnvironment returns the environment of this process.
func OSEnvironment() Environment {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // a service may have none
	}
	return Environment{Getenv: os.Getenv, Environ: os.Environ(), Home: home}
}

// Load reads the user's configuration. Without any it is empty.
func Load(env Environment) (*Config, tfdiags.Diagnostics) {
	config := &Config{
		DevOverrides: make(map[addrs.Provider]string),
		Services:     make(map[svchost.Hostname]map[string]any), Tokens: make(map[svchost.Hostname]string),
	}
	var diags tfdiags.Diagnostics
	files, mustExist := env.files()
	for _, path := range files {
		src, err := readBounded(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !mustExist:
			continue
		case errors.Is(err, fs.ErrNotExist):
			diags = append(diags, tfdiags.New(tfdiags.Warning, "Unable to open CLI configuration file",
				fmt.Sprintf("The CLI configuration file %s, which TF_CLI_CONFIG_FILE names, does not exist. Providers are looked for in the usual places.", path))...)
			continue
		case err != nil:
			diags = append(diags, tfdiags.New(tfdiags.Error, "Unable to open CLI configuration file",
				fmt.Sprintf("The CLI configuration file %s cannot be read: %s.", path, err))...)
			continue
		}
		diags = append(diags, config.merge(src, path)...)
	}
	if dir := env.Getenv("TF_PLUGIN_CACHE_DIR"); dir != "" {
		config.PluginCacheDir = dir
	}
	config.environmentTokens(env.Environ)
	return config, append(diags, config.checkCacheDir()...)
}

// files lists the files that may hold configuration, and whether they must exist.
func (e Environment) files() (paths []string, mustExist bool) {
	for _, name := range []string{"TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"} {
		if path := e.Getenv(name); path != "" {
			return []string{path}, true
		}
	}
	if e.Home == "" {
		return nil, false
	}
	paths = []string{filepath.Join(e.Home, ".terraformrc")}
	// An error means a pattern that is not one, and these are.
	for _, pattern := range []string{"*.tfrc", "*.tfrc.json"} {
		more, _ := filepath.Glob(filepath.Join(e.Home, ".terraform.d", pattern))
		paths = append(paths, more...)
	}
	return paths, false
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the user's own configuration
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	src, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err == nil && len(src) > maxSize {
		err = fmt.Errorf("it is larger than %d bytes", maxSize)
	}
	return src, err
}

func (c *Config) checkCacheDir() tfdiags.Diagnostics {
	if c.PluginCacheDir == "" {
		return nil
	}
	if info, err := os.Stat(c.PluginCacheDir); err != nil || !info.IsDir() {
		return tfdiags.New(tfdiags.Error, "The specified plugin cache dir cannot be opened",
			fmt.Sprintf("The plugin cache folder %s does not exist or is not a folder. Create it, or correct plugin_cache_dir or TF_PLUGIN_CACHE_DIR.", c.PluginCacheDir))
	}
	return nil
}
