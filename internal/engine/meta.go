package engine

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// providerMeta is what a module tells a provider about itself. Its problems are
// those of every resource of the provider in the module, and only when something
// is to be done with them.
type providerMeta struct {
	value cty.Value
	diags tfdiags.Diagnostics
}

// resolveMeta decodes a module's provider_meta blocks for the providers that its
// resources use. Other blocks mean nothing.
func (c *compiler) resolveMeta(m *moduleProgram) {
	metas := m.config.Module.ProviderMetas
	if len(metas) == 0 {
		return
	}
	for _, addr := range sortedResources(m.config.Module.Resources) {
		decl := m.config.Module.Resources[addr]
		meta := metas[decl.Provider.LocalName]
		if meta == nil {
			continue
		}
		provider := m.config.LocalProviderFor(decl.Provider).Provider
		if _, done := m.metas[provider]; done {
			continue
		}
		schema, diags := c.schemas.schema(c.ctx, provider)
		if diags.HasErrors() { // reported with the resource
			continue
		}
		if m.metas == nil {
			m.metas = map[addrs.Provider]providerMeta{}
		}
		m.metas[provider] = decodeMeta(meta, provider, schema.ProviderMeta)
	}
}

func decodeMeta(meta *configs.ProviderMeta, provider addrs.Provider, schema *providers.Block) providerMeta {
	if schema == nil {
		return providerMeta{diags: tfdiags.At(meta.NameRange, fmt.Sprintf("Provider %s doesn't support provider_meta", provider),
			fmt.Sprintf("The module tells the provider %s about itself in a provider_meta block, and this version of the provider does not listen. Remove the block.", provider.ForDisplay()))}
	}
	value, diags := decodeBody(meta.Config, schema, nil)
	return providerMeta{value, diags}
}

// metaProblems returns what is wrong with what an object's module tells its provider.
func (o *object) metaProblems() tfdiags.Diagnostics {
	if len(o.mod.metas) == 0 || o.provider == nil {
		return nil
	}
	return o.mod.metas[o.provider.providerAddr.Provider].diags
}

// clientFor returns the provider for calls about objects of a module, which is told
// what the module wants it to know. A module that is no more says nothing.
func (run *providerRun) clientFor(prog *program, module addrs.ModuleInstance) providers.Interface {
	m := prog.root
	for _, step := range module {
		if m = m.children[step.Name]; m == nil {
			return run.client
		}
	}
	meta, ok := m.metas[run.object.providerAddr.Provider]
	if !ok || meta.value == cty.NilVal {
		return run.client
	}
	return telling{run.client, meta.value}
}

// telling is a provider that is told about a module with every call.
type telling struct {
	providers.Interface
	meta cty.Value
}

// ReadResource implements providers.Interface.
func (t telling) ReadResource(ctx context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
	req.ProviderMeta = t.meta
	return t.Interface.ReadResource(ctx, req)
}

// PlanResourceChange implements providers.Interface.
func (t telling) PlanResourceChange(ctx context.Context, req providers.PlanResourceChangeRequest) providers.PlanResourceChangeResponse {
	req.ProviderMeta = t.meta
	return t.Interface.PlanResourceChange(ctx, req)
}

// ApplyResourceChange implements providers.Interface.
func (t telling) ApplyResourceChange(ctx context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
	req.ProviderMeta = t.meta
	return t.Interface.ApplyResourceChange(ctx, req)
}

// ReadDataSource implements providers.Interface.
func (t telling) ReadDataSource(ctx context.Context, req providers.ReadDataSourceRequest) providers.ReadDataSourceResponse {
	req.ProviderMeta = t.meta
	return t.Interface.ReadDataSource(ctx, req)
}
