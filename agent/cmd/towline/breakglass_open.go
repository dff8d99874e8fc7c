package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"flag"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// grantOpener is what "break-glass open" is told.
type grantOpener struct {
	*breakGlass
	policy, reason string
	targets        repeated
	duration       time.Duration
}

func (a *app) breakGlassOpenCommand() *command {
	flags := flag.NewFlagSet("break-glass open", flag.ContinueOnError)
	o := &grantOpener{breakGlass: a.breakGlassFlags(flags)}
	flags.StringVar(&o.policy, "policy", "", "`NAME` of the break-glass policy")
	flags.Var(&o.targets, "target", "`ADDRESS[.ATTRIBUTE]` of a resource, an instance or an attribute of one that is not to be corrected, with * and ** as in scopes; may be repeated")
	flags.DurationVar(&o.duration, "for", 0, "how long the grant holds, such as 30m")
	flags.StringVar(&o.reason, "reason", "", "why; it is signed, stored and shown")
	return &command{
		synopsis: "Suspend the correction of some objects for a while", usage: "-environment NAME -policy NAME -target ADDRESS[.ATTRIBUTE] -for DURATION -reason TEXT -key FILE [options]", flags: flags,
		long: `The policy says who may open a grant, over which scopes, for how long at most and
with how many approvals; opening counts as one. What happens to the objects while
it is open is recorded. What the policy does not allow is refused before anything
is written.

` + localHelp + `

JSON: ` + grantFields,
		run: a.verb(o.run),
	}
}

func (o *grantOpener) run(ctx context.Context, args []string) (int, error) {
	if err := noArguments(args, "break-glass open"); err != nil {
		return exitFailed, err
	}
	if err := o.check(); err != nil {
		return exitFailed, err
	}
	signer, place, err := o.prepare(ctx)
	if err != nil {
		return exitFailed, err
	}
	policy, err := policyOf(place.declared(), o.policy)
	if err != nil {
		return exitFailed, err
	}
	if err := o.checkScopes(place.declared(), policy); err != nil {
		return exitFailed, err
	}
	request, err := o.request(signer, policy)
	if err != nil {
		return exitFailed, err
	}
	signed, err := control.SignGrantRequest(request, signer)
	if err != nil {
		return exitFailed, err
	}
	grant, err := control.VerifyGrant(policy, control.GrantFiles{Request: signed}, time.Now())
	if err != nil {
		return exitFailed, err
	}
	if err := place.add(ctx, repository.SignedFile{Key: control.GrantRequestKey(request.Environment, request.ID), Data: signed}); err != nil {
		return exitFailed, fmt.Errorf("write grant: %w", err)
	}
	return exitOK, o.printGrant("Opened", grant, policy)
}

// check finds what is missing on the command line.
func (o *grantOpener) check() error {
	switch {
	case o.policy == "":
		return mistake("Break-glass policy is missing", "A grant is given under a policy. Give -policy NAME.")
	case len(o.targets) == 0:
		return mistake("Target is missing", "A grant says which objects are not to be corrected. Give -target ADDRESS, such as -target 'aws_instance.web', -target 'aws_instance.web.tags' for one attribute, or -target 'module.web.**' for all in a module.")
	case o.duration < time.Minute:
		return mistake("Invalid duration", "A grant holds for at least a minute. Give -for DURATION, such as -for 30m or -for 2h.")
	}
	for _, target := range o.targets {
		if strings.Contains(target, "*") {
			continue
		}
		if _, ok := objectOf(target); !ok {
			return mistake("Invalid target", fmt.Sprintf("%q is not the address of a resource, an instance or an attribute of one, such as aws_instance.web or aws_instance.web.tags. For all in a module, write module.NAME.** instead.", target))
		}
	}
	return nil
}

// checkScopes refuses a grant that could have no effect, and warns of targets that
// no scope of the policy seems to have.
func (o *grantOpener) checkScopes(state *repository.State, policy control.BreakGlassPolicy) error {
	var scopes []control.Scope
	for _, name := range policy.Scopes {
		if scope, ok := state.Scopes[name]; ok {
			scopes = append(scopes, scope)
		}
	}
	if len(scopes) == 0 {
		return mistake("Scope is not declared", fmt.Sprintf("Policy %s covers the scopes %s, and environment %s declares none of them, so a grant would hold nothing. Declare the scope, or correct the policy.", policy.Name, strings.Join(policy.Scopes, ", "), state.Environment))
	}
	for _, target := range o.targets {
		if !inSomeScope(scopes, target) {
			o.app.show(tfdiags.New(tfdiags.Warning, "Target is outside the policy's scopes", fmt.Sprintf("A grant under policy %s reaches what its scopes %s have, and none of them seems to have %s. It may be corrected in spite of the grant.", policy.Name, strings.Join(policy.Scopes, ", "), target)))
		}
	}
	return nil
}

// objectOf is the address of the object that a target names, as a whole or by one of its
// attributes.
func objectOf(target string) (address string, ok bool) {
	for end := len(target); end > 0; end = strings.LastIndexAny(target[:end], ".[") {
		if _, diags := addrs.ParseResourceInstance(target[:end]); diags.HasErrors() {
			continue
		}
		attribute := target[end:]
		_, diags := hclsyntax.ParseTraversalAbs([]byte("object"+attribute), "", hcl.InitialPos)
		return target[:end], attribute == "" || attribute[0] == '.' && !diags.HasErrors()
	}
	return "", false
}

// inSomeScope tells whether the object of a target can be in a scope. What is a pattern and
// may name attributes counts as one that can.
func inSomeScope(scopes []control.Scope, target string) bool {
	address := target
	if !strings.Contains(target, "*") {
		address, _ = objectOf(target)
	}
	named := control.Scope{Include: []control.Match{{Address: address}}}
	return slices.ContainsFunc(scopes, func(scope control.Scope) bool {
		_, overlaps := control.Overlap(named, scope)
		return overlaps
	})
}

func (o *grantOpener) request(signer ssh.Signer, policy control.BreakGlassPolicy) (control.GrantRequest, error) {
	now := time.Now().UTC().Truncate(time.Second)
	var random [4]byte
	if _, err := rand.Read(random[:]); err != nil {
		return control.GrantRequest{}, fmt.Errorf("name grant: %w", err)
	}
	return control.GrantRequest{
		Version: control.FormatVersion, ID: now.Format("20060102t150405") + "-" + hex.EncodeToString(random[:]),
		Environment: policy.Environment, Policy: policy.Name, Targets: o.targets, Reason: o.reason,
		Opened: now, Until: now.Add(o.duration), Opener: personOf(signer, policy),
	}, nil
}

// personOf names the holder of a key: as the policy does, else as the system does.
func personOf(signer ssh.Signer, policy control.BreakGlassPolicy) string {
	system := ""
	if current, err := user.Current(); err == nil {
		system = current.Username
	}
	return cmp.Or(approverNames(policy)[control.ApproverID(signer.PublicKey())], system)
}
