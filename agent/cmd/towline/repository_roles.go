package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

func (a *app) repositoryKeysCommand() *command {
	flags := flag.NewFlagSet("repository keys", flag.ContinueOnError)
	at := a.pinFlag(flags)
	a.jsonFlag(flags)
	return &command{
		synopsis: "Show who may sign what, and until when", usage: "[options] [URL]", flags: flags,
		long: `Lists the roles of a repository with their keys, how many of them must sign, and
when what they have signed ends. Without URL the repository is $TOWLINE_REPOSITORY.

Exit status: 0 if nothing ends soon, 1 for errors, 2 if less than a tenth of a
role's time is left.

JSON: a list of role, threshold, keys, expiry_seconds, ends, soon. A role that has
signed nothing yet has no ends.`,
		run: a.verb(func(ctx context.Context, args []string) (int, error) {
			var err error
			if at.url, err = repositoryArgument(args, "repository keys", "the repository's URL"); err != nil {
				return exitFailed, err
			}
			r, err := at.read(ctx)
			if err != nil {
				return exitFailed, err
			}
			standings, err := r.Standings(ctx)
			if err != nil {
				return exitFailed, err
			}
			return a.printStandings(standings, time.Now())
		}),
	}
}

// roleResult is who may sign for a role, in JSON.
type roleResult struct {
	Role      string   `json:"role"`
	Threshold int      `json:"threshold"`
	Keys      []string `json:"keys"`
}

func roleResultOf(role string, spec trust.RoleSpec) roleResult {
	out := roleResult{Role: role, Threshold: spec.Threshold, Keys: make([]string, len(spec.Keys))}
	for i, key := range spec.Keys {
		out.Keys[i] = key.String()
	}
	return out
}

// standingResult is a role with its time, in JSON.
type standingResult struct {
	roleResult
	ExpirySeconds int64     `json:"expiry_seconds"`
	Ends          time.Time `json:"ends,omitzero"`
	Soon          bool      `json:"soon"`
}

func (a *app) printStandings(standings []repository.Standing, now time.Time) (int, error) {
	code := exitOK
	results := make([]standingResult, len(standings))
	rows := make([][]string, len(standings))
	for i, s := range standings {
		results[i] = standingResult{roleResultOf(s.Role, s.RoleSpec), int64(s.Expiry / time.Second), s.Ends.UTC(), false}
		ends := none
		if !s.Ends.IsZero() {
			results[i].Soon = trust.Ending{Role: s.Role, At: s.Ends, Lifetime: s.Expiry}.Soon(now)
			ends = age(s.Ends, now)
		}
		if results[i].Soon {
			code, ends = exitChanges, ends+" (soon)"
		}
		rows[i] = []string{s.Role, fmt.Sprintf("%d of %d", s.Threshold, len(s.Keys)), ends, strings.Join(results[i].Keys, " ")}
	}
	if a.json {
		return code, a.printJSON(results)
	}
	a.table([]string{"ROLE", "MUST SIGN", "ENDS", "KEYS"}, rows)
	return code, nil
}
