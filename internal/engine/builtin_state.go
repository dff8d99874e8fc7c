package engine

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/backend"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// remoteStateType is the data source that reads the outputs of another state.
const remoteStateType = "terraform_remote_state"

func remoteStateSchema() *providers.ResourceSchema {
	return &providers.ResourceSchema{Block: &providers.Block{Attributes: map[string]*providers.Attribute{
		"backend":   {Type: cty.String, Required: true, Markdown: true, Description: "The kind of backend that keeps the state: `local` or `s3`."},
		"config":    {Type: cty.DynamicPseudoType, Optional: true, Markdown: true, Description: "The arguments of the backend, as an object."},
		"defaults":  {Type: cty.DynamicPseudoType, Optional: true, Markdown: true, Description: "Values for outputs that the state does not have, as an object."},
		"outputs":   {Type: cty.DynamicPseudoType, Computed: true, Markdown: true, Description: "The output values of the state's root module."},
		"workspace": {Type: cty.String, Optional: true, Markdown: true, Description: "The workspace to read; `default` if not set."},
	}}}
}

// remoteState is what a configuration asks of another state.
type remoteState struct {
	settings  backend.Settings
	workspace string
	defaults  map[string]cty.Value
}

// decodeRemoteState checks the arguments of the data source.
func decodeRemoteState(config cty.Value) (remoteState, tfdiags.Diagnostics) {
	out := remoteState{workspace: backend.DefaultWorkspace}
	at := func(name, summary, detail string) tfdiags.Diagnostics {
		diags := tfdiags.New(tfdiags.Error, summary, detail)
		diags[0].Attribute = cty.GetAttrPath(name)
		return diags
	}
	if defaults := config.GetAttr("defaults"); !defaults.IsNull() && defaults.IsKnown() {
		if !defaults.Type().IsObjectType() && !defaults.Type().IsMapType() {
			return out, at("defaults", "Invalid default values", "Defaults must be an object with a value for each output.")
		}
		out.defaults = defaults.AsValueMap()
	}
	if workspace := config.GetAttr("workspace"); !workspace.IsNull() && workspace.IsKnown() {
		out.workspace = workspace.AsString()
	}
	kind, arguments := config.GetAttr("backend"), config.GetAttr("config")
	if !kind.IsKnown() || !arguments.IsWhollyKnown() {
		return out, nil
	}
	if !arguments.IsNull() && !arguments.Type().IsObjectType() && !arguments.Type().IsMapType() {
		return out, at("config", "Invalid backend configuration", "The arguments of the backend must be an object.")
	}
	settings, diags := backend.FromValue(kind.AsString(), arguments)
	if diags.HasErrors() {
		return out, at("config", "Invalid backend configuration", diags[0].Detail)
	}
	out.settings = settings
	return out, nil
}

func (b *builtin) ValidateDataSourceConfig(_ context.Context, _ string, config cty.Value) tfdiags.Diagnostics {
	_, diags := decodeRemoteState(config)
	return diags
}

// ReadDataSource reads the outputs of another state.
func (b *builtin) ReadDataSource(ctx context.Context, req providers.ReadDataSourceRequest) providers.ReadDataSourceResponse {
	wanted, diags := decodeRemoteState(req.Config)
	if diags.HasErrors() {
		return providers.ReadDataSourceResponse{Diagnostics: diags}
	}
	outputs, diags := wanted.outputs(ctx)
	if diags.HasErrors() {
		return providers.ReadDataSourceResponse{Diagnostics: diags}
	}
	result := req.Config.AsValueMap()
	result["outputs"] = cty.ObjectVal(outputs)
	return providers.ReadDataSourceResponse{State: cty.ObjectVal(result), Diagnostics: diags}
}

// outputs are the defaults with the state's output values over them.
func (r remoteState) outputs(ctx context.Context) (map[string]cty.Value, tfdiags.Diagnostics) {
	place, diags := backend.Open(ctx, ".", r.settings)
	if diags.HasErrors() {
		return nil, diags
	}
	data, err := place.Store(r.workspace).Read(ctx)
	if err != nil {
		return nil, tfdiags.FromError("Error loading state error", err)
	}
	if len(data) == 0 {
		return nil, tfdiags.New(tfdiags.Error, "Unable to find remote state",
			fmt.Sprintf("The backend has no state of the workspace %q at %s. Check the arguments, and apply that configuration first.", r.workspace, place.Store(r.workspace)))
	}
	state, diags := states.Decode(data)
	if diags.HasErrors() {
		return nil, diags
	}
	out := map[string]cty.Value{}
	for name, value := range r.defaults {
		out[name] = value
	}
	for name, output := range state.Outputs {
		out[name] = output.Value
	}
	return out, diags
}
