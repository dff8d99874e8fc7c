package plugin

import (
	"bytes"
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin6"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// UpgradeResourceState implements [providers.Interface].
func (i *instance) UpgradeResourceState(ctx context.Context, req providers.UpgradeResourceStateRequest) (resp providers.UpgradeResourceStateResponse) {
	const method = "UpgradeResourceState"
	t, diags := i.typed(ctx, resources, method, req.TypeName)
	if diags.HasErrors() {
		return providers.UpgradeResourceStateResponse{Diagnostics: diags}
	}
	stored := req.RawJSON
	if req.Version == t.version {
		// Providers upgrade between versions; within one, what has left the schema
		// must not reach them, since some refuse it.
		stored = states.PresentAttributes(stored, t.ty)
	}
	answer, moreDiags := call(ctx, i, method, func(ctx context.Context, c tfplugin6.ProviderClient) (*tfplugin6.UpgradeResourceState_Response, error) {
		return c.UpgradeResourceState(ctx, &tfplugin6.UpgradeResourceState_Request{
			TypeName: req.TypeName, Version: req.Version,
			RawState: &tfplugin6.RawState{Json: stored, Flatmap: req.RawFlatmap},
		})
	})
	resp.Diagnostics = append(append(diags, moreDiags...), toDiagnostics(answer.GetDiagnostics())...)
	if answer != nil {
		resp.UpgradedState = t.decodeState(&resp.Diagnostics, answer.GetUpgradedState())
	}
	return resp
}

// ReadResource implements [providers.Interface].
func (i *instance) ReadResource(ctx context.Context, req providers.ReadResourceRequest) (resp providers.ReadResourceResponse) {
	const method = "ReadResource"
	t, diags := i.typed(ctx, resources, method, req.TypeName)
	if diags.HasErrors() {
		return providers.ReadResourceResponse{Diagnostics: diags}
	}
	sent := &tfplugin6.DynamicValue{Msgpack: req.PriorEncoded}
	if req.PriorEncoded == nil {
		sent = t.encode(&diags, req.PriorState)
	}
	meta := t.meta(&diags, req.ProviderMeta)
	if diags.HasErrors() {
		return providers.ReadResourceResponse{Diagnostics: diags}
	}
	answer, moreDiags := call(ctx, i, method, func(ctx context.Context, c tfplugin6.ProviderClient) (*tfplugin6.ReadResource_Response, error) {
		return c.ReadResource(ctx, &tfplugin6.ReadResource_Request{
			TypeName: req.TypeName, CurrentState: sent, Private: req.Private, ProviderMeta: meta, ClientCapabilities: capabilities,
		})
	})
	resp.Diagnostics = append(append(diags, moreDiags...), toDiagnostics(answer.GetDiagnostics())...)
	if answer == nil {
		return resp
	}
	resp.Private = answer.GetPrivate()
	refuseDeferred(&resp.Diagnostics, t, answer.GetDeferred())
	got := answer.GetNewState()
	if len(got.GetMsgpack()) > 0 && bytes.Equal(got.GetMsgpack(), sent.GetMsgpack()) {
		resp.NewState, resp.Unchanged, resp.Encoded = req.PriorState, true, sent.GetMsgpack()
		return resp
	}
	resp.NewState = t.decodeState(&resp.Diagnostics, got)
	resp.Encoded = t.encoded(resp.NewState, got)
	return resp
}

// encoded returns the msgpack form of a value that was decoded from dv, nil if it has none.
func (t *typed) encoded(v cty.Value, dv *tfplugin6.DynamicValue) []byte {
	if v == cty.NilVal || v.IsNull() {
		return nil
	}
	if len(dv.GetMsgpack()) > 0 {
		return dv.GetMsgpack()
	}
	raw, err := msgpack.Marshal(v, t.ty)
	if err != nil {
		return nil // it saves time only
	}
	return raw
}

// PlanResourceChange implements [providers.Interface].
func (i *instance) PlanResourceChange(ctx context.Context, req providers.PlanResourceChangeRequest) (resp providers.PlanResourceChangeResponse) {
	const method = "PlanResourceChange"
	t, diags := i.typed(ctx, resources, method, req.TypeName)
	if diags.HasErrors() {
		return providers.PlanResourceChangeResponse{Diagnostics: diags}
	}
	if req.ProposedNewState.IsNull() && !t.schema.Capabilities.PlanDestroy {
		return providers.PlanResourceChangeResponse{PlannedState: cty.NullVal(t.ty), PlannedPrivate: req.PriorPrivate, Diagnostics: diags}
	}
	message := &tfplugin6.PlanResourceChange_Request{
		TypeName:   req.TypeName,
		PriorState: t.encode(&diags, req.PriorState), ProposedNewState: t.encode(&diags, req.ProposedNewState),
		Config: t.encode(&diags, req.Config), PriorPrivate: req.PriorPrivate,
		ProviderMeta: t.meta(&diags, req.ProviderMeta), ClientCapabilities: capabilities,
	}
	if diags.HasErrors() {
		return providers.PlanResourceChangeResponse{Diagnostics: diags}
	}
	answer, moreDiags := call(ctx, i, method, func(ctx context.Context, c tfplugin6.ProviderClient) (*tfplugin6.PlanResourceChange_Response, error) {
		return c.PlanResourceChange(ctx, message)
	})
	resp.Diagnostics = append(append(diags, moreDiags...), toDiagnostics(answer.GetDiagnostics())...)
	if answer == nil {
		return resp
	}
	refuseDeferred(&resp.Diagnostics, t, answer.GetDeferred())
	resp.PlannedState = t.decodeState(&resp.Diagnostics, answer.GetPlannedState())
	resp.RequiresReplace = toPaths(answer.GetRequiresReplace())
	resp.PlannedPrivate = answer.GetPlannedPrivate()
	resp.LegacyTypeSystem = answer.GetLegacyTypeSystem()
	return resp
}

// ApplyResourceChange implements [providers.Interface]. Once sent, the call
// runs to its end, so that the outcome is known.
func (i *instance) ApplyResourceChange(ctx context.Context, req providers.ApplyResourceChangeRequest) (resp providers.ApplyResourceChangeResponse) {
	const method = "ApplyResourceChange"
	t, diags := i.typed(ctx, resources, method, req.TypeName)
	if diags.HasErrors() {
		return providers.ApplyResourceChangeResponse{Diagnostics: diags}
	}
	message := &tfplugin6.ApplyResourceChange_Request{
		TypeName:   req.TypeName,
		PriorState: t.encode(&diags, req.PriorState), PlannedState: t.encode(&diags, req.PlannedState),
		Config: t.encode(&diags, req.Config), PlannedPrivate: req.PlannedPrivate,
		ProviderMeta: t.meta(&diags, req.ProviderMeta),
	}
	if diags.HasErrors() {
		return providers.ApplyResourceChangeResponse{Diagnostics: diags}
	}
	if ctx.Err() != nil {
		return providers.ApplyResourceChangeResponse{Diagnostics: append(diags, cancelled(method)...)}
	}
	sent := false
	answer, moreDiags := call(context.WithoutCancel(ctx), i, method, func(ctx context.Context, c tfplugin6.ProviderClient) (*tfplugin6.ApplyResourceChange_Response, error) {
		sent = true
		return c.ApplyResourceChange(ctx, message)
	})
	resp.Diagnostics = append(append(diags, moreDiags...), toDiagnostics(answer.GetDiagnostics())...)
	if answer == nil {
		resp.Unanswered = sent
		return resp
	}
	resp.NewState = t.decodeState(&resp.Diagnostics, answer.GetNewState())
	resp.Unanswered = resp.NewState == cty.NilVal // there may be an object, of which nothing is known
	resp.Private = answer.GetPrivate()
	resp.LegacyTypeSystem = answer.GetLegacyTypeSystem()
	return resp
}

// ImportResourceState implements [providers.Interface].
func (i *instance) ImportResourceState(ctx context.Context, req providers.ImportResourceStateRequest) (resp providers.ImportResourceStateResponse) {
	const method = "ImportResourceState"
	t, diags := i.typed(ctx, resources, method, req.TypeName)
	if diags.HasErrors() {
		return providers.ImportResourceStateResponse{Diagnostics: diags}
	}
	answer, moreDiags := call(ctx, i, method, func(ctx context.Context, c tfplugin6.ProviderClient) (*tfplugin6.ImportResourceState_Response, error) {
		return c.ImportResourceState(ctx, &tfplugin6.ImportResourceState_Request{
			TypeName: req.TypeName, Id: req.ID, ClientCapabilities: capabilities,
		})
	})
	resp.Diagnostics = append(append(diags, moreDiags...), toDiagnostics(answer.GetDiagnostics())...)
	if answer == nil {
		return resp
	}
	refuseDeferred(&resp.Diagnostics, t, answer.GetDeferred())
	for _, imported := range answer.GetImportedResources() {
		// A provider may import objects of other types along with the one asked for.
		own, moreDiags := i.typed(ctx, resources, method, imported.GetTypeName())
		resp.Diagnostics = append(resp.Diagnostics, moreDiags...)
		if moreDiags.HasErrors() {
			continue
		}
		resp.Imported = append(resp.Imported, providers.ImportedResource{
			TypeName: imported.GetTypeName(), Private: imported.GetPrivate(),
			State: own.decodeState(&resp.Diagnostics, imported.GetState()),
		})
	}
	return resp
}

// MoveResourceState implements [providers.Interface].
func (i *instance) MoveResourceState(ctx context.Context, req providers.MoveResourceStateRequest) (resp providers.MoveResourceStateResponse) {
	const method = "MoveResourceState"
	t, diags := i.typed(ctx, resources, method, req.TargetType)
	if diags.HasErrors() {
		return providers.MoveResourceStateResponse{Diagnostics: diags}
	}
	if !t.schema.Capabilities.MoveResourceState {
		return providers.MoveResourceStateResponse{Diagnostics: append(diags, tfdiags.New(tfdiags.Error,
			"Unsupported `moved` across resource types",
			fmt.Sprintf("The provider %s cannot take over objects of another type. Remove the moved block, and import or create the object under its new type.", i.addr.ForDisplay()))...)}
	}
	answer, moreDiags := call(ctx, i, method, func(ctx context.Context, c tfplugin6.ProviderClient) (*tfplugin6.MoveResourceState_Response, error) {
		return c.MoveResourceState(ctx, &tfplugin6.MoveResourceState_Request{
			SourceProviderAddress: req.SourceProvider, SourceTypeName: req.SourceType, SourceSchemaVersion: req.SourceVersion,
			SourceState: &tfplugin6.RawState{Json: req.SourceJSON}, TargetTypeName: req.TargetType, SourcePrivate: req.SourcePrivate,
		})
	})
	resp.Diagnostics = append(append(diags, moreDiags...), toDiagnostics(answer.GetDiagnostics())...)
	if answer == nil {
		return resp
	}
	resp.TargetState = t.decodeState(&resp.Diagnostics, answer.GetTargetState())
	if resp.TargetState != cty.NilVal && !resp.TargetState.IsWhollyKnown() {
		resp.Diagnostics = append(resp.Diagnostics, tfdiags.New(tfdiags.Error, "Provider returned invalid value",
			fmt.Sprintf("The provider moved an object to %s with unknown values. This is a bug of the provider; report it to its developers.", req.TargetType))...)
	}
	resp.TargetPrivate = answer.GetTargetPrivate()
	return resp
}

// refuseDeferred reports an answer that puts off the work. No provider may give
// one, since it is told that we cannot handle them.
func refuseDeferred(diags *tfdiags.Diagnostics, t *typed, deferred *tfplugin6.Deferred) {
	if deferred != nil {
		*diags = append(*diags, invalidAnswer(t.method, t.typeName, fmt.Errorf("it defers the operation (%s), which it was told not to do", deferred.GetReason()))...)
	}
}
