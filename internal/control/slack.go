package control

import (
	"regexp"
	"slices"

	"golang.org/x/crypto/ssh"
)

// Slack says how an agent reports drift to people: through an incoming webhook, as an app
// of a workspace, or both. Webhook URL and tokens are secrets, so the document holds only
// where to find them; exactly one field of a kind is set.
type Slack struct {
	// WebhookEnv names an environment variable of the agent's process.
	WebhookEnv string `json:"webhook_env,omitempty"`
	// WebhookFile is a path on the agent's machine.
	WebhookFile string `json:"webhook_file,omitempty"`
	// WebhookSSM is the name of an SSM parameter; WebhookSecret the ARN or name
	// of a Secrets Manager secret; both are read by the agent.
	WebhookSSM    string `json:"webhook_ssm_parameter,omitempty"`
	WebhookSecret string `json:"webhook_secret,omitempty"`

	// Channel is where the app's bot reports, as an ID or a name; "" without an app.
	Channel string `json:"channel,omitempty"`
	// The bot's token, which begins with xoxb-, is where these say, as the webhook is.
	BotTokenEnv    string `json:"bot_token_env,omitempty"`
	BotTokenFile   string `json:"bot_token_file,omitempty"`
	BotTokenSSM    string `json:"bot_token_ssm_parameter,omitempty"`
	BotTokenSecret string `json:"bot_token_secret,omitempty"`
	// The app's token, which begins with xapp-, opens the connections on which clicks come.
	AppTokenEnv    string `json:"app_token_env,omitempty"`
	AppTokenFile   string `json:"app_token_file,omitempty"`
	AppTokenSSM    string `json:"app_token_ssm_parameter,omitempty"`
	AppTokenSecret string `json:"app_token_secret,omitempty"`
}

// Source is a place where an agent finds a secret. One field is set, or none.
type Source struct{ Env, File, SSMParameter, SecretsManager string }

// Webhook is where the URL of the incoming webhook is.
func (s Slack) Webhook() Source {
	return Source{s.WebhookEnv, s.WebhookFile, s.WebhookSSM, s.WebhookSecret}
}

// BotToken is where the bot's token is.
func (s Slack) BotToken() Source {
	return Source{s.BotTokenEnv, s.BotTokenFile, s.BotTokenSSM, s.BotTokenSecret}
}

// AppToken is where the app's token is.
func (s Slack) AppToken() Source {
	return Source{s.AppTokenEnv, s.AppTokenFile, s.AppTokenSSM, s.AppTokenSecret}
}

// places counts the fields that are set.
func (s Source) places() int {
	set := 0
	for _, place := range []string{s.Env, s.File, s.SSMParameter, s.SecretsManager} {
		if place != "" {
			set++
		}
	}
	return set
}

// HasSlackApp tells whether the agent reports as an app, and takes clicks.
func (a Agent) HasSlackApp() bool { return a.Slack != nil && a.Slack.Channel != "" }

func (c *checker) slack(s Slack) {
	for field, source := range map[string]Source{"webhook": s.Webhook(), "bot_token": s.BotToken(), "app_token": s.AppToken()} {
		for suffix, place := range map[string]string{"_env": source.Env, "_file": source.File, "_ssm_parameter": source.SSMParameter, "_secret": source.SecretsManager} {
			c.text("slack."+field+suffix, place)
		}
	}
	c.text("slack.channel", s.Channel)
	webhook, bot, app := s.Webhook().places(), s.BotToken().places(), s.AppToken().places()
	if s.Channel == "" {
		c.that("slack", bot+app == 0, "must have a channel where it has tokens")
		c.that("slack", webhook == 1, "must have exactly one of webhook_env, webhook_file, webhook_ssm_parameter and webhook_secret, or a channel")
		return
	}
	c.that("slack", webhook <= 1, "must have at most one of webhook_env, webhook_file, webhook_ssm_parameter and webhook_secret")
	for name, places := range map[string]int{"bot_token": bot, "app_token": app} {
		c.that("slack", places == 1, "must have exactly one of %[1]s_env, %[1]s_file, %[1]s_ssm_parameter and %[1]s_secret, because it has a channel", name)
	}
}

// slackUser is what Slack calls a person: an ID such as U012AB3CD, or W012AB3CD where
// workspaces share their people.
var slackUser = regexp.MustCompile(`^[UW][A-Z0-9]{2,30}$`)

// slackUsers checks which approvers people are in Slack.
func (c *checker) slackUsers(field string, users map[string]string, approvers []string) {
	c.that(field, len(users) <= maxEntries, "must have at most %d entries", maxEntries)
	for user, approver := range users {
		at := field + "[" + user + "]"
		c.that(at, slackUser.MatchString(user), "must be named by the ID of a Slack user, such as U012AB3CD, which their profile in Slack shows")
		c.that(at, slackApprover(map[string]string{user: approver}, approvers, user) != "", "must be one of the approvers: a key as it is listed there, or the first 32 digits of its SHA-256 as towline plans list shows them")
	}
}

// slackApprover returns the [ApproverID] of the approver that a Slack user is, "" if none.
func slackApprover(users map[string]string, approvers []string, user string) string {
	named, ok := users[user]
	if !ok {
		return ""
	}
	if key, err := ParseApprover(named); err == nil {
		named = ApproverID(key)
	}
	if slices.Contains(approverIDs(approvers), named) {
		return named
	}
	return ""
}

// approverIDs are the [ApproverID]s of keys in authorized_keys form.
func approverIDs(lines []string) []string {
	var out []string
	for _, line := range lines {
		if key, err := ParseApprover(line); err == nil {
			out = append(out, ApproverID(key))
		}
	}
	return out
}

// ApproverComment is the comment of the key of one of the scope's approvers, by
// [ApproverID]; "" if there is none.
func (s Scope) ApproverComment(approver string) string {
	if s.Approval == nil {
		return ""
	}
	return commentOf(s.Approval.Approvers, approver)
}

// commentOf is the comment of a key in authorized_keys form, by [ApproverID]; "" if there
// is none.
func commentOf(lines []string, approver string) string {
	for _, line := range lines {
		key, comment, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
		if err == nil && ApproverID(key) == approver {
			return comment
		}
	}
	return ""
}
