package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

func (a *app) stateListCommand() *command {
	flags := flag.NewFlagSet("state list", flag.ContinueOnError)
	path := flags.String("state", workdir.DefaultStateFile, "path of the state file")
	id := flags.String("id", "", "only objects with this `id`")
	return &command{
		synopsis: "List the objects in the state", usage: "[options] [ADDRESS...]", flags: flags,
		run: func(_ context.Context, args []string) int {
			state, ok := a.readState(*path)
			if !ok {
				return exitFailed
			}
			targets := make([]addrs.Target, 0, len(args))
			for _, arg := range args {
				target, diags := addrs.ParseTarget(arg)
				if a.show(diags) {
					return exitFailed
				}
				targets = append(targets, target)
			}
			state.Each(func(addr addrs.ResourceInstance, _ *states.Resource, inst *states.Instance) {
				if inst.Current != nil && selected(targets, addr) && (*id == "" || attributeID(inst.Current) == *id) {
					a.printf("%s\n", addr)
				}
			})
			return exitOK
		},
	}
}

func selected(targets []addrs.Target, addr addrs.ResourceInstance) bool {
	return len(targets) == 0 || slices.ContainsFunc(targets, func(t addrs.Target) bool { return t.Contains(addr) })
}

func attributeID(obj *states.Object) string {
	var attrs struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(obj.AttrsJSON, &attrs) != nil {
		return "" // an id that is not text matches nothing
	}
	return attrs.ID
}

// readState reads the state for showing; "no state" is told apart from an empty one.
func (a *app) readState(path string) (*states.State, bool) {
	state, diags := workdir.ReadState(path)
	if a.show(diags) {
		return nil, false
	}
	if state.Empty() && state.Serial == 0 {
		a.fail("No state file was found", fmt.Errorf("there is no state in %s; state management commands need one, so apply first or give its path with -state", path))
		return nil, false
	}
	return state, true
}

func (a *app) statePullCommand() *command {
	flags := flag.NewFlagSet("state pull", flag.ContinueOnError)
	path := flags.String("state", workdir.DefaultStateFile, "path of the state file")
	return &command{
		synopsis: "Print the state as JSON", usage: "[options]", flags: flags,
		run: func(_ context.Context, args []string) int {
			if a.refuseArguments("state pull", args) {
				return exitFailed
			}
			state, diags := workdir.ReadState(*path)
			if a.show(diags) {
				return exitFailed
			}
			if state.Empty() && state.Serial == 0 {
				return exitOK
			}
			if err := states.Write(a.stdout, state); err != nil {
				a.fail("Failed to print state", err)
				return exitFailed
			}
			return exitOK
		},
	}
}

func (a *app) outputCommand() *command {
	flags := flag.NewFlagSet("output", flag.ContinueOnError)
	path := flags.String("state", workdir.DefaultStateFile, "path of the state file")
	asJSON := flags.Bool("json", false, "print JSON")
	raw := flags.Bool("raw", false, "print a single text value as it is")
	_ = flags.Bool("no-color", false, "no colours in the output")
	return &command{
		synopsis: "Print output values from the state", usage: "[options] [NAME]", flags: flags,
		run: func(_ context.Context, args []string) int {
			state, diags := workdir.ReadState(*path)
			if a.show(diags) {
				return exitFailed
			}
			if len(args) == 0 {
				return a.allOutputs(state, *asJSON)
			}
			o := state.Outputs[args[0]]
			if o == nil {
				a.fail("Output not found", fmt.Errorf("there is no output named %q in the state; the outputs are: %s", args[0], strings.Join(slices.Sorted(maps.Keys(state.Outputs)), ", ")))
				return exitFailed
			}
			return a.oneOutput(o, *asJSON, *raw)
		},
	}
}

func (a *app) allOutputs(state *states.State, asJSON bool) int {
	if !asJSON {
		if err := a.renderOutputs(state); err != nil {
			a.fail("Failed to show outputs", err)
			return exitFailed
		}
		return exitOK
	}
	type entry struct {
		Sensitive bool            `json:"sensitive"`
		Type      json.RawMessage `json:"type"`
		Value     json.RawMessage `json:"value"`
	}
	out := map[string]entry{}
	for name, o := range state.Outputs {
		ty, err := ctyjson.MarshalType(o.Value.Type())
		if err == nil {
			var val []byte
			val, err = ctyjson.Marshal(o.Value, o.Value.Type())
			out[name] = entry{o.Sensitive, ty, val}
		}
		if err != nil {
			a.fail("Failed to print outputs", err)
			return exitFailed
		}
	}
	encoded, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		a.fail("Failed to print outputs", err)
		return exitFailed
	}
	a.printf("%s\n", encoded)
	return exitOK
}

func (a *app) oneOutput(o *states.Output, asJSON, raw bool) int {
	if raw && o.Value.Type() == cty.String && !o.Value.IsNull() {
		a.printf("%s", o.Value.AsString())
		return exitOK
	}
	if raw && !asJSON && !o.Value.Type().IsPrimitiveType() {
		a.fail("Unsupported value for raw output", fmt.Errorf("-raw prints text, numbers and bools only; use -json for other values"))
		return exitFailed
	}
	encoded, err := ctyjson.Marshal(o.Value, o.Value.Type())
	if err != nil {
		a.fail("Failed to print output", err)
		return exitFailed
	}
	a.printf("%s\n", encoded)
	return exitOK
}

func (a *app) settleCommand() *command {
	flags := flag.NewFlagSet("settle", flag.ContinueOnError)
	path := flags.String("state", workdir.DefaultStateFile, "path of the state file")
	absent := flags.String("absent", "", "the object at this `address` was not created")
	return &command{
		synopsis: "Answer what became of a create whose outcome nobody saw", usage: "-absent ADDRESS", flags: flags,
		run: func(_ context.Context, args []string) int {
			if a.refuseArguments("settle", args) {
				return exitFailed
			}
			if *absent == "" {
				a.fail("Address required", fmt.Errorf("name the object that was not created with -absent ADDRESS; if it was created, adopt it with \"towline import\""))
				return exitFailed
			}
			return a.settleAbsent(*path, *absent)
		},
	}
}

// settleAbsent drops the open intent of a create that did not happen.
func (a *app) settleAbsent(path, address string) int {
	s, diags := workdir.OpenState(path, "settle")
	if a.show(diags) {
		return exitFailed
	}
	code := exitOK
	rest := slices.DeleteFunc(slices.Clone(s.Open), func(i journal.Intent) bool { return i.Address == address && i.Action == "create" })
	if len(rest) == len(s.Open) {
		a.fail("Nothing to settle", fmt.Errorf("no create of %s is open", address))
		code = exitFailed
	} else if err := s.Keep(rest); err != nil {
		a.fail("Failed to save state", err)
		code = exitFailed
	}
	if err := s.Close(); err != nil {
		a.fail("Failed to unlock state", err)
		code = exitFailed
	}
	return code
}
