package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

func (a *app) stateListCommand() *command {
	flags := flag.NewFlagSet("state list", flag.ContinueOnError)
	var f stateFlags
	f.registerRead(flags)
	id := flags.String("id", "", "only objects with this `id`")
	return &command{
		synopsis: "List the objects in the state", usage: "[options] [ADDRESS...]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			state, ok := a.readState(ctx, &f)
			if !ok {
				return exitFailed
			}
			targets, diags := knownTargets(state, args)
			if a.show(diags) {
				return exitFailed
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

// knownTargets reads addresses, each of which must cover something in the state.
func knownTargets(state *states.State, args []string) ([]addrs.Target, tfdiags.Diagnostics) {
	var targets []addrs.Target
	var diags tfdiags.Diagnostics
	for _, arg := range args {
		target, moreDiags := addrs.ParseTarget(arg)
		if diags = append(diags, moreDiags...); moreDiags.HasErrors() {
			continue
		}
		targets = append(targets, target)
		if len(state.Matching(target)) == 0 {
			kind := "resource"
			if target.Resource == (addrs.Resource{}) {
				kind = "module"
			}
			diags = append(diags, tfdiags.New(tfdiags.Error, "Unknown "+kind,
				fmt.Sprintf("The state has no %s %s. What was added to the configuration is recorded by the next apply.", kind, target))...)
		}
	}
	return targets, diags
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

func (a *app) stateShowCommand() *command {
	flags := flag.NewFlagSet("state show", flag.ContinueOnError)
	var f stateFlags
	f.registerRead(flags)
	noColor := flags.Bool("no-color", false, "no colours in the output")
	return &command{
		synopsis: "Show one object in the state", usage: "[options] ADDRESS", flags: flags,
		run: func(ctx context.Context, args []string) int {
			a.color = a.color && !*noColor
			if len(args) != 1 {
				a.fail("Exactly one argument expected", errors.New("state show takes the address of one resource instance; \"towline state list\" lists them"))
				return exitFailed
			}
			addr, diags := addrs.ParseResourceInstance(args[0])
			if a.show(diags) {
				return exitFailed
			}
			state, ok := a.readState(ctx, &f)
			if !ok {
				return exitFailed
			}
			if state.Object(addr) == nil {
				a.fail("No instance found for the given address!", fmt.Errorf("the state has no object at %s; \"towline state list\" lists the instances", addr))
				return exitFailed
			}
			return a.showInstance(ctx, state.Only(addr))
		},
	}
}

func (a *app) statePullCommand() *command {
	flags := flag.NewFlagSet("state pull", flag.ContinueOnError)
	var f stateFlags
	f.registerRead(flags)
	return &command{
		synopsis: "Print the state as JSON", usage: "[options]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			if a.refuseArguments("state pull", args) {
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
			if state.Empty() && state.Lineage == "" {
				return exitOK
			}
			if err := states.Write(a.stdout, state); err != nil {
				a.fail("Failed to print state", err)
				return exitFailed
			}
			a.printf("\n") // as terraform prints it
			return exitOK
		},
	}
}

func (a *app) statePushCommand() *command {
	flags := flag.NewFlagSet("state push", flag.ContinueOnError)
	var f stateFlags
	f.registerLock(flags)
	force := flags.Bool("force", false, "push even if it is another lineage or an older serial")
	return &command{
		synopsis: "Replace the state by that in a file", usage: "[options] PATH", flags: flags,
		long: "  PATH may be - for standard input.",
		run: func(ctx context.Context, args []string) int {
			if len(args) != 1 {
				a.fail("Exactly one argument expected", errors.New("state push takes the path of a state file, or - for standard input"))
				return exitFailed
			}
			pushed, diags := a.readPushed(args[0])
			if a.show(diags) {
				return exitFailed
			}
			return a.editState(ctx, &f, "state-push", func(_ *place, s *workdir.State) int {
				if err := mayPush(s.State, pushed); err != nil && !*force {
					a.fail("Failed to write state", err)
					return exitFailed
				}
				if err := s.Push(pushed); err != nil {
					a.fail("Failed to write state", err)
					return exitFailed
				}
				return exitOK
			})
		},
	}
}

func (a *app) readPushed(path string) (*states.State, tfdiags.Diagnostics) {
	in := a.stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, tfdiags.FromError("Failed to read state", err)
		}
		defer file.Close()
		in = file
	}
	data, err := bounds.Read(in, 0, states.MaxFileSize)
	if err != nil {
		return nil, tfdiags.FromError("Failed to read state", err)
	}
	state, diags := states.Decode(data)
	if state != nil {
		state.TerraformVersion = states.TerraformVersion
	}
	return state, diags
}

// mayPush keeps a state from being replaced by an older one or another one's.
func mayPush(current, pushed *states.State) error {
	switch {
	case current.Lineage == "":
		return nil
	case current.Lineage != pushed.Lineage:
		return fmt.Errorf("the state to push has lineage %q, and the current one is of the unrelated lineage %q; nothing was written, use -force to replace it nevertheless", pushed.Lineage, current.Lineage)
	case current.Serial > pushed.Serial:
		return fmt.Errorf("the state to push has serial %d, and the current one is newer with serial %d; nothing was written, use -force to go back to it nevertheless", pushed.Serial, current.Serial)
	}
	return nil
}

func (a *app) settleCommand() *command {
	flags := flag.NewFlagSet("settle", flag.ContinueOnError)
	var f stateFlags
	f.register(flags)
	absent := flags.String("absent", "", "the object at this `address` was not created")
	return &command{
		synopsis: "Answer what became of a create whose outcome nobody saw", usage: "-absent ADDRESS", flags: flags,
		run: func(ctx context.Context, args []string) int {
			if a.refuseArguments("settle", args) {
				return exitFailed
			}
			if *absent == "" {
				a.fail("Address required", errors.New("name the object that was not created with -absent ADDRESS; if it was created, adopt it with \"towline import\""))
				return exitFailed
			}
			return a.editState(ctx, &f, "settle", func(_ *place, s *workdir.State) int { return a.settleAbsent(s, *absent) })
		},
	}
}

// settleAbsent drops the open intent of a create that did not happen.
func (a *app) settleAbsent(s *workdir.State, address string) int {
	rest := slices.DeleteFunc(slices.Clone(s.Open), func(i journal.Intent) bool { return i.Address == address && i.Action == "create" })
	if len(rest) == len(s.Open) {
		a.fail("Nothing to settle", fmt.Errorf("no create of %s is open", address))
		return exitFailed
	}
	if err := s.Keep(rest); err != nil {
		a.fail("Failed to save state", err)
		return exitFailed
	}
	return exitOK
}

// confirm asks a question and takes nothing but "yes".
func (a *app) confirm(question string) (bool, error) {
	a.printf("%s\nOnly 'yes' will be accepted to continue.\n\nEnter a value: ", question)
	var answer string
	if _, err := fmt.Fscanln(a.stdin, &answer); err != nil && !errors.Is(err, io.EOF) && err.Error() != "unexpected newline" {
		return false, fmt.Errorf("no answer could be read: %w", err)
	}
	return strings.TrimSpace(answer) == "yes", nil
}
