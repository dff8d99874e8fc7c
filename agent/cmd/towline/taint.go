package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/workdir"
)

func (a *app) taintCommand() *command   { return a.taintVerb("taint", true) }
func (a *app) untaintCommand() *command { return a.taintVerb("untaint", false) }

// taintVerb marks an object for replacement, or takes the mark away.
func (a *app) taintVerb(verb string, tainted bool) *command {
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	var f stateFlags
	f.register(flags)
	allowMissing := flags.Bool("allow-missing", false, "a missing object is no error")
	return &command{
		synopsis: map[bool]string{true: "Mark an object to be replaced by the next apply", false: "Take away the mark that has an object replaced"}[tainted],
		usage:    "[options] ADDRESS", flags: flags,
		run: func(ctx context.Context, args []string) int {
			if len(args) != 1 {
				a.fail(fmt.Sprintf("The %s command expects exactly one argument", verb), errors.New("give the address of one resource instance; \"towline state list\" lists them"))
				return exitFailed
			}
			addr, diags := addrs.ParseResourceInstance(args[0])
			if a.show(diags) {
				return exitFailed
			}
			if addr.Resource.Mode != addrs.Managed {
				a.fail(fmt.Sprintf("Resource instance %s cannot be %sed", addr, verb), errors.New("only managed objects can be replaced, and this is none"))
				return exitFailed
			}
			return a.editState(ctx, &f, verb, func(_ *place, s *workdir.State) int { return a.taint(s, addr, tainted, *allowMissing) })
		},
	}
}

func (a *app) taint(s *workdir.State, addr addrs.ResourceInstance, tainted, allowMissing bool) int {
	obj := s.State.Object(addr)
	switch {
	case obj == nil && allowMissing:
		a.show(tfdiags.New(tfdiags.Warning, "No such resource instance", fmt.Sprintf("The state has no object at %s, which -allow-missing makes no error.", addr)))
		return exitOK
	case obj == nil:
		a.fail("No such resource instance", fmt.Errorf("the state has no object at %s; what was added to the configuration is recorded by the next apply", addr))
		return exitFailed
	case !tainted && !obj.Tainted:
		a.fail("Resource instance is not tainted", fmt.Errorf("the object at %s is not marked to be replaced, so there is no mark to take away", addr))
		return exitFailed
	}
	state := s.State.Copy()
	state.SetObject(addr, state.Resource(addr.Module, addr.Resource).Provider, obj.WithTaint(tainted))
	if !a.save(s, state) {
		return exitFailed
	}
	a.printf("Resource instance %s has been %s.\n", addr, map[bool]string{true: "marked as tainted", false: "successfully untainted"}[tainted])
	return exitOK
}
