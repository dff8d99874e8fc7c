package agent

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/slack-go/slack"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
)

// notify tells people of a drift set once: when it appears, when it changes and
// when it is gone. A set that was corrected in the round that saw it needs no end.
func (r *round) notify(ctx context.Context) error {
	a := r.agent
	if r.plan == nil || r.self.Slack == nil {
		return nil
	}
	set := control.DriftSet(r.driftItems())
	if set == a.memory.Told {
		return nil
	}
	text := r.driftText()
	told := set
	if r.standing() == 0 && len(r.judged) > 0 {
		told = "" // corrected: the next round's empty set is no news
	}
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	s := r.self.Slack
	ref := secretRef{file: s.WebhookFile, env: s.WebhookEnv, ssmParameter: s.WebhookSSM, secretsManager: s.WebhookSecret}
	webhook, err := ref.read(ctx)
	if err != nil {
		return fmt.Errorf("read the Slack webhook: %w", err)
	}
	a.secrets.learn(webhook)
	if err := slack.PostWebhookCustomHTTPContext(ctx, webhook, a.http, &slack.WebhookMessage{Text: text}); err != nil {
		return fmt.Errorf("post to Slack: %w", withoutURL(err))
	}
	a.memory.Told = told
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

// maxLines bounds a message; the rest is counted.
const maxLines = 20

// driftText says what drifted and what is done, with names only: values may be secret.
func (r *round) driftText() string {
	where := r.agent.config.Environment + "/" + r.agent.config.Agent
	if len(r.judged) == 0 {
		return fmt.Sprintf(":white_check_mark: *%s*: the drift is gone.", where)
	}
	var out strings.Builder
	fmt.Fprintf(&out, ":warning: *%s*: %d objects differ from revision %s\n", where, len(r.judged), short(r.revisionDigest()))
	for i, j := range r.judged {
		if i == maxLines {
			fmt.Fprintf(&out, "… and %d more", len(r.judged)-maxLines)
			break
		}
		what := strings.Join(j.Attributes, ", ")
		if j.Deleted {
			what = "deleted"
		}
		fmt.Fprintf(&out, "• `%s`: %s: %s\n", j.Addr, what, decisionText(j))
	}
	return out.String()
}

func decisionText(j guard.Judged) string {
	switch j.Decision {
	case guard.Corrected:
		return "corrected"
	case guard.Accepted:
		return "another object, as it should be"
	case guard.Stopped:
		return "no longer corrected: another writer keeps changing it"
	case guard.InGrace:
		return "will be corrected after the grace time"
	case guard.Proposed:
		return "waits for approval"
	case guard.Held:
		if j.Grant != "" {
			return "left alone under break-glass grant " + j.Grant
		}
		return "left alone since a break-glass grant ended"
	case guard.Failed:
		return "could not be corrected"
	default:
		return "observed only"
	}
}
