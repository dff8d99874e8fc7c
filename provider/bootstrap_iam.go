package provider

import (
	"encoding/json"
	"fmt"
	"net/url"
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

// iamPolicy renders the least that the agent needs: it reads what is declared for
// its environment and its channel, and writes its own part, the environment's
// lease and its state. It deletes nothing. "" for stores that know no IAM.
func iamPolicy(m machine, channel string) (string, error) {
	store, err := url.Parse(m.Repository)
	if err != nil {
		return "", fmt.Errorf("rendering the IAM policy: %w", err)
	}
	if store.Scheme != "s3" {
		return "", nil
	}
	b := newBucket(store)
	environment, agent := m.Environment, m.Agent
	reads := []string{
		control.MetadataPrefix, control.TargetsPrefix + control.EnvironmentPrefix(environment), control.TargetsPrefix + "channels/" + channel + "/",
		control.AgentPrefix(environment, agent), control.LeasePrefix(environment), control.StatePrefix(environment), control.GrantsPrefix(environment),
	}
	writes := []string{control.AgentPrefix(environment, agent), control.LeasePrefix(environment), control.StatePrefix(environment)}
	doc := policy{"2012-10-17", []statement{
		{Sid: "ReadDeclared", Effect: "Allow", Action: []string{"s3:GetObject"}, Resource: b.objects(reads)},
		{Sid: "WriteOwn", Effect: "Allow", Action: []string{"s3:PutObject"}, Resource: b.objects(writes)},
		{
			Sid: "ListDeclared", Effect: "Allow", Action: []string{"s3:ListBucket"}, Resource: []string{b.arn},
			Condition: map[string]map[string][]string{"StringLike": {"s3:prefix": b.prefixes(reads)}},
		},
	}}
	doc.Statement = append(doc.Statement, b.token(m.TokenSource)...)
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return "", fmt.Errorf("rendering the IAM policy: %w", err)
	}
	return string(text) + "\n", nil
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

func (b bucket) objects(keys []string) []string {
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

// token lets the agent read its join token where AWS keeps it.
func (b bucket) token(source tokenSource) []statement {
	allow := func(action, resource string) []statement {
		return []statement{{Sid: "ReadJoinToken", Effect: "Allow", Action: []string{action}, Resource: []string{resource}}}
	}
	switch {
	case source.SSMParameter != "":
		name := "/" + strings.TrimPrefix(source.SSMParameter, "/")
		return allow("ssm:GetParameter", "arn:"+b.partition+":ssm:*:*:parameter"+name)
	case strings.HasPrefix(source.SecretsManager, "arn:"):
		return allow("secretsmanager:GetSecretValue", source.SecretsManager)
	case source.SecretsManager != "":
		// Secrets Manager adds a hyphen and six characters to the name in the ARN.
		return allow("secretsmanager:GetSecretValue", "arn:"+b.partition+":secretsmanager:*:*:secret:"+source.SecretsManager+"-??????")
	}
	return nil
}
