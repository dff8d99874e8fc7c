package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// builtin is the provider terraform.io/builtin/terraform with its resource type
// terraform_data and its data source terraform_remote_state.
type builtin struct{ schemas *providers.Schema }

func newBuiltin() *builtin {
	data := &providers.Block{Attributes: map[string]*providers.Attribute{
		"id":               {Type: cty.String, Computed: true},
		"input":            {Type: cty.DynamicPseudoType, Optional: true},
		"output":           {Type: cty.DynamicPseudoType, Computed: true},
		"triggers_replace": {Type: cty.DynamicPseudoType, Optional: true},
	}}
	return &builtin{&providers.Schema{
		Provider:      &providers.Block{},
		ResourceTypes: providers.SchemaMap{"terraform_data": {Block: data}},
		DataSources:   providers.SchemaMap{remoteStateType: remoteStateSchema()}, Ephemerals: providers.SchemaMap{}, Lists: providers.SchemaMap{},
		Functions: builtinFunctionSchemas(),
	}}
}

var _ providers.Interface = (*builtin)(nil)

func (b *builtin) Schema(context.Context) (*providers.Schema, tfdiags.Diagnostics) {
	return b.schemas, nil
}

func (b *builtin) ValidateProviderConfig(context.Context, cty.Value) tfdiags.Diagnostics { return nil }

func (b *builtin) ValidateResourceConfig(context.Context, string, cty.Value) tfdiags.Diagnostics {
	return nil
}

func (b *builtin) ValidateEphemeralConfig(context.Context, string, cty.Value) tfdiags.Diagnostics {
	return nil
}

func (b *builtin) ValidateListConfig(context.Context, string, cty.Value) tfdiags.Diagnostics {
	return nil
}

func (b *builtin) Configure(context.Context, cty.Value) tfdiags.Diagnostics { return nil }

// UpgradeResourceState decodes a stored object; there is one schema version.
func (b *builtin) UpgradeResourceState(_ context.Context, req providers.UpgradeResourceStateRequest) providers.UpgradeResourceStateResponse {
	val, err := states.DecodeAttributes(req.RawJSON, b.schemas.ResourceTypes.Get("terraform_data").Block.ImpliedType())
	if err != nil {
		return providers.UpgradeResourceStateResponse{Diagnostics: tfdiags.FromError("Invalid terraform_data state", err)}
	}
	return providers.UpgradeResourceStateResponse{UpgradedState: val}
}

func (b *builtin) ReadResource(_ context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
	return providers.ReadResourceResponse{NewState: req.PriorState, Unchanged: true, Encoded: req.PriorEncoded, Private: req.Private}
}

// PlanResourceChange makes output follow input and replaces when triggers_replace changes.
func (b *builtin) PlanResourceChange(_ context.Context, req providers.PlanResourceChangeRequest) providers.PlanResourceChangeResponse {
	resp := providers.PlanResourceChangeResponse{PlannedState: req.ProposedNewState, PlannedPrivate: req.PriorPrivate}
	if req.ProposedNewState.IsNull() {
		return resp
	}
	planned := req.ProposedNewState.AsValueMap()
	input := planned["input"]
	switch {
	case req.PriorState.IsNull():
		planned["id"] = cty.UnknownVal(cty.String).RefineNotNull()
		planned["output"] = outputFor(input)
	case !req.PriorState.GetAttr("triggers_replace").RawEquals(planned["triggers_replace"]):
		resp.RequiresReplace = []cty.Path{cty.GetAttrPath("triggers_replace")}
		planned["output"] = cty.UnknownVal(input.Type())
	case !req.PriorState.GetAttr("input").RawEquals(input):
		planned["output"] = cty.UnknownVal(input.Type())
	}
	resp.PlannedState = cty.ObjectVal(planned)
	return resp
}

// outputFor is the planned output of a new object.
func outputFor(input cty.Value) cty.Value {
	if input.IsNull() {
		return input
	}
	return cty.UnknownVal(input.Type())
}

func (b *builtin) ApplyResourceChange(_ context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
	if req.PlannedState.IsNull() {
		return providers.ApplyResourceChangeResponse{NewState: req.PlannedState}
	}
	val := req.PlannedState.AsValueMap()
	val["output"] = val["input"]
	if !val["id"].IsKnown() {
		val["id"] = cty.StringVal(uuid.NewString())
	}
	return providers.ApplyResourceChangeResponse{NewState: cty.ObjectVal(val), Private: req.PlannedPrivate}
}

// ImportResourceState adopts an object by its id.
func (b *builtin) ImportResourceState(_ context.Context, req providers.ImportResourceStateRequest) providers.ImportResourceStateResponse {
	state := b.schemas.ResourceTypes.Get("terraform_data").Block.EmptyValue().AsValueMap()
	state["id"] = cty.StringVal(req.ID)
	return providers.ImportResourceStateResponse{Imported: []providers.ImportedResource{{TypeName: req.TypeName, State: cty.ObjectVal(state)}}}
}

func (b *builtin) unsupported(what string) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Unsupported operation", "The built-in provider has no "+what+".")
}

// MoveResourceState takes over objects of the null provider, as Terraform does.
func (b *builtin) MoveResourceState(_ context.Context, req providers.MoveResourceStateRequest) providers.MoveResourceStateResponse {
	if req.SourceType != "null_resource" {
		return providers.MoveResourceStateResponse{Diagnostics: tfdiags.New(tfdiags.Error, "Unsupported move",
			fmt.Sprintf("An object of type %s cannot become a %s: only a null_resource can. Remove the moved block, and create or import the object under its new type.", req.SourceType, req.TargetType))}
	}
	var source struct {
		ID       string            `json:"id"`
		Triggers map[string]string `json:"triggers"`
	}
	if err := json.Unmarshal(req.SourceJSON, &source); err != nil {
		return providers.MoveResourceStateResponse{Diagnostics: tfdiags.FromError("Invalid null_resource state", err)}
	}
	state := b.schemas.ResourceTypes.Get("terraform_data").Block.EmptyValue().AsValueMap()
	state["id"] = cty.StringVal(source.ID)
	if len(source.Triggers) > 0 {
		triggers := map[string]cty.Value{}
		for name, value := range source.Triggers {
			triggers[name] = cty.StringVal(value)
		}
		state["triggers_replace"] = cty.ObjectVal(triggers)
	}
	return providers.MoveResourceStateResponse{TargetState: cty.ObjectVal(state)}
}

func (b *builtin) OpenEphemeral(context.Context, providers.OpenEphemeralRequest) providers.OpenEphemeralResponse {
	return providers.OpenEphemeralResponse{Diagnostics: b.unsupported("ephemeral resources")}
}

func (b *builtin) RenewEphemeral(context.Context, providers.RenewEphemeralRequest) providers.RenewEphemeralResponse {
	return providers.RenewEphemeralResponse{Diagnostics: b.unsupported("ephemeral resources")}
}

func (b *builtin) CloseEphemeral(context.Context, providers.CloseEphemeralRequest) tfdiags.Diagnostics {
	return b.unsupported("ephemeral resources")
}

func (b *builtin) ListResources(context.Context, providers.ListResourcesRequest) providers.ListResourcesResponse {
	return providers.ListResourcesResponse{Diagnostics: b.unsupported("list resources")}
}

func (b *builtin) Stop(context.Context) error { return nil }
func (b *builtin) Close() error               { return nil }
