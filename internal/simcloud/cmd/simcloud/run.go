package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/towline/terraform-provider-towline/internal/simcloud"
)

// errUsage: the flags were wrong, and the flag package has said so.
var errUsage = errors.New("usage")

// drain is how long requests in flight may take after the signal to stop.
const drain = 5 * time.Second

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	opts, address, err := parse(args, stderr)
	if err != nil {
		return err
	}
	cloud, err := simcloud.New(opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cloud.Close()) }()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	fmt.Fprintf(stdout, "http://%s\n", listener.Addr())
	server := &http.Server{Handler: cloud, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	return serve(ctx, server, listener)
}

func serve(ctx context.Context, server *http.Server, listener net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	return server.Shutdown(ending)
}

func parse(args []string, stderr io.Writer) (opts simcloud.Options, address string, err error) {
	flags := flag.NewFlagSet("simcloud", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&address, "listen", "127.0.0.1:7070", "`address` to listen on; port 0 takes any free one")
	flags.DurationVar(&opts.Latency, "latency", 0, "least `time` that every request takes")
	flags.DurationVar(&opts.Jitter, "jitter", 0, "most `time` added to the latency at random")
	flags.Float64Var(&opts.Rate, "rate", 0, "`requests` a second that each token may make, 0 for any number")
	flags.Float64Var(&opts.Fail, "fail", 0, "`probability` from 0 to 1 that a request fails with 500 and has no effect")
	flags.Uint64Var(&opts.Seed, "seed", 1, "`number` that repeats the same choices and failures")
	flags.StringVar(&opts.DataFile, "data", "", "`file` that keeps objects and events over restarts")
	flags.Func("token", "bearer token and its namespaces, `TOKEN=ENV/SERVICE,ENV/*`; repeatable; without any, everyone is let in", func(text string) error {
		token, err := simcloud.ParseToken(text)
		opts.Tokens = append(opts.Tokens, token)
		return err
	})
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return opts, "", errUsage
	case err != nil:
		return opts, "", errUsage
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "simcloud: unexpected argument %q\n", flags.Arg(0))
		return opts, "", errUsage
	}
	return opts, address, nil
}
