package agent

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/slack-go/slack"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// notify tells people of the round, each in the way that the agent's document declares.
func (r *round) notify(ctx context.Context) error {
	if r.plan == nil || r.self.Slack == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	return errors.Join(r.postToWebhook(ctx), r.tellChannel(ctx))
}

// postToWebhook tells of a drift set once: when it appears, when it changes and when it
// is gone. A set that was corrected in the round that saw it needs no end.
func (r *round) postToWebhook(ctx context.Context) error {
	a := r.agent
	source := r.self.Slack.Webhook()
	set := control.DriftSet(r.driftItems()) + unmanagedSet(r.unmanaged)
	if source == (control.Source{}) || set == a.memory.Told {
		return nil
	}
	told := set
	if r.standing() == 0 && len(r.judged) > 0 && !r.fruitless() {
		told = unmanagedSet(r.unmanaged) // corrected: that the next round has no drift is no news
	}
	if err := r.toWebhook(ctx, source, r.driftText()); err != nil {
		return err
	}
	a.memory.Told = told
	return nil
}

// post tells people something that is no drift, in the channel of the agent's app or else
// by webhook.
func (r *round) post(ctx context.Context, text string) error {
	s := r.self.Slack
	if s == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	text = r.agent.secrets.Redact(text)
	if !r.self.HasSlackApp() {
		return r.toWebhook(ctx, s.Webhook(), text)
	}
	api, err := r.agent.slackBot(ctx, *s)
	if err != nil {
		return err
	}
	if _, _, err := api.PostMessageContext(ctx, s.Channel, slack.MsgOptionText(text, false)); err != nil {
		return fmt.Errorf("post to Slack: %w", slackProblem(err))
	}
	return nil
}

func (r *round) toWebhook(ctx context.Context, source control.Source, text string) error {
	webhook, err := refOf(source).read(ctx)
	if err != nil {
		return fmt.Errorf("read the Slack webhook: %w", err)
	}
	r.agent.secrets.learn(webhook)
	if err := slack.PostWebhookCustomHTTPContext(ctx, webhook, r.agent.http, &slack.WebhookMessage{Text: text}); err != nil {
		return fmt.Errorf("post to Slack: %w", withoutURL(err))
	}
	return nil
}

// withoutURL takes the webhook, which is a secret, out of an error.
func withoutURL(err error) error {
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		return urlErr.Err
	}
	return err
}

// unmanagedSet is the identity of what nobody manages, "" if there is nothing.
func unmanagedSet(items []control.UnmanagedItem) string {
	text := ""
	for _, item := range items {
		text += fmt.Sprintf(" %s %s %s", item.Inventory, item.ID, item.Digest)
	}
	if text == "" {
		return ""
	}
	return "/" + digestOf([]byte(text))
}
