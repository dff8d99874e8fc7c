// Command chaos has faults happen to agents, as package chaos does, and removes
// what it made unless something was violated. Its exit status is 1 then.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/towline/terraform-provider-towline/internal/chaos"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "\nchaos: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	opts := chaos.Options{Out: os.Stdout}
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.IntVar(&opts.Faults, "faults", 200, "`number` of faults")
	flags.Uint64Var(&opts.Seed, "seed", uint64(time.Now().UnixNano()), "`number` that chooses everything; a run with the same one does the same")
	flags.IntVar(&opts.Sites, "sites", 4, "`number` of environments side by side")
	flags.IntVar(&opts.Only, "only", 0, "the `number` of the one environment to run, 0 for all")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "towline-chaos-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	fmt.Printf("%d faults in %d environments, seed %d, in %s\n", opts.Faults, opts.Sites, opts.Seed, dir)
	if opts.Programs, err = chaos.Build(ctx, filepath.Join(dir, "bin")); err != nil {
		return err
	}
	opts.Dir = dir
	begin := time.Now()
	report, err := chaos.Run(ctx, opts)
	fmt.Printf("\n%s%6d  faults in %s; %d were set whose point was not reached\n%6d  times one agent followed another, at most %s after its last word\n",
		report.Summary(), report.Total(), time.Since(begin).Round(time.Second), report.Missed, report.Takeovers, report.Longest.Round(time.Millisecond))
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("seed %d: %w\neverything is kept in %s", opts.Seed, err, dir)
	}
	return errors.Join(err, os.RemoveAll(dir))
}
