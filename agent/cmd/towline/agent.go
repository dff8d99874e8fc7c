package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/objstore/circuit"
	"github.com/towline/terraform-provider-towline/internal/objstore/open"
	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// defaultAgentConfig is where an agent's bootstrap puts its configuration.
const defaultAgentConfig = "/etc/towline/agent.hcl"

func (a *app) agentRunCommand() *command {
	flags := flag.NewFlagSet("agent run", flag.ContinueOnError)
	configPath := flags.String("config", defaultAgentConfig, "the agent's configuration `file`")
	once := flags.Bool("once", false, "do one round and exit: 0 if it converged or applied, 2 if drift stands, 1 otherwise")
	logJSON := flags.Bool("json", false, "write the log as JSON")
	verbose := flags.Bool("verbose", false, "log what providers say as well")
	return &command{
		synopsis: "Keep this environment equal to the published revision", usage: "-config FILE [options]", flags: flags,
		long: "  The agent only dials out. It does one round at a time until it is told to\n  stop with SIGTERM or SIGINT; calls in flight are finished and recorded first.",
		run: func(ctx context.Context, args []string) int {
			if a.refuseArguments("agent run", args) {
				return exitFailed
			}
			if err := forbidDumps(); err != nil {
				a.fail("Failed to start agent", err)
				return exitFailed
			}
			log := a.logger(*logJSON, *verbose)
			running, diags := openAgent(ctx, *configPath, log)
			if a.show(diags) {
				return exitFailed
			}
			code := exitOK
			if *once {
				code = onceCode(running.Round(ctx))
			} else {
				running.Run(ctx)
			}
			if err := running.Close(); err != nil {
				a.fail("Failed to stop agent", err)
				return exitFailed
			}
			return code
		},
	}
}

func onceCode(outcome control.Outcome) int {
	switch outcome {
	case control.OutcomeConverged, control.OutcomeApplied:
		return exitOK
	case control.OutcomeDrifted:
		return exitChanges
	default:
		return exitFailed
	}
}

// logger writes to stderr, for people or for programs.
func (a *app) logger(asJSON, verbose bool) *slog.Logger {
	opts := &slog.HandlerOptions{Level: slog.LevelInfo}
	if verbose {
		opts.Level = slog.LevelDebug
	}
	if asJSON {
		return slog.New(slog.NewJSONHandler(a.stderr, opts))
	}
	return slog.New(slog.NewTextHandler(a.stderr, opts))
}

// openAgent opens the agent that a configuration file describes.
func openAgent(ctx context.Context, path string, log *slog.Logger) (*agent.Agent, tfdiags.Diagnostics) {
	config, diags := agent.LoadConfig(path)
	if diags.HasErrors() {
		return nil, diags
	}
	sources, err := openSources(ctx, config)
	if err != nil {
		return nil, append(diags, tfdiags.FromError("Failed to open store", err)...)
	}
	config.Identities = append(config.Identities, identityFiles(nil)...)
	credentials, err := awsCredentials(ctx, config.Store)
	if err != nil {
		return nil, append(diags, tfdiags.FromError("Failed to start agent", err)...)
	}
	secrets := agent.NewSecrets(os.Environ())
	running, err := agent.New(config, agent.Options{
		Store: sources[0], Mirrors: sources[1:], Secrets: secrets, Credentials: credentials, Providers: agentProviders(ctx, secrets.Logger(log), sources, config), Environ: os.Environ(), Logger: log,
	})
	return running, append(diags, tfdiags.FromError("Failed to start agent", err)...)
}

// openSources opens an agent's store and its mirrors, none of which may block a round.
func openSources(ctx context.Context, config agent.Config) (repository.Sources, error) {
	var sources repository.Sources
	for _, url := range append([]string{config.Store}, config.Mirrors...) {
		store, err := open.Open(ctx, url)
		if err != nil {
			return nil, err
		}
		sources = append(sources, circuit.New(store, time.Now))
	}
	return sources, nil
}

// environmentWith is the process's environment with installed providers in the
// agent's data folder: revisions come and go, and providers outlive them.
func environmentWith(dataDir string) cliconfig.Environment {
	env := cliconfig.OSEnvironment()
	inner := env.Getenv
	env.Getenv = func(name string) string {
		if name == "TF_DATA_DIR" {
			return filepath.Join(dataDir, "terraform")
		}
		return inner(name)
	}
	return env
}

const (
	// callTimeout bounds one read, plan or validation; the slowest data sources known
	// take an hour. It is below the time that an agent gives all reads of a round.
	callTimeout = 90 * time.Minute
	// changeTimeout bounds one change; databases and clusters take hours. It is below the
	// time that an agent gives all changes of a round.
	changeTimeout = 10 * time.Hour
	// keptVersions is how many versions of a provider stay installed: that of the revision
	// in force, and the one to which a revision that is no good falls back.
	keptVersions = 2
)

// agentProviders installs a revision's providers as its lock file says: from the
// packages that were published with it, or from folders that the machine's CLI
// configuration names. No registry and no mirror is asked over the network.
func agentProviders(ctx context.Context, log *slog.Logger, sources repository.Sources, config agent.Config) agent.Providers {
	dataDir := config.DataDir
	return func(dir string, wanted agent.Requirements) (engine.ProviderSource, io.Closer, tfdiags.Diagnostics) {
		mirror, err := packageCache{sources, filepath.Join(dataDir, "packages")}.mirror(ctx, dir)
		if err != nil {
			return nil, nil, tfdiags.FromError("Failed to fetch provider packages", err)
		}
		installation, diags := install.Settings{Offline: true, Mirrors: mirror}.Open(dir, environmentWith(dataDir))
		if diags.HasErrors() {
			return nil, nil, diags
		}
		_, err = os.Stat(installation.LockFile())
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, nil, append(diags, tfdiags.FromError("Failed to read lock file", err)...)
		}
		_, moreDiags := installation.Install(ctx, wanted, install.Options{ReadonlyLock: err == nil})
		diags = append(diags, moreDiags...)
		if diags.HasErrors() {
			return nil, nil, diags
		}
		if err := installation.Prune(keptVersions); err != nil {
			log.Warn("old versions of providers were not removed", "error", err)
		}
		pool := plugin.NewPool(installation, plugin.Options{
			Logger: log, SchemaDir: filepath.Join(dataDir, "schemas"), HardMemory: cmp.Or(config.ProviderMemoryMiB<<20, plugin.DefaultHardMemory), CallTimeout: callTimeout, ChangeTimeout: changeTimeout,
		})
		return pool, pool, diags
	}
}
