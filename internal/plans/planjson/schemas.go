package planjson

import (
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

type schemasJSON struct {
	FormatVersion string                         `json:"format_version"`
	Providers     map[string]*providerSchemaJSON `json:"provider_schemas,omitempty"`
}

type providerSchemaJSON struct {
	Provider    *schemaJSON              `json:"provider,omitempty"`
	Resources   map[string]*schemaJSON   `json:"resource_schemas,omitempty"`
	DataSources map[string]*schemaJSON   `json:"data_source_schemas,omitempty"`
	Ephemerals  map[string]*schemaJSON   `json:"ephemeral_resource_schemas,omitempty"`
	Functions   map[string]*functionJSON `json:"functions,omitempty"`
}

type schemaJSON struct {
	Version int64      `json:"version"`
	Block   *blockJSON `json:"block,omitempty"`
}

type blockJSON struct {
	Attributes      map[string]*attributeJSON `json:"attributes,omitempty"`
	BlockTypes      map[string]*nestedJSON    `json:"block_types,omitempty"`
	Description     string                    `json:"description,omitempty"`
	DescriptionKind string                    `json:"description_kind,omitempty"`
	Deprecated      bool                      `json:"deprecated,omitempty"`
}

type nestedJSON struct {
	NestingMode string     `json:"nesting_mode,omitempty"`
	Block       *blockJSON `json:"block,omitempty"`
	MinItems    int        `json:"min_items,omitempty"`
	MaxItems    int        `json:"max_items,omitempty"`
}

type attributeJSON struct {
	Type            json.RawMessage `json:"type,omitempty"`
	NestedType      *nestedTypeJSON `json:"nested_type,omitempty"`
	Description     string          `json:"description,omitempty"`
	DescriptionKind string          `json:"description_kind,omitempty"`
	Deprecated      bool            `json:"deprecated,omitempty"`
	Required        bool            `json:"required,omitempty"`
	Optional        bool            `json:"optional,omitempty"`
	Computed        bool            `json:"computed,omitempty"`
	Sensitive       bool            `json:"sensitive,omitempty"`
	WriteOnly       bool            `json:"write_only,omitempty"`
}

type nestedTypeJSON struct {
	Attributes  map[string]*attributeJSON `json:"attributes,omitempty"`
	NestingMode string                    `json:"nesting_mode,omitempty"`
}

type functionJSON struct {
	Description string           `json:"description,omitempty"`
	Summary     string           `json:"summary,omitempty"`
	Deprecation string           `json:"deprecation_message,omitempty"`
	ReturnType  json.RawMessage  `json:"return_type"`
	Parameters  []*parameterJSON `json:"parameters,omitempty"`
	Variadic    *parameterJSON   `json:"variadic_parameter,omitempty"`
}

type parameterJSON struct {
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	IsNullable  bool            `json:"is_nullable,omitempty"`
	Type        json.RawMessage `json:"type"`
}

// ProviderSchemas encodes whole schemas of providers as terraform providers schema does. A
// resource type whose schema cannot be used is an error.
func ProviderSchemas(all map[addrs.Provider]*providers.Schema) ([]byte, error) {
	out := schemasJSON{FormatVersion: "1.0", Providers: map[string]*providerSchemaJSON{}}
	for addr, schema := range all {
		encoded, err := providerSchema(schema)
		if err != nil {
			return nil, fmt.Errorf("encode the schema of %s: %w", addr, err)
		}
		out.Providers[addr.String()] = encoded
	}
	return json.Marshal(out)
}

func providerSchema(schema *providers.Schema) (*providerSchemaJSON, error) {
	out := &providerSchemaJSON{Provider: &schemaJSON{Block: topBlock(schema.Provider)}, Functions: map[string]*functionJSON{}}
	var err error
	for _, set := range []struct {
		into *map[string]*schemaJSON
		from providers.SchemaSet
	}{{&out.Resources, schema.ResourceTypes}, {&out.DataSources, schema.DataSources}, {&out.Ephemerals, schema.Ephemerals}} {
		if *set.into, err = schemaSet(set.from); err != nil {
			return nil, err
		}
	}
	for name, f := range schema.Functions {
		out.Functions[name] = functionSchema(f)
	}
	return out, nil
}

// topBlock leaves out a block that says nothing.
func topBlock(b *providers.Block) *blockJSON {
	if b == nil || (len(b.Attributes) == 0 && len(b.BlockTypes) == 0 && b.Description == "" && !b.Markdown) {
		return nil
	}
	return blockSchema(b)
}

func schemaSet(set providers.SchemaSet) (map[string]*schemaJSON, error) {
	if set == nil {
		return nil, nil
	}
	out := map[string]*schemaJSON{}
	for _, name := range set.Names() {
		schema := set.Get(name)
		if schema.Invalid != nil {
			return nil, fmt.Errorf("%s: %w", name, schema.Invalid)
		}
		out[name] = &schemaJSON{Version: schema.Version, Block: blockSchema(schema.Block)}
	}
	return out, nil
}

func descriptionKind(markdown bool) string {
	return map[bool]string{true: "markdown", false: "plain"}[markdown]
}

func blockSchema(b *providers.Block) *blockJSON {
	out := &blockJSON{
		Attributes: attributeSchemas(b.Attributes), Description: b.Description, DescriptionKind: descriptionKind(b.Markdown), Deprecated: b.Deprecated,
	}
	if len(b.BlockTypes) > 0 {
		out.BlockTypes = map[string]*nestedJSON{}
	}
	for name, nested := range b.BlockTypes {
		out.BlockTypes[name] = &nestedJSON{
			NestingMode: nestingNames[nested.Nesting], Block: blockSchema(&nested.Block), MinItems: nested.MinItems, MaxItems: nested.MaxItems,
		}
	}
	return out
}

var nestingNames = map[providers.NestingMode]string{
	providers.NestingSingle: "single", providers.NestingGroup: "group", providers.NestingList: "list",
	providers.NestingSet: "set", providers.NestingMap: "map",
}

func attributeSchemas(attributes map[string]*providers.Attribute) map[string]*attributeJSON {
	if len(attributes) == 0 {
		return nil
	}
	out := make(map[string]*attributeJSON, len(attributes))
	for name, a := range attributes {
		encoded := &attributeJSON{
			Description: a.Description, DescriptionKind: descriptionKind(a.Markdown), Deprecated: a.Deprecated,
			Required: a.Required, Optional: a.Optional, Computed: a.Computed, Sensitive: a.Sensitive, WriteOnly: a.WriteOnly,
		}
		if a.NestedType != nil {
			encoded.NestedType = &nestedTypeJSON{Attributes: attributeSchemas(a.NestedType.Attributes), NestingMode: nestingNames[a.NestedType.Nesting]}
		} else {
			encoded.Type = typeJSON(a.Type)
		}
		out[name] = encoded
	}
	return out
}

// typeJSON encodes a type. Types of schemas were read from this form, so that all have one.
func typeJSON(ty cty.Type) json.RawMessage {
	out, err := ty.MarshalJSON()
	if err != nil {
		return json.RawMessage(`"dynamic"`)
	}
	return out
}

func functionSchema(f *providers.FunctionSchema) *functionJSON {
	out := &functionJSON{Description: f.Description, Summary: f.Summary, Deprecation: f.DeprecationMsg, ReturnType: typeJSON(f.Return)}
	for i := range f.Parameters {
		out.Parameters = append(out.Parameters, parameterSchema(&f.Parameters[i]))
	}
	if f.VariadicParameter != nil {
		out.Variadic = parameterSchema(f.VariadicParameter)
	}
	return out
}

func parameterSchema(p *function.Parameter) *parameterJSON {
	return &parameterJSON{Name: p.Name, Description: p.Description, IsNullable: p.AllowNull, Type: typeJSON(p.Type)}
}
