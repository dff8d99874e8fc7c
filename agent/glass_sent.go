package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// formTimeout bounds what is done before a form is acknowledged: Slack waits three seconds.
const formTimeout = 2500 * time.Millisecond

// filled is a form that was sent.
type filled struct {
	press
	place            formPlace
	view             string
	targets          []string
	duration, reason string
}

// filledIn reads a form of ours that was sent; ok is false for anything else.
func filledIn(callback slack.InteractionCallback) (f filled, ok bool) {
	view := callback.View
	if json.Unmarshal([]byte(view.PrivateMetadata), &f.place) != nil || view.State == nil || view.ID == "" {
		return filled{}, false
	}
	if f.press, ok = parsePress(f.place.Button); !ok {
		return filled{}, false
	}
	f.from(callback)
	f.channel, f.message, f.view = f.place.Channel, f.place.Message, view.ID
	f.duration, f.reason = inputOf(view, durationInput).Value, strings.Join(strings.Fields(inputOf(view, reasonInput).Value), " ")
	f.place.Policy = cmp.Or(f.place.Policy, inputOf(view, policyInput).SelectedOption.Value)
	for _, option := range inputOf(view, targetsInput).SelectedOptions {
		f.targets = append(f.targets, option.Value)
	}
	return f, f.verb == pressBreakGlass && f.valid() && f.place.Epoch > 0 && f.place.Sequence > 0 && len(f.targets) <= maxOptions
}

// inputOf is what was filled in for one input.
func inputOf(view slack.View, name string) slack.BlockAction { return view.State.Values[name][name] }

// wrong is what is wrong with a form, by input. Nothing of such a form is recorded.
type wrong map[string]string

// takeForm records what a form asks for, if whoever sent it may, and says what came of it
// or what is wrong with it.
func (e *ear) takeForm(ctx context.Context, callback slack.InteractionCallback, team string) (filled, wrong, string) {
	ctx, cancel := context.WithTimeout(ctx, formTimeout)
	defer cancel()
	f, ok := filledIn(callback)
	if !ok {
		return f, wrong{reasonInput: "This form cannot be read. Close it, and click Break glass again."}, ""
	}
	f.foreign = f.team != team
	bad, said, err := e.openGrant(ctx, f)
	if err != nil {
		bad = wrong{reasonInput: e.explain(f.press, "", err)}
	}
	for input, text := range bad {
		if text = e.secrets.Redact(text); len(text) > maxLine {
			text = strings.ToValidUTF8(text[:maxLine], "") + "…"
		}
		bad[input] = text
	}
	e.log.Info("form", "verb", f.verb, "subject", short(f.subject), "agent", f.environment+"/"+f.agent, "user", f.user, "wrong", map[string]string(bad), "answer", said)
	return f, bad, e.secrets.Redact(said)
}

// openGrant checks a form as far as this agent can see, and records the grant that it asks for.
func (e *ear) openGrant(ctx context.Context, f filled) (wrong, string, error) {
	declared, _, _ := e.heeded()
	if declared == nil {
		return wrong{reasonInput: "The agent takes no clicks any more. Close this, and use: " + f.command()}, "", nil
	}
	if text := e.misdirected(declared, f.press); text != "" {
		return wrong{reasonInput: text}, "", nil
	}
	if age := e.now().Sub(time.Unix(f.place.Opened, 0)); age > formLife || age < -formLife {
		return wrong{reasonInput: "This form was opened more than an hour ago. Close it, and click Break glass again."}, "", nil
	}
	request, bad := e.requested(declared, f)
	if len(bad) > 0 {
		return bad, "", nil
	}
	targets, bad, err := e.chosen(ctx, declared, f)
	if err != nil || len(bad) > 0 {
		return bad, "", err
	}
	request.Targets = targets
	return e.recordGrant(ctx, declared, f, request)
}

// requested is the request without its targets.
func (e *ear) requested(declared *repository.State, f filled) (control.GrantRequest, wrong) {
	bad := wrong{}
	policy := declared.Policies[f.place.Policy]
	approver := policy.SlackApprover(f.user)
	if approver == "" {
		bad[reasonInput] = fmt.Sprintf("You are %s in Slack, and policy %q does not say which approver that is: see slack_users of towline_break_glass_policy.", f.user, f.place.Policy)
		return control.GrantRequest{}, bad
	}
	longest := time.Duration(policy.MaxDuration)
	duration, err := time.ParseDuration(strings.ReplaceAll(f.duration, " ", ""))
	switch {
	case err != nil:
		bad[durationInput] = fmt.Sprintf("%q is no duration. Write one such as 30m or 1h30m.", f.duration)
	case duration < time.Minute:
		bad[durationInput] = "A grant holds for at least a minute."
	case duration > longest:
		bad[durationInput] = fmt.Sprintf("Policy %s lets a grant hold for up to %s.", policy.Name, durationText(longest))
	}
	if f.reason == "" {
		bad[reasonInput] = "Say why: it is recorded."
	}
	now := e.now().UTC().Truncate(time.Second)
	return control.GrantRequest{
		Version: control.FormatVersion, ID: time.Unix(f.place.Opened, 0).UTC().Format("20060102t150405") + "-" + targetValue(f.view)[:8],
		Environment: e.environment, Policy: policy.Name, Reason: f.reason, Opened: now, Until: now.Add(duration),
		Opener: cmp.Or(policy.ApproverComment(approver), f.user),
	}, bad
}

// chosen finds the targets that were chosen among those of the drift.
func (e *ear) chosen(ctx context.Context, declared *repository.State, f filled) ([]string, wrong, error) {
	owner := declared.Agents[f.agent]
	reports, err := repository.OpenReports(ctx, e.store, owner)
	if err != nil {
		return nil, nil, err
	}
	receipt, err := reports.Receipt(ctx, f.place.Epoch, f.place.Sequence)
	if err != nil {
		return nil, nil, err
	}
	reached := targetsOf(declared.Policies[f.place.Policy], declared, owner, receipt.Drift)
	var targets []string
	for _, target := range reached {
		if slices.Contains(f.targets, targetValue(target)) {
			targets = append(targets, target)
		}
	}
	switch {
	case control.Occurrence(receipt.Drift) != f.subject:
		return nil, wrong{reasonInput: "This form cannot be read. Close it, and click Break glass again."}, nil
	case len(targets) == 0 && len(f.targets) == 0:
		return nil, wrong{targetsInput: "Choose at least one."}, nil
	case len(targets) != len(f.targets):
		return nil, wrong{targetsInput: fmt.Sprintf("Policy %s does not reach all of them. It reaches: %s", f.place.Policy, someOf(reached))}, nil
	}
	return targets, nil, nil
}

// someOf names the first of many.
func someOf(names []string) string {
	text := strings.Join(names[:min(len(names), maxShownTargets)], ", ")
	if more := len(names) - maxShownTargets; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if text == "" {
		return "nothing"
	}
	return text
}

// recordGrant writes a request once. A form that comes again says what became of it.
func (e *ear) recordGrant(ctx context.Context, declared *repository.State, f filled, request control.GrantRequest) (wrong, string, error) {
	now := e.now()
	files, err := repository.ReadGrant(ctx, e.store, declared, request.ID)
	if err != nil {
		return nil, "", err
	}
	if record, err := files.Record(e.environment, request.ID, declared.Policies, now); err == nil && record.Refusal == nil {
		return nil, "It was recorded before. " + grantText(record.Grant), nil
	}
	click := f.grantClick(e.agent, control.GrantOpens, request.ID, control.RequestDigest(request), now)
	click.Request = &request
	if err := click.Validate(); err != nil {
		return wrong{reasonInput: fmt.Sprintf("What was filled in cannot be recorded: %s.", err)}, "", nil
	}
	grant, err := control.VerifyGrant(declared.Policies[request.Policy], control.GrantFiles{Opening: &click}, now)
	if err != nil {
		return wrong{reasonInput: fmt.Sprintf("Nothing was recorded: %s.", err)}, "", nil
	}
	if err := e.writeAboutGrant(ctx, click); err != nil {
		return wrong{reasonInput: fmt.Sprintf("It is not known whether this was recorded: %s. Send the form again, or: %s", err, f.command())}, "", nil
	}
	return nil, "Your word is recorded. " + grantText(grant), nil
}

// grantClick is what is written of a press about a grant.
func (p press) grantClick(relay string, verb control.GrantVerb, grant, digest string, now time.Time) control.GrantClick {
	return control.GrantClick{
		Version: control.FormatVersion, Environment: p.environment, Relay: relay, Verb: verb, Grant: grant, Digest: digest,
		User: p.user, Team: p.team, Channel: p.channel, Message: p.message, Time: now.UTC().Truncate(time.Second),
	}
}

// writeAboutGrant puts what was said of a grant into the store, once. Any agent of the
// environment may be concerned, this one too.
func (e *ear) writeAboutGrant(ctx context.Context, click control.GrantClick) error {
	signed, err := control.Sign(click, e.private)
	if err != nil {
		return err
	}
	return e.put(ctx, click.Key(), signed, true)
}

// grantText says how things stand with a grant.
func grantText(grant control.Grant) string {
	request := grant.Request
	switch grant.Phase {
	case control.GrantPending:
		return fmt.Sprintf("Break-glass grant %s waits. Approvals missing: %d. Another approver clicks Approve grant, or: `towline break-glass approve -environment %s -key KEY %s`", request.ID, grant.Missing, request.Environment, request.ID)
	case control.GrantOpen:
		return fmt.Sprintf("Break-glass grant %s is open until %s: from now on agents leave alone %s.", request.ID, request.Until.Format(time.RFC3339), someOf(request.Targets))
	}
	return fmt.Sprintf("Break-glass grant %s is %s since %s.", request.ID, grant.Phase, grant.Ended.Format(time.RFC3339))
}

// sayOfGrant records an approval or the end of a grant.
func (e *ear) sayOfGrant(ctx context.Context, declared *repository.State, p press) (string, error) {
	now := e.now()
	files, err := repository.ReadGrants(ctx, e.store, declared)
	if err != nil {
		return "", err
	}
	records := files.Records(e.environment, declared.Policies, now)
	at := slices.IndexFunc(records, func(r repository.GrantRecord) bool { return r.Refusal == nil && r.Grant.Digest == p.subject })
	if at < 0 {
		return "Nothing was recorded. The grant of this button is not there any more, or its policy does not allow it any more.", nil
	}
	record, grant := records[at], records[at].Grant
	policy := declared.Policies[grant.Request.Policy]
	approver := policy.SlackApprover(p.user)
	verb := control.GrantApproves
	if p.verb == pressCloseGrant {
		verb = control.GrantCloses
	}
	switch {
	case approver == "":
		return fmt.Sprintf("Nothing was recorded. You are %s in Slack, and the grant's policy does not say which approver that is: see slack_users of towline_break_glass_policy %s.", p.user, policy.Name), nil
	case !grant.Ended.IsZero():
		return "Nothing was recorded. " + grantText(grant), nil
	case verb == control.GrantApproves && slices.Contains(grant.Approvers, approver):
		return "Nothing was recorded: you have approved it before, or opened it. " + grantText(grant), nil
	}
	click := p.grantClick(e.agent, verb, grant.Request.ID, grant.Digest, now)
	record.Files.Clicks = append(slices.Clone(record.Files.Clicks), click)
	if err := e.writeAboutGrant(ctx, click); err != nil {
		return "", err
	}
	if grant, err = control.VerifyGrant(policy, record.Files, now); err != nil {
		return "", err
	}
	if verb == control.GrantCloses {
		return fmt.Sprintf("Your word is recorded. Break-glass grant %s is closed; what differs is handled as policy %s says: %s.", grant.Request.ID, policy.Name, policy.After), nil
	}
	return "Your word is recorded. " + grantText(grant), nil
}
