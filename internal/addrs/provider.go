package addrs

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	tfaddr "github.com/hashicorp/terraform-registry-address"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Provider is a provider's source address, such as registry.terraform.io/hashicorp/aws. It is comparable.
type Provider = tfaddr.Provider

// BuiltInProvider is the address of the provider that is part of the engine.
var BuiltInProvider = Provider{Hostname: tfaddr.BuiltInProviderHost, Namespace: tfaddr.BuiltInProviderNamespace, Type: "terraform"}

// DefaultProvider returns the address that a local name stands for when no source is declared.
func DefaultProvider(localName string) Provider {
	if localName == "terraform" {
		return BuiltInProvider
	}
	return Provider{Hostname: tfaddr.DefaultProviderRegistryHost, Namespace: defaultNamespace, Type: localName}
}

// ParseProviderSource reads a source address as in required_providers. The error says what is wrong.
func ParseProviderSource(source string) (Provider, error) {
	provider, err := tfaddr.ParseProviderSource(source)
	if err == nil && !provider.HasKnownNamespace() {
		provider.Namespace = defaultNamespace
	}
	return provider, err
}

// defaultNamespace is that of a source which consists of a type only, as it is terraform's.
const defaultNamespace = "hashicorp"

// LocalProviderConfig names a provider configuration inside one module. It is comparable.
type LocalProviderConfig struct {
	LocalName string
	Alias     string
}

// String returns "aws" or "aws.alias".
func (p LocalProviderConfig) String() string {
	if p.Alias == "" {
		return p.LocalName
	}
	return p.LocalName + "." + p.Alias
}

// ProviderConfig is the absolute address of a provider configuration.
type ProviderConfig struct {
	Module   Module
	Provider Provider
	Alias    string
}

// String returns the address as state files hold it: provider["host/namespace/type"].alias.
func (p ProviderConfig) String() string {
	var b strings.Builder
	if len(p.Module) > 0 {
		b.WriteString(p.Module.String())
		b.WriteByte('.')
	}
	b.WriteString(`provider["`)
	b.WriteString(p.Provider.String())
	b.WriteString(`"]`)
	if p.Alias != "" {
		b.WriteByte('.')
		b.WriteString(p.Alias)
	}
	return b.String()
}

// ParseProviderConfig reads an address as [ProviderConfig.String] writes it.
func ParseProviderConfig(text string) (ProviderConfig, tfdiags.Diagnostics) {
	bad := func(why string) (ProviderConfig, tfdiags.Diagnostics) {
		return ProviderConfig{}, tfdiags.New(tfdiags.Error, "Invalid provider configuration address",
			fmt.Sprintf("%q is not the address of a provider configuration: %s.", text, why))
	}
	traversal, hclDiags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
	if hclDiags.HasErrors() {
		return bad("it is not a valid traversal")
	}
	var out ProviderConfig
	rest := traversal
	for {
		root, ok := stepName(rest, 0)
		if !ok {
			return bad(`it must begin with "provider" or "module"`)
		}
		if root == "provider" {
			break
		}
		name, ok := stepName(rest, 1)
		if root != "module" || !ok {
			return bad(`it must begin with "provider" or "module"`)
		}
		out.Module = append(out.Module, name)
		rest = rest[2:]
	}
	rest = rest[1:]
	if len(rest) == 0 || len(rest) > 2 {
		return bad("a source address in brackets must follow the word provider")
	}
	index, ok := rest[0].(hcl.TraverseIndex)
	if !ok || index.Key.IsNull() || index.Key.Type() != cty.String {
		return bad("a source address in brackets must follow the word provider")
	}
	provider, err := ParseProviderSource(index.Key.AsString())
	if err != nil {
		return bad("its source address is invalid")
	}
	out.Provider = provider
	if len(rest) == 2 {
		if out.Alias, ok = stepName(rest, 1); !ok {
			return bad("an alias must be a name")
		}
	}
	return out, nil
}
