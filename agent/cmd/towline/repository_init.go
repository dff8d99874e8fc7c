package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// initialiser is what "repository init" is told.
type initialiser struct {
	app                      *app
	at                       *access
	signers                  *signers
	environments, channels   repeated
	newKey, rootOut          string
	threshold                int
	rootExpiry, expiry, soon time.Duration
}

func (a *app) repositoryInitCommand() *command {
	flags := flag.NewFlagSet("repository init", flag.ContinueOnError)
	i := &initialiser{app: a, at: &access{app: a}, signers: signerFlags(flags)}
	flags.Var(&i.environments, "environment", "`NAME` of an environment; may be repeated")
	flags.Var(&i.channels, "channel", "`NAME` of a channel; may be repeated")
	flags.StringVar(&i.newKey, "new-key", "", "make a signing key and write it to `FILE`, which must not exist")
	flags.StringVar(&i.rootOut, "root-out", "", "write the root that agents are to trust to `FILE`")
	flags.IntVar(&i.threshold, "threshold", 1, "how many of the keys must sign for root, targets, environments and channels")
	flags.DurationVar(&i.rootExpiry, "root-expiry", repository.DefaultRootExpiry, "how long signatures of root and targets are good")
	flags.DurationVar(&i.expiry, "expiry", repository.DefaultExpiry, "how long signatures of environments and channels are good")
	flags.DurationVar(&i.soon, "publishing-expiry", repository.DefaultExpiry, "how long signatures of snapshot and timestamp are good")
	a.jsonFlag(flags)
	return &command{
		synopsis: "Create a repository in a store", usage: "[options] URL", flags: flags,
		long: `The given keys sign for everything in the new repository. To give environments
and channels keys of their own, import it into a towline_repository resource.

The fingerprint names the repository. Keep it where the store's writers cannot
reach it: whoever has it cannot be given another repository.

JSON: url, fingerprint, key_file, root_file, public_keys, environments, channels.`,
		run: a.verb(i.run),
	}
}

func (i *initialiser) run(ctx context.Context, args []string) (int, error) {
	url, err := repositoryArgument(args, "repository init", "the URL of the store, such as s3://bucket/towline or file:///srv/towline")
	if err != nil {
		return exitFailed, err
	}
	i.at.url = url
	store, err := i.at.store(ctx)
	if err != nil {
		return exitFailed, err
	}
	signing, err := i.signing(ctx, store)
	if err != nil {
		return exitFailed, err
	}
	r, err := repository.Init(ctx, store, i.config(signing.Keys.Public()), signing)
	if err != nil {
		return exitFailed, err
	}
	if err := i.writeRoot(r); err != nil {
		return exitFailed, err
	}
	return exitOK, i.print(r, signing.Keys.Public())
}

// signing finds or makes the keys. A new key is made only where it can be used.
func (i *initialiser) signing(ctx context.Context, store objstore.Store) (trust.Signing, error) {
	if len(i.environments) == 0 || len(i.channels) == 0 {
		return trust.Signing{}, mistake("Environment or channel is missing", "A repository is of use with at least one environment, to which agents belong, and one channel, on which revisions are published. Give -environment NAME and -channel NAME.")
	}
	if i.newKey == "" {
		return i.signers.signing(ctx)
	}
	if len(i.signers.names) > 0 {
		return trust.Signing{}, mistake("Invalid combination of flags", "Give either -key, for keys that exist, or -new-key, to have one made.")
	}
	if err := i.config([]trust.PublicKey{{}}).Validate(); err != nil {
		return trust.Signing{}, fmt.Errorf("create repository: %w", err)
	}
	if _, err := repository.Open(ctx, store, ""); err == nil {
		return trust.Signing{}, fmt.Errorf("create repository in %s: %w", store.URL(), repository.ErrInitialised)
	}
	key, err := newKeyFile(i.newKey)
	if err != nil {
		return trust.Signing{}, err
	}
	return trust.Signing{Keys: trust.Keyring{key}, Now: time.Now()}, nil
}

func (i *initialiser) config(keys []trust.PublicKey) repository.Config {
	spec := func(threshold int, expiry time.Duration) trust.RoleSpec {
		return trust.RoleSpec{Keys: keys, Threshold: threshold, Expiry: expiry}
	}
	config := repository.Config{
		Top: trust.Top{
			Root: spec(i.threshold, i.rootExpiry), Targets: spec(i.threshold, i.rootExpiry),
			Snapshot: spec(1, i.soon), Timestamp: spec(1, i.soon),
		},
		Environments: map[string]trust.RoleSpec{}, Channels: map[string]trust.RoleSpec{},
	}
	for _, name := range i.environments {
		config.Environments[name] = spec(i.threshold, i.expiry)
	}
	for _, name := range i.channels {
		config.Channels[name] = spec(i.threshold, i.expiry)
	}
	return config
}

func (i *initialiser) writeRoot(r *repository.Repository) error {
	if i.rootOut == "" {
		return nil
	}
	err := writeNew(i.rootOut, r.Root(), 0o644)
	if errors.Is(err, os.ErrExist) {
		return mistake("Root file exists already", fmt.Sprintf("The repository was created with fingerprint %s, but its root was not written: the file %s is there already. The root lies in the store too, as tuf/1.root.json.", r.Fingerprint(), i.rootOut))
	}
	if err != nil {
		return fmt.Errorf("the repository was created with fingerprint %s, but its root was not written: %w", r.Fingerprint(), err)
	}
	return nil
}

// initialised is the result of "repository init" in JSON.
type initialised struct {
	URL          string   `json:"url"`
	Fingerprint  string   `json:"fingerprint"`
	KeyFile      string   `json:"key_file,omitempty"`
	RootFile     string   `json:"root_file,omitempty"`
	PublicKeys   []string `json:"public_keys"`
	Environments []string `json:"environments"`
	Channels     []string `json:"channels"`
}

func (i *initialiser) print(r *repository.Repository, keys []trust.PublicKey) error {
	out := initialised{URL: r.Store().URL(), Fingerprint: r.Fingerprint(), KeyFile: i.newKey, RootFile: i.rootOut, Environments: i.environments, Channels: i.channels}
	for _, key := range keys {
		out.PublicKeys = append(out.PublicKeys, key.String())
	}
	if i.app.json {
		return i.app.printJSON(out)
	}
	i.app.printf("Created the repository %s.\nFingerprint: %s\n", out.URL, out.Fingerprint)
	for _, key := range out.PublicKeys {
		i.app.printf("Public key: %s\n", key)
	}
	if out.KeyFile != "" {
		i.app.note("The signing key is in %s. Whoever has it can sign for everything; keep it safe and keep a copy.", out.KeyFile)
	}
	return nil
}
