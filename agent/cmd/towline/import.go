package main

import (
	"context"
	"errors"
	"flag"
	"slices"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/journal"
)

func (a *app) importCommand() *command {
	flags := flag.NewFlagSet("import", flag.ContinueOnError)
	var in inputFlags
	in.register(flags)
	return &command{
		synopsis: "Record a real object as that of a declared resource", usage: "[options] ADDRESS ID", flags: flags,
		long: "  The resource must be declared. The provider says what an ID looks like.",
		run: func(ctx context.Context, args []string) int {
			in.apply(a)
			if len(args) != 2 {
				a.fail("Two arguments are required", errors.New("import takes the address of a declared resource instance and the provider's id of the object"))
				return exitFailed
			}
			addr, diags := addrs.ParseResourceInstance(args[0])
			if a.show(diags) {
				return exitFailed
			}
			in.plans = true
			s, ok := a.openUnsettled(ctx, &in, "OperationTypeImport")
			if !ok {
				return exitFailed
			}
			defer s.close()
			if !s.askVariables() {
				return exitFailed
			}
			return s.importObject(ctx, addr, args[1])
		},
	}
}

// importObject imports and answers the question whether the object was created, if one is open.
func (s *session) importObject(ctx context.Context, addr addrs.ResourceInstance, id string) int {
	s.app.printf("%s: Importing from ID %q...\n", addr, id)
	state, diags := s.engine.Import(ctx, s.config, s.state.State, addr, id, engine.PlanOptions{Variables: s.variables})
	if s.tell(diags) {
		return exitFailed
	}
	rest := slices.DeleteFunc(slices.Clone(s.state.Open), func(i journal.Intent) bool { return i.Address == addr.String() && i.Action == "create" })
	if err := s.state.Settle(state, rest); err != nil {
		s.app.fail("Failed to save state", err)
		return exitFailed
	}
	s.app.printf("\n%s\n\nThe object is recorded as %s. Run \"towline plan\" to see whether it is as declared.\n", s.app.paint("\x1b[1;32m", "Import successful!"), addr)
	return exitOK
}

func (a *app) agentSettleCommand() *command {
	flags := flag.NewFlagSet("agent settle", flag.ContinueOnError)
	configPath := flags.String("config", defaultAgentConfig, "the agent's configuration `file`")
	absent := flags.String("absent", "", "the object at this `address` was not created")
	exists := flags.String("exists", "", "the object at this `address` was created; -id names it")
	id := flags.String("id", "", "the provider's `id` of the object that exists")
	return &command{
		synopsis: "Answer what became of a create whose outcome nobody saw", usage: "-config FILE (-absent ADDRESS | -exists ADDRESS -id ID)", flags: flags,
		long: "  Stop the agent first: this opens its data folder.",
		run: func(ctx context.Context, args []string) int {
			if a.refuseArguments("agent settle", args) {
				return exitFailed
			}
			if (*absent == "") == (*exists == "") || (*exists == "") != (*id == "") {
				a.fail("Answer required", errors.New("say either -absent ADDRESS, or -exists ADDRESS with -id ID"))
				return exitFailed
			}
			addr, diags := addrs.ParseResourceInstance(*absent + *exists)
			if a.show(diags) {
				return exitFailed
			}
			if err := a.answer(ctx, *configPath, addr, *id); err != nil {
				a.fail("Failed to settle", err)
				return exitFailed
			}
			a.printf("Settled. Start the agent again.\n")
			return exitOK
		},
	}
}

// answer opens an agent's data folder and settles one create.
func (a *app) answer(ctx context.Context, path string, addr addrs.ResourceInstance, id string) error {
	log := a.logger(false, false)
	config, diags := agent.LoadConfig(path)
	if err := diags.Err(); err != nil {
		return err
	}
	sources, err := openSources(ctx, config)
	if err != nil {
		return err
	}
	stopped, err := agent.New(config, agent.Options{Store: sources[0], Mirrors: sources[1:], Providers: agentProviders(ctx, log, sources, config), Logger: log})
	if err != nil {
		return err
	}
	return errors.Join(stopped.Answer(ctx, addr, id), stopped.Close())
}
