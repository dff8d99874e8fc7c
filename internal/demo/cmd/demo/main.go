// Command demo runs the demonstration of package demo and removes what it made.
// Its exit status is 1 if anything was not as it says.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/towline/terraform-provider-towline/internal/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "\ndemo: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	aws := flags.Bool("aws", false, "use the AWS provider and a mock of AWS instead of the simulated cloud")
	keep := flags.Bool("keep", false, "keep the folder with everything that was made")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "towline-demo-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	if *keep {
		fmt.Printf("Everything is kept in %s.\n", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	fmt.Println("Building towline, the providers and the simulated cloud ...")
	begin := time.Now()
	programs, err := demo.Build(ctx, dir+"/bin")
	if err != nil {
		return err
	}
	fmt.Printf("  built in %s\n", time.Since(begin).Round(time.Second))
	stage, opts := demo.Simcloud()
	if *aws {
		if stage, opts, err = demo.AWS(ctx, dir+"/s3"); err != nil {
			return err
		}
		defer opts.S3.Stop()
	}
	opts.Dir, opts.Programs = dir, programs
	return demo.Tell(ctx, opts, stage, os.Stdout)
}
