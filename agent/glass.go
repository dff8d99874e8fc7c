package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// The form that opens a break-glass grant: one input for each block.
const (
	glassForm     = "towline-break-glass"
	policyInput   = "policy"
	targetsInput  = "targets"
	durationInput = "duration"
	reasonInput   = "reason"
)

const (
	// lateClick is for how long the glass can be broken over what differs no more: what was
	// corrected a moment ago is what people are about to change again.
	lateClick = time.Hour
	// formLife is for how long a form may be sent.
	formLife = time.Hour
	// maxOptions and maxOption are Slack's bounds of a list, and of a text in it.
	maxOptions, maxOption = 100, 75
	// maxFormItems bounds the objects of which a form offers the first.
	maxFormItems = 1000
	// maxFormPolicies bounds the policies that a form describes.
	maxFormPolicies = 20
	// usualGrant is how long a grant holds unless people say something else.
	usualGrant = 30 * time.Minute
)

// formPlace is what a form is about. It comes back with the form, as an address: everything
// is looked up again.
type formPlace struct {
	// Button is the value of the button that opened it, Epoch and Sequence name the receipt
	// with the drift.
	Button   string `json:"button"`
	Epoch    int64  `json:"epoch"`
	Sequence int64  `json:"sequence"`
	// Policy is the only one that the form offers, "" if it offers several.
	Policy  string `json:"policy,omitempty"`
	Channel string `json:"channel"`
	Message string `json:"message"`
	// Opened is when, in seconds since 1970.
	Opened int64 `json:"opened"`
}

// openForm asks whoever pressed what is to be left alone, and why. It says what came of it,
// nothing if the form is open.
func (e *ear) openForm(ctx context.Context, declared *repository.State, owner control.Agent, reports *repository.Reports, beat control.Heartbeat, p press) (string, error) {
	receipt, found, err := e.receiptOf(ctx, reports, beat, p)
	if err != nil {
		return "", err
	}
	if !found {
		return "Nothing was opened. What differs has changed since, or is gone. For what you are about to change: " + p.command(), nil
	}
	policies, mapped := offered(declared, owner, receipt.Drift, p.user)
	if len(policies) == 0 {
		return notOffered(p.user, mapped), nil
	}
	place := formPlace{Button: p.value(), Epoch: receipt.Epoch, Sequence: receipt.Sequence, Channel: p.channel, Message: p.message, Opened: e.now().Unix()}
	if len(policies) == 1 {
		place.Policy = policies[0].Name
	}
	form, err := e.form(place, p, policies, allTargets(policies, declared, owner, receipt.Drift))
	if err != nil {
		return "", err
	}
	_, app, _ := e.heeded()
	api, err := e.client(ctx, app, false)
	if err == nil {
		_, err = api.OpenViewContext(ctx, p.trigger, form)
	}
	if answer := (slack.SlackErrorResponse{}); errors.As(err, &answer) && answer.Err == "exchanged_trigger_id" {
		return "", nil // the click came once more, and the form is there
	}
	if err != nil {
		return fmt.Sprintf("Nothing was opened: Slack did not show the form: %s. Or: %s", slackProblem(err), p.command()), nil
	}
	return "", nil
}

// receiptOf finds the receipt with the drift that a button is about: the last one, or one
// of a short while ago.
func (e *ear) receiptOf(ctx context.Context, reports *repository.Reports, beat control.Heartbeat, p press) (receipt repository.Receipt, found bool, err error) {
	receipt, err = reports.Receipt(ctx, beat.Epoch, beat.Sequence)
	if err != nil || control.Occurrence(receipt.Drift) == p.subject {
		return receipt, err == nil, err
	}
	if int64(p.number) >= beat.Sequence {
		return receipt, false, nil
	}
	receipt, err = reports.Receipt(ctx, beat.Epoch, int64(p.number))
	if err != nil { // of an earlier epoch: it is gone
		return receipt, false, nil //nolint:nilerr // whoever pressed is told so
	}
	late := e.now().Sub(receipt.Finished) > lateClick
	return receipt, !late && control.Occurrence(receipt.Drift) == p.subject, nil
}

// offered are the policies under which a Slack user may break the glass over some drift;
// mapped are the names of those that let others do so.
func offered(declared *repository.State, owner control.Agent, drift []control.DriftItem, user string) (policies []control.BreakGlassPolicy, mapped []string) {
	for _, name := range slices.Sorted(maps.Keys(declared.Policies)) {
		policy := declared.Policies[name]
		if len(policy.SlackUserIDs()) == 0 || len(targetsOf(policy, declared, owner, drift)) == 0 {
			continue
		}
		mapped = append(mapped, name)
		if policy.SlackApprover(user) != "" && len(policies) < maxFormPolicies {
			policies = append(policies, policy)
		}
	}
	return policies, mapped
}

func notOffered(user string, mapped []string) string {
	if len(mapped) == 0 {
		return "Nothing was opened. No break-glass policy that reaches what differs lets anybody open a grant in Slack any more."
	}
	return fmt.Sprintf("Nothing was opened. You are %s in Slack, and no break-glass policy that reaches what differs says which approver that is: see slack_users of towline_break_glass_policy %s.", user, strings.Join(mapped, ", "))
}

// targetsOf are what a grant under a policy can hold of some drift, sorted: objects, and
// where a scope works by attribute, attributes. A grant has no effect outside its scopes,
// whatever it names.
func targetsOf(policy control.BreakGlassPolicy, declared *repository.State, owner control.Agent, drift []control.DriftItem) []string {
	var out []string
	for _, item := range drift[:min(len(drift), maxFormItems)] {
		object := control.Object{Address: item.Address}
		if addr, diags := addrs.ParseResourceInstance(item.Address); !diags.HasErrors() {
			object.Type = addr.Resource.Type
		}
		for _, name := range policy.Scopes {
			scope, ok := declared.Scopes[name]
			if !ok || !slices.Contains(owner.Scopes, name) || !scope.MayInclude(object) {
				continue
			}
			if !scope.TellsAttributesApart() || len(item.Attributes) == 0 {
				out = append(out, item.Address)
				continue
			}
			for _, path := range item.Attributes {
				out = append(out, item.Address+"."+path)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// allTargets are those of several policies.
func allTargets(policies []control.BreakGlassPolicy, declared *repository.State, owner control.Agent, drift []control.DriftItem) []string {
	var out []string
	for _, policy := range policies {
		out = append(out, targetsOf(policy, declared, owner, drift)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// form asks for policy, targets, duration and reason.
func (e *ear) form(place formPlace, p press, policies []control.BreakGlassPolicy, targets []string) (slack.ModalViewRequest, error) {
	metadata, err := json.Marshal(place)
	if err != nil {
		return slack.ModalViewRequest{}, fmt.Errorf("open form: %w", err)
	}
	blocks := []slack.Block{section(e.secrets.Redact(formText(p, policies, len(targets))))}
	if len(policies) > 1 {
		options := make([]*slack.OptionBlockObject, len(policies))
		for i, policy := range policies {
			options[i] = option(policy.Name, policy.Name)
		}
		blocks = append(blocks, slack.NewInputBlock(policyInput, say("Policy"), nil, slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, nil, policyInput, options...)))
	}
	options := make([]*slack.OptionBlockObject, min(len(targets), maxOptions))
	for i := range options {
		options[i] = option(targetValue(targets[i]), e.secrets.Redact(targets[i]))
	}
	longest := usualGrant
	for _, policy := range policies {
		longest = min(longest, time.Duration(policy.MaxDuration))
	}
	blocks = append(blocks,
		slack.NewInputBlock(targetsInput, say("Leave alone"), nil, slack.NewOptionsMultiSelectBlockElement(slack.MultiOptTypeStatic, nil, targetsInput, options...).WithInitialOptions(options...)),
		slack.NewInputBlock(durationInput, say("For"), say("Such as 30m or 2h."), slack.NewPlainTextInputBlockElement(nil, durationInput).WithInitialValue(durationText(longest)).WithMaxLength(20)),
		slack.NewInputBlock(reasonInput, say("Reason"), say("It is recorded and shown."), slack.NewPlainTextInputBlockElement(nil, reasonInput).WithMultiline(true).WithMaxLength(maxReason)),
	)
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: glassForm, Title: say("Break glass"), Submit: say("Open grant"), Close: say("Cancel"),
		PrivateMetadata: string(metadata), Blocks: slack.Blocks{BlockSet: blocks},
	}, nil
}

// maxReason bounds a reason, in characters: documents bound texts in bytes.
const maxReason = 500

// formText says what a form does.
func formText(p press, policies []control.BreakGlassPolicy, targets int) string {
	lines := []string{fmt.Sprintf("*%s/%s*: what is chosen is not corrected until the grant ends.", p.environment, p.agent)}
	for _, policy := range policies {
		lines = append(lines, fmt.Sprintf("• policy %s: for up to %s; approvals, yours included: %d; at the end: %s", policy.Name, durationText(time.Duration(policy.MaxDuration)), policy.Approvals, policy.After))
	}
	if targets > maxOptions {
		lines = append(lines, fmt.Sprintf("Here are %d of %d. For all of them: %s", maxOptions, targets, p.command()))
	}
	return strings.Join(lines, "\n")
}

// durationText is a duration without the zeros at its end.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func say(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, text, false, false)
}

// option is an entry of a list. What is too long is cut in its middle.
func option(value, text string) *slack.OptionBlockObject {
	if runes := []rune(text); len(runes) > maxOption {
		half := maxOption/2 - 1
		text = string(runes[:half]) + "…" + string(runes[len(runes)-half:])
	}
	return slack.NewOptionBlockObject(value, say(text), nil)
}

// targetValue stands for a target in a form, which takes no long ones.
func targetValue(target string) string {
	sum := sha256.Sum256([]byte(target))
	return hex.EncodeToString(sum[:16])
}
