package configs

import (
	"fmt"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/modulesource"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Config is one module of the static module tree, not yet multiplied by count or for_each.
type Config struct {
	// Root is the root of the tree; Parent is nil there.
	Root, Parent *Config
	Path         addrs.Module
	Module       *Module
	// Children are keyed by the name of the module call.
	Children map[string]*Config
	// Sources holds every file's bytes for diagnostics, by file name as in
	// source ranges. Only the root has it.
	Sources map[string][]byte
}

// Descendent returns the module at a path below this one, or nil.
func (c *Config) Descendent(path addrs.Module) *Config {
	current := c
	for _, name := range path {
		if current = current.Children[name]; current == nil {
			return nil
		}
	}
	return current
}

// call is the module block that leads here, or nil for the root.
func (c *Config) call() *ModuleCall {
	if c.Parent == nil {
		return nil
	}
	return c.Parent.Module.ModuleCalls[c.Path[len(c.Path)-1]]
}

// Module is what one directory declares.
type Module struct {
	// Dir is the directory as given to [Load] or joined from there.
	Dir string

	RequiredProviders map[string]*RequiredProvider // by local name
	Backend           *Backend

	ProviderConfigs map[addrs.LocalProviderConfig]*ProviderConfig
	ProviderMetas   map[string]*ProviderMeta // by local name
	Variables       map[string]*Variable
	Locals          map[string]*Local
	Outputs         map[string]*Output
	ModuleCalls     map[string]*ModuleCall
	// Resources holds managed resources, data sources and ephemeral resources.
	Resources map[addrs.Resource]*Resource
	// Checks are the check blocks by name.
	Checks map[string]*Check
	// Lists are the list blocks of the root module's query files, by address.
	Lists map[string]*List
	// Moved and Removed are in the order of files and blocks.
	Moved   []*Moved
	Removed []*Removed
	// Imports are in the root module only.
	Imports []*Import
	// imported are the import blocks of one known instance each, by its address.
	imported map[string]*Import
}

// languageVersion is the version of Terraform whose language Towline runs.
const languageVersion = "1.11.4"

// checkLanguageVersion refuses a module that is written for another version of Terraform's language.
func checkLanguageVersion(text string, allowed versions.Set, at hcl.Range) tfdiags.Diagnostics {
	if allowed.Has(versions.MustParseVersion(languageVersion)) {
		return nil
	}
	return tfdiags.At(at, "Unsupported Terraform Core version",
		fmt.Sprintf("This module is for Terraform %s, and this version of towline runs the language of Terraform %s. Use another version of the module, or loosen the constraint if the module works.", text, languageVersion))
}

// RequiredProvider is an entry of required_providers.
type RequiredProvider struct {
	LocalName   string
	Source      addrs.Provider
	Constraints string
	// Aliases are the configurations that a caller must pass in (configuration_aliases).
	Aliases []addrs.LocalProviderConfig
	Range   hcl.Range
}

// Backend is a backend or cloud block of the root module.
type Backend struct {
	Type   string
	Config hcl.Body
	Range  hcl.Range
}

// ProviderConfig is a provider block.
type ProviderConfig struct {
	Addr   addrs.LocalProviderConfig
	Config hcl.Body
	// Version is a constraint that is given here, where it is deprecated.
	Version string
	Range   hcl.Range
}

// Local is one entry of a locals block.
type Local struct {
	Name  string
	Expr  hcl.Expression
	Range hcl.Range
}

// Output is an output block.
type Output struct {
	Name                 string
	Description          string
	Expr                 hcl.Expression
	Sensitive, Ephemeral bool
	DependsOn            []hcl.Traversal
	Preconditions        []*CheckRule
	Range                hcl.Range
}

// ModuleCall is a module block.
type ModuleCall struct {
	Name   string
	Source string
	// Address is what Source stands for.
	Address     modulesource.Source
	SourceRange hcl.Range
	// Version is the constraint on a registry's module, Allowed the versions that meet it.
	Version string
	Allowed versions.Set
	// Config holds the arguments for the module's variables.
	Config         hcl.Body
	Count, ForEach hcl.Expression
	DependsOn      []hcl.Traversal
	Providers      []PassedProvider
	Range          hcl.Range
}

// PassedProvider is one entry of a module call's providers argument.
type PassedProvider struct {
	InChild, InParent addrs.LocalProviderConfig
	// ChildRange and Range are where the two are named.
	ChildRange, Range hcl.Range
}

// Check is a check block: assertions about the whole, whose failure only warns.
type Check struct {
	Name    string
	Asserts []*CheckRule
	// Data is the nested data block, or nil. It is among the module's resources too.
	Data  *Resource
	Range hcl.Range
}

// CheckRule is a validation, precondition, postcondition or assert block.
type CheckRule struct {
	Condition    hcl.Expression
	ErrorMessage hcl.Expression
	Range        hcl.Range
}

// LocalProvider returns the source address that a local provider name stands for in this module.
func (m *Module) LocalProvider(localName string) addrs.Provider {
	if required, ok := m.RequiredProviders[localName]; ok {
		return required.Source
	}
	return addrs.DefaultProvider(localName)
}

// ProviderRequirements collects, over the whole tree, every provider in use with
// all version constraints on it.
func (c *Config) ProviderRequirements() map[addrs.Provider][]string {
	out := map[addrs.Provider][]string{}
	c.addRequirements(out)
	delete(out, addrs.BuiltInProvider)
	return out
}

// AllRequirements is [Config.ProviderRequirements] with the built-in provider, if it is used.
func (c *Config) AllRequirements() map[addrs.Provider][]string {
	out := map[addrs.Provider][]string{}
	c.addRequirements(out)
	return out
}

// OwnRequirements are the providers that this module uses itself, with its constraints on them.
func (c *Config) OwnRequirements() map[addrs.Provider][]string {
	alone := Config{Module: c.Module}
	return alone.AllRequirements()
}

func (c *Config) addRequirements(out map[addrs.Provider][]string) {
	need := func(p addrs.Provider, constraint string) {
		out[p] = append(out[p], []string{constraint}[:min(len(constraint), 1)]...)
	}
	for _, required := range c.Module.RequiredProviders {
		need(required.Source, required.Constraints)
	}
	for local, config := range c.Module.ProviderConfigs {
		need(c.Module.LocalProvider(local.LocalName), config.Version)
	}
	for _, resource := range c.Module.Resources {
		need(c.Module.LocalProvider(resource.Provider.LocalName), "")
	}
	for _, list := range c.Module.Lists {
		need(c.Module.LocalProvider(list.Provider.LocalName), "")
	}
	for _, decl := range c.Module.Imports {
		if decl.Provider.LocalName != "" && len(decl.To.Modules) == 0 {
			need(c.Module.LocalProvider(decl.Provider.LocalName), "")
		}
	}
	for _, child := range c.Children {
		child.addRequirements(out)
	}
}
