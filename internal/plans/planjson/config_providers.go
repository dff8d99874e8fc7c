package planjson

import (
	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/plugin/version"
)

// knownProvider is a provider configuration as a module knows it.
type knownProvider struct {
	doc providerConfig
	// source is the key of the configuration that it stands for, "" for itself.
	source string
}

// providerTable knows the provider configurations of all modules by their keys.
// Modules are entered from the root on, and a name that a module gets from its caller
// stands for what the caller's name stands for, if the caller uses it at all.
type providerTable map[string]knownProvider

// enterProviders enters a module and those below it.
func (e *encoder) enterProviders(t providerTable, config *configs.Config) {
	needs := config.OwnRequirements()
	for local, decl := range config.Module.ProviderConfigs {
		provider := config.Module.LocalProvider(local.LocalName)
		doc := newProviderConfig(config, local.LocalName, provider, needs[provider])
		doc.Alias = local.Alias
		if schema := e.schemas[provider]; schema != nil {
			doc.Expressions = expressions(decl.Config, schema.Provider)
		}
		t[moduleKey(config, local.String())] = knownProvider{doc: doc}
	}
	t.enterImplied(config, needs)
	for name, call := range config.Module.ModuleCalls {
		child := config.Children[name]
		for _, passed := range call.Providers {
			provider := child.Module.LocalProvider(passed.InChild.LocalName)
			doc := newProviderConfig(child, passed.InChild.String(), provider, nil)
			t[moduleKey(child, passed.InChild.String())] = knownProvider{doc, t.source(moduleKey(config, passed.InParent.String()), doc.FullName)}
		}
		e.enterProviders(t, child)
	}
}

// enterImplied enters what a module requires or uses without a provider block.
func (t providerTable) enterImplied(config *configs.Config, needs map[addrs.Provider][]string) {
	add := func(local addrs.LocalProviderConfig, provider addrs.Provider, constraints []string) {
		key := moduleKey(config, local.String())
		if _, known := t[key]; known {
			return
		}
		known := knownProvider{doc: newProviderConfig(config, local.LocalName, provider, constraints)}
		if config.Parent != nil && local.Alias == "" {
			known.source = t.source(moduleKey(config.Parent, local.LocalName), provider.String())
		}
		t[key] = known
	}
	for name, required := range config.Module.RequiredProviders {
		for _, alias := range required.Aliases {
			add(alias, required.Source, needs[required.Source])
		}
		add(addrs.LocalProviderConfig{LocalName: name}, required.Source, needs[required.Source])
	}
	for provider := range needs { // also under a name that only its type implies
		add(addrs.LocalProviderConfig{LocalName: provider.Type}, provider, nil)
	}
}

// source follows a key to the configuration that it stands for, as far as that is
// one of the same provider.
func (t providerTable) source(key, provider string) string {
	found := ""
	for key != "" {
		known, ok := t[key]
		if !ok || known.doc.FullName != provider {
			break
		}
		found, key = key, known.source
	}
	return found
}

// documents are the configurations that stand for themselves.
func (t providerTable) documents() map[string]providerConfig {
	out := map[string]providerConfig{}
	for key, known := range t {
		if known.source == "" {
			out[key] = known.doc
		}
	}
	return out
}

// key names the provider configuration that a module's local name stands for.
func (t providerTable) key(config *configs.Config, local addrs.LocalProviderConfig) string {
	key := moduleKey(config, local.String())
	if source := t[key].source; source != "" {
		return source
	}
	return key
}

func newProviderConfig(config *configs.Config, name string, provider addrs.Provider, constraints []string) providerConfig {
	doc := providerConfig{Name: name, FullName: provider.String(), ModuleAddress: config.Path.String()}
	if joined, err := version.ParseConstraints(constraints...); err == nil {
		doc.VersionConstraint = joined.String()
	}
	return doc
}
