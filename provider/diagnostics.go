package provider

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// errNotDeclared: the repository has no such document.
var errNotDeclared = errors.New("it is not declared")

// configured takes the session that the provider hands over, which is missing
// while only schemas are asked for.
func configured(data any, diags *diag.Diagnostics) *session {
	if data == nil {
		return nil
	}
	s, ok := data.(*session)
	if !ok {
		diags.AddError("Provider data is not a session", fmt.Sprintf("The provider handed over %T. This is a bug in the provider; please report it.", data))
	}
	return s
}

// advice says what to do about an error that a user can do something about.
var advice = []struct {
	err           error
	summary, hint string
}{
	{errNoKey, "Signing key is missing", "Set signing_key or signing_key_file of the provider, or " + keyEnv + " or " + keyFileEnv + " in its environment."},
	{errNoTokenKey, "Signing key does not suffice", "An ed25519 key that signs nothing else in the repository is enough for it."},
	{errKeyUnknown, "Signing key is not known yet", "The key depends on something that is not applied yet. Apply that first, or give the key directly."},
	{errNotDeclared, "Document is not declared", "Declare it first, and refer to it by its id so that Terraform keeps the order."},
	{repository.ErrConflict, "Scopes of different agents overlap", "Two writers may share an object, never an attribute. Where one scope is to give something up that another takes, apply the one that gives up first."},
	{trust.ErrKeyMissing, "Signing key does not suffice", "Give the provider a key of the role named, or as many as its threshold asks for."},
	{trust.ErrNoRole, "Environment or channel is not declared", "Add it to the towline_repository."},
	{trust.ErrExpired, "Repository metadata has expired", "Renew it with: towline repository refresh."},
	{repository.ErrFingerprint, "Repository is not the expected one", "Somebody has put another repository in its place, or it was made again. Find out which before going on."},
	{repository.ErrNotInitialised, "Repository does not exist", "Create it with a towline_repository, and refer to its url so that Terraform keeps the order."},
	{repository.ErrNotFound, "Document is not declared", "Declare it first, and refer to it by its id so that Terraform keeps the order."},
	{repository.ErrContended, "Repository is busy", "Others kept publishing and nothing was lost. Try again."},
	{repository.ErrIncomplete, "Repository is incomplete", "Somebody has removed a part of it. Put it back from a copy or the store's versions."},
	{repository.ErrNeedsSignature, "Role must be signed again", "Give the provider the keys of the role named, so that it can sign what the role has signed so far."},
	{trust.ErrFastForward, "Repository cannot be published to any more", "Somebody with a key has used up the versions. Take the key its power with: towline repository rotate -revoke."},
	{trust.ErrRollback, "Repository was rolled back", "Somebody has put older metadata in place. Find out who may write to the store before going on."},
	{trust.ErrTampered, "Repository was tampered with", "Somebody has changed what was signed. Find out who may write to the store before going on."},
	{trust.ErrUnsigned, "Repository is not signed by trusted keys", "Either the trusted root is of another repository, or somebody has replaced metadata. Compare the fingerprints."},
	{trust.ErrMixAndMatch, "Repository metadata does not fit together", "Try again; if it stays, somebody has replaced a part of it."},
	{objstore.ErrDenied, "Store refused access", "Use credentials that may read and write the store."},
	{objstore.ErrUnavailable, "Store cannot be reached", "Try again; if it stays, check the URL and the network."},
}

// failure explains why something could not be done.
func failure(verb, subject string, err error) diag.Diagnostics {
	summary, hint := "Repository call failed", "Try again; if it stays, please report it."
	for _, known := range advice {
		if errors.Is(err, known.err) {
			summary, hint = known.summary, known.hint
			break
		}
	}
	return diag.Diagnostics{diag.NewErrorDiagnostic(summary, fmt.Sprintf("Could not %s %s: %s. %s", verb, subject, err, hint))}
}

// fieldDiagnostics puts what is wrong with a document on the attributes concerned.
// Fields that the provider computes are not the user's to correct in a plan.
func fieldDiagnostics(err error) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, field := range control.FieldErrors(err) {
		if field.Field == "join" || strings.HasPrefix(field.Field, "join.") {
			continue
		}
		diags.AddAttributeError(attributePath(field.Field), "Attribute is not valid", "The attribute "+field.Field+" "+field.Message+".")
	}
	return diags
}

var fieldStep = regexp.MustCompile(`[^.\[\]]+|\[[^\]]*\]`)

// sets are the fields that are lists in documents and sets in configuration,
// whose elements Terraform names by value, so that the whole is named instead.
var sets = map[string]bool{"scopes": true, "actions": true, "approvers": true, "ignore_attributes": true}

// attributePath turns include[0].address into a path.
func attributePath(field string) path.Path {
	steps := fieldStep.FindAllString(field, -1)
	if len(steps) == 0 {
		return path.Empty()
	}
	out := path.Root(steps[0])
	if sets[steps[0]] {
		return out
	}
	for _, step := range steps[1:] {
		key, isKey := strings.CutPrefix(strings.TrimSuffix(step, "]"), "[")
		index, err := strconv.Atoi(key)
		switch {
		case isKey && err == nil:
			out = out.AtListIndex(index)
		case isKey:
			out = out.AtMapKey(key)
		default:
			out = out.AtName(step)
		}
	}
	return out
}
