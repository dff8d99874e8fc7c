package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/open"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// Environment variables that stand in for flags.
const (
	repositoryEnv  = "TOWLINE_REPOSITORY"
	fingerprintEnv = "TOWLINE_FINGERPRINT" // the provider's too
)

// verbTimeout bounds a verb that talks to a store. Publishing the largest revision
// over a slow line takes minutes.
const verbTimeout = 30 * time.Minute

// verb makes a function that ends with an exit code or an error a subcommand's.
func (a *app) verb(do func(ctx context.Context, args []string) (int, error)) func(context.Context, []string) int {
	return func(ctx context.Context, args []string) int {
		ctx, cancel := context.WithTimeout(ctx, verbTimeout)
		defer cancel()
		code, err := do(ctx, args)
		if err != nil {
			a.show(explain(err))
			return exitFailed
		}
		return code
	}
}

// jsonFlag has a verb write JSON.
func (a *app) jsonFlag(flags *flag.FlagSet) {
	flags.BoolVar(&a.json, "json", false, "write the result as JSON")
}

// access is how a verb reaches a repository. All verbs share it.
type access struct {
	app              *app
	url, fingerprint string
}

// accessFlags adds the flags that say which repository.
func (a *app) accessFlags(flags *flag.FlagSet) *access {
	at := a.pinFlag(flags)
	flags.StringVar(&at.url, "repository", "", "`URL` of the repository, such as s3://BUCKET/PREFIX or file:///PATH, and after spaces those of mirrors, from which verbs that only read may read with -fingerprint; else $"+repositoryEnv)
	return at
}

// pinFlag is for verbs whose argument is the repository's URL.
func (a *app) pinFlag(flags *flag.FlagSet) *access {
	at := &access{app: a}
	flags.StringVar(&at.fingerprint, "fingerprint", "", "`SHA256` of the repository's first root, to refuse any other repository; else $"+fingerprintEnv)
	return at
}

// repositoryArgument is the one argument of verbs about a repository: its URL, which
// may stand in the environment instead.
func repositoryArgument(args []string, verb, what string) (string, error) {
	if len(args) == 0 {
		args = []string{os.Getenv(repositoryEnv)}
	}
	return oneArgument(args, verb, what)
}

// urls are those of the repository's store and of its mirrors.
func (at *access) urls() []string { return strings.Fields(cmp.Or(at.url, os.Getenv(repositoryEnv))) }

// pinned is the fingerprint that the repository must have, "" for any.
func (at *access) pinned() string { return cmp.Or(at.fingerprint, os.Getenv(fingerprintEnv)) }

// store opens the store without asking what is in it.
func (at *access) store(ctx context.Context) (objstore.Store, error) {
	urls := at.urls()
	if len(urls) == 0 {
		return nil, mistake("Repository is missing", "This verb needs to know which repository. Give its URL with -repository or in "+repositoryEnv+", such as s3://bucket/towline or file:///srv/towline.")
	}
	return openURL(ctx, urls[0])
}

func openURL(ctx context.Context, url string) (objstore.Store, error) {
	store, err := open.Open(ctx, url)
	if err != nil {
		return nil, tfdiags.New(tfdiags.Error, "Invalid repository URL", sentence(err)).Err()
	}
	return store, nil
}

// open opens the repository. Without a fingerprint the one that is there is
// trusted, which people must be able to see.
func (at *access) open(ctx context.Context) (*repository.Repository, error) {
	store, err := at.store(ctx)
	if err != nil {
		return nil, err
	}
	r, err := repository.Open(ctx, store, at.pinned())
	if err != nil {
		return nil, err
	}
	at.noteTrust(r)
	return r, at.checkExpiry(ctx, r)
}

// mirrorTime is how long a store may take where another can be read instead.
const mirrorTime = 30 * time.Second

// read opens the repository for a verb that only reads: in its store, or else in the first
// mirror that has it. Who knows no fingerprint would have to trust the mirror.
func (at *access) read(ctx context.Context) (*repository.Repository, error) {
	urls := at.urls()
	if len(urls) < 2 || at.pinned() == "" {
		return at.open(ctx)
	}
	var errs []error
	for i, url := range urls {
		r, err := at.readFrom(ctx, url)
		if err == nil {
			if i > 0 {
				at.app.show(tfdiags.New(tfdiags.Warning, "Repository read from a mirror", fmt.Sprintf("This is what %s holds, which may be older: %s.", r.Store().URL(), errs[0])))
			}
			return r, at.checkExpiry(ctx, r)
		}
		errs = append(errs, err)
	}
	return nil, errs[0]
}

func (at *access) readFrom(ctx context.Context, url string) (*repository.Repository, error) {
	ctx, cancel := context.WithTimeout(ctx, mirrorTime)
	defer cancel()
	store, err := openURL(ctx, url)
	if err != nil {
		return nil, err
	}
	return repository.Open(ctx, store, at.pinned())
}

// noteTrust says which repository is trusted as it is there: people must be able to see.
func (at *access) noteTrust(r *repository.Repository) {
	if at.pinned() == "" {
		at.app.note("Trusting the repository with fingerprint %s as it is there; -fingerprint refuses any other.", r.Fingerprint())
	}
}

// checkExpiry warns of a repository whose newest parts may be withheld, or soon will
// be of no use.
func (at *access) checkExpiry(ctx context.Context, r *repository.Repository) error {
	endings, err := r.Endings(ctx)
	if err == nil {
		at.app.show(expiryWarnings(endings, time.Now()))
	}
	return err
}

// expiryWarnings names what has ended, or else what ends soon.
func expiryWarnings(endings []trust.Ending, now time.Time) tfdiags.Diagnostics {
	if first := endings[0]; first.At.Before(now) {
		return tfdiags.New(tfdiags.Warning, "Repository metadata has expired", fmt.Sprintf(
			"The signature of %s ended at %s. Agents take nothing new, and something newer may be withheld from you. Renew it with: towline repository refresh.",
			first.Role, first.At.Format(time.RFC3339)))
	}
	var diags tfdiags.Diagnostics
	for _, ending := range endings {
		if ending.Soon(now) {
			diags = append(diags, tfdiags.New(tfdiags.Warning, "Repository metadata expires soon", fmt.Sprintf(
				"The signature of %s ends at %s, %s. Then agents take nothing new. Renew it with: towline repository refresh.",
				ending.Role, ending.At.Format(time.RFC3339), age(ending.At, now)))...)
		}
	}
	return diags
}

// note writes a line for people to stderr.
func (a *app) note(format string, args ...any) {
	_, _ = fmt.Fprintf(a.stderr, format+"\n", args...) // nowhere left to say that stderr is gone
}

// repeated is a flag that may be given several times.
type repeated []string

// String implements flag.Value.
func (r *repeated) String() string { return "" }

// Set implements flag.Value.
func (r *repeated) Set(value string) error {
	*r = append(*r, value)
	return nil
}

// oneArgument returns the only argument, or what is missing.
func oneArgument(args []string, name, what string) (string, error) {
	if len(args) != 1 {
		return "", mistake("Wrong number of arguments", fmt.Sprintf("%d arguments were given, and towline %s takes one: %s. \"towline %s -help\" says more.", len(args), name, what, name))
	}
	return args[0], nil
}

// noArguments refuses arguments, which are often a flag's value without its flag.
func noArguments(args []string, name string) error {
	if len(args) > 0 {
		return mistake("Wrong number of arguments", fmt.Sprintf("%q was given, and towline %s takes flags only. \"towline %s -help\" lists them.", args[0], name, name))
	}
	return nil
}
