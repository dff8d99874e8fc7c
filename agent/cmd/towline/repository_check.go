package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/objstore/probe"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

func (a *app) repositoryCheckCommand() *command {
	flags := flag.NewFlagSet("repository check", flag.ContinueOnError)
	at := &access{app: a}
	size := flags.Int64("size", repository.MaxRevision>>20, "write and read an object of so many `MiB`; 0 leaves it out")
	pages := flags.Bool("pages", false, "write and list more objects than a store lists at once")
	a.jsonFlag(flags)
	return &command{
		synopsis: "Find out whether a store keeps what a repository needs", usage: "[options] [URL]", flags: flags,
		long: `Writes objects below ` + probe.Prefix + ` in the store, reads, lists, replaces and races for
them, and removes them again. It needs no repository there, and touches none.
Without URL the store is $TOWLINE_REPOSITORY.

Exit status: 0 if several agents and publishers may share the store, 1 if not:
it ignores conditions, shows what is old, or a right is missing.

JSON: url, multi_writer, clock_skew_seconds and results, each with probe, result
(ok, warning, broken, denied, failed or skipped), detail and needed.`,
		run: a.verb(func(ctx context.Context, args []string) (int, error) {
			var err error
			if at.url, err = repositoryArgument(args, "repository check", "the store's URL"); err != nil {
				return exitFailed, err
			}
			if *size < 0 || *size > repository.MaxRevision>>20 {
				return exitFailed, mistake("Invalid size", fmt.Sprintf("-size is %d, and no object has more than %d MiB.", *size, repository.MaxRevision>>20))
			}
			store, err := at.store(ctx)
			if err != nil {
				return exitFailed, err
			}
			return a.showCheck(probe.Run(ctx, store, probe.Options{Size: *size << 20, Pages: *pages}))
		}),
	}
}

// checked is the result of "repository check" in JSON.
type checked struct {
	URL              string         `json:"url"`
	MultiWriter      bool           `json:"multi_writer"`
	ClockSkewSeconds float64        `json:"clock_skew_seconds"`
	Results          []probe.Result `json:"results"`
}

func (a *app) showCheck(report probe.Report) (int, error) {
	if a.json {
		if err := a.printJSON(checked{report.URL, report.MultiWriter(), report.Skew.Seconds(), report.Results}); err != nil {
			return exitFailed, err
		}
	} else {
		a.tableOfProbes(report)
	}
	if report.MultiWriter() {
		return exitOK, nil
	}
	return exitFailed, mistake("Store is refused", fmt.Sprintf(
		"%s cannot be shared by several agents and publishers: %s. Give the rights that are missing, or choose a store that keeps these promises.", report.URL, strings.Join(faults(report), ", ")))
}

func (a *app) tableOfProbes(report probe.Report) {
	rows := make([][]string, 0, len(report.Results))
	for _, result := range report.Results {
		rows = append(rows, []string{result.Probe, string(result.Outcome), result.Detail})
	}
	a.table([]string{"PROBE", "RESULT", "MEANING"}, rows)
	if report.MultiWriter() {
		a.printf("Several agents and publishers may share this store.\n")
	}
}

// faults lists the probes for which a store is refused.
func faults(report probe.Report) []string {
	var out []string
	for _, result := range report.Results {
		if result.Needed && result.Outcome != probe.OK && result.Outcome != probe.Warning {
			out = append(out, result.Probe+" "+string(result.Outcome))
		}
	}
	return out
}
