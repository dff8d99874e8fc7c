package main

import (
	"errors"

	"github.com/towline/terraform-provider-towline/internal/bundle"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/probe"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/signer"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// mistake is an error that is told as it is.
func mistake(summary, detail string) error {
	return tfdiags.New(tfdiags.Error, summary, detail).Err()
}

// advice says what to do about an error that a user can do something about. The
// first that fits is taken, so the more particular ones stand first.
var advice = []struct {
	err           error
	summary, hint string
}{
	{repository.ErrFingerprint, "Repository is not the expected one", "Somebody has put another repository in its place, or it was made again. Find out which before going on."},
	{repository.ErrNotInitialised, "Repository does not exist", "Check the URL, or create it with: towline repository init."},
	{repository.ErrInitialised, "Repository exists already", "Use it as it is, or choose another URL. The towline_repository resource changes who may sign what."},
	{repository.ErrContended, "Repository is busy", "Others kept publishing and nothing was lost. Try again."},
	{repository.ErrNotEnrolled, "Agent is not enrolled", "Nothing it could have said can be verified before a machine enrols. Start the agent with its bootstrap."},
	{control.ErrGrantRefused, "Break-glass policy refuses the grant", "Nothing was written. The policy is declared as towline_break_glass_policy."},
	{control.ErrChain, "Agent's receipts are not complete", "Somebody has removed or exchanged what the agent signed. Find out who may write to the store before going on."},
	{repository.ErrNotBelieved, "Agent's report does not hold", "Either an enrolment has ended and its machine still runs, or somebody else writes to the store. Find out which before going on."},
	{trust.ErrKeyMissing, "Signing key does not suffice", "Give a private key of the role named, or as many as its threshold asks for, with -key or in " + signer.TextEnv + " or " + signer.NameEnv + "."},
	{trust.ErrNoRole, "Environment or channel is not declared", "Check its name, or declare it with the towline_repository resource."},
	{trust.ErrExpired, "Repository metadata has expired", "Renew it with: towline repository refresh."},
	{trust.ErrRollback, "Repository was rolled back", "Somebody has put older metadata in place. Find out who may write to the store before going on."},
	{trust.ErrFastForward, "Repository cannot be published to any more", "Somebody with a key has used up the versions. Take the key its power with: towline repository rotate -revoke."},
	{trust.ErrTampered, "Repository was tampered with", "Somebody has changed what was signed. Find out who may write to the store before going on."},
	{trust.ErrUnsigned, "Repository is not signed by trusted keys", "Somebody has replaced or changed a part of it. Compare the fingerprint with the one that you were given."},
	{trust.ErrThreshold, "Repository is not signed by enough trusted keys", "Somebody has replaced or changed a part of it. Compare the fingerprint with the one that you were given."},
	{trust.ErrMixAndMatch, "Repository metadata does not fit together", "Try again; if it stays, somebody has replaced a part of it."},
	{trust.ErrMalformed, "Repository metadata is malformed", "Somebody has replaced or damaged a part of it. Put it back from a copy or the store's versions."},
	{repository.ErrIncomplete, "Repository is incomplete", "Somebody has removed a part of it. Put it back from a copy or the store's versions."},
	{repository.ErrNeedsSignature, "Role must be signed again", "Give private keys that the role's new rule asks for with -key."},
	{repository.ErrNotFound, "Not found in the repository", "Check the name; towline status lists the agents, towline break-glass list the grants."},
	{bundle.ErrLimit, "Configuration is too large", "Leave out with a line in .terraformignore what the configuration does not need."},
	{bundle.ErrUnsafe, "Configuration cannot be packed", "Nothing was published."},
	{probe.ErrIgnoresConditions, "Store ignores conditions", "Two agents would both believe to hold the lease, and publishers overwrite each other. Use another store; towline repository check tells what this one keeps."},
	{objstore.ErrDenied, "Store refused access", "Use credentials that may do this in the store."},
	{objstore.ErrUnavailable, "Store cannot be reached", "Try again; if it stays, check the URL and the network."},
}

// explain turns an error into a diagnostic with what to do about it. Diagnostics
// inside err stay as they are.
func explain(err error) tfdiags.Diagnostics {
	diags := tfdiags.FromError("Failed to run command", err)
	for i := range diags {
		if diags[i].Summary != "Failed to run command" {
			continue
		}
		diags[i].Detail = sentence(err)
		for _, known := range advice {
			if errors.Is(err, known.err) {
				diags[i].Summary, diags[i].Detail = known.summary, sentence(err)+" "+known.hint
				break
			}
		}
	}
	return diags
}

// sentence makes an error's text one.
func sentence(err error) string { return tfdiags.Sentence(err.Error()) }
