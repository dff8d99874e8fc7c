package providerstest

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// ReadDataSource answers with the configuration, computed strings set to the data source's name.
func (p *Provider) ReadDataSource(ctx context.Context, req providers.ReadDataSourceRequest) providers.ReadDataSourceResponse {
	block := blockOf(p.SchemaValue.DataSources, req.TypeName)
	diags := append(p.record("ReadDataSource", req.TypeName, req, true), conforms(block, req.TypeName, req.Config)...)
	switch {
	case diags.HasErrors():
		return providers.ReadDataSourceResponse{Diagnostics: diags}
	case !req.Config.IsWhollyKnown():
		return providers.ReadDataSourceResponse{Diagnostics: misuse("%s: the configuration is not known.", req.TypeName)}
	case p.DataHook != nil:
		return p.DataHook(ctx, req)
	}
	return providers.ReadDataSourceResponse{State: fillComputed(block, req.Config, req.TypeName)}
}

// ListResources names the real objects of the type, identified by their id.
func (p *Provider) ListResources(ctx context.Context, req providers.ListResourcesRequest) providers.ListResourcesResponse {
	block := blockOf(p.SchemaValue.Lists, req.TypeName)
	diags := append(p.record("ListResources", req.TypeName, req, true), conforms(block, req.TypeName, req.Config)...)
	switch {
	case diags.HasErrors():
		return providers.ListResourcesResponse{Diagnostics: diags}
	case !req.Config.IsWhollyKnown():
		return providers.ListResourcesResponse{Diagnostics: misuse("%s: the configuration is not known.", req.TypeName)}
	case p.ListHook != nil:
		return p.ListHook(ctx, req)
	}
	resp := providers.ListResourcesResponse{RequiredIdentity: []string{"id"}}
	for _, id := range p.IDs(req.TypeName) {
		if resp.Full = len(resp.Listed) == req.Limit && req.Limit > 0; resp.Full {
			break
		}
		found := providers.ListedResource{Identity: cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(id)}), DisplayName: id, Resource: cty.NilVal}
		if req.IncludeResource {
			found.Resource = p.Object(req.TypeName, id)
		}
		resp.Listed = append(resp.Listed, found)
	}
	return resp
}

// OpenEphemeral answers as ReadDataSource does.
func (p *Provider) OpenEphemeral(ctx context.Context, req providers.OpenEphemeralRequest) providers.OpenEphemeralResponse {
	block := blockOf(p.SchemaValue.Ephemerals, req.TypeName)
	diags := append(p.record("OpenEphemeral", req.TypeName, req, true), conforms(block, req.TypeName, req.Config)...)
	switch {
	case diags.HasErrors():
		return providers.OpenEphemeralResponse{Diagnostics: diags}
	case !req.Config.IsWhollyKnown():
		return providers.OpenEphemeralResponse{Diagnostics: misuse("%s: the configuration is not known.", req.TypeName)}
	case p.OpenHook != nil:
		return p.OpenHook(ctx, req)
	}
	return providers.OpenEphemeralResponse{Result: fillComputed(block, req.Config, req.TypeName), Private: []byte(req.TypeName)}
}

// RenewEphemeral keeps the private data and asks for no further renewal.
func (p *Provider) RenewEphemeral(ctx context.Context, req providers.RenewEphemeralRequest) providers.RenewEphemeralResponse {
	diags := p.record("RenewEphemeral", req.TypeName, req, true)
	if p.RenewHook != nil && !diags.HasErrors() {
		return p.RenewHook(ctx, req)
	}
	return providers.RenewEphemeralResponse{Private: req.Private, Diagnostics: diags}
}

// CloseEphemeral records the call.
func (p *Provider) CloseEphemeral(_ context.Context, req providers.CloseEphemeralRequest) tfdiags.Diagnostics {
	return p.record("CloseEphemeral", req.TypeName, req, true)
}

// CallFunction answers through FunctionHook; without one every call is an error.
func (p *Provider) CallFunction(_ context.Context, name string, args []cty.Value) (cty.Value, error) {
	if diags := p.record("CallFunction", name, args, false); diags.HasErrors() {
		return cty.NilVal, diags.Err()
	}
	if p.FunctionHook == nil || p.SchemaValue.Functions[name] == nil {
		return cty.NilVal, misuse("There is no function %s.", name).Err()
	}
	return p.FunctionHook(name, args)
}

func fillComputed(block *providers.Block, config cty.Value, text string) cty.Value {
	return eachAttribute(block, config, func(attr *providers.Attribute, _ cty.Path, v cty.Value) cty.Value {
		if attr.Computed && v.IsNull() && v.Type() == cty.String {
			return cty.StringVal(text)
		}
		return v
	})
}
