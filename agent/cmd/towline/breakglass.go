package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/term"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/signer"
)

// passphraseEnv holds the passphrase of an approver's key where there is no terminal.
const passphraseEnv = "TOWLINE_KEY_PASSPHRASE"

// grantFields documents the JSON of every break-glass verb.
const grantFields = `id, environment, policy, phase (pending, open, closed, expired or
refused), targets, reason, opener, slack_user (of who opened it in Slack), opened,
until, ended, approvers (a list of id, name and, of who approved in Slack,
slack_user), missing, refusal.`

// person is who signs something for an environment, and which one.
type person struct {
	app                  *app
	at                   *access
	environment, keyFile string
}

func (a *app) personFlags(flags *flag.FlagSet) *person {
	p := &person{app: a, at: a.accessFlags(flags)}
	flags.StringVar(&p.environment, "environment", "", "`NAME` of the environment")
	flags.StringVar(&p.keyFile, "key", "", "approver's `KEY`: "+signer.PersonNotation+". A passphrase is asked for, or read from $"+passphraseEnv)
	a.jsonFlag(flags)
	return p
}

// prepare reads the key and what the environment declares.
func (p *person) prepare(ctx context.Context) (ssh.Signer, inStore, error) {
	if p.environment == "" {
		return nil, inStore{}, mistake("Environment is missing", "Break-glass policies and grants belong to one environment. Give -environment NAME.")
	}
	signer, err := p.signer(ctx)
	if err != nil {
		return nil, inStore{}, err
	}
	r, err := p.at.open(ctx)
	if err != nil {
		return nil, inStore{}, err
	}
	state, err := r.Environment(ctx, p.environment)
	return signer, inStore{r.Store(), state}, err
}

// breakGlass is what the verbs that sign something about a grant share.
type breakGlass struct {
	*person
	where localAccess
}

func (a *app) breakGlassFlags(flags *flag.FlagSet) *breakGlass {
	b := &breakGlass{person: a.personFlags(flags)}
	b.where.flags(flags)
	return b
}

// prepare reads the key and what the environment declares, where the verb works.
func (b *breakGlass) prepare(ctx context.Context) (ssh.Signer, grantPlace, error) {
	if !b.where.local {
		signer, place, err := b.person.prepare(ctx)
		return signer, place, orLocal(err)
	}
	signer, err := b.signer(ctx)
	if err != nil {
		return nil, nil, err
	}
	place, err := b.where.open(ctx, b.app, b.environment)
	return signer, place, err
}

// orLocal says of a store that is away how to do without it.
func orLocal(err error) error {
	if !errors.Is(err, objstore.ErrUnavailable) {
		return err
	}
	return mistake("Store cannot be reached", sentence(err)+" Try again, or run this with -local on the machine of the environment's agent, which needs no store.")
}

// signer reads the approver's key.
func (p *person) signer(ctx context.Context) (ssh.Signer, error) {
	if p.keyFile == "" {
		return nil, mistake("Approver's key is missing", "A grant is signed by one of its policy's approvers. Give the private key with -key FILE, such as ~/.ssh/id_ed25519.")
	}
	refuse := func(err error) error {
		return mistake("Invalid approver's key", fmt.Sprintf("The key file %s cannot be used: %s. It must be an OpenSSH private key, an ed25519 key in PEM, or ssh-agent:COMMENT for a key of the SSH agent.", p.keyFile, err))
	}
	if held, ok, err := signer.Person(ctx, p.keyFile); ok {
		if err != nil {
			return nil, refuse(err)
		}
		return held, nil
	}
	pem, err := signer.ReadFile(p.keyFile)
	if err != nil {
		return nil, refuse(err)
	}
	approver, err := control.ParseApproverKey(pem, nil)
	var encrypted *ssh.PassphraseMissingError
	if errors.As(err, &encrypted) {
		passphrase, passErr := p.passphrase()
		if passErr != nil {
			return nil, passErr
		}
		approver, err = control.ParseApproverKey(pem, passphrase)
	}
	if err != nil {
		return nil, refuse(err)
	}
	return approver, nil
}

func (p *person) passphrase() ([]byte, error) {
	if text := os.Getenv(passphraseEnv); text != "" {
		return []byte(text), nil
	}
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return nil, mistake("Passphrase is missing", fmt.Sprintf("The key in %s is encrypted, and there is no terminal to ask for its passphrase. Give it in %s.", p.keyFile, passphraseEnv))
	}
	_, _ = fmt.Fprintf(p.app.stderr, "Passphrase for %s: ", p.keyFile) // a prompt that is not seen is answered or not
	text, err := term.ReadPassword(fd)
	p.app.note("")
	if err != nil {
		return nil, fmt.Errorf("read passphrase: %w", err)
	}
	return text, nil
}

// policyOf finds a declared policy.
func policyOf(state *repository.State, name string) (control.BreakGlassPolicy, error) {
	policy, ok := state.Policies[name]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(state.Policies)), ", ")
		if known == "" {
			known = "none"
		}
		return policy, mistake("Break-glass policy is not declared", fmt.Sprintf("Environment %s declares no policy %q; it declares: %s. Name one of them with -policy, or declare it with towline_break_glass_policy.", state.Environment, name, known))
	}
	return policy, nil
}

// grantResult is a grant in JSON.
type grantResult struct {
	ID          string           `json:"id"`
	Environment string           `json:"environment"`
	Policy      string           `json:"policy"`
	Phase       string           `json:"phase"`
	Targets     []string         `json:"targets"`
	Reason      string           `json:"reason,omitempty"`
	Opener      string           `json:"opener,omitempty"`
	SlackUser   string           `json:"slack_user,omitempty"`
	Opened      time.Time        `json:"opened,omitzero"`
	Until       time.Time        `json:"until,omitzero"`
	Ended       time.Time        `json:"ended,omitzero"`
	Approvers   []approverResult `json:"approvers"`
	Missing     int              `json:"missing"`
	// Refusal says why the files of a refused grant grant nothing.
	Refusal string `json:"refusal,omitempty"`
}

// approverResult is who approved a grant, in JSON.
type approverResult struct {
	ID string `json:"id"`
	// Name is the comment of the key in the policy.
	Name string `json:"name,omitempty"`
	// SlackUser is who approved, if that was in Slack.
	SlackUser string `json:"slack_user,omitempty"`
}

func resultOf(grant control.Grant, policy control.BreakGlassPolicy) grantResult {
	request := grant.Request
	out := grantResult{
		ID: request.ID, Environment: request.Environment, Policy: request.Policy, Phase: string(grant.Phase), Targets: request.Targets, Reason: request.Reason,
		Opener: request.Opener, SlackUser: grant.User, Opened: request.Opened, Until: request.Until, Ended: grant.Ended, Missing: grant.Missing, Approvers: []approverResult{},
	}
	names := approverNames(policy)
	for _, id := range grant.Approvers {
		out.Approvers = append(out.Approvers, approverResult{ID: id, Name: names[id], SlackUser: grant.Users[id]})
	}
	return out
}

// approverNames are the comments of a policy's keys by approver.
func approverNames(policy control.BreakGlassPolicy) map[string]string {
	return namesOfKeys(policy.Approvers)
}

// namesOfKeys are the comments of keys in authorized_keys form, by approver.
func namesOfKeys(lines []string) map[string]string {
	names := map[string]string{}
	for _, line := range lines {
		if key, comment, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err == nil {
			names[control.ApproverID(key)] = comment
		}
	}
	return names
}

// printGrant says what a verb did to a grant.
func (b *breakGlass) printGrant(did string, grant control.Grant, policy control.BreakGlassPolicy) error {
	a := b.app
	if b.where.local {
		a.note("The agent on this machine knows of it. Others do when it has uploaded it, as soon as the store can be reached.")
	}
	out := resultOf(grant, policy)
	if a.json {
		return a.printJSON(out)
	}
	a.printf("%s grant %s under policy %s.\n", did, out.ID, out.Policy)
	switch grant.Phase {
	case control.GrantPending:
		a.printf("It is pending: %s missing. An approver runs: towline break-glass approve -environment %s -key FILE %s\n", plural(out.Missing, "approval"), out.Environment, out.ID)
	case control.GrantOpen:
		a.printf("It is open until %s (%s): %s will not be corrected.\n", out.Until.Format(time.RFC3339), age(out.Until, time.Now()), strings.Join(out.Targets, ", "))
	case control.GrantClosed, control.GrantExpired:
		a.printf("It is %s; the difference is now handled as the policy says: %s.\n", out.Phase, policy.After)
	}
	return nil
}
