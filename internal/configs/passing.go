package configs

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// checkProviders checks, over the whole tree, that modules get the provider
// configurations that they expect, and that they are of the right provider.
// Forbidden is where a call is multiplied or made to wait, in which case no module
// below may configure providers; nil if there is none.
func (c *Config) checkProviders(forbidden *hcl.Range) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, name := range sortedKeys(c.Children) {
		below := forbidden
		if at, ok := c.Module.ModuleCalls[name].multiplied(); ok {
			below = &at
		}
		diags = append(diags, c.Children[name].checkProviders(below)...)
	}
	diags = append(diags, c.Module.checkRequirements()...)
	p := newProviderNames(c.Module)
	diags = append(diags, p.checkPassedOn(c)...)
	if c.Parent == nil {
		return diags
	}
	call := c.call()
	if len(p.configured) > 0 && forbidden != nil {
		diags = append(diags, tfdiags.At(*forbidden, "Module is incompatible with count, for_each, and depends_on",
			fmt.Sprintf("%s has provider configurations of its own, which would go with the module while its objects still need them. Remove the argument here, or have the module take its provider configurations from its caller.", c.Path))...)
	}
	diags = append(diags, p.checkExpected(c, call)...)
	for _, passed := range call.Providers {
		diags = append(diags, p.checkPassed(c, passed)...)
	}
	return append(diags, p.checkEmpty(c)...)
}

// multiplied tells whether a call has an argument with which its module cannot
// configure providers, and where.
func (c *ModuleCall) multiplied() (hcl.Range, bool) {
	switch {
	case c.Count != nil:
		return c.Count.Range(), true
	case c.ForEach != nil:
		return c.ForEach.Range(), true
	case len(c.DependsOn) > 0:
		return c.DependsOn[0].SourceRange(), true
	default:
		return hcl.Range{}, false
	}
}

// checkRequirements warns of providers that a module names in two ways.
func (m *Module) checkRequirements() tfdiags.Diagnostics {
	const summary = "Duplicate required provider"
	const help = "One name for each provider keeps their configurations apart."
	var diags tfdiags.Diagnostics
	warn := func(at hcl.Range, detail string) {
		diags = append(diags, tfdiags.At(at, summary, detail+" "+help).Warnings()...)
	}
	names := map[addrs.Provider]string{}
	for _, name := range sortedKeys(m.RequiredProviders) {
		required := m.RequiredProviders[name]
		if other, known := names[required.Source]; known {
			warn(required.Range, fmt.Sprintf("The provider %s is required as %q and as %q. Remove one of the two entries.", required.Source.ForDisplay(), other, name))
		} else if implied := required.Source.Type; name != implied && required.Source == addrs.DefaultProvider(implied) && m.configures(implied) {
			warn(required.Range, fmt.Sprintf("The provider %s is required as %q, and a provider block calls it %q. Use one name in both places.", required.Source.ForDisplay(), name, implied))
		}
		names[required.Source] = name
	}
	for _, r := range m.Resources {
		implied := r.Addr.ImpliedProvider()
		if _, required := m.RequiredProviders[implied]; required || r.ProviderGiven {
			continue
		}
		if other, known := names[addrs.DefaultProvider(implied)]; known {
			warn(r.Range, fmt.Sprintf("%s belongs to the provider %q by its type, which required_providers calls %q. Set provider = %[3]s here, or use the name %[2]q there.", r.Addr, implied, other))
		}
	}
	return diags
}

// configures tells whether a module has a provider block of a local name.
func (m *Module) configures(name string) bool {
	for local := range m.ProviderConfigs {
		if local.LocalName == name {
			return true
		}
	}
	return false
}

// providerNames are the provider configurations that a module knows, by their names there.
type providerNames struct {
	// configured have arguments; empty are provider blocks without any, by which modules
	// once declared what they expect.
	configured, empty map[addrs.LocalProviderConfig]hcl.Range
	// aliases are those of configuration_aliases.
	aliases map[addrs.LocalProviderConfig]addrs.Provider
}

func newProviderNames(m *Module) providerNames {
	p := providerNames{map[addrs.LocalProviderConfig]hcl.Range{}, map[addrs.LocalProviderConfig]hcl.Range{}, map[addrs.LocalProviderConfig]addrs.Provider{}}
	for name, config := range m.ProviderConfigs {
		if _, hclDiags := config.Config.Content(&hcl.BodySchema{}); hclDiags.HasErrors() || config.Version != "" {
			p.configured[name] = config.Range
		} else {
			p.empty[name] = config.Range
		}
	}
	for _, required := range m.RequiredProviders {
		for _, alias := range required.Aliases {
			p.aliases[alias] = required.Source
		}
	}
	return p
}

// checkPassedOn checks what a module passes to those that it calls. Names with
// an alias are checked where they arrive.
func (p providerNames) checkPassedOn(c *Config) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, name := range sortedKeys(c.Module.ModuleCalls) {
		for _, passed := range c.Module.ModuleCalls[name].Providers {
			local := passed.InParent
			_, configured := p.configured[local]
			_, required := c.Module.RequiredProviders[local.LocalName]
			switch {
			case local.Alias != "":
			case !configured && !required:
				diags = append(diags, undeclared(c, local, passed.Range).Warnings()...)
			case c.Parent != nil && !configured:
				call := c.call()
				if _, ok := call.passed(local); !ok {
					diags = append(diags, tfdiags.At(call.Range, "Missing required provider configuration",
						fmt.Sprintf("%s hands on a configuration of the provider %q that nobody passes to it. Add an entry for %[2]q to the providers argument of this module block.", c.Path, local)).Warnings()...)
				}
			}
		}
	}
	return diags
}

func undeclared(c *Config, local addrs.LocalProviderConfig, at hcl.Range) tfdiags.Diagnostics {
	return tfdiags.At(at, "Reference to undefined provider",
		fmt.Sprintf("%s does not declare a provider of the local name %q. Add an entry of that name to its required_providers, with the source of the provider.", c.moduleName(), local.LocalName))
}

// moduleName names a module in a sentence.
func (c *Config) moduleName() string {
	if c.Parent == nil {
		return "The root module"
	}
	return c.Path.String()
}

// checkExpected checks that a module gets what its configuration_aliases ask for.
func (p providerNames) checkExpected(c *Config, call *ModuleCall) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, name := range sortedKeys(c.Module.RequiredProviders) {
		for _, alias := range c.Module.RequiredProviders[name].Aliases {
			_, configured := p.configured[alias]
			if _, passed := call.passed(alias); configured || passed {
				continue
			}
			diags = append(diags, tfdiags.At(call.Range, "Missing required provider configuration",
				fmt.Sprintf("%s expects a configuration of the provider %s as %s. Add an entry for %[3]s to the providers argument of this module block.", c.Path, p.aliases[alias].ForDisplay(), alias))...)
		}
	}
	return diags
}

// checkPassed checks one configuration that a module gets.
func (p providerNames) checkPassed(c *Config, passed PassedProvider) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	local := passed.InChild
	if at, own := p.configured[local]; own {
		diags = append(diags, tfdiags.At(passed.ChildRange, "Cannot override provider configuration",
			fmt.Sprintf("%s configures %s itself, at %s, and so cannot be given a configuration. Remove the entry, or the provider block there.", c.Path, local, at))...)
	}
	wants, isAlias := p.aliases[local]
	if !isAlias {
		wants = c.Module.LocalProvider(local.LocalName)
	}
	_, required := c.Module.RequiredProviders[local.LocalName]
	_, empty := p.empty[local]
	if !isAlias && !empty && (!required || local.Alias != "") {
		problem := undeclared(c, local, passed.ChildRange)
		if wants == addrs.DefaultProvider(local.LocalName) {
			problem = problem.Warnings()
		}
		diags = append(diags, problem...)
	}
	if is := c.Parent.Module.LocalProvider(passed.InParent.LocalName); is != wants {
		at := passed.Range
		for _, r := range c.Module.RequiredProviders {
			if r.Source == is {
				at = passed.ChildRange
			}
		}
		diags = append(diags, tfdiags.At(at, "Provider type mismatch",
			fmt.Sprintf("%s is a configuration of the provider %s here, and %s in %s is one of %s. Pass a configuration of that provider, or correct the name.", passed.InParent, is.ForDisplay(), local, c.Path, wants.ForDisplay()))...)
	}
	return diags
}

// checkEmpty warns of empty provider blocks, once for each provider.
func (p providerNames) checkEmpty(c *Config) tfdiags.Diagnostics {
	first := map[string]hcl.Range{}
	for name, at := range p.empty {
		if other, known := first[name.LocalName]; !known || at.String() < other.String() {
			first[name.LocalName] = at
		}
	}
	var diags tfdiags.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(first)) {
		diags = append(diags, tfdiags.At(first[name], "Redundant empty provider block",
			fmt.Sprintf("An empty provider block once declared that %s expects a configuration of the provider %q. Remove it, and put an entry for %[2]q into required_providers, with configuration_aliases if there are aliases.", c.Path, name)).Warnings()...)
	}
	return diags
}
