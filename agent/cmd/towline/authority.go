package main

import (
	"context"
	"flag"
	"strconv"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/repository"
)

func (a *app) authorityCommand() *command {
	flags := flag.NewFlagSet("authority", flag.ContinueOnError)
	at := a.accessFlags(flags)
	var which selection
	which.flags(flags)
	a.jsonFlag(flags)
	return &command{
		synopsis: "Show what each agent may write, and what one pipeline in their place could", usage: "[options]", flags: flags,
		long: `For each agent: how many entries of scopes authorise it, how many objects it
keeps, by its own verified report, and so how many whoever takes its machine over
could write, and how many control planes must be reached from outside for it: none,
because agents only dial out. The last line is the pipeline that would push in the
agents' place: it has to hold the authority of all of them, and to reach every
environment. Agents that stand by for each other count once in it.

JSON: a list of writer, environment, scopes, entries, objects, known,
exposed_control_planes. Where known is false the agent gives no proof of now, and
objects is what it said last.`,
		run: a.overFleet("authority", at, &which, func(ctx context.Context, r *repository.Repository, members []*member) (int, error) {
			return a.authority(ctx, r, members, time.Now())
		}),
	}
}

// authorityResult is what one writer may do, in JSON.
type authorityResult struct {
	Writer string `json:"writer"`
	// Environment is "" for the pipeline, which is not of one.
	Environment string   `json:"environment,omitempty"`
	Scopes      []string `json:"scopes,omitempty"`
	Entries     int      `json:"entries"`
	Objects     int      `json:"objects"`
	Known       bool     `json:"known"`
	Exposed     int      `json:"exposed_control_planes"`
}

func (a *app) authority(ctx context.Context, r *repository.Repository, members []*member, now time.Time) (int, error) {
	states := map[string]*repository.State{}
	results := make([]authorityResult, 0, len(members)+1)
	shards := map[string]authorityResult{}
	for _, m := range members {
		environment := m.declared.Environment
		if states[environment] == nil {
			state, err := r.Environment(ctx, environment)
			if err != nil {
				return exitFailed, err
			}
			states[environment] = state
		}
		result := m.authority(states[environment], now)
		results = append(results, result)
		// What stands by says nothing of objects: the one that works counts.
		shard := environment + "/" + m.declared.Shard
		if known, ok := shards[shard]; !ok || result.Objects > known.Objects {
			shards[shard] = result
		}
	}
	results = append(results, pipelineFor(shards, len(states)))
	if a.json {
		return exitOK, a.printJSON(results)
	}
	a.printAuthority(results)
	return exitOK, nil
}

// authority is what an agent may do by its scopes, and its report of what there is.
func (m *member) authority(state *repository.State, now time.Time) authorityResult {
	out := authorityResult{Writer: m.declared.Name, Environment: m.declared.Environment, Scopes: m.declared.Scopes, Known: m.unproved(now) == ""}
	for _, name := range m.declared.Scopes {
		out.Entries += len(state.Scopes[name].Include)
	}
	if m.beat != nil {
		out.Objects = m.beat.Objects
	}
	return out
}

// pipelineFor is what would have to push if there were no agents.
func pipelineFor(shards map[string]authorityResult, environments int) authorityResult {
	out := authorityResult{Writer: "(a pipeline instead)", Known: true, Exposed: environments}
	for _, one := range shards {
		out.Entries += one.Entries
		out.Objects += one.Objects
		out.Known = out.Known && one.Known
	}
	return out
}

func (a *app) printAuthority(results []authorityResult) {
	rows := make([][]string, 0, len(results))
	for _, r := range results {
		objects := strconv.Itoa(r.Objects)
		if !r.Known {
			objects += " (not proved)"
		}
		rows = append(rows, []string{r.Writer, r.Environment, strings.Join(r.Scopes, ", "), strconv.Itoa(r.Entries), objects, strconv.Itoa(r.Exposed)})
	}
	a.table([]string{"WRITER", "ENVIRONMENT", "SCOPES", "AUTHORISED ENTRIES", "WRITABLE OBJECTS", "EXPOSED CONTROL PLANES"}, rows)
}
