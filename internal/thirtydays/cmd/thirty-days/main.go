// Command thirty-days replays the model of package thirtydays and prints its tables. Its
// exit status is 1 if a row is not as it was published.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/towline/terraform-provider-towline/internal/thirtydays"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "thirty-days: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	opts := thirtydays.Options{}
	flags := flag.NewFlagSet("thirty-days", flag.ContinueOnError)
	flags.StringVar(&opts.Config, "config", "examples/thirty-days", "`folder` of the configuration")
	flags.StringVar(&opts.Plugin, "plugin", "", "`file` of the provider to start as a process, as agents do; without it the provider is served in this process")
	periods := flags.String("periods", "1,5,15,60,240", "minutes between rounds, a list with commas")
	pushed := flags.Bool("push", true, "whether a pipeline that pushes is replayed too")
	parent := flags.String("dir", "", "`folder` for what agents keep; a temporary one by default")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if opts.Dir, err = os.MkdirTemp(*parent, "towline-thirty-days-"); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(opts.Dir)) }()
	var arrangements []thirtydays.Arrangement
	if *pushed {
		arrangements = append(arrangements, thirtydays.Arrangement{})
	}
	for text := range strings.SplitSeq(*periods, ",") {
		period, err := strconv.Atoi(text)
		if err != nil || period < 1 {
			return fmt.Errorf("%q is no number of minutes", text)
		}
		arrangements = append(arrangements, thirtydays.Arrangement{Period: period})
	}
	return replay(ctx, opts, append(arrangements, thirtydays.Arrangement{Period: 15, Means: true}))
}

func replay(ctx context.Context, opts thirtydays.Options, arrangements []thirtydays.Arrangement) error {
	var rows []thirtydays.Row
	var differ []error
	for _, a := range arrangements {
		began := time.Now()
		row, err := thirtydays.Replay(ctx, opts, a)
		if err != nil {
			return fmt.Errorf("%s: %w", a.Name(), err)
		}
		fmt.Fprintf(os.Stderr, "%s took %s: %+v\n", a.Name(), time.Since(began).Round(time.Second), row)
		rows, differ = append(rows, row), append(differ, row.Compare())
	}
	fmt.Printf("%s\n%s\n%s", thirtydays.Table(rows), thirtydays.OutageTable(rows), thirtydays.AuthorityTable(rows))
	return errors.Join(differ...)
}
