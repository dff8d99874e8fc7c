package provider

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// policy is an IAM policy document.
type policy struct {
	Version   string
	Statement []statement
}

type statement struct {
	Sid       string
	Effect    string
	Action    []string
	Resource  []string
	Condition map[string]map[string][]string `json:",omitempty"`
}

// createOnly holds for requests that create if absent. Receipts, claims, leases and
// states can thereby not be rewritten, not even by an agent that was taken over.
var createOnly = map[string]map[string][]string{"Null": {"s3:if-none-match": {"false"}}}

// iamPolicy renders the least that the agent needs: it reads what is declared for
// its environment and its channel and what the environment's agents say, and creates
// objects in its own part and its shard's lease, states and journal, and what people have
// signed about grants on its machine: who signed decides, not who writes. It overwrites its
// heartbeat and deletes old states and journals, and nothing else. "" for stores that know no IAM.
func iamPolicy(m machine, channel string) (string, error) {
	store, err := url.Parse(m.Repository)
	if err != nil {
		return "", fmt.Errorf("rendering the IAM policy: %w", err)
	}
	if store.Scheme != "s3" {
		return "", nil
	}
	b := newBucket(store)
	shard := control.Shard{Environment: m.Environment, Name: m.Shard}
	own, lease, state, journal := control.AgentPrefix(m.Environment, m.Agent), shard.LeasePrefix(), shard.StatePrefix(), shard.JournalPrefix()
	reads := []string{
		control.MetadataPrefix, control.TargetsPrefix + control.EnvironmentPrefix(m.Environment), control.TargetsPrefix + "channels/" + channel + "/",
		control.PackagesPrefix, control.AgentsPrefix(m.Environment), lease, state, journal, control.SharedPrefix(m.Environment), control.GrantsPrefix(m.Environment),
		control.EnvironmentPrefix(m.Environment) + "decisions/", control.SignalsPrefix(m.Environment),
	}
	for _, other := range []string{"", "*"} { // what the agents of other shards have
		if other != m.Shard {
			reads = append(reads, control.Shard{Environment: m.Environment, Name: other}.StatePrefix())
		}
	}
	doc := policy{"2012-10-17", []statement{
		allow("ReadDeclared", "s3:GetObject", b.objects(reads...)...),
		allow("CreateOwn", "s3:PutObject", b.objects(own, lease, state, journal, control.GrantsPrefix(m.Environment))...),
		allow("OverwriteHeartbeat", "s3:PutObject", b.arn+"/"+b.prefix+control.HeartbeatKey(m.Environment, m.Agent)),
		allow("DeleteOldStates", "s3:DeleteObject", b.objects(state, journal, own+"plans/", own+"proposals/")...),
		allow("ListDeclared", "s3:ListBucket", b.arn),
	}}
	doc.Statement[1].Condition = createOnly
	doc.Statement[4].Condition = map[string]map[string][]string{"StringLike": {"s3:prefix": b.prefixes(reads)}}
	doc.Statement = append(doc.Statement, b.secret("ReadJoinToken", m.TokenSource)...)
	doc.Statement = append(doc.Statement, b.secret("ReadWebhook", slackSecret(m.Slack.Webhook()))...)
	doc.Statement = append(doc.Statement, b.secret("ReadSlackBotToken", slackSecret(m.Slack.BotToken()))...)
	doc.Statement = append(doc.Statement, b.secret("ReadSlackAppToken", slackSecret(m.Slack.AppToken()))...)
	doc.Statement = append(doc.Statement, useKMS(m)...)
	doc.Statement = append(doc.Statement, b.queue(m.Queue)...)
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return "", fmt.Errorf("rendering the IAM policy: %w", err)
	}
	return string(text) + "\n", nil
}

func slackSecret(s control.Source) secretSource {
	return secretSource{SSMParameter: s.SSMParameter, SecretsManager: s.SecretsManager}
}

// useKMS lets the agent seal to keys of AWS KMS, and open what was sealed to them, for
// its own environment only.
func useKMS(m machine) []statement {
	var keys []string
	for _, text := range m.Recipients {
		if recipient, err := control.ParseRecipient(text); err == nil && recipient.KMS.ID != "" {
			keys = append(keys, recipient.KMS.ID)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return []statement{{
		Sid: "Seal", Effect: "Allow", Action: []string{"kms:GenerateDataKey", "kms:Decrypt"}, Resource: keys,
		Condition: map[string]map[string][]string{"StringEquals": {"kms:EncryptionContext:" + control.EnvironmentContext: {m.Environment}}},
	}}
}

func allow(sid, action string, resources ...string) statement {
	return statement{Sid: sid, Effect: "Allow", Action: []string{action}, Resource: resources}
}

// bucket is an S3 store as IAM names it.
type bucket struct{ partition, arn, prefix string }

func newBucket(store *url.URL) bucket {
	b := bucket{partition: partition(store.Query().Get("region"))}
	b.arn = "arn:" + b.partition + ":s3:::" + store.Host
	if prefix := strings.Trim(store.Path, "/"); prefix != "" {
		b.prefix = prefix + "/"
	}
	return b
}

// partition is the part of AWS that a region belongs to.
func partition(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}

func (b bucket) objects(keys ...string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = b.arn + "/" + b.prefix + key + "*"
	}
	return out
}

func (b bucket) prefixes(keys []string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = b.prefix + key + "*"
	}
	return out
}

// queue lets the agent take messages from a queue.
func (b bucket) queue(text string) []statement {
	parsed, err := url.Parse(text)
	if text == "" || err != nil {
		return nil
	}
	region, account, name := "*", "*", path.Base(parsed.Path)
	if labels := strings.Split(parsed.Hostname(), "."); len(labels) > 3 && labels[0] == "sqs" {
		region = labels[1]
	}
	if folder := strings.Trim(path.Dir(parsed.Path), "/"); folder != "" {
		account = folder
	}
	return []statement{{Sid: "TakeSignals", Effect: "Allow", Action: []string{"sqs:ReceiveMessage", "sqs:DeleteMessage"},
		Resource: []string{"arn:" + b.partition + ":sqs:" + region + ":" + account + ":" + name}}}
}

// secret lets the agent read a secret where AWS keeps it.
func (b bucket) secret(sid string, source secretSource) []statement {
	switch {
	case source.SSMParameter != "":
		name := "/" + strings.TrimPrefix(source.SSMParameter, "/")
		return []statement{allow(sid, "ssm:GetParameter", "arn:"+b.partition+":ssm:*:*:parameter"+name)}
	case strings.HasPrefix(source.SecretsManager, "arn:"):
		return []statement{allow(sid, "secretsmanager:GetSecretValue", source.SecretsManager)}
	case source.SecretsManager != "":
		// Secrets Manager adds a hyphen and six characters to the name in the ARN.
		return []statement{allow(sid, "secretsmanager:GetSecretValue", "arn:"+b.partition+":secretsmanager:*:*:secret:"+source.SecretsManager+"-??????")}
	}
	return nil
}
