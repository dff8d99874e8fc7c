package planjson

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/provisioners"
)

// configuration describes the configuration without evaluating it.
type configuration struct {
	ProviderConfigs map[string]providerConfig `json:"provider_config,omitempty"`
	RootModule      configModule              `json:"root_module"`
}

type providerConfig struct {
	Name              string         `json:"name"`
	FullName          string         `json:"full_name"`
	Alias             string         `json:"alias,omitempty"`
	VersionConstraint string         `json:"version_constraint,omitempty"`
	ModuleAddress     string         `json:"module_address,omitempty"`
	Expressions       map[string]any `json:"expressions,omitempty"`
}

type configModule struct {
	Outputs     map[string]configOutput   `json:"outputs,omitempty"`
	Resources   []configResource          `json:"resources,omitempty"`
	ModuleCalls map[string]configCall     `json:"module_calls,omitempty"`
	Variables   map[string]configVariable `json:"variables,omitempty"`
}

type configOutput struct {
	Sensitive   bool        `json:"sensitive,omitempty"`
	Expression  *expression `json:"expression,omitempty"`
	DependsOn   []string    `json:"depends_on,omitempty"`
	Description string      `json:"description,omitempty"`
}

type configVariable struct {
	Default     json.RawMessage `json:"default,omitempty"`
	Description string          `json:"description,omitempty"`
	Sensitive   bool            `json:"sensitive,omitempty"`
}

type configResource struct {
	Address           string              `json:"address"`
	Mode              string              `json:"mode"`
	Type              string              `json:"type"`
	Name              string              `json:"name"`
	ProviderConfigKey string              `json:"provider_config_key"`
	Provisioners      []configProvisioner `json:"provisioners,omitempty"`
	Expressions       map[string]any      `json:"expressions,omitempty"`
	SchemaVersion     int64               `json:"schema_version"`
	CountExpression   *expression         `json:"count_expression,omitempty"`
	ForEachExpression *expression         `json:"for_each_expression,omitempty"`
	DependsOn         []string            `json:"depends_on,omitempty"`
}

type configProvisioner struct {
	Type        string         `json:"type"`
	Expressions map[string]any `json:"expressions,omitempty"`
}

type configCall struct {
	Source            string         `json:"source,omitempty"`
	Expressions       map[string]any `json:"expressions,omitempty"`
	CountExpression   *expression    `json:"count_expression,omitempty"`
	ForEachExpression *expression    `json:"for_each_expression,omitempty"`
	Module            configModule   `json:"module"`
	VersionConstraint string         `json:"version_constraint,omitempty"`
	DependsOn         []string       `json:"depends_on,omitempty"`
}

func (e *encoder) configuration(config *configs.Config) (configuration, error) {
	e.providers = providerTable{}
	e.enterProviders(e.providers, config)
	out := configuration{ProviderConfigs: e.providers.documents()}
	root, err := e.configModule(config)
	out.RootModule = root
	return out, err
}

func (e *encoder) configModule(config *configs.Config) (configModule, error) {
	m := config.Module
	out := configModule{Outputs: map[string]configOutput{}, ModuleCalls: map[string]configCall{}, Variables: map[string]configVariable{}}
	for name, o := range m.Outputs {
		out.Outputs[name] = configOutput{
			Sensitive: o.Sensitive, Description: o.Description,
			Expression: encodeExpression(o.Expr), DependsOn: subjects(o.DependsOn),
		}
	}
	for name, v := range m.Variables {
		encoded, err := encodeVariable(v)
		if err != nil {
			return out, fmt.Errorf("variable %s: %w", name, err)
		}
		out.Variables[name] = encoded
	}
	for _, r := range m.Resources {
		if r.Addr.Mode == addrs.Ephemeral { // terraform leaves them out
			continue
		}
		encoded, err := e.configResource(config, r)
		if err != nil {
			return out, err
		}
		out.Resources = append(out.Resources, encoded)
	}
	slices.SortFunc(out.Resources, compareResources)
	for name, call := range m.ModuleCalls {
		encoded, err := e.configCall(config.Children[name], call)
		if err != nil {
			return out, err
		}
		out.ModuleCalls[name] = encoded
	}
	return out, nil
}

// compareResources puts managed resources before data sources, each by address.
func compareResources(a, b configResource) int {
	if c := cmp.Compare(b.Mode, a.Mode); c != 0 {
		return c
	}
	return cmp.Compare(a.Address, b.Address)
}

func encodeVariable(v *configs.Variable) (configVariable, error) {
	out := configVariable{Description: v.Description, Sensitive: v.Sensitive}
	if v.Default == cty.NilVal {
		return out, nil
	}
	val, _ := v.Default.UnmarkDeep()
	encoded, err := ctyjson.Marshal(val, val.Type())
	out.Default = encoded
	return out, err
}

func (e *encoder) configResource(config *configs.Config, r *configs.Resource) (configResource, error) {
	provider := config.Module.LocalProvider(r.Provider.LocalName)
	schema, err := e.schemas.resource(provider, r.Addr)
	if err != nil {
		return configResource{}, fmt.Errorf("%s: %w", r.Addr, err)
	}
	out := configResource{
		Address: r.Addr.String(), Mode: modeName(r.Addr.Mode), Type: r.Addr.Type, Name: r.Addr.Name,
		ProviderConfigKey: e.providers.key(config, r.Provider), SchemaVersion: schema.Version,
		Expressions: expressions(r.Config, schema.Block), DependsOn: subjects(r.DependsOn),
	}
	out.CountExpression, out.ForEachExpression = repetition(r.Count, r.ForEach)
	known := provisioners.Builtin()
	for _, p := range r.Provisioners {
		doc := configProvisioner{Type: p.Type}
		if runs := known[p.Type]; runs != nil {
			doc.Expressions = expressions(p.Config, runs.Schema())
		}
		out.Provisioners = append(out.Provisioners, doc)
	}
	return out, nil
}

func (e *encoder) configCall(child *configs.Config, call *configs.ModuleCall) (configCall, error) {
	out := configCall{Source: call.Source, VersionConstraint: call.Version, DependsOn: subjects(call.DependsOn)}
	out.CountExpression, out.ForEachExpression = repetition(call.Count, call.ForEach)
	if child == nil {
		return out, nil
	}
	arguments := &providers.Block{Attributes: map[string]*providers.Attribute{}}
	for name := range child.Module.Variables {
		arguments.Attributes[name] = &providers.Attribute{Type: cty.DynamicPseudoType, Optional: true}
	}
	out.Expressions = expressions(call.Config, arguments)
	module, err := e.configModule(child)
	if err != nil {
		return out, fmt.Errorf("module %s: %w", call.Name, err)
	}
	out.Module = module
	return out, nil
}

// repetition describes count or for_each, whichever has something to describe.
func repetition(count, forEach hcl.Expression) (*expression, *expression) {
	if c := encodeExpression(count); !c.empty() {
		return c, nil
	}
	if f := encodeExpression(forEach); !f.empty() {
		return nil, f
	}
	return nil, nil
}

// subjects names what depends_on lists.
func subjects(traversals []hcl.Traversal) []string {
	var out []string
	for _, t := range traversals {
		if n, _ := subjectOf(t); n > 0 {
			out = append(out, traversalText(t[:n]))
		}
	}
	return out
}

func moduleKey(config *configs.Config, local string) string {
	return strings.TrimPrefix(config.Path.String()+":"+local, ":")
}
