package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

func (a *app) breakGlassApproveCommand() *command {
	flags := flag.NewFlagSet("break-glass approve", flag.ContinueOnError)
	b := a.breakGlassFlags(flags)
	return &command{
		synopsis: "Approve a grant that somebody else opened", usage: "-environment NAME -key FILE [options] ID", flags: flags,
		long: `Approving again, or what is open already, changes nothing and succeeds.

JSON: ` + grantFields,
		run: a.verb(func(ctx context.Context, args []string) (int, error) {
			return b.sign(ctx, args, "break-glass approve", approve)
		}),
	}
}

func (a *app) breakGlassCloseCommand() *command {
	flags := flag.NewFlagSet("break-glass close", flag.ContinueOnError)
	b := a.breakGlassFlags(flags)
	return &command{
		synopsis: "End a grant before its time", usage: "-environment NAME -key FILE [options] ID", flags: flags,
		long: `Any of the policy's approvers may close a grant. Closing what has ended changes
nothing and succeeds.

JSON: ` + grantFields,
		run: a.verb(func(ctx context.Context, args []string) (int, error) {
			return b.sign(ctx, args, "break-glass close", end)
		}),
	}
}

// addition is a signed file that is to join a grant's files.
type addition struct {
	// did is what is said of it; with nothing to write it was done before.
	did, key string
	data     []byte
	files    control.GrantFiles
}

// sign adds to a grant what make signs, if the policy then sees an effect.
func (b *breakGlass) sign(ctx context.Context, args []string, name string, make func(repository.GrantRecord, control.BreakGlassPolicy, ssh.Signer) (addition, error)) (int, error) {
	id, err := oneArgument(args, name, "the grant's ID, which towline break-glass list shows")
	if err != nil {
		return exitFailed, err
	}
	signer, place, err := b.prepare(ctx)
	if err != nil {
		return exitFailed, err
	}
	record, err := recordOf(ctx, place, id)
	if err != nil {
		return exitFailed, err
	}
	policy := place.declared().Policies[record.Grant.Request.Policy]
	added, err := make(record, policy, signer)
	if err != nil {
		return exitFailed, err
	}
	grant, err := control.VerifyGrant(policy, added.files, time.Now())
	if err != nil {
		return exitFailed, err
	}
	if added.data != nil {
		if err := place.add(ctx, repository.SignedFile{Key: added.key, Data: added.data}); err != nil {
			return exitFailed, occupied(added.key, err)
		}
	}
	return exitOK, b.printGrant(added.did, grant, policy)
}

// recordOf reads and judges one grant, which must hold.
func recordOf(ctx context.Context, place grantPlace, id string) (repository.GrantRecord, error) {
	files, err := place.read(ctx, id)
	if err != nil {
		return repository.GrantRecord{}, orLocal(err)
	}
	record, err := files.Record(place.declared().Environment, id, place.declared().Policies, time.Now())
	if err == nil && record.Refusal != nil {
		err = mistake("Grant does not hold", fmt.Sprintf("What is there of grant %s grants nothing: %s. Open another.", id, record.Refusal))
	}
	return record, err
}

// occupied says of a place where something else is what that means.
func occupied(key string, err error) error {
	if !errors.Is(err, objstore.ErrExist) {
		return err
	}
	return mistake("Place of the signature is occupied", fmt.Sprintf("Something else is under %s, where your signature belongs. Somebody put it there who is not you; remove it and try again.", key))
}

func approve(record repository.GrantRecord, policy control.BreakGlassPolicy, signer ssh.Signer) (addition, error) {
	grant, me := record.Grant, control.ApproverID(signer.PublicKey())
	out := addition{did: "Approved", key: control.GrantApprovalKey(grant.Request.Environment, record.ID, me), files: record.Files}
	switch {
	case !grant.Ended.IsZero():
		return out, mistake("Grant has ended", fmt.Sprintf("Grant %s is %s since %s. Open another with: towline break-glass open.", record.ID, grant.Phase, grant.Ended.Format(time.RFC3339)))
	case slices.Contains(grant.Approvers, me):
		out.did = "You had approved"
		return out, nil
	}
	if err := mustBeApprover(policy, signer); err != nil {
		return out, err
	}
	var err error
	if out.data, err = control.ApproveGrant(record.Files, signer); err != nil {
		return out, err
	}
	out.files.Approvals = append(slices.Clone(out.files.Approvals), out.data)
	return out, nil
}

func end(record repository.GrantRecord, policy control.BreakGlassPolicy, signer ssh.Signer) (addition, error) {
	grant, me := record.Grant, control.ApproverID(signer.PublicKey())
	out := addition{did: "Closed", key: control.GrantClosureKey(grant.Request.Environment, record.ID, me), files: record.Files}
	if !grant.Ended.IsZero() {
		out.did = "There was no need to close"
		return out, nil
	}
	if err := mustBeApprover(policy, signer); err != nil {
		return out, err
	}
	closure := control.GrantClosure{Version: control.FormatVersion, ID: record.ID, Closed: time.Now().UTC().Truncate(time.Second), Closer: personOf(signer, policy)}
	var err error
	if out.data, err = control.SignGrantClosure(closure, signer); err != nil {
		return out, err
	}
	out.files.Closures = append(slices.Clone(out.files.Closures), out.data)
	return out, nil
}

// mustBeApprover refuses a signature that would count for nothing.
func mustBeApprover(policy control.BreakGlassPolicy, signer ssh.Signer) error {
	if _, ok := approverNames(policy)[control.ApproverID(signer.PublicKey())]; !ok {
		return fmt.Errorf("%w: the key %s is not one of the approvers of policy %s", control.ErrGrantRefused, ssh.FingerprintSHA256(signer.PublicKey()), policy.Name)
	}
	return nil
}
