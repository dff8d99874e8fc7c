package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// rotator is what "repository rotate" is told.
type rotator struct {
	app                *app
	at                 *access
	signers            *signers
	roles, add, remove repeated
	threshold          int
	revoke             bool
}

func (a *app) repositoryRotateCommand() *command {
	flags := flag.NewFlagSet("repository rotate", flag.ContinueOnError)
	r := &rotator{app: a, at: a.pinFlag(flags), signers: signerFlags(flags)}
	flags.Var(&r.roles, "role", "`NAME` of a role, as \"towline repository keys\" lists them, or all; may be repeated")
	flags.Var(&r.add, "add", "`KEY` that may sign for the roles from now on: its public half in base64, or as with -key; may be repeated")
	flags.Var(&r.remove, "remove", "`KEY` that may not sign any more; may be repeated")
	flags.IntVar(&r.threshold, "threshold", 0, "how many of the keys must sign; 0 leaves it as it is")
	flags.BoolVar(&r.revoke, "revoke", false, "at once, without overlap: somebody else has a key, or the repository cannot be published to any more")
	a.jsonFlag(flags)
	return &command{
		synopsis: "Change who may sign what", usage: "-role NAME [-add KEY] [-remove KEY] [-threshold N] -key KEY [options] [URL]", flags: flags,
		long: `Needs keys that suffice for the root, as it is and as it will be, and for each
role that must be signed again. Agents follow, also those that were away over
several rotations; at every moment they can read the repository.

Where a towline_repository resource declares who may sign, change it there.

With -revoke what the removed keys have signed counts for nothing as soon as
agents see the new root. Lists that only they had signed are signed again as they
are: look at them, and publish again what is right.

JSON: changed, roles (a list of role, threshold, keys), signed_again.`,
		run: a.verb(r.run),
	}
}

func (r *rotator) run(ctx context.Context, args []string) (int, error) {
	var err error
	if r.at.url, err = repositoryArgument(args, "repository rotate", "the repository's URL"); err != nil {
		return exitFailed, err
	}
	signing, err := r.signers.signing(ctx)
	if err != nil {
		return exitFailed, err
	}
	repo, before, err := r.open(ctx)
	if err != nil {
		return exitFailed, err
	}
	wanted, err := r.wanted(ctx, before)
	if err != nil {
		return exitFailed, err
	}
	changed, again, err := r.change(ctx, repo, wanted, signing)
	if err != nil {
		return exitFailed, err
	}
	return exitOK, r.print(changed, again, wanted)
}

// open reads the configuration, when revoking without believing more than must be.
func (r *rotator) open(ctx context.Context) (*repository.Repository, repository.Config, error) {
	if !r.revoke {
		repo, err := r.at.open(ctx)
		if err != nil {
			return nil, repository.Config{}, err
		}
		config, err := repo.Config(ctx)
		return repo, config, err
	}
	store, err := r.at.store(ctx)
	if err != nil {
		return nil, repository.Config{}, err
	}
	repo, err := repository.OpenDamaged(ctx, store, r.at.pinned())
	if err != nil {
		return nil, repository.Config{}, err
	}
	r.at.noteTrust(repo)
	config, err := repo.Salvage(ctx)
	return repo, config, err
}

func (r *rotator) change(ctx context.Context, repo *repository.Repository, wanted repository.Config, signing trust.Signing) (bool, []string, error) {
	if r.revoke {
		done, err := repo.Revoke(ctx, wanted, signing)
		return true, done.Resigned, err
	}
	changed, err := repo.Reconfigure(ctx, wanted, signing)
	return changed, nil, err
}

// wanted is the configuration with the roles' keys changed.
func (r *rotator) wanted(ctx context.Context, config repository.Config) (repository.Config, error) {
	add, err := namedKeys(ctx, r.add)
	if err != nil {
		return config, err
	}
	remove, err := namedKeys(ctx, r.remove)
	if err != nil {
		return config, err
	}
	if len(add)+len(remove) == 0 && r.threshold == 0 && !r.revoke {
		return config, mistake("Nothing to change", "Give keys with -add or -remove, or another -threshold.")
	}
	if len(r.roles) == 0 {
		return config, mistake("Role is missing", "Give -role NAME, or -role all. The roles are: "+strings.Join(config.Roles(), ", ")+".")
	}
	roles := r.roles
	if slices.Contains(roles, "all") {
		roles = config.Roles()
	}
	found := false
	for _, role := range roles {
		var ok bool
		config, ok = config.Edit(role, func(spec trust.RoleSpec) trust.RoleSpec {
			found = found || slices.ContainsFunc(remove, func(key trust.PublicKey) bool { return slices.Contains(spec.Keys, key) })
			return spec.With(add, remove, r.threshold)
		})
		if !ok {
			return config, mistake("Unknown role", fmt.Sprintf("The repository has no role %q. Its roles are: %s.", role, strings.Join(config.Roles(), ", ")))
		}
	}
	if len(remove) > 0 && !found {
		return config, mistake("Key is not there", "None of the given roles has the key that -remove names. \"towline repository keys\" lists who may sign what.")
	}
	if err := config.Validate(); err != nil {
		return config, mistake("Invalid roles", sentence(err)+" Nothing was changed.")
	}
	return config, nil
}

// namedKeys reads public halves of keys that are named by themselves or as signing keys are.
func namedKeys(ctx context.Context, names []string) ([]trust.PublicKey, error) {
	var keys []trust.PublicKey
	for _, name := range names {
		if key, err := trust.ParsePublicKey(name); err == nil {
			keys = append(keys, key)
			continue
		}
		found, err := publicKeys(ctx, name)
		if err != nil {
			return nil, mistake("Invalid key", fmt.Sprintf("The key %s cannot be read: %s.", name, err))
		}
		keys = append(keys, found...)
	}
	return keys, nil
}

// rotated is the result of "repository rotate" in JSON.
type rotated struct {
	Changed     bool         `json:"changed"`
	Roles       []roleResult `json:"roles"`
	SignedAgain []string     `json:"signed_again"`
}

func (r *rotator) print(changed bool, again []string, config repository.Config) error {
	if len(again) > 0 {
		r.app.show(tfdiags.New(tfdiags.Warning, "Lists of revoked keys were signed again", fmt.Sprintf(
			"Only keys that are revoked had signed what these roles list: %s. It is in force as it was. Look at it with towline revisions and in the configuration that declares it, and publish again what is right.", strings.Join(again, ", "))))
	}
	out := rotated{Changed: changed, SignedAgain: append([]string{}, again...)}
	for _, role := range config.Roles() {
		config.Edit(role, func(spec trust.RoleSpec) trust.RoleSpec {
			out.Roles = append(out.Roles, roleResultOf(role, spec))
			return spec
		})
	}
	if r.app.json {
		return r.app.printJSON(out)
	}
	if !changed {
		r.app.printf("Nothing to change: the roles are so already.\n")
		return nil
	}
	for _, role := range out.Roles {
		r.app.printf("%s: %d of %s must sign.\n", role.Role, role.Threshold, plural(len(role.Keys), "key"))
	}
	return nil
}
