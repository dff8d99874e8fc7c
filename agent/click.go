package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// press is what a button asks for, and who pressed it. What it says of plans and agents is
// an address only: everything is looked up in the store.
type press struct {
	verb                        control.ClickVerb
	environment, agent, subject string
	number                      int

	user, team, channel, message string
	// trigger lets a form be opened, within three seconds.
	trigger string
	// foreign tells that the user is of another workspace than the app.
	foreign bool
}

// actionPrefix begins the IDs of our buttons.
const actionPrefix = "towline-"

// What buttons ask for beside what a [control.Click] says.
const (
	pressBreakGlass   control.ClickVerb = "break-glass" // opens a form about an occurrence of drift; the number is that of a receipt with it
	pressApproveGrant control.ClickVerb = "approve-grant"
	pressCloseGrant   control.ClickVerb = "close-grant"
)

// aboutGrants tells whether a press is about grants.
func (p press) aboutGrants() bool {
	return p.verb == pressBreakGlass || p.verb == pressApproveGrant || p.verb == pressCloseGrant
}

// valid tells whether a press is one of ours, as far as it says itself.
func (p press) valid() bool {
	click := p.click("relay", time.Unix(0, 0).UTC())
	if !p.aboutGrants() {
		return click.Validate() == nil
	}
	click.Verb, click.Number = control.ClickApprove, 0 // the rest has the same form
	return click.Validate() == nil && (p.verb == pressBreakGlass) == (p.number > 0)
}

// shown is of a button what stands for what it shows: not which receipt it names.
func (p press) shown() string {
	if p.verb == pressBreakGlass {
		p.number = 0
	}
	return p.value()
}

// value is what a button carries.
func (p press) value() string {
	return strings.Join([]string{string(p.verb), p.environment, p.agent, p.subject, strconv.Itoa(p.number)}, "/")
}

// pressOf reads a click on a button of ours; ok is false for anything else.
func pressOf(callback slack.InteractionCallback) (p press, ok bool) {
	if callback.Type != slack.InteractionTypeBlockActions {
		return press{}, false
	}
	for _, action := range callback.ActionCallback.BlockActions {
		if action == nil || !strings.HasPrefix(action.ActionID, actionPrefix) {
			continue
		}
		if p, ok = parsePress(action.Value); !ok {
			return press{}, false
		}
		p.from(callback)
		p.channel, p.message, p.trigger = callback.Channel.ID, callback.Message.Timestamp, callback.TriggerID
		return p, p.valid()
	}
	return press{}, false
}

// parsePress is the reverse of value.
func parsePress(value string) (p press, ok bool) {
	parts := strings.Split(value, "/")
	if len(parts) != 5 {
		return press{}, false
	}
	n, err := strconv.Atoi(parts[4])
	return press{verb: control.ClickVerb(parts[0]), environment: parts[1], agent: parts[2], subject: parts[3], number: n}, err == nil
}

// from notes who pressed.
func (p *press) from(callback slack.InteractionCallback) {
	p.user, p.team = callback.User.ID, callback.User.TeamID
	if p.team == "" {
		p.team = callback.Team.ID
	}
}

// click is what is written of it.
func (p press) click(relay string, now time.Time) control.Click {
	return control.Click{
		Version: control.FormatVersion, Environment: p.environment, Agent: p.agent, Relay: relay, Verb: p.verb, Subject: p.subject, Number: p.number,
		User: p.user, Team: p.team, Channel: p.channel, Message: p.message, Time: now,
	}
}

// button is a button of a message.
type button struct {
	press press
	// about names the grant that it is about; several tells that there are more of them.
	about   string
	several bool
}

func (p press) button(verb control.ClickVerb) button {
	p.verb = verb
	if verb == control.ClickApprove || verb == control.ClickReject {
		p.number = 0
	}
	return button{press: p}
}

// words are what a button says, and what it asks before it is believed.
var words = map[control.ClickVerb]struct {
	label, confirm string
	style          slack.Style
}{
	control.ClickApprove: {"Approve", "Approve exactly this plan? It cannot be taken back.", slack.StylePrimary},
	control.ClickReject:  {"Reject", "Reject exactly this plan? It cannot be taken back.", slack.StyleDanger},
	control.ClickHold:    {"Hold", "Keep what differs now from being corrected, until it changes or is released?", slack.StyleDefault},
	control.ClickRelease: {"Release", "Let what was held be corrected?", slack.StyleDefault},
	pressBreakGlass:      {"Break glass", "", slack.StyleDanger}, // a form follows
	pressApproveGrant:    {"Approve grant", "Approve exactly this break-glass grant? What it names is left alone until it ends.", slack.StylePrimary},
	pressCloseGrant:      {"Close grant", "End this break-glass grant? What differs is then handled as its policy says. It cannot be taken back.", slack.StyleDefault},
}

func (b button) element(i int) slack.BlockElement {
	word := words[b.press.verb]
	label := word.label
	if b.several {
		label += " " + b.about[max(0, len(b.about)-grantTail):]
	}
	element := slack.NewButtonBlockElement(actionPrefix+string(b.press.verb)+"-"+strconv.Itoa(i), b.press.value(), say(label)).WithStyle(word.style)
	if word.confirm == "" {
		return element
	}
	title := word.label
	if b.about != "" {
		title = "Grant " + b.about
	}
	return element.WithConfirm(slack.NewConfirmationBlockObject(say(title), say(word.confirm), say(word.label), say("Cancel")))
}

// grantTail is how much of a grant's name tells it from others beside it.
const grantTail = 8

// obey does what a press asks for, if who pressed may, and says what came of it.
func (e *ear) obey(ctx context.Context, declared *repository.State, p press) string {
	if text := e.misdirected(declared, p); text != "" {
		return text
	}
	said, err := e.record(ctx, declared, declared.Agents[p.agent], p)
	return e.explain(p, said, err)
}

// misdirected says why a press is none for this agent to take; "" if it is.
func (e *ear) misdirected(declared *repository.State, p press) string {
	_, ok := declared.Agents[p.agent]
	switch {
	case p.environment != e.environment:
		return fmt.Sprintf("Nothing was recorded. This button is of environment %s, and an agent of %s received the click: both use one Slack app. Give each environment an app of its own. Until then: %s", p.environment, e.environment, p.command())
	case !ok:
		return fmt.Sprintf("Nothing was recorded. Environment %s declares no agent %s any more.", p.environment, p.agent)
	case p.foreign:
		return "Nothing was recorded. You are of another workspace than the app, and its people alone are asked."
	}
	return ""
}

// explain is what is said of an error, or what there is to say without one.
func (e *ear) explain(p press, said string, err error) string {
	switch {
	case errors.Is(err, repository.ErrNotEnrolled), errors.Is(err, repository.ErrNotFound), errors.Is(err, repository.ErrNotBelieved):
		return fmt.Sprintf("Nothing was recorded. What agent %s has signed about this is not in the store: %s.", p.agent, err)
	case err != nil:
		return fmt.Sprintf("Nothing was recorded, because the store cannot be used now: %s. Click again later, or: %s", err, p.command())
	}
	return said
}

// command does at the command line what the button would have done.
func (p press) command() string {
	switch p.verb {
	case control.ClickApprove, control.ClickReject:
		return fmt.Sprintf("`towline plans %s -environment %s -key KEY %s`", p.verb, p.environment, short(p.subject))
	}
	if p.verb == pressApproveGrant || p.verb == pressCloseGrant {
		return fmt.Sprintf("`towline break-glass %s -environment %s -key KEY GRANT`", strings.TrimSuffix(string(p.verb), "-grant"), p.environment)
	}
	return fmt.Sprintf("`towline break-glass open -environment %s`", p.environment)
}

// record writes what was clicked, if it would count, and says how things stand then.
func (e *ear) record(ctx context.Context, declared *repository.State, owner control.Agent, p press) (string, error) {
	if p.verb == pressApproveGrant || p.verb == pressCloseGrant {
		return e.sayOfGrant(ctx, declared, p)
	}
	reports, err := repository.OpenReports(ctx, e.store, owner)
	if err != nil {
		return "", err
	}
	beat, err := reports.Heartbeat(ctx)
	if err != nil {
		return "", err
	}
	switch p.verb {
	case control.ClickApprove, control.ClickReject:
		return e.decide(ctx, declared, reports, beat, p)
	case pressBreakGlass:
		return e.openForm(ctx, declared, owner, reports, beat, p)
	}
	return e.holdOrRelease(ctx, declared, owner, reports, beat, p)
}

// decide records a word about a plan.
func (e *ear) decide(ctx context.Context, declared *repository.State, reports *repository.Reports, beat control.Heartbeat, p press) (string, error) {
	if beat.Proposal != p.subject {
		now := "no plan of the agent waits"
		if beat.Proposal != "" {
			now = "plan " + short(beat.Proposal) + " waits in its place"
		}
		return fmt.Sprintf("Nothing was recorded. Plan %s is superseded: something that it was made of has changed, or it was carried out, and now %s.", short(p.subject), now), nil
	}
	proposal, err := reports.Proposal(ctx, p.subject)
	if err != nil {
		return "", err
	}
	if !control.ApprovedInSlack(declared.Scopes, proposal.Scopes, p.user) {
		return fmt.Sprintf("Nothing was recorded. You are %s in Slack, and no scope of plan %s says which approver that is: see slack_users of approval in towline_scope %s.", p.user, short(p.subject), strings.Join(proposal.Scopes, ", ")), nil
	}
	said, err := repository.Decisions(ctx, e.store, proposal, declared)
	if err != nil {
		return "", err
	}
	if at := slices.IndexFunc(said.Clicks, func(c control.Click) bool { return c.User == p.user && c.Verb != p.verb }); at >= 0 {
		return fmt.Sprintf("Nothing was recorded. You have said %s of plan %s before, and a decision cannot be taken back.", said.Clicks[at].Verb, short(p.subject)), nil
	}
	if err := e.write(ctx, p); err != nil {
		return "", err
	}
	if said, err = repository.Decisions(ctx, e.store, proposal, declared); err != nil {
		return "", err
	}
	return decidedText(p, control.Decide(proposal, declared.Scopes, said)), nil
}

func decidedText(p press, standing control.Standing) string {
	text := fmt.Sprintf("Your %s of plan %s is recorded.", map[control.ClickVerb]string{control.ClickApprove: "approval", control.ClickReject: "rejection"}[p.verb], short(p.subject))
	switch standing.Phase {
	case control.ProposalApproved:
		return text + " It has all approvals; the agent carries it out in its next round, if nothing has changed."
	case control.ProposalRejected:
		return text + " It is rejected."
	}
	return fmt.Sprintf("%s Approvals missing: %d.", text, standing.Missing)
}

// holdOrRelease records a word about the correction of drift.
func (e *ear) holdOrRelease(ctx context.Context, declared *repository.State, owner control.Agent, reports *repository.Reports, beat control.Heartbeat, p press) (string, error) {
	receipt, err := reports.Receipt(ctx, beat.Epoch, beat.Sequence)
	if err != nil {
		return "", err
	}
	held := slices.ContainsFunc(receipt.Holds, func(h control.HoldUse) bool { return h.Subject == p.subject })
	if !held && control.Occurrence(receipt.Drift) != p.subject {
		return "Nothing was recorded. What differs has changed since, or is gone.", nil
	}
	users := control.SlackUsersOf(declared.Scopes, owner.Scopes)
	if !slices.Contains(users, p.user) {
		return fmt.Sprintf("Nothing was recorded. You are %s in Slack, and no scope of the agent says which approver that is: see slack_users of approval in towline_scope %s.", p.user, strings.Join(owner.Scopes, ", ")), nil
	}
	clicks, err := repository.Clicks(ctx, e.store, declared, p.subject, users)
	if err != nil {
		return "", err
	}
	hold := control.HoldOf(owner, p.subject, declared.Scopes, clicks)
	if hold.Next != p.number || hold.On == (p.verb == control.ClickHold) {
		return "Nothing was recorded. Somebody has done that already; the message shows it after the agent's next round.", nil
	}
	if err := e.write(ctx, p); err != nil {
		return "", err
	}
	if p.verb == control.ClickHold {
		return "Your word is recorded. From the agent's next round nothing of it is corrected in the scopes where you are an approver, until it changes or is released.", nil
	}
	return "Your word is recorded. From the agent's next round it is corrected again.", nil
}

// write puts a click into the store, once, and has the agent see to it.
func (e *ear) write(ctx context.Context, p press) error {
	click := p.click(e.agent, e.now().UTC().Truncate(time.Second))
	signed, err := control.Sign(click, e.private)
	if err != nil {
		return err
	}
	return e.put(ctx, click.Key(), signed, p.agent == e.agent)
}

// put writes what was signed, once; with mine this agent has a look at once.
func (e *ear) put(ctx context.Context, key string, signed []byte, mine bool) error {
	_, err := e.store.PutIfAbsent(ctx, key, signed)
	if errors.Is(err, objstore.ErrExist) {
		return nil // it came once more
	}
	if err == nil && mine {
		select {
		case e.woken <- struct{}{}:
		default:
		}
	}
	return err
}
