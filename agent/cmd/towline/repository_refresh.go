package main

import (
	"context"
	"flag"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

func (a *app) repositoryRefreshCommand() *command {
	flags := flag.NewFlagSet("repository refresh", flag.ContinueOnError)
	at, keys := a.pinFlag(flags), signerFlags(flags)
	within := flags.Duration("within", 30*24*time.Hour, "renew what ends within this time")
	a.jsonFlag(flags)
	return &command{
		synopsis: "Renew signatures that end soon", usage: "[options] [URL]", flags: flags,
		long: `Signs again, unchanged, whatever ends within the given time, as far as the keys
may. Run it on a schedule. Without URL the repository is $TOWLINE_REPOSITORY.

Exit status: 0 if nothing is due any more, 1 for errors, 2 if something is due
and its key was not given.

JSON: renewed and due (lists of roles), expires, expires_role.`,
		run: a.verb(func(ctx context.Context, args []string) (int, error) {
			var err error
			if at.url, err = repositoryArgument(args, "repository refresh", "the repository's URL"); err != nil {
				return exitFailed, err
			}
			r, err := at.open(ctx)
			if err != nil {
				return exitFailed, err
			}
			return a.refreshRepository(ctx, r, keys, *within)
		}),
	}
}

// refreshed is the result of "repository refresh" in JSON.
type refreshed struct {
	Renewed     []string  `json:"renewed"`
	Due         []string  `json:"due"`
	Expires     time.Time `json:"expires"`
	ExpiresRole string    `json:"expires_role"`
}

func (a *app) refreshRepository(ctx context.Context, r *repository.Repository, keys *signers, within time.Duration) (int, error) {
	signing, err := keys.signing(ctx)
	if err != nil {
		return exitFailed, err
	}
	done, err := r.Refresh(ctx, signing, signing.Now.Add(within))
	if err != nil {
		return exitFailed, err
	}
	endings, err := r.Endings(ctx)
	if err != nil {
		return exitFailed, err
	}
	expiry := endings[0]
	code := exitOK
	if len(done.Due) > 0 {
		code = exitChanges
		a.show(tfdiags.New(tfdiags.Warning, "Signatures are due", "These roles end soon and the given keys may not sign for them: "+strings.Join(done.Due, ", ")+". Run this again with their keys."))
	}
	if a.json {
		return code, a.printJSON(refreshed{append([]string{}, done.Renewed...), append([]string{}, done.Due...), expiry.At.UTC(), expiry.Role})
	}
	if len(done.Renewed) == 0 {
		a.printf("Nothing was renewed; %s ends first, %s.\n", expiry.Role, age(expiry.At, time.Now()))
		return code, nil
	}
	a.printf("Renewed %s. Now %s ends first, %s.\n", strings.Join(done.Renewed, ", "), expiry.Role, age(expiry.At, time.Now()))
	return code, nil
}
