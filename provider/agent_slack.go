package provider

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// slackModel says how the agent reports to people in Slack.
type slackModel struct {
	Env            types.String `tfsdk:"webhook_env"`
	File           types.String `tfsdk:"webhook_file"`
	SSMParameter   types.String `tfsdk:"webhook_ssm_parameter"`
	SecretsManager types.String `tfsdk:"webhook_secret"`

	Channel           types.String `tfsdk:"channel"`
	BotEnv            types.String `tfsdk:"bot_token_env"`
	BotFile           types.String `tfsdk:"bot_token_file"`
	BotSSMParameter   types.String `tfsdk:"bot_token_ssm_parameter"`
	BotSecretsManager types.String `tfsdk:"bot_token_secret"`
	AppEnv            types.String `tfsdk:"app_token_env"`
	AppFile           types.String `tfsdk:"app_token_file"`
	AppSSMParameter   types.String `tfsdk:"app_token_ssm_parameter"`
	AppSecretsManager types.String `tfsdk:"app_token_secret"`
}

var slackType = texts("webhook_env", "webhook_file", "webhook_ssm_parameter", "webhook_secret", "channel",
	"bot_token_env", "bot_token_file", "bot_token_ssm_parameter", "bot_token_secret",
	"app_token_env", "app_token_file", "app_token_ssm_parameter", "app_token_secret")

func (m slackModel) declared() *control.Slack {
	return &control.Slack{
		WebhookEnv: m.Env.ValueString(), WebhookFile: m.File.ValueString(), WebhookSSM: m.SSMParameter.ValueString(), WebhookSecret: m.SecretsManager.ValueString(),
		Channel:     m.Channel.ValueString(),
		BotTokenEnv: m.BotEnv.ValueString(), BotTokenFile: m.BotFile.ValueString(), BotTokenSSM: m.BotSSMParameter.ValueString(), BotTokenSecret: m.BotSecretsManager.ValueString(),
		AppTokenEnv: m.AppEnv.ValueString(), AppTokenFile: m.AppFile.ValueString(), AppTokenSSM: m.AppSSMParameter.ValueString(), AppTokenSecret: m.AppSecretsManager.ValueString(),
	}
}

func slackModelOf(s control.Slack) slackModel {
	return slackModel{
		Env: optionalText(s.WebhookEnv), File: optionalText(s.WebhookFile), SSMParameter: optionalText(s.WebhookSSM), SecretsManager: optionalText(s.WebhookSecret),
		Channel: optionalText(s.Channel),
		BotEnv:  optionalText(s.BotTokenEnv), BotFile: optionalText(s.BotTokenFile), BotSSMParameter: optionalText(s.BotTokenSSM), BotSecretsManager: optionalText(s.BotTokenSecret),
		AppEnv: optionalText(s.AppTokenEnv), AppFile: optionalText(s.AppTokenFile), AppSSMParameter: optionalText(s.AppTokenSSM), AppSecretsManager: optionalText(s.AppTokenSecret),
	}
}

func slackAttribute() schema.Attribute {
	attributes := map[string]schema.Attribute{
		"channel": schema.StringAttribute{Optional: true, MarkdownDescription: "Channel in which the agent's Slack app keeps one message for what differs or waits, by name or ID. The app must be in it."},
	}
	for _, secret := range []struct{ kind, what string }{
		{"webhook", "the URL of an incoming webhook"}, {"bot_token", "the bot's token, which begins with `xoxb-`"}, {"app_token", "the app's own token, which begins with `xapp-`"},
	} {
		for _, place := range []struct{ suffix, where string }{
			{"env", "Environment variable of the agent"}, {"file", "File on the agent's machine"}, {"ssm_parameter", "Name of an SSM parameter"}, {"secret", "ARN or name of a Secrets Manager secret"},
		} {
			attributes[secret.kind+"_"+place.suffix] = schema.StringAttribute{Optional: true, MarkdownDescription: place.where + " that holds " + secret.what + "."}
		}
	}
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "How the agent tells people of drift: by an incoming webhook, which is posted to once for each set of differences, or as a Slack app, which keeps one message for them, " +
			"answers in its thread and takes clicks on its buttons over connections that the agent opens. URL and tokens are secrets: one attribute of each kind says where it is. An app needs `channel` and both tokens.",
		Attributes: attributes,
	}
}

// slackUsersAttribute says which approvers people are in Slack.
func slackUsersAttribute(description string) schema.Attribute {
	return schema.MapAttribute{
		ElementType: types.StringType, Optional: true, MarkdownDescription: description, Validators: []validator.Map{mapvalidator.SizeAtLeast(1)},
	}
}
