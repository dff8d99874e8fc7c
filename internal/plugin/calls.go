package plugin

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin6"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// terraformVersion is what providers are told: the version whose language the engine runs.
const terraformVersion = "1.11.4"

// capabilities are what providers are told that we can do. Deferred answers are not among it.
var capabilities = &tfplugin6.ClientCapabilities{WriteOnlyAttributesAllowed: true}

// typed is what a call about one type needs: the schema of the type and the codec for its values.
type typed struct {
	method, typeName string
	schema           *providers.Schema
	version          int64
	block            *providers.Block
	ty               cty.Type
}

// kind names one of the sets of types that a schema has.
type kind struct {
	name string
	set  func(*providers.Schema) providers.SchemaSet
}

var (
	resources  = kind{"resource type", func(s *providers.Schema) providers.SchemaSet { return s.ResourceTypes }}
	data       = kind{"data source", func(s *providers.Schema) providers.SchemaSet { return s.DataSources }}
	lists      = kind{"list resource", func(s *providers.Schema) providers.SchemaSet { return s.Lists }}
	ephemerals = kind{"ephemeral resource type", func(s *providers.Schema) providers.SchemaSet { return s.Ephemerals }}
)

func (i *instance) typed(ctx context.Context, k kind, method, typeName string) (*typed, tfdiags.Diagnostics) {
	schema, diags := i.Schema(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	found := k.set(schema).Get(typeName)
	switch {
	case found == nil:
		return nil, append(diags, tfdiags.New(tfdiags.Error, "Invalid "+k.name,
			"The provider "+i.addr.ForDisplay()+" does not support the "+k.name+" "+typeName+". Check the name and the provider's version.")...)
	case found.Invalid != nil:
		return nil, append(diags, invalidSchema(found.Invalid)...)
	}
	return &typed{
		method: method, typeName: typeName, schema: schema,
		version: found.Version, block: found.Block, ty: found.Block.ImpliedType(),
	}, diags
}

// encode encodes values of the type. Problems are collected in diags.
func (t *typed) encode(diags *tfdiags.Diagnostics, v cty.Value) *tfplugin6.DynamicValue {
	out, err := encode(v, t.ty)
	if err != nil {
		*diags = append(*diags, invalidRequest(t.method, t.typeName, err)...)
	}
	return out
}

// meta encodes a provider_meta value, null where the module has none. The
// result is nil if the provider does not take any.
func (t *typed) meta(diags *tfdiags.Diagnostics, v cty.Value) *tfplugin6.DynamicValue {
	if t.schema.ProviderMeta == nil {
		return nil
	}
	ty := t.schema.ProviderMeta.ImpliedType()
	if v == cty.NilVal {
		v = cty.NullVal(ty)
	}
	out, err := encode(v, ty)
	if err != nil {
		*diags = append(*diags, invalidRequest(t.method, t.typeName, err)...)
	}
	return out
}

// decode reads an answer. A value that breaks the schema is NilVal.
func (t *typed) decode(diags *tfdiags.Diagnostics, dv *tfplugin6.DynamicValue) cty.Value {
	v, err := decode(dv, t.ty)
	if err != nil {
		*diags = append(*diags, invalidAnswer(t.method, t.typeName, err)...)
		return cty.NilVal
	}
	return v
}

// writtenOut are the summaries for answers with a value that must only be written, by call.
var writtenOut = map[string]string{
	"UpgradeResourceState": "Invalid resource state upgrade",
	"ReadResource":         "Provider produced invalid object",
	"PlanResourceChange":   "Provider produced invalid plan",
	"ApplyResourceChange":  "Provider produced invalid object",
	"ImportResourceState":  "Import returned a non-null value for a write-only attribute",
	"MoveResourceState":    "Provider returned invalid value",
	listMethod:             "Provider produced invalid object",
}

// decodeState is decode for objects of managed resources, which must not hold
// what is write-only.
func (t *typed) decodeState(diags *tfdiags.Diagnostics, dv *tfplugin6.DynamicValue) cty.Value {
	v := t.decode(diags, dv)
	if v == cty.NilVal || !t.block.HasWriteOnly() {
		return v
	}
	for _, path := range t.block.WriteOnlyPaths(v) {
		if at, err := path.Apply(v); err != nil || at.IsNull() {
			continue
		}
		*diags = append(*diags, tfdiags.Diagnostic{
			Severity: tfdiags.Error, Summary: writtenOut[t.method], Attribute: path,
			Detail: "The provider answered the " + t.method + " call for " + t.typeName +
				" with a value for a write-only attribute, which would put it in state. This is a bug of the provider; report it to its developers.",
		})
	}
	return v
}

// ValidateProviderConfig implements [providers.Interface].
func (i *instance) ValidateProviderConfig(ctx context.Context, config cty.Value) tfdiags.Diagnostics {
	const method = "ValidateProviderConfig"
	schema, diags := i.Schema(ctx)
	if diags.HasErrors() {
		return diags
	}
	encoded, err := encode(config, schema.Provider.ImpliedType())
	if err != nil {
		return append(diags, invalidRequest(method, i.addr.ForDisplay(), err)...)
	}
	// The prepared configuration that protocol 5 answers with is documented as unused.
	resp, moreDiags := call(ctx, i, method, func(ctx context.Context, c tfplugin6.ProviderClient) (*tfplugin6.ValidateProviderConfig_Response, error) {
		return c.ValidateProviderConfig(ctx, &tfplugin6.ValidateProviderConfig_Request{Config: encoded})
	})
	return append(append(diags, moreDiags...), toDiagnostics(resp.GetDiagnostics())...)
}

// ValidateResourceConfig implements [providers.Interface].
func (i *instance) ValidateResourceConfig(ctx context.Context, typeName string, config cty.Value) tfdiags.Diagnostics {
	return i.validate(ctx, resources, "ValidateResourceConfig", typeName, config,
		func(ctx context.Context, c tfplugin6.ProviderClient, config *tfplugin6.DynamicValue) (diagnosed, error) {
			return c.ValidateResourceConfig(ctx, &tfplugin6.ValidateResourceConfig_Request{
				TypeName: typeName, Config: config, ClientCapabilities: capabilities,
			})
		})
}

// ValidateDataSourceConfig implements [providers.Interface].
func (i *instance) ValidateDataSourceConfig(ctx context.Context, typeName string, config cty.Value) tfdiags.Diagnostics {
	return i.validate(ctx, data, "ValidateDataResourceConfig", typeName, config,
		func(ctx context.Context, c tfplugin6.ProviderClient, config *tfplugin6.DynamicValue) (diagnosed, error) {
			return c.ValidateDataResourceConfig(ctx, &tfplugin6.ValidateDataResourceConfig_Request{TypeName: typeName, Config: config})
		})
}

// ValidateEphemeralConfig implements [providers.Interface].
func (i *instance) ValidateEphemeralConfig(ctx context.Context, typeName string, config cty.Value) tfdiags.Diagnostics {
	return i.validate(ctx, ephemerals, "ValidateEphemeralResourceConfig", typeName, config,
		func(ctx context.Context, c tfplugin6.ProviderClient, config *tfplugin6.DynamicValue) (diagnosed, error) {
			return c.ValidateEphemeralResourceConfig(ctx, &tfplugin6.ValidateEphemeralResourceConfig_Request{TypeName: typeName, Config: config})
		})
}

// ValidateListConfig implements [providers.Interface].
func (i *instance) ValidateListConfig(ctx context.Context, typeName string, config cty.Value) tfdiags.Diagnostics {
	return i.validate(ctx, lists, "ValidateListResourceConfig", typeName, config,
		func(ctx context.Context, c tfplugin6.ProviderClient, config *tfplugin6.DynamicValue) (diagnosed, error) {
			return c.ValidateListResourceConfig(ctx, &tfplugin6.ValidateListResourceConfig_Request{TypeName: typeName, Config: config})
		})
}

// diagnosed is an answer that consists of problems.
type diagnosed interface {
	GetDiagnostics() []*tfplugin6.Diagnostic
}

func (i *instance) validate(ctx context.Context, k kind, method, typeName string, config cty.Value,
	send func(context.Context, tfplugin6.ProviderClient, *tfplugin6.DynamicValue) (diagnosed, error),
) tfdiags.Diagnostics {
	t, diags := i.typed(ctx, k, method, typeName)
	if diags.HasErrors() {
		return diags
	}
	encoded := t.encode(&diags, config)
	if diags.HasErrors() {
		return diags
	}
	resp, moreDiags := call(ctx, i, method, func(ctx context.Context, c tfplugin6.ProviderClient) (diagnosed, error) {
		return send(ctx, c, encoded)
	})
	if diags = append(diags, moreDiags...); diags.HasErrors() {
		return diags
	}
	return append(diags, toDiagnostics(resp.GetDiagnostics())...)
}
