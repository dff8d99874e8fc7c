package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func (s *server) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	_, err := commit(ctx, "validate", req.Config)
	return &tfprotov6.ValidateResourceConfigResponse{Diagnostics: diagnosed("validate", req.Config)}, err
}

func (s *server) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	v, err := req.RawState.Unmarshal(objectType)
	if err != nil {
		return nil, err
	}
	dv, err := encode(v)
	if err != nil {
		return nil, err
	}
	answer, err := commit(ctx, "upgrade", dv)
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: answer, Diagnostics: diagnosed("upgrade", dv)}, err
}

// ReadResource finds the object as it was. With the fault private it wants back
// what ApplyResourceChange gave out beside the object.
func (s *server) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	answer, err := commit(ctx, "read", req.CurrentState)
	resp := &tfprotov6.ReadResourceResponse{NewState: answer, NewIdentity: identity(), Private: req.Private, Diagnostics: diagnosed("read", req.CurrentState)}
	switch fault := kind(req.CurrentState); {
	case fault == "defer@read":
		resp.Deferred = &tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonAbsentPrereq}
	case fault == "private@apply" && string(req.Private) != "kept":
		resp.Diagnostics = problem("Private data lost", "Got "+string(req.Private))
	}
	return resp, err
}

func (s *server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	proposed, err := req.ProposedNewState.Unmarshal(objectType)
	if err != nil {
		return nil, err
	}
	if proposed.IsNull() {
		answer, err := commit(ctx, "plan-destroy", req.PriorState)
		if kind(req.PriorState) != "object@plan-destroy" {
			answer = req.ProposedNewState
		}
		return &tfprotov6.PlanResourceChangeResponse{PlannedState: answer, PlannedPrivate: []byte("destroy planned")}, err
	}
	planned := with(proposed, "secret", tftypes.NewValue(tftypes.String, nil))
	for _, name := range []string{"id", "config"} {
		if text(planned, name) == "" {
			planned = with(planned, name, tftypes.NewValue(tftypes.String, tftypes.UnknownValue))
		}
	}
	if unset(planned, "size") {
		planned = with(planned, "size", tftypes.NewValue(tftypes.Number, tftypes.UnknownValue))
	}
	if kind(req.ProposedNewState) == "final@plan" { // known with the pin, and different without
		planned = with(planned, "size", tftypes.NewValue(tftypes.Number, len(text(planned, "pin"))))
	}
	dv, err := encode(planned)
	if err != nil {
		return nil, err
	}
	answer, err := commit(ctx, "plan", dv)
	return &tfprotov6.PlanResourceChangeResponse{
		PlannedState: answer, PlannedIdentity: identity(), Diagnostics: diagnosed("plan", dv), RequiresReplace: replacements(kind(dv)),
		UnsafeToUseLegacyTypeSystem: strings.HasPrefix(kind(dv), "legacy-"), //nolint:staticcheck // it is there to be misused
	}, err
}

// replacements are the paths that require a replacement, as a fault asks for.
func replacements(fault string) []*tftypes.AttributePath {
	path := tftypes.NewAttributePath()
	switch fault {
	case "replace-nothing@plan":
		path = path.WithAttributeName("nope")
	case "replace-deep@plan":
		path = path.WithAttributeName("items").WithElementKeyInt(7).WithAttributeName("key")
	case "replace-same@plan":
		path = path.WithAttributeName("fault")
	case "replace-name@plan":
		path = path.WithAttributeName("name")
	case "replace-size@plan":
		path = path.WithAttributeName("size")
	case "replace-secret@plan":
		path = path.WithAttributeName("secret")
	case "replace-all@plan":
	default:
		return nil
	}
	return []*tftypes.AttributePath{path}
}

func (s *server) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	planned, err := req.PlannedState.Unmarshal(objectType)
	if err != nil {
		return nil, err
	}
	if planned.IsNull() {
		answer, err := commit(ctx, "destroy", req.PriorState)
		if kind(req.PriorState) != "object@destroy" {
			answer = req.PlannedState
		}
		return &tfprotov6.ApplyResourceChangeResponse{NewState: answer, Diagnostics: diagnosed("destroy", req.PriorState)}, err
	}
	state := with(planned, "config", tftypes.NewValue(tftypes.String, s.region))
	if unset(state, "id") {
		state = with(state, "id", tftypes.NewValue(tftypes.String, "id-"+text(planned, "name")))
	}
	if unset(state, "size") {
		state = with(state, "size", tftypes.NewValue(tftypes.Number, 1))
	}
	dv, err := encode(state)
	if err != nil {
		return nil, err
	}
	answer, err := commit(ctx, "apply", dv)
	resp := &tfprotov6.ApplyResourceChangeResponse{
		NewState: answer, NewIdentity: identity(), Private: req.PlannedPrivate, Diagnostics: diagnosed("apply", dv),
		UnsafeToUseLegacyTypeSystem: strings.HasPrefix(kind(dv), "legacy-"), //nolint:staticcheck // it is there to be misused
	}
	if kind(dv) == "private@apply" {
		resp.Private = []byte("kept")
	}
	return resp, err
}

// ImportResourceState imports any id as an object of that name. Some ids ask for a fault.
func (s *server) ImportResourceState(_ context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	found := &tfprotov6.ImportedResource{TypeName: req.TypeName}
	v := with(empty(), "name", tftypes.NewValue(tftypes.String, req.ID))
	resp := &tfprotov6.ImportResourceStateResponse{ImportedResources: []*tfprotov6.ImportedResource{found}}
	switch req.ID {
	case "other-type":
		found.TypeName = "fault_missing"
	case "null":
		v = tftypes.NewValue(objectType, nil)
	case "unknown":
		v = with(v, "size", tftypes.NewValue(tftypes.Number, tftypes.UnknownValue))
	case "secret":
		v = with(v, "secret", tftypes.NewValue(tftypes.String, "S3CRET"))
	case "gone":
		v = with(v, "fault", tftypes.NewValue(tftypes.String, "null-object@read"))
	case "none":
		resp.ImportedResources = nil
	case "two":
		resp.ImportedResources = append(resp.ImportedResources, found)
	case "refused":
		resp.Diagnostics = problem("No import", "The id says so.")
	}
	dv, err := encode(v)
	found.State = dv
	return resp, err
}

// MoveResourceState takes over objects that look like its own, and those of
// terraform_data: their input is the name, or asks for a fault.
func (s *server) MoveResourceState(_ context.Context, req *tfprotov6.MoveResourceStateRequest) (*tfprotov6.MoveResourceStateResponse, error) {
	resp := &tfprotov6.MoveResourceStateResponse{TargetPrivate: req.SourcePrivate}
	v := empty()
	if req.SourceTypeName == "terraform_data" {
		var source struct{ Input struct{ Value string } }
		if err := json.Unmarshal(req.SourceState.JSON, &source); err != nil {
			return nil, err
		}
		v = with(v, "name", tftypes.NewValue(tftypes.String, source.Input.Value))
	} else {
		var err error
		if v, err = req.SourceState.UnmarshalWithOpts(objectType, tfprotov6.UnmarshalOpts{ValueFromJSONOpts: tftypes.ValueFromJSONOpts{IgnoreUndefinedAttributes: true}}); err != nil {
			return nil, err
		}
	}
	name := text(v, "name")
	v = with(v, "config", tftypes.NewValue(tftypes.String, req.SourceProviderAddress+" "+req.SourceTypeName))
	if change := changes[name]; change != nil {
		v = change(v)
	}
	if name == "refused" {
		resp.Diagnostics = problem("No move", "The name says so.")
	}
	dv, err := encode(v)
	resp.TargetState = dv
	return resp, err
}

// identity is what newer clients want to know of an object; older ones look past it.
func identity() *tfprotov6.ResourceIdentityData {
	dv, err := tfprotov6.NewDynamicValue(identityType, tftypes.NewValue(identityType, map[string]tftypes.Value{"id": tftypes.NewValue(tftypes.String, "i")}))
	if err != nil {
		return nil
	}
	return &tfprotov6.ResourceIdentityData{IdentityData: &dv}
}

// empty returns an object in which nothing is set.
func empty() tftypes.Value {
	vals := make(map[string]tftypes.Value, len(objectType.AttributeTypes))
	for name, ty := range objectType.AttributeTypes {
		vals[name] = tftypes.NewValue(ty, nil)
	}
	for _, name := range []string{"disk", "tag"} {
		vals[name] = tftypes.NewValue(objectType.AttributeTypes[name], []tftypes.Value{})
	}
	return tftypes.NewValue(objectType, vals)
}
