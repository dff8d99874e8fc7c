package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Bounds on what is read. They are far above any real configuration and keep a
// hostile one from exhausting memory.
const (
	maxFileSize    = 16 << 20
	maxModuleDepth = 64
	maxModules     = 20_000
)

// Load reads the root module in dir and every module it calls. Problems of all
// files are reported together; the tree is usable only if none is an error. A
// directory without configuration files is an empty module (Empty tells).
func Load(dir string) (*Config, tfdiags.Diagnostics) { return LoadWith(dir, nil) }

// LoadWith is [Load] with further files of the root module that are not written
// yet, by name.
func LoadWith(dir string, unwritten map[string][]byte) (*Config, tfdiags.Diagnostics) {
	l := &loader{files: map[string]*hcl.File{}, installed: readManifest(dir), unwritten: unwritten}
	root := &Config{}
	root.Root = root
	diags := l.load(root, dir, nil)
	if !l.stopped {
		diags = append(diags, root.checkProviders(nil)...)
	}
	root.Sources = l.sources()
	return root, diags
}

// HasFiles tells whether dir holds any configuration file.
func HasFiles(dir string) bool {
	names, _ := configFiles(dir)
	return len(names) > 0
}

type loader struct {
	files     map[string]*hcl.File       // by path
	installed map[string]installedModule // by module path joined by dots
	unwritten map[string][]byte          // of the root module
	modules   int
	// stopped tells that no called module was read.
	stopped bool
}

// load reads one module and its children into c.
func (l *loader) load(c *Config, dir string, callStack []string) tfdiags.Diagnostics {
	l.modules++
	c.Module = newModule(dir)
	c.Children = map[string]*Config{}
	diags := l.loadDir(c.Module, dir)
	if c.Parent == nil {
		diags = append(diags, l.loadUnwritten(c.Module)...)
		diags = append(diags, l.loadQueries(c.Module, dir)...)
	}
	if c.Parent != nil && len(c.Module.Imports) > 0 {
		diags = append(diags, tfdiags.At(c.Module.Imports[0].Range, "Invalid import configuration",
			fmt.Sprintf("Import blocks may stand in the root module only, and this one is in %s. Move it to the root module, with the module in its address.", c.Path))...)
	}
	if c.Parent == nil {
		diags = append(diags, c.Module.checkRootOutputs()...)
	} else if b := c.Module.Backend; b != nil {
		diags = append(diags, tfdiags.At(b.Range, "Backend configuration ignored",
			fmt.Sprintf("Where the state is kept is decided by the root module only, and this block is in %s. Remove it.", c.Path)).Warnings()...)
	}
	if c.Parent == nil && diags.HasErrors() {
		l.stopped = true // what the root module calls cannot be relied on
		return diags
	}
	callStack = append(callStack, filepath.Clean(dir))
	for _, name := range sortedKeys(c.Module.ModuleCalls) {
		call := c.Module.ModuleCalls[name]
		if call.Source == "" {
			continue // which was reported
		}
		childDir, moreDiags := l.moduleDir(c, call)
		diags = append(diags, moreDiags...)
		if moreDiags.HasErrors() {
			continue
		}
		if slices.Contains(callStack, filepath.Clean(childDir)) || len(callStack) >= maxModuleDepth || l.modules >= maxModules {
			diags = append(diags, tfdiags.At(call.SourceRange, "Module loop",
				"This module calls itself, directly or through others, or modules are nested without end. Every chain of calls must end.")...)
			continue
		}
		child := &Config{Root: c.Root, Parent: c, Path: c.Path.Child(name)}
		diags = append(diags, l.load(child, childDir, callStack)...)
		c.Children[name] = child
	}
	return diags
}

// checkRootOutputs refuses ephemeral outputs of the root module: they would be kept in the state.
func (m *Module) checkRootOutputs() tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, name := range sortedKeys(m.Outputs) {
		if o := m.Outputs[name]; o.Ephemeral {
			diags = append(diags, tfdiags.At(o.Range, "Ephemeral output not allowed",
				fmt.Sprintf("Output %q is ephemeral, but the outputs of the root module are kept in the state. Only modules that others call may have ephemeral outputs; remove the argument or the output.", name))...)
		}
	}
	return diags
}

// moduleDir says where a called module's files are.
func (l *loader) moduleDir(c *Config, call *ModuleCall) (string, tfdiags.Diagnostics) {
	if call.Address.Local != "" {
		dir := filepath.Join(c.Module.Dir, filepath.FromSlash(call.Address.Local))
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return "", tfdiags.At(call.SourceRange, "Unreadable module directory",
				fmt.Sprintf("There is no directory %s, to which the source of module %q points. The path is relative to the calling module.", dir, call.Name))
		}
		return dir, nil
	}
	key := strings.Join(c.Path.Child(call.Name), ".")
	if found, ok := l.installed[key]; ok {
		return filepath.Join(c.Root.Module.Dir, found.Dir), found.check(call)
	}
	return "", tfdiags.At(call.Range, "Module not installed",
		fmt.Sprintf("Module %q comes from %q, which is not a local path, and it is not installed. Run \"towline init\" or \"towline get\" to install it.", call.Name, call.Source))
}

// loadDir reads the files of one module directory.
func (l *loader) loadDir(m *Module, dir string) tfdiags.Diagnostics {
	names, err := configFiles(dir)
	if err != nil {
		return tfdiags.New(tfdiags.Error, "Failed to read module directory", fmt.Sprintf("The module directory %s cannot be read: %s.", dir, err))
	}
	primary, overrides := overridesLast(names)
	blocks, diags := l.blocks(dir, primary)
	diags = append(diags, settingsOnce(blocks)...)
	for _, name := range overrides {
		over, moreDiags := l.blocks(dir, []string{name})
		diags = append(append(diags, moreDiags...), settingsOnce(over)...)
		blocks, moreDiags = override(blocks, over)
		diags = append(diags, moreDiags...)
	}
	diags = append(diags, m.addBlocks(blocks)...)
	return append(diags, m.checkImportProviders()...)
}

// checkImportProviders refuses import blocks that name another provider than the
// resource that they are for, where that is declared.
func (m *Module) checkImportProviders() tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, decl := range m.Imports {
		declared := m.Resources[decl.To.Resource]
		another := len(decl.To.Modules) > 0 || declared != nil && declared.Provider != decl.Provider
		if another && !decl.ProviderRange.Empty() {
			diags = append(diags, tfdiags.At(decl.ProviderRange, "Invalid import provider argument",
				"The provider of an import block is for resources that are not declared yet, so that configuration can be written for them. Here the resource block says which provider it is. Remove the argument.")...)
		}
	}
	return diags
}

// blocks reads the top-level blocks of some files.
func (l *loader) blocks(dir string, names []string) (hcl.Blocks, tfdiags.Diagnostics) {
	var out hcl.Blocks
	var diags tfdiags.Diagnostics
	for _, file := range l.parseAll(dir, names) {
		diags = append(diags, file.diags...)
		if file.body == nil {
			continue
		}
		blocks, moreDiags := fileBlocks(file.body)
		out = append(out, blocks...)
		diags = append(diags, moreDiags...)
	}
	return out, diags
}

// loadUnwritten adds the files that are not written yet.
func (l *loader) loadUnwritten(m *Module) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, name := range sortedKeys(l.unwritten) {
		file := parseText(name, l.unwritten[name])
		l.keep(file)
		diags = append(diags, file.diags...)
		if file.body == nil {
			continue
		}
		blocks, moreDiags := fileBlocks(file.body)
		diags = append(append(diags, moreDiags...), m.addBlocks(blocks)...)
	}
	return diags
}

func unreadable(path string, err error) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Failed to read file", fmt.Sprintf("The configuration file %s cannot be read: %s.", path, err))
}

func readFile(path string) ([]byte, error) { return bounds.ReadFile(path, maxFileSize) }

// configFiles lists the configuration files of a directory as Terraform chooses them.
func configFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || isHidden(name) || !(strings.HasSuffix(name, ".tf") || strings.HasSuffix(name, ".tf.json")) {
			continue
		}
		names = append(names, name)
	}
	return names, nil
}

// isHidden tells whether a file is one that Terraform passes over, as editors leave them.
func isHidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || (strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#"))
}

// overridesLast takes the override files out of a list of files.
func overridesLast(names []string) (primary, overrides []string) {
	for _, name := range names {
		base := strings.TrimSuffix(strings.TrimSuffix(name, ".json"), ".tf")
		if base == "override" || strings.HasSuffix(base, "_override") {
			overrides = append(overrides, name)
		} else {
			primary = append(primary, name)
		}
	}
	return primary, overrides
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// LocalProviderFor resolves the configuration a resource uses to an absolute
// address, following providers passed by callers and inheritance from the root.
func (c *Config) LocalProviderFor(local addrs.LocalProviderConfig) addrs.ProviderConfig {
	current, name := c, local
	for {
		_, here := current.Module.ProviderConfigs[name]
		provider := current.Module.LocalProvider(name.LocalName)
		passed, got := current.call().passed(name)
		switch {
		case got: // a provider block here may only say that a configuration is expected
			name = passed
		case here || current.Parent == nil:
			return addrs.ProviderConfig{Module: current.Path, Provider: provider, Alias: name.Alias}
		default:
			name = addrs.LocalProviderConfig{LocalName: current.Parent.Module.localNameFor(provider), Alias: name.Alias}
		}
		current = current.Parent
	}
}

// passed returns the parent's name for a provider configuration of the child.
func (c *ModuleCall) passed(inChild addrs.LocalProviderConfig) (addrs.LocalProviderConfig, bool) {
	if c == nil { // nobody calls the root module
		return addrs.LocalProviderConfig{}, false
	}
	for _, p := range c.Providers {
		if p.InChild == inChild {
			return p.InParent, true
		}
	}
	return addrs.LocalProviderConfig{}, false
}

// localNameFor returns the name by which a module knows a provider.
func (m *Module) localNameFor(provider addrs.Provider) string {
	for name, required := range m.RequiredProviders {
		if required.Source == provider {
			return name
		}
	}
	return provider.Type
}
