package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin6"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// ReadDataSource implements [providers.Interface].
func (i *instance) ReadDataSource(ctx context.Context, req providers.ReadDataSourceRequest) (resp providers.ReadDataSourceResponse) {
	const method = "ReadDataSource"
	t, diags := i.typed(ctx, data, method, req.TypeName)
	if diags.HasErrors() {
		return providers.ReadDataSourceResponse{Diagnostics: diags}
	}
	config, meta := t.encode(&diags, req.Config), t.meta(&diags, req.ProviderMeta)
	if diags.HasErrors() {
		return providers.ReadDataSourceResponse{Diagnostics: diags}
	}
	answer, moreDiags := call(ctx, i, method, func(ctx context.Context, c tfplugin6.ProviderClient) (*tfplugin6.ReadDataSource_Response, error) {
		return c.ReadDataSource(ctx, &tfplugin6.ReadDataSource_Request{
			TypeName: req.TypeName, Config: config, ProviderMeta: meta, ClientCapabilities: capabilities,
		})
	})
	resp.Diagnostics = append(append(diags, moreDiags...), toDiagnostics(answer.GetDiagnostics())...)
	if answer == nil {
		return resp
	}
	refuseDeferred(&resp.Diagnostics, t, answer.GetDeferred())
	resp.State = t.decode(&resp.Diagnostics, answer.GetState())
	return resp
}

// OpenEphemeral implements [providers.Interface].
func (i *instance) OpenEphemeral(ctx context.Context, req providers.OpenEphemeralRequest) (resp providers.OpenEphemeralResponse) {
	const method = "OpenEphemeralResource"
	t, diags := i.typed(ctx, ephemerals, method, req.TypeName)
	if diags.HasErrors() {
		return providers.OpenEphemeralResponse{Diagnostics: diags}
	}
	config := t.encode(&diags, req.Config)
	if diags.HasErrors() {
		return providers.OpenEphemeralResponse{Diagnostics: diags}
	}
	i.opened.Add(1) // first, so that the process which gets the call stays
	defer func() {
		if resp.Diagnostics.HasErrors() {
			i.opened.Add(-1)
		}
	}()
	answer, moreDiags := call(ctx, i, method, func(ctx context.Context, c tfplugin6.ProviderClient) (*tfplugin6.OpenEphemeralResource_Response, error) {
		return c.OpenEphemeralResource(ctx, &tfplugin6.OpenEphemeralResource_Request{
			TypeName: req.TypeName, Config: config, ClientCapabilities: capabilities,
		})
	})
	resp.Diagnostics = append(append(diags, moreDiags...), toDiagnostics(answer.GetDiagnostics())...)
	if answer == nil {
		return resp
	}
	refuseDeferred(&resp.Diagnostics, t, answer.GetDeferred())
	resp.Result = t.decode(&resp.Diagnostics, answer.GetResult())
	resp.Private = answer.GetPrivate()
	resp.RenewAt = toTime(answer.GetRenewAt())
	return resp
}

// RenewEphemeral implements [providers.Interface].
func (i *instance) RenewEphemeral(ctx context.Context, req providers.RenewEphemeralRequest) (resp providers.RenewEphemeralResponse) {
	answer, diags := call(ctx, i, "RenewEphemeralResource", func(ctx context.Context, c tfplugin6.ProviderClient) (*tfplugin6.RenewEphemeralResource_Response, error) {
		return c.RenewEphemeralResource(ctx, &tfplugin6.RenewEphemeralResource_Request{TypeName: req.TypeName, Private: req.Private})
	})
	resp.Diagnostics = append(diags, toDiagnostics(answer.GetDiagnostics())...)
	resp.Private = answer.GetPrivate()
	resp.RenewAt = toTime(answer.GetRenewAt())
	return resp
}

// CloseEphemeral implements [providers.Interface].
func (i *instance) CloseEphemeral(ctx context.Context, req providers.CloseEphemeralRequest) tfdiags.Diagnostics {
	defer i.opened.Add(-1)
	answer, diags := call(ctx, i, "CloseEphemeralResource", func(ctx context.Context, c tfplugin6.ProviderClient) (*tfplugin6.CloseEphemeralResource_Response, error) {
		return c.CloseEphemeralResource(ctx, &tfplugin6.CloseEphemeralResource_Request{TypeName: req.TypeName, Private: req.Private})
	})
	return append(diags, toDiagnostics(answer.GetDiagnostics())...)
}

func toTime(t *timestamppb.Timestamp) time.Time {
	if t == nil || !t.IsValid() {
		return time.Time{}
	}
	return t.AsTime()
}

// CallFunction implements [providers.Interface].
func (i *instance) CallFunction(ctx context.Context, name string, args []cty.Value) (cty.Value, error) {
	const method = "CallFunction"
	schema, diags := i.Schema(ctx)
	if diags.HasErrors() {
		return cty.NilVal, diags.Err()
	}
	f := schema.Functions[name]
	if f == nil {
		return cty.NilVal, fmt.Errorf("provider %s has no function %s", i.addr.ForDisplay(), name)
	}
	encoded, known, err := encodeArguments(f, args)
	if err != nil {
		return cty.NilVal, err
	}
	if !known {
		return cty.UnknownVal(f.Return), nil
	}
	answer, diags := call(ctx, i, method, func(ctx context.Context, c tfplugin6.ProviderClient) (*tfplugin6.CallFunction_Response, error) {
		return c.CallFunction(ctx, &tfplugin6.CallFunction_Request{Name: name, Arguments: encoded})
	})
	if diags.HasErrors() {
		return cty.NilVal, diags.Err()
	}
	if problem := answer.GetError(); problem != nil {
		return cty.NilVal, functionError(problem, len(args))
	}
	result, err := decode(answer.GetResult(), f.Return)
	if err != nil {
		return cty.NilVal, invalidAnswer(method, name, err).Err()
	}
	return result, nil
}

// encodeArguments also tells whether all arguments are known that must be:
// wholly, unlike for functions of the language itself.
func encodeArguments(f *providers.FunctionSchema, args []cty.Value) (encoded []*tfplugin6.DynamicValue, known bool, err error) {
	if len(args) < len(f.Parameters) || len(args) > len(f.Parameters) && f.VariadicParameter == nil {
		return nil, false, fmt.Errorf("the function takes %d arguments, and %d are given", len(f.Parameters), len(args))
	}
	known = true
	for n, arg := range args {
		param := f.VariadicParameter
		if n < len(f.Parameters) {
			param = &f.Parameters[n]
		}
		switch {
		case arg == cty.NilVal:
			return nil, false, function.NewArgErrorf(n, "argument is missing")
		case arg.IsNull() && !param.AllowNull:
			return nil, false, function.NewArgErrorf(n, "argument must not be null")
		case !param.AllowUnknown && !arg.IsWhollyKnown():
			known = false
			continue
		}
		value, err := encode(arg, param.Type)
		if err != nil {
			return nil, false, function.NewArgError(n, err)
		}
		encoded = append(encoded, value)
	}
	return encoded, known, nil
}

func functionError(problem *tfplugin6.FunctionError, args int) error {
	err := errors.New(problem.GetText())
	if n := problem.GetFunctionArgument(); problem.FunctionArgument != nil && n >= 0 && n < int64(args) {
		return function.NewArgError(int(n), err)
	}
	return err
}
