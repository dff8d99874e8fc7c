package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/control"
)

func (a *app) signalCommand() *command {
	flags := flag.NewFlagSet("signal", flag.ContinueOnError)
	p := a.personFlags(flags)
	return &command{
		synopsis: "Have the agents of an environment do a round now", usage: "-environment NAME -key KEY [options]", flags: flags,
		long: `Signs a signal and leaves it in the store, where agents look between rounds. Those
look sooner that name the key in their declaration (signals of towline_agent). It
says nothing but that, many come to one round, and one that is lost costs nothing.

JSON: environment, time, agents (a list of the names of those that look).`,
		run: a.verb(func(ctx context.Context, args []string) (int, error) {
			if err := noArguments(args, "signal"); err != nil {
				return exitFailed, err
			}
			return p.ring(ctx)
		}),
	}
}

// signalResult is a signal in JSON.
type signalResult struct {
	Environment string    `json:"environment"`
	Time        time.Time `json:"time"`
	Agents      []string  `json:"agents"`
}

// ring leaves a signal for the agents that heed the key.
func (p *person) ring(ctx context.Context) (int, error) {
	signer, place, err := p.prepare(ctx)
	if err != nil {
		return exitFailed, err
	}
	out := signalResult{Environment: p.environment, Time: time.Now().UTC(), Agents: []string{}}
	by, me := "", control.ApproverID(signer.PublicKey())
	for _, name := range slices.Sorted(maps.Keys(place.state.Agents)) {
		if signals := place.state.Agents[name].Signals; signals != nil {
			if comment, heeded := namesOfKeys(signals.Keys)[me]; heeded {
				by, out.Agents = comment, append(out.Agents, name)
			}
		}
	}
	if len(out.Agents) == 0 {
		return exitFailed, mistake("Nobody heeds the key", fmt.Sprintf("No agent of environment %s names the key %s, so that its signal would count for nothing. Nothing was written. Declare it in signals.keys of towline_agent.", p.environment, ssh.FingerprintSHA256(signer.PublicKey())))
	}
	signed, err := control.SignSignal(control.Signal{Version: control.FormatVersion, Environment: p.environment, Time: out.Time, By: by}, signer)
	if err != nil {
		return exitFailed, err
	}
	if _, err := place.store.Put(ctx, control.SignalKey(p.environment, me), signed); err != nil {
		return exitFailed, fmt.Errorf("ring: %w", err)
	}
	if p.app.json {
		return exitOK, p.app.printJSON(out)
	}
	p.app.printf("Rang for %s of environment %s.\n", plural(len(out.Agents), "agent"), p.environment)
	return exitOK, nil
}
