// Command bench prints the table of docs/internals/performance.md. With -assert
// its exit status is 1 if a target is missed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/towline/terraform-provider-towline/internal/bench"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == bench.MeterVerb {
		exit(bench.Meter(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(run(ctx, os.Args[1:]))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, args []string) (err error) {
	opts := bench.Options{Log: os.Stderr}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.Func("rows", "measure only these `rows`, as 1,4,5", func(text string) (err error) {
		opts.Rows, err = parseRows(text)
		return err
	})
	flags.IntVar(&opts.Runs, "runs", 3, "how `often` each work is done; the median counts")
	flags.Float64Var(&opts.Scale, "scale", 1, "multiply the sizes of all inputs by this `factor`")
	flags.BoolVar(&opts.Full, "full", false, "measure also what takes terraform many minutes")
	flags.DurationVar(&opts.Window, "window", time.Minute, "how `long` the agent at rest is watched")
	assert := flags.Bool("assert", false, "fail if a target is missed")
	profile := flags.String("cpuprofile", "", "write a CPU profile of this process, with its warm engines, to a `file`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *assert && opts.Scale != 1 {
		return fmt.Errorf("targets hold for full sizes only: use -assert without -scale")
	}
	stopProfile, err := startProfile(*profile)
	if err != nil {
		return err
	}
	defer stopProfile()
	if opts.Dir, err = os.MkdirTemp("", "towline-bench-"); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(opts.Dir)
	return measure(ctx, opts, *assert)
}

// measure prints the table, also what there is of it after an error.
func measure(ctx context.Context, opts bench.Options, assert bool) error {
	fmt.Printf("%s; %d runs, scale %g\n\n", bench.Machine(ctx, time.Now()), opts.Runs, opts.Scale)
	figures, err := bench.Run(ctx, opts)
	if tableErr := bench.WriteTable(os.Stdout, figures, opts.Scale == 1); err == nil {
		err = tableErr
	}
	if err != nil || !assert {
		return err
	}
	if err := bench.Missed(figures); err != nil {
		return fmt.Errorf("targets missed:\n%w", err)
	}
	return nil
}

func parseRows(text string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("%q is no number of a row", part)
		}
		out = append(out, n)
	}
	return out, nil
}

func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write a profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("write a profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		if err := file.Close(); err != nil {
			fmt.Fprintf(os.Stderr, "bench: write a profile: %v\n", err)
		}
	}, nil
}
