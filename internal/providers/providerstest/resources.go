package providerstest

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// UpgradeResourceState decodes the stored object by the current schema.
func (p *Provider) UpgradeResourceState(ctx context.Context, req providers.UpgradeResourceStateRequest) providers.UpgradeResourceStateResponse {
	block := blockOf(p.SchemaValue.ResourceTypes, req.TypeName)
	diags := append(p.record("UpgradeResourceState", req.TypeName, req, false), conforms(block, req.TypeName)...)
	switch {
	case diags.HasErrors():
		return providers.UpgradeResourceStateResponse{Diagnostics: diags}
	case p.UpgradeHook != nil:
		return p.UpgradeHook(ctx, req)
	}
	v, err := ctyjson.Unmarshal(req.RawJSON, block.ImpliedType())
	return providers.UpgradeResourceStateResponse{UpgradedState: v, Diagnostics: tfdiags.FromError("Unreadable state", err)}
}

// ReadResource answers with the real object of the prior one's id, null if it
// is gone. An object without an id attribute is as it was.
func (p *Provider) ReadResource(ctx context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
	block := blockOf(p.SchemaValue.ResourceTypes, req.TypeName)
	diags := append(p.record("ReadResource", req.TypeName, req, true), conforms(block, req.TypeName, req.PriorState)...)
	if diags.HasErrors() {
		return providers.ReadResourceResponse{Diagnostics: diags}
	}
	if p.ReadHook != nil {
		return p.ReadHook(ctx, req)
	}
	return p.ReadDefault(req)
}

// ReadDefault is what ReadResource does without a hook.
func (p *Provider) ReadDefault(req providers.ReadResourceRequest) providers.ReadResourceResponse {
	state := req.PriorState
	if id, ok := idOf(req.PriorState); ok {
		if state = p.Object(req.TypeName, id); state == cty.NilVal {
			state = cty.NullVal(req.PriorState.Type())
		}
	}
	encoded, err := msgpack.Marshal(state, blockOf(p.SchemaValue.ResourceTypes, req.TypeName).ImpliedType())
	return providers.ReadResourceResponse{
		NewState: state, Unchanged: state.RawEquals(req.PriorState), Encoded: encoded, Private: req.Private,
		Diagnostics: tfdiags.FromError("Object cannot be encoded", err),
	}
}

// PlanResourceChange plans the proposed object, with what the schema calls
// computed and nothing sets unknown for a new object, and write-only values null.
func (p *Provider) PlanResourceChange(ctx context.Context, req providers.PlanResourceChangeRequest) providers.PlanResourceChangeResponse {
	block := blockOf(p.SchemaValue.ResourceTypes, req.TypeName)
	diags := append(p.record("PlanResourceChange", req.TypeName, req, true),
		conforms(block, req.TypeName, req.PriorState, req.ProposedNewState, req.Config)...)
	if diags.HasErrors() {
		return providers.PlanResourceChangeResponse{Diagnostics: diags}
	}
	if p.PlanHook != nil {
		return p.PlanHook(ctx, req)
	}
	return p.PlanDefault(req)
}

// PlanDefault is what PlanResourceChange does without a hook.
func (p *Provider) PlanDefault(req providers.PlanResourceChangeRequest) providers.PlanResourceChangeResponse {
	if req.ProposedNewState.IsNull() {
		return providers.PlanResourceChangeResponse{PlannedState: req.ProposedNewState, PlannedPrivate: req.PriorPrivate}
	}
	block := blockOf(p.SchemaValue.ResourceTypes, req.TypeName)
	resp := providers.PlanResourceChangeResponse{PlannedPrivate: req.PriorPrivate}
	resp.PlannedState = eachAttribute(block, req.ProposedNewState, func(attr *providers.Attribute, path cty.Path, v cty.Value) cty.Value {
		configured, err := path.Apply(req.Config)
		unset := err != nil || configured.IsNull()
		switch {
		case attr.WriteOnly:
			return cty.NullVal(v.Type())
		case attr.Computed && unset && v.IsNull() && req.PriorState.IsNull():
			return cty.UnknownVal(v.Type())
		}
		return v
	})
	if req.PriorState.IsNull() {
		return resp
	}
	for _, name := range p.ForceNew[req.TypeName] {
		if !req.PriorState.GetAttr(name).RawEquals(resp.PlannedState.GetAttr(name)) {
			resp.RequiresReplace = append(resp.RequiresReplace, cty.GetAttrPath(name))
		}
	}
	return resp
}

// ApplyResourceChange keeps the planned object, with unknown strings made up
// and other unknown values null, or deletes the prior one.
func (p *Provider) ApplyResourceChange(ctx context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
	block := blockOf(p.SchemaValue.ResourceTypes, req.TypeName)
	diags := append(p.record("ApplyResourceChange", req.TypeName, req, true),
		conforms(block, req.TypeName, req.PriorState, req.PlannedState, req.Config)...)
	switch {
	case diags.HasErrors():
		return providers.ApplyResourceChangeResponse{Diagnostics: diags}
	case !req.Config.IsWhollyKnown():
		return providers.ApplyResourceChangeResponse{Diagnostics: misuse("%s: the configuration is not known at apply.", req.TypeName)}
	case p.ApplyHook != nil:
		return p.ApplyHook(ctx, req)
	}
	return p.ApplyDefault(req)
}

// ApplyDefault is what ApplyResourceChange does without a hook.
func (p *Provider) ApplyDefault(req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
	p.mu.Lock()
	defer p.mu.Unlock()
	if req.PlannedState.IsNull() {
		if id, ok := idOf(req.PriorState); ok {
			p.put(req.TypeName, id, cty.NilVal)
		}
		return providers.ApplyResourceChangeResponse{NewState: req.PlannedState}
	}
	p.lastID++
	number := p.lastID
	state, err := cty.Transform(req.PlannedState, func(path cty.Path, v cty.Value) (cty.Value, error) {
		switch {
		case v.IsKnown():
			return v, nil
		case v.Type() == cty.String:
			return cty.StringVal(fmt.Sprintf("%s-%d", req.TypeName, number)), nil
		default:
			return cty.NullVal(v.Type()), nil
		}
	})
	if err != nil {
		return providers.ApplyResourceChangeResponse{Diagnostics: tfdiags.FromError("Object cannot be completed", err)}
	}
	if id, ok := idOf(state); ok {
		p.put(req.TypeName, id, state)
	}
	return providers.ApplyResourceChangeResponse{NewState: state, Private: req.PlannedPrivate}
}

// ImportResourceState answers with the real object of that id, or an error.
func (p *Provider) ImportResourceState(ctx context.Context, req providers.ImportResourceStateRequest) providers.ImportResourceStateResponse {
	diags := append(p.record("ImportResourceState", req.TypeName, req, true),
		conforms(blockOf(p.SchemaValue.ResourceTypes, req.TypeName), req.TypeName)...)
	switch {
	case diags.HasErrors():
		return providers.ImportResourceStateResponse{Diagnostics: diags}
	case p.ImportHook != nil:
		return p.ImportHook(ctx, req)
	}
	state := p.Object(req.TypeName, req.ID)
	if state == cty.NilVal {
		return providers.ImportResourceStateResponse{
			Diagnostics: tfdiags.New(tfdiags.Error, "No such object", "There is no object with this id. Check the id."),
		}
	}
	return providers.ImportResourceStateResponse{Imported: []providers.ImportedResource{{TypeName: req.TypeName, State: state}}}
}

// MoveResourceState takes over the object if the target's schema can decode it.
func (p *Provider) MoveResourceState(ctx context.Context, req providers.MoveResourceStateRequest) providers.MoveResourceStateResponse {
	block := blockOf(p.SchemaValue.ResourceTypes, req.TargetType)
	diags := append(p.record("MoveResourceState", req.TargetType, req, true), conforms(block, req.TargetType)...)
	switch {
	case diags.HasErrors():
		return providers.MoveResourceStateResponse{Diagnostics: diags}
	case p.MoveHook != nil:
		return p.MoveHook(ctx, req)
	}
	v, err := ctyjson.Unmarshal(req.SourceJSON, block.ImpliedType())
	return providers.MoveResourceStateResponse{
		TargetState: v, TargetPrivate: req.SourcePrivate, Diagnostics: tfdiags.FromError("Object cannot be moved", err),
	}
}

// idOf returns an object's known id attribute.
func idOf(v cty.Value) (string, bool) {
	if v.IsNull() || !v.IsKnown() || !v.Type().IsObjectType() || !v.Type().HasAttribute("id") {
		return "", false
	}
	id := v.GetAttr("id")
	if id.IsNull() || !id.IsKnown() || id.Type() != cty.String {
		return "", false
	}
	return id.AsString(), true
}

// eachAttribute rebuilds v with f applied to every attribute of the schema.
func eachAttribute(block *providers.Block, v cty.Value, f func(*providers.Attribute, cty.Path, cty.Value) cty.Value) cty.Value {
	out, err := cty.Transform(v, func(path cty.Path, v cty.Value) (cty.Value, error) {
		if attr := block.AttributeByPath(path); attr != nil && len(path) > 0 {
			if _, isAttr := path[len(path)-1].(cty.GetAttrStep); isAttr {
				return f(attr, path, v), nil
			}
		}
		return v, nil
	})
	if err != nil {
		return v // cannot be: the function returns none
	}
	return out
}
