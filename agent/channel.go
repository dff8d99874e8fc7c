package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
)

// maxReplies bounds the thread of one message.
const maxReplies = 20

// channelMessage is the agent's message in its Slack channel, as it was left.
type channelMessage struct {
	// Declared is the channel as the agent's document named it; Channel and Time are what
	// Slack calls the message.
	Declared string `json:"declared"`
	Channel  string `json:"channel"`
	Time     string `json:"ts"`
	// Shown is a digest of what it shows, Names what it tells of.
	Shown string   `json:"shown"`
	Names []string `json:"names,omitempty"`
	// Replies counts those in its thread.
	Replies int `json:"replies,omitempty"`
	// Over tells that nothing in it has an end of which to tell.
	Over bool `json:"over,omitempty"`
}

// bulletin is what the message is to show.
type bulletin struct {
	headline string
	lines    []string
	buttons  []button
	names    []string
	// status says in one line, for the thread, what became of it.
	status string
	over   bool
}

// shown stands for what there is to see.
func (b *bulletin) shown() string {
	text := append([]string{b.headline}, b.lines...)
	for _, button := range b.buttons {
		text = append(text, button.press.shown())
	}
	return digestOf([]byte(strings.Join(text, "\n")))
}

// bulletin says what people are to see of the round; nil if there is nothing.
func (r *round) bulletin() *bulletin {
	if len(r.judged)+len(r.unmanaged)+len(r.inSlack) == 0 && r.asked == nil {
		return nil
	}
	b := &bulletin{headline: r.headline(), lines: r.lines(), buttons: r.buttons(), names: r.told(), status: r.status()}
	settled := r.asked == nil || r.asked.standing.Phase == control.ProposalApproved
	b.over = settled && r.standing()+len(r.unmanaged)+len(r.inSlack) == 0 && !r.fruitless()
	return b
}

// planName begins the name of a plan among what a message tells of.
const planName = "plan `"

// told names everything that a message of the round tells of.
func (r *round) told() []string {
	var out []string
	for _, j := range r.judged {
		out = append(out, "`"+plain(j.Addr.String())+"`: "+driftedText(j))
	}
	for _, item := range r.unmanaged {
		out = append(out, "`"+plain(item.ID)+"` in `"+plain(item.Inventory)+"`: nobody manages it")
	}
	if r.asked != nil && r.asked.revised {
		out = append(out, planName+short(r.asked.proposal.Digest)+"`")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// status is what became of everything, counted.
func (r *round) status() string {
	counts := map[string]int{}
	for _, j := range r.judged {
		counts[decisionText(j, r.fruitless())]++
	}
	var parts []string
	for _, j := range r.judged {
		text := decisionText(j, r.fruitless())
		if n := counts[text]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
			counts[text] = 0
		}
	}
	if len(r.unmanaged) > 0 {
		parts = append(parts, fmt.Sprintf("%d managed by nobody", len(r.unmanaged)))
	}
	if grants := r.grantsStatus(); grants != "" {
		parts = append(parts, grants)
	}
	text := strings.Join(parts, "; ")
	if r.asked != nil {
		text = strings.TrimPrefix(text+". "+r.askedText(), ". ")
	}
	return text
}

// buttons are what people can say about the round, where a policy lets somebody say it.
func (r *round) buttons() []button {
	var out []button
	about := press{environment: r.agent.config.Environment, agent: r.agent.config.Agent}
	if a := r.asked; a != nil && a.standing.Phase == control.ProposalPending && len(control.SlackUsersOf(r.declared.Scopes, a.proposal.Scopes)) > 0 {
		about.subject = a.proposal.Digest
		out = append(out, about.button(control.ClickApprove), about.button(control.ClickReject))
	}
	return slices.Concat(out, r.holdButtons(about), r.glassButton(about), r.grantButtons(about))
}

// holdButtons let people keep drift from being corrected, and go on with it.
func (r *round) holdButtons(about press) []button {
	if len(control.SlackUsersOf(r.declared.Scopes, r.self.Scopes)) == 0 {
		return nil
	}
	var out []button
	add := func(subject string, verb control.ClickVerb) {
		about.subject, about.number = subject, max(r.holds[subject].Next, 1)
		same := func(b button) bool { return b.press.subject == subject && b.press.verb == verb }
		if about.number <= control.MaxHolds && !slices.ContainsFunc(out, same) && len(out) < maxHoldButtons {
			out = append(out, about.button(verb))
		}
	}
	now := control.Occurrence(r.driftItems())
	for _, j := range r.judged {
		switch {
		case j.Decision == guard.InGrace && r.mayBeHeld(j):
			add(now, control.ClickHold)
		case j.Word != "":
			add(j.Word, control.ClickRelease)
		}
	}
	return out
}

// maxHoldButtons bounds the buttons about holds in one message.
const maxHoldButtons = 4

// mayBeHeld tells whether any Slack user has a word about an object.
func (r *round) mayBeHeld(j guard.Judged) bool {
	scope := guard.ScopeOf(r.scopes, j.Object)
	return scope != nil && len(control.SlackUsersOf(r.declared.Scopes, []string{scope.Name})) > 0
}

// tellChannel keeps one message in the agent's channel for as long as something differs or
// waits: it is posted when there is something that no message names yet, and edited
// when that changes or is gone.
func (r *round) tellChannel(ctx context.Context) error {
	if !r.self.HasSlackApp() {
		return nil
	}
	told, now := r.agent.memory.Message, r.bulletin()
	if told != nil && told.Declared != r.self.Slack.Channel {
		told = nil // it stays where it is
	}
	if now == nil && (told == nil || told.Over) {
		r.agent.memory.Message = nil
		return nil
	}
	if now != nil && told != nil && !told.Over && told.Shown == now.shown() {
		return nil
	}
	api, err := r.agent.slackBot(ctx, *r.self.Slack)
	if err != nil {
		return err
	}
	switch {
	case now == nil:
		return r.endMessage(ctx, api, told, r.gone(told))
	case told == nil || told.Over:
		return r.postMessage(ctx, api, now)
	case !containsAll(told.Names, now.names):
		if err := r.postMessage(ctx, api, now); err != nil {
			return err
		}
		err := r.edit(ctx, api, told, bulletin{headline: fmt.Sprintf(":arrow_heading_down: *%s*: there is more now; it goes on in a newer message.", r.where())})
		if isGone(err) {
			return nil
		}
		return err
	}
	return r.editMessage(ctx, api, told, now)
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(name string) bool { return !slices.Contains(all, name) })
}

// gone is what is left to say of what a message told.
func (r *round) gone(told *channelMessage) bulletin {
	b := bulletin{headline: fmt.Sprintf(":white_check_mark: *%s*: the drift is gone.", r.where()), status: "Nothing of it is left."}
	switch {
	case len(told.Names) == 0: // it was about grants alone
		b.headline = fmt.Sprintf(":white_check_mark: *%s*: no break-glass grant is open any more.", r.where())
	case slices.ContainsFunc(told.Names, func(name string) bool { return strings.HasPrefix(name, planName) }):
		b.headline = fmt.Sprintf(":white_check_mark: *%s*: nothing waits for approval any more.", r.where())
	}
	for i, name := range told.Names {
		if i == maxLines {
			b.lines = append(b.lines, fmt.Sprintf("… and %d more", len(told.Names)-maxLines))
			break
		}
		b.lines = append(b.lines, "• "+name)
	}
	return b
}

func (r *round) postMessage(ctx context.Context, api *slack.Client, now *bulletin) error {
	channel, ts, err := api.PostMessageContext(ctx, r.self.Slack.Channel, r.content(*now)...)
	if err != nil {
		return fmt.Errorf("post to Slack: %w", slackProblem(err))
	}
	r.agent.memory.Message = &channelMessage{Declared: r.self.Slack.Channel, Channel: channel, Time: ts, Shown: now.shown(), Names: now.names, Over: now.over}
	return nil
}

// editMessage shows in the message how things are now. One that somebody has deleted is
// posted anew.
func (r *round) editMessage(ctx context.Context, api *slack.Client, told *channelMessage, now *bulletin) error {
	err := r.edit(ctx, api, told, *now)
	if isGone(err) {
		return r.postMessage(ctx, api, now)
	}
	if err != nil {
		return err
	}
	next := *told
	next.Shown, next.Over = now.shown(), now.over
	if next.Replies < maxReplies {
		next.Replies++
	}
	r.agent.memory.Message = &next
	if told.Replies == maxReplies {
		return nil
	}
	return r.reply(ctx, api, told, now.status)
}

// endMessage says the last word in a message.
func (r *round) endMessage(ctx context.Context, api *slack.Client, told *channelMessage, last bulletin) error {
	err := r.edit(ctx, api, told, last)
	if err != nil && !isGone(err) {
		return err
	}
	r.agent.memory.Message = nil
	if err != nil || told.Replies == maxReplies {
		return nil //nolint:nilerr // somebody has deleted it: nothing is left to say
	}
	return r.reply(ctx, api, told, last.status)
}

func (r *round) edit(ctx context.Context, api *slack.Client, told *channelMessage, to bulletin) error {
	if _, _, _, err := api.UpdateMessageContext(ctx, told.Channel, told.Time, r.content(to)...); err != nil {
		return fmt.Errorf("edit a message in Slack: %w", slackProblem(err))
	}
	return nil
}

// reply tells the thread of a round that changed something.
func (r *round) reply(ctx context.Context, api *slack.Client, told *channelMessage, status string) error {
	text := fmt.Sprintf("%s: %s", r.started.Format(time.RFC3339), status)
	if told.Replies == maxReplies-1 {
		text += "\nNothing more is told here; `towline receipts` has every round."
	}
	text = r.agent.secrets.Redact(text)
	if _, _, err := api.PostMessageContext(ctx, told.Channel, slack.MsgOptionTS(told.Time), slack.MsgOptionText(text, false)); err != nil {
		return fmt.Errorf("reply in Slack: %w", slackProblem(err))
	}
	return nil
}

// handOver says that what the message tells of is another agent's work now.
func (r *round) handOver(ctx context.Context) error {
	told := r.agent.memory.Message
	if told == nil || told.Over || !r.self.HasSlackApp() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	api, err := r.agent.slackBot(ctx, *r.self.Slack)
	if err != nil {
		return err
	}
	return r.endMessage(ctx, api, told, bulletin{headline: fmt.Sprintf(":zzz: *%s* stands by; another agent does its work and tells of it.", r.where()), status: "Another agent has taken over."})
}

// maxSection bounds the text of a section, in bytes; Slack takes 3000 characters.
const maxSection = 2900

// content is a bulletin as Slack has it, without secrets.
func (r *round) content(b bulletin) []slack.MsgOption {
	secrets := r.agent.secrets
	headline := secrets.Redact(b.headline)
	blocks := []slack.Block{section(headline)}
	text := ""
	for _, line := range b.lines {
		line = secrets.Redact(line)
		if len(line) > maxLine {
			line = strings.ToValidUTF8(line[:maxLine], "") + "…"
		}
		if len(text)+len(line) > maxSection {
			blocks, text = append(blocks, section(text)), ""
		}
		text += line + "\n"
	}
	if text != "" {
		blocks = append(blocks, section(text))
	}
	if len(b.buttons) > 0 {
		elements := make([]slack.BlockElement, len(b.buttons))
		for i, button := range b.buttons {
			elements[i] = button.element(i)
		}
		blocks = append(blocks, slack.NewActionBlock("", elements...))
	}
	return []slack.MsgOption{slack.MsgOptionText(headline, false), slack.MsgOptionBlocks(blocks...), slack.MsgOptionDisableLinkUnfurl()}
}

func section(text string) slack.Block {
	return slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, text, false, false), nil, nil)
}

// slackBot is the Web API as the declared bot.
func (a *Agent) slackBot(ctx context.Context, s control.Slack) (*slack.Client, error) {
	return a.ear.client(ctx, s, false)
}

// isGone tells whether Slack says that a message cannot be edited any more.
func isGone(err error) bool {
	var answer slack.SlackErrorResponse
	return errors.As(err, &answer) && slices.Contains([]string{"message_not_found", "cant_update_message", "edit_window_closed", "thread_not_found"}, answer.Err)
}

// advice is what to do about an answer of Slack.
var advice = map[string]string{
	"channel_not_found":  "the bot does not see the channel of towline_agent's slack; check its name, and invite the bot",
	"not_in_channel":     "invite the bot into the channel of towline_agent's slack",
	"is_archived":        "the channel of towline_agent's slack is archived; declare another",
	"invalid_auth":       "the token is not valid; check where towline_agent's slack says that it is",
	"not_authed":         "the token is not valid; check where towline_agent's slack says that it is",
	"token_revoked":      "the token was revoked; install the app again and put the new token in its place",
	"account_inactive":   "the app was removed from the workspace; install it again",
	"expired_trigger_id": "Slack waits three seconds for the form, and it came later; click again",
	"missing_scope":      "the app lacks a scope; it needs chat:write, and connections:write for its own token",
}

// slackProblem says of an error what to do, and nothing of addresses that hold secrets.
func slackProblem(err error) error {
	var answer slack.SlackErrorResponse
	if errors.As(err, &answer) && advice[answer.Err] != "" {
		return fmt.Errorf("%w: %s", err, advice[answer.Err])
	}
	return withoutURL(err)
}
