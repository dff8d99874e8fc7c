package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	agekeys "filippo.io/age"

	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/seal"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// identitiesEnv names files with private keys that open what is sealed, separated as in PATH.
const identitiesEnv = "TOWLINE_IDENTITIES"

// sealedReader is what verbs are told that open what agents have sealed.
type sealedReader struct {
	app                *app
	at                 *access
	environment, shard string
	files              repeated
}

func (a *app) sealedFlags(flags *flag.FlagSet) *sealedReader {
	r := &sealedReader{app: a, at: a.accessFlags(flags)}
	flags.StringVar(&r.environment, "environment", "", "`NAME` of the environment")
	flags.StringVar(&r.shard, "shard", "", "`NAME` of the part of the environment that its agents work on, if it has parts")
	flags.Var(&r.files, "key", "`FILE` with the private key of a recipient: age identities, or ed25519 keys in PEM as Towline and ssh-keygen write them; may be repeated. Else the files in $"+identitiesEnv+"; keys of AWS KMS are used as the environment's credentials allow")
	return r
}

func (a *app) stateFetchCommand() *command {
	flags := flag.NewFlagSet("state fetch", flag.ContinueOnError)
	r := a.sealedFlags(flags)
	return &command{
		synopsis: "Print an environment's state from its repository, decrypted", usage: "-environment NAME [-key FILE] [options]", flags: flags,
		long: `  The newest state that an agent of the environment has signed goes to stdout,
  as "towline state pull" prints a working directory's. It holds values in clear text.`,
		run: a.verb(r.fetch),
	}
}

func (r *sealedReader) fetch(ctx context.Context, args []string) (int, error) {
	repo, declared, identities, err := r.open(ctx, args, "state fetch")
	if err != nil {
		return exitFailed, err
	}
	held, err := repository.NewestState(ctx, repo.Store(), declared, r.shardOf(), states.MaxFileSize)
	if err != nil {
		return exitFailed, err
	}
	data := held.Data
	if held.Sealed {
		if data, err = seal.Open(ctx, seal.Subject{Environment: r.environment, Kind: held.Kind}, identities, held.Data, states.MaxFileSize); err != nil {
			return exitFailed, withoutKey(held.Key, err)
		}
	}
	_, err = r.app.stdout.Write(data)
	return exitOK, err
}

// withoutKey says what helps whoever has not the key.
func withoutKey(object string, err error) error {
	if errors.Is(err, seal.ErrNoKey) {
		return mistake("State cannot be opened", fmt.Sprintf("%s: %s. Give the private key of a recipient with -key FILE: one of towline_agent's recipients, or, if it has none, a key that signs for the environment.", object, err))
	}
	return fmt.Errorf("%s: %w", object, err)
}

func (a *app) stateRewrapCommand() *command {
	flags := flag.NewFlagSet("state rewrap", flag.ContinueOnError)
	r := a.sealedFlags(flags)
	return &command{
		synopsis: "Let the agents that are enrolled now open what earlier ones have sealed", usage: "-environment NAME [-key FILE] [options]", flags: flags,
		long: `  A machine that takes the place of a lost one has a key of its own, which cannot
  open the state that was sealed before. With the key of a recipient this verb
  gives it, and every other agent that is enrolled, the keys of exactly the
  objects it has to read. Nothing is written in clear text, and the state stays as
  it was signed.`,
		run: a.verb(r.rewrap),
	}
}

func (r *sealedReader) rewrap(ctx context.Context, args []string) (int, error) {
	repo, declared, identities, err := r.open(ctx, args, "state rewrap")
	if err != nil {
		return exitFailed, err
	}
	byAgent, err := repository.Enrolled(ctx, repo.Store(), declared, true)
	if err != nil {
		return exitFailed, err
	}
	left, err := repository.Left(ctx, repo.Store(), declared, r.shardOf(), states.MaxFileSize)
	if err != nil {
		return exitFailed, err
	}
	left = slices.DeleteFunc(left, func(held repository.Held) bool { return !held.Sealed })
	for _, name := range slices.Sorted(maps.Keys(byAgent)) {
		for _, key := range byAgent[name] {
			if err := r.give(ctx, repo, left, identities, key); err != nil {
				return exitFailed, err
			}
			r.app.note("Agent %s, key %s, can open %d objects.", name, control.KeyID(key), len(left))
		}
	}
	return exitOK, nil
}

// give lets one key's holder open what was left.
func (r *sealedReader) give(ctx context.Context, repo *repository.Repository, left []repository.Held, identities []agekeys.Identity, key ed25519.PublicKey) error {
	recipient, err := seal.RecipientOf(key)
	if err != nil {
		return err
	}
	for _, held := range left {
		shared, err := seal.Share(ctx, seal.Subject{Environment: r.environment, Kind: held.Kind}, identities, held.Data, []string{recipient})
		if err != nil {
			return withoutKey(held.Key, err)
		}
		if _, err := repo.Store().Put(ctx, control.SharedKey(r.environment, held.Digest(), control.KeyID(key)), shared); err != nil {
			return fmt.Errorf("give key of %s: %w", held.Key, err)
		}
	}
	return nil
}

// open reads what the environment declares, and the keys.
func (r *sealedReader) open(ctx context.Context, args []string, verb string) (*repository.Repository, *repository.State, []agekeys.Identity, error) {
	if err := noArguments(args, verb); err != nil {
		return nil, nil, nil, err
	}
	if r.environment == "" {
		return nil, nil, nil, mistake("Environment is missing", "States are kept for each environment. Give -environment NAME; towline status lists the environments.")
	}
	identities, err := readIdentities(identityFiles(r.files))
	if err != nil {
		return nil, nil, nil, err
	}
	repo, err := r.at.read(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	declared, err := repo.Environment(ctx, r.environment)
	return repo, declared, identities, err
}

func (r *sealedReader) shardOf() control.Shard {
	return control.Shard{Environment: r.environment, Name: r.shard}
}

// identityFiles are the files given, or else those that the environment names.
func identityFiles(given []string) []string {
	if len(given) > 0 {
		return given
	}
	return slices.DeleteFunc(filepath.SplitList(os.Getenv(identitiesEnv)), func(path string) bool { return path == "" })
}

func readIdentities(files []string) ([]agekeys.Identity, error) {
	var identities []agekeys.Identity
	for _, path := range files {
		text, err := bounds.ReadFile(path, seal.MaxIdentities)
		if err != nil {
			return nil, mistake("Key cannot be read", sentence(err))
		}
		more, err := seal.ParseIdentities(text)
		if err != nil {
			return nil, mistake("Key is not valid", fmt.Sprintf("%s: %s.", path, err))
		}
		identities = append(identities, more...)
	}
	return identities, nil
}
