package provider

import (
	"errors"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/float64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// defaultTokenLifetime is long enough for a machine to be ordered and booted the
// same day, and too short for a forgotten token to be of use.
const defaultTokenLifetime = 24 * time.Hour

func agentSchema() schema.Schema {
	attributes := headAttributes("agent")
	attributes["channel"] = schema.StringAttribute{
		Required: true, MarkdownDescription: "Channel whose revisions the agent follows.", Validators: []validator.String{nameRule},
	}
	attributes["shard"] = schema.StringAttribute{
		Optional: true, Validators: []validator.String{nameRule},
		MarkdownDescription: "Part of the environment that the agent works on, with a lease and a state of its own. Of the agents of one shard one works and the others take over when it ends. " +
			"Agents of different shards work side by side: their scopes must not overlap, and what another shard's scopes include is taken from that shard's state. Without it the agent is of the shard without a name.",
		PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
	}
	attributes["scopes"] = scopesAttribute("Names of the scopes that say what the agent may touch.")
	attributes["labels"] = schema.MapAttribute{
		ElementType: types.StringType, Optional: true, MarkdownDescription: "Labels by which people find the agent.",
		Validators: []validator.Map{mapvalidator.SizeAtLeast(1)},
	}
	attributes["poll_interval"] = schema.StringAttribute{
		CustomType: durationType{}, Optional: true, Computed: true, Default: stringdefault.StaticString("1m"),
		MarkdownDescription: "Time between two rounds, before jitter. `1m`, unless set.",
	}
	attributes["heartbeat"] = schema.StringAttribute{
		CustomType: durationType{}, Optional: true, Computed: true, Default: stringdefault.StaticString("30s"),
		MarkdownDescription: "How often the agent says that it is there, where another agent of the shard may take over from it. " +
			"An agent that cannot reach the store changes nothing from one and a half of these times after its last word, and another takes over before three have passed. `30s`, unless set.",
	}
	attributes["refresh"] = refreshAttribute()
	attributes["slack"] = slackAttribute()
	attributes["recipients"] = recipientsAttribute()
	attributes["signals"] = signalsAttribute()
	addJoinAttributes(attributes)
	addMachineAttributes(attributes)
	return schema.Schema{
		MarkdownDescription: "An agent keeps the real objects of one environment equal to the revisions of a channel, within its scopes.\n\n" +
			"The agent's machine enrols itself at its first boot with a join token that works once. " +
			"The token is never in the state: `towline_join_token` hands it to whatever carries it to the machine, " +
			"or `join_token_file` writes it for an agent on the same machine.",
		Attributes: attributes,
	}
}

func refreshAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Bounds what the agent reads in a round, for APIs that allow few requests. " +
			"Drift of an object is then seen when the object is read. Without it every round reads every object.",
		Attributes: map[string]schema.Attribute{
			"budget": schema.Float64Attribute{
				Required: true, MarkdownDescription: "Share of all objects that a round reads, such as `0.1`.",
				Validators: []validator.Float64{float64validator.Between(0.0001, 1)},
			},
			"within": schema.StringAttribute{CustomType: durationType{}, Required: true, MarkdownDescription: "Time in which every object is read, whatever the budget, such as `1h`."},
		},
	}
}

func recipientsAttribute() schema.Attribute {
	return schema.SetAttribute{
		ElementType: types.StringType, Optional: true,
		MarkdownDescription: "Who can open the state that the agent leaves in the store, beside the environment's agents themselves: " +
			"age keys (`age1…`), SSH keys (`ssh-ed25519 …`), and symmetric keys of AWS KMS (`awskms:ARN`), which a replaced machine can use without anybody's help. " +
			"Without it the ed25519 keys that sign for the environment can; set it where none of these is in a file, because an SSH agent decrypts nothing.",
		Validators: []validator.Set{setvalidator.SizeBetween(1, control.MaxRecipients), setvalidator.ValueStringsAre(textRule{"Recipient is not valid", func(text string) error {
			_, err := control.ParseRecipient(text)
			return err
		}})},
	}
}

func signalsAttribute() schema.Attribute {
	keys, ok := approversAttribute("Public keys, as in OpenSSH's `authorized_keys`, of who may ring with `towline signal`.").(schema.SetAttribute)
	if ok {
		keys.Required, keys.Optional = false, true
	}
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Who may have the agent do a round before its time; at least one attribute is set. A signal says nothing but that: what is done follows from what is signed, " +
			"and from what is there. Many come to one round, at most every ten seconds, and one that is lost costs nothing. The agent asks for signals and accepts no connection.",
		Attributes: map[string]schema.Attribute{
			"keys": keys,
			"queue": schema.StringAttribute{
				Optional: true, Validators: []validator.String{stringvalidator.AtLeastOneOf(path.MatchRelative().AtParent().AtName("keys")), queueRule},
				MarkdownDescription: "URL of an SQS queue for this agent alone, whose policy says who may send: S3 notifications of the repository's bucket, rules of EventBridge, or anybody who changes what the agent keeps. " +
					"Of S3's notifications those about what agents write themselves are ignored.",
			},
		},
	}
}

func addJoinAttributes(attributes map[string]schema.Attribute) {
	attributes["join_token_version"] = schema.Int64Attribute{
		Optional: true, Computed: true, Default: int64default.StaticInt64(1),
		MarkdownDescription: "Any change issues a new token and ends the present enrolment: the next machine that boots with the new token becomes the agent. `1`, unless set.",
		Validators:          []validator.Int64{int64validator.AtLeast(1)},
	}
	attributes["join_token_lifetime"] = schema.StringAttribute{
		CustomType: durationType{}, Optional: true, Computed: true, Default: stringdefault.StaticString("24h"),
		MarkdownDescription: "How long a token may be used after it was issued. A change holds for the next token. `24h`, unless set.",
		Validators: []validator.String{textRule{"Token lifetime is not valid", func(text string) error {
			if d, err := time.ParseDuration(text); err == nil && (d < time.Minute || d > 366*24*time.Hour) {
				return errors.New("must be between 1m and a year")
			}
			return nil
		}}},
	}
	attributes["join_token_file"] = schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "File on the machine that runs Terraform to write the token to, for an agent on that machine or for a step that carries it. " +
			"Only its owner may read it. It is written when a token is issued and removed with the agent if it is still there.",
		Validators: []validator.String{pathRule},
	}
	attributes["join_generation"] = schema.Int64Attribute{Computed: true, MarkdownDescription: "Number of the enrolment, which rises with every token."}
	attributes["join_public_key"] = schema.StringAttribute{Computed: true, MarkdownDescription: "Public half of the token, in base64."}
	attributes["join_token_expires_at"] = schema.StringAttribute{Computed: true, MarkdownDescription: "When the token expires, RFC 3339. An agent that has enrolled by then stays enrolled."}
}

func addMachineAttributes(attributes map[string]schema.Attribute) {
	source := func(description string) schema.Attribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: description, Validators: []validator.String{exactlyOneOf("file", "env", "ssm_parameter", "secrets_manager")}}
	}
	attributes["join_token_source"] = schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Where the machine finds its token; exactly one attribute is set. The file `" + defaultTokenFile + "`, unless set.",
		Attributes: map[string]schema.Attribute{
			"file":            source("File on the machine."),
			"env":             source("Environment variable of the agent."),
			"ssm_parameter":   source("Name of an SSM parameter."),
			"secrets_manager": source("ARN or name of a Secrets Manager secret."),
		},
	}
	attributes["data_dir"] = schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(defaultDataDir),
		MarkdownDescription: "Folder on the machine for the agent's key and cache. `" + defaultDataDir + "`, unless set.",
		Validators:          []validator.String{plainPathRule},
	}
	attributes["mirrors"] = schema.ListAttribute{
		ElementType: types.StringType, Optional: true,
		MarkdownDescription: "URLs of copies of the repository, which the agent reads in this order when the repository's own store gives nothing that holds. " +
			"They need no trust; the machine needs the right to read there, and never writes.",
		Validators: []validator.List{listvalidator.SizeBetween(1, 8), listvalidator.ValueStringsAre(urlRule)},
	}
	attributes["download"] = schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Where `cloud_init` fetches the `towline` program from, for images that do not have it.",
		Attributes: map[string]schema.Attribute{
			"url":    schema.StringAttribute{Required: true, MarkdownDescription: "HTTPS URL of the program.", Validators: []validator.String{httpsRule}},
			"sha256": schema.StringAttribute{Required: true, MarkdownDescription: "SHA-256 of the program, in hex.", Validators: []validator.String{digestRule}},
		},
	}
	computed := func(description string) schema.Attribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	attributes["bootstrap"] = schema.SingleNestedAttribute{
		Computed:            true,
		MarkdownDescription: "What the agent's machine needs. None of it is secret.",
		Attributes: map[string]schema.Attribute{
			"cloud_init":   computed("User data for cloud-init, with all of the following but the policy."),
			"agent_config": computed("Configuration of the agent, for `" + configPath + "`."),
			"systemd_unit": computed("Unit for systemd, for `" + unitPath + "`."),
			"trusted_root": computed("The root that the agent trusts without proof, for `" + rootPath + "`."),
			"iam_policy":   computed("IAM policy with the least that the agent needs of the repository, as JSON. Null unless the repository is in S3."),
		},
	}
}

var (
	queueRule = textRule{"Queue is not valid", func(text string) error {
		if u, err := url.Parse(text); err == nil && u.Scheme != "https" {
			return errors.New("must be an https URL")
		}
		return control.ValidateQueue(text)
	}}
	pathRule = textRule{"Path is not valid", func(text string) error {
		if !filepath.IsAbs(text) || strings.ContainsAny(text, "\n\r\"") || filepath.Clean(text) != text {
			return errors.New("must be an absolute path without quotes, line breaks or detours")
		}
		return nil
	}}
	// plainPathRule is for paths that end up in a systemd unit, where spaces and % mean something.
	plainPathRE   = regexp.MustCompile(`^(/[A-Za-z0-9_+@-][A-Za-z0-9._+@-]*)+$`)
	plainPathRule = textRule{"Path is not valid", func(text string) error {
		if !plainPathRE.MatchString(text) {
			return errors.New("must be an absolute path of letters, digits and ._+@-")
		}
		return nil
	}}
	httpsRule = textRule{"URL is not valid", func(text string) error {
		if u, err := url.Parse(text); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return errors.New("must be an https URL without credentials")
		}
		return nil
	}}
	digestRE   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	digestRule = textRule{"Digest is not valid", func(text string) error {
		if !digestRE.MatchString(text) {
			return errors.New("must be a SHA-256 of 64 lower-case hex digits")
		}
		return nil
	}}
)
