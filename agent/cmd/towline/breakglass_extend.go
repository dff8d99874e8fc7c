package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

func (a *app) breakGlassExtendCommand() *command {
	flags := flag.NewFlagSet("break-glass extend", flag.ContinueOnError)
	b := a.breakGlassFlags(flags)
	length := flags.Duration("for", 0, "how long the grant holds from now on, such as 30m")
	until := flags.String("until", "", "new end, as `TIME` such as 2030-01-31T12:00:00Z, in place of -for: where several approvers have to sign the same end")
	return &command{
		synopsis: "Move the end of an open grant, within its policy's longest time", usage: "-environment NAME -key KEY -for DURATION [options] ID", flags: flags,
		long: `The longest time counts from when the grant was opened. Where the policy asks for
several approvals as many approvers have to sign the same end: the others give
-until with the time that the first one is told. What has ended is not extended, and
an agent that first sees an extension after the end does not count it: extend at
least a round before.

JSON: ` + grantFields,
		run: a.verb(func(ctx context.Context, args []string) (int, error) {
			end, err := newEnd(*length, *until, time.Now())
			if err != nil {
				return exitFailed, err
			}
			return b.sign(ctx, args, "break-glass extend", func(record repository.GrantRecord, policy control.BreakGlassPolicy, signer ssh.Signer) (addition, error) {
				return extend(record, policy, signer, end)
			})
		}),
	}
}

func newEnd(length time.Duration, until string, now time.Time) (time.Time, error) {
	switch {
	case (length > 0) == (until != ""):
		return time.Time{}, mistake("Invalid end", "Give the new end either with -for DURATION, such as -for 30m, or with -until TIME.")
	case until == "":
		return now.Add(length).UTC().Truncate(time.Second), nil
	}
	end, err := time.Parse(time.RFC3339, until)
	if err != nil || end.Before(now) {
		return time.Time{}, mistake("Invalid end", fmt.Sprintf("%q is not a time to come such as 2030-01-31T12:00:00Z.", until))
	}
	return end.UTC().Truncate(time.Second), nil
}

// extend signs a new end.
func extend(record repository.GrantRecord, policy control.BreakGlassPolicy, signer ssh.Signer, end time.Time) (addition, error) {
	grant, me := record.Grant, control.ApproverID(signer.PublicKey())
	out := addition{did: "Extended", key: control.GrantExtensionKey(grant.Request.Environment, record.ID, end, me), files: record.Files}
	latest := grant.Request.Opened.Add(time.Duration(policy.MaxDuration))
	switch {
	case !grant.Ended.IsZero():
		return out, mistake("Grant has ended", fmt.Sprintf("Grant %s is %s since %s. Open another with: towline break-glass open.", record.ID, grant.Phase, grant.Ended.Format(time.RFC3339)))
	case end.After(latest):
		return out, mistake("Break-glass policy refuses the extension", fmt.Sprintf("Policy %s lets a grant hold for %s, so that this one ends at %s at the latest, and not at %s.", policy.Name, time.Duration(policy.MaxDuration), latest.Format(time.RFC3339), end.Format(time.RFC3339)))
	case record.Files.Extended(me, end):
		out.did = "You had extended"
		return out, nil
	case !end.After(grant.Request.Until):
		return out, mistake("Invalid end", fmt.Sprintf("Grant %s holds until %s anyway. Use towline break-glass close to end it.", record.ID, grant.Request.Until.Format(time.RFC3339)))
	}
	if err := mustBeApprover(policy, signer); err != nil {
		return out, err
	}
	var err error
	out.data, err = control.SignGrantExtension(control.GrantExtension{
		Version: control.FormatVersion, ID: record.ID, Until: end, Time: time.Now().UTC().Truncate(time.Second), By: personOf(signer, policy),
	}, signer)
	out.files.Extensions = append(slices.Clone(out.files.Extensions), out.data)
	if policy.Approvals > 1 {
		out.did = fmt.Sprintf("Signed the end %s (%d approvers have to) for", end.Format(time.RFC3339), policy.Approvals)
	}
	return out, err
}
