package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

func (a *app) outputCommand() *command {
	flags := flag.NewFlagSet("output", flag.ContinueOnError)
	var f stateFlags
	f.registerRead(flags)
	asJSON := flags.Bool("json", false, "print JSON")
	raw := flags.Bool("raw", false, "print a single text value as it is")
	noColor := flags.Bool("no-color", false, "no colours in the output")
	return &command{
		synopsis: "Print output values from the state", usage: "[options] [NAME]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			a.color = a.color && !*noColor
			if diags := checkOutputArguments(args, *asJSON, *raw); a.show(diags) {
				return exitFailed
			}
			p, ok := a.openPlace(ctx, f.path)
			if !ok {
				return exitFailed
			}
			state, diags := workdir.Read(ctx, p.store)
			if a.show(diags) {
				return exitFailed
			}
			if len(state.Outputs) == 0 && !*asJSON {
				a.show(tfdiags.New(tfdiags.Warning, "No outputs found", "The state has no output values. Those of the configuration are recorded by the next apply; declare some in output blocks if there are none."))
				return exitOK
			}
			if len(args) == 0 {
				return a.allOutputs(state, *asJSON)
			}
			o := state.Outputs[args[0]]
			if o == nil {
				a.fail(fmt.Sprintf("Output %q not found", args[0]), fmt.Errorf("the state has no output of this name; it has: %s. What was added to the configuration is recorded by the next apply", strings.Join(slices.Sorted(maps.Keys(state.Outputs)), ", ")))
				return exitFailed
			}
			return a.oneOutput(args[0], o, *asJSON, *raw)
		},
	}
}

func checkOutputArguments(args []string, asJSON, raw bool) tfdiags.Diagnostics {
	switch {
	case asJSON && raw:
		return tfdiags.New(tfdiags.Error, "Invalid output format", "Either -raw or -json decides the form of the value. Give one of them.")
	case len(args) > 1:
		return tfdiags.New(tfdiags.Error, "Unexpected argument", "output takes the name of one output value, or none to print all of them.")
	case raw && len(args) == 0:
		return tfdiags.New(tfdiags.Error, "Output name required", "-raw prints one value as it is, so it needs the name of an output value.")
	}
	return nil
}

func (a *app) allOutputs(state *states.State, asJSON bool) int {
	if !asJSON {
		if err := a.renderOutputs(state); err != nil {
			a.fail("Failed to show outputs", err)
			return exitFailed
		}
		return exitOK
	}
	out, err := outputsJSON(state.Outputs)
	if err == nil {
		err = a.printJSON(out)
	}
	if err != nil {
		a.fail("Failed to print outputs", err)
		return exitFailed
	}
	return exitOK
}

// outputJSON is an output value as terraform prints it.
type outputJSON struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	Action    string          `json:"action,omitempty"`
}

func outputsJSON(outputs map[string]*states.Output) (map[string]outputJSON, error) {
	out := map[string]outputJSON{}
	for name, o := range outputs {
		ty, err := ctyjson.MarshalType(o.Value.Type())
		if err != nil {
			return nil, fmt.Errorf("encode the type of output %s: %w", name, err)
		}
		val, err := ctyjson.Marshal(o.Value, o.Value.Type())
		if err != nil {
			return nil, fmt.Errorf("encode output %s: %w", name, err)
		}
		out[name] = outputJSON{Sensitive: o.Sensitive, Type: ty, Value: val}
	}
	return out, nil
}

func (a *app) oneOutput(name string, o *states.Output, asJSON, raw bool) int {
	if raw {
		text, err := convert.Convert(o.Value, cty.String)
		if err != nil || text.IsNull() || !o.Value.Type().IsPrimitiveType() {
			a.fail("Unsupported value for raw output", fmt.Errorf("-raw prints text, numbers and bools only, and the output value %q is none of them; use -json for other values", name))
			return exitFailed
		}
		a.printf("%s", text.AsString())
		return exitOK
	}
	if !asJSON {
		if err := renderTo(a.stdout, o.Value); err != nil {
			a.fail("Failed to show output", err)
			return exitFailed
		}
		return exitOK
	}
	encoded, err := ctyjson.Marshal(o.Value, o.Value.Type())
	if err != nil {
		a.fail("Failed to print output", errors.Join(err))
		return exitFailed
	}
	a.printf("%s\n", encoded)
	return exitOK
}
