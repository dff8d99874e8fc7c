package provider

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/zclconf/go-cty/cty"
	"go.yaml.in/yaml/v3"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

func TestIdentifiers(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"s3://bucket/towline?region=eu-central-1&endpoint=http%3A%2F%2Fx%3A1", "file:///var/lib/store", "gs://bucket/towline", "azblob://container/towline?account=name"} {
		repository, environment, name, err := parseIdentifier(identifier(url, "prod", "agent-1"))
		if err != nil || repository != url || environment != "prod" || name != "agent-1" {
			t.Errorf("%s comes back as %q %q %q, %v", url, repository, environment, name, err)
		}
	}
	for _, text := range []string{"", "#prod/a", "s3://b", "s3://b#prod", "s3://b#prod/", "s3://b#prod/A", "s3://b#a/b/c", "s3://b#x#prod/a", "mem://b#prod/a", "gs:///p#prod/a", "azblob://#prod/a"} {
		if _, _, _, err := parseIdentifier(text); err == nil {
			t.Errorf("%q was taken for an identifier", text)
		}
	}
}

func FuzzIdentifier(f *testing.F) {
	f.Add("s3://bucket/prefix?region=x#prod/agent")
	f.Add("file:///a#b/c")
	f.Fuzz(func(t *testing.T, text string) {
		repository, environment, name, err := parseIdentifier(text)
		if err == nil && identifier(repository, environment, name) != text {
			t.Errorf("%q comes back as %q", text, identifier(repository, environment, name))
		}
	})
}

func TestDurationsThatMeanTheSame(t *testing.T) {
	t.Parallel()
	text := func(s string) duration { return duration{basetypes.NewStringValue(s)} }
	tests := map[string]struct {
		a, b string
		want bool
	}{
		"other units": {"90s", "1m30s", true}, "zeros": {"24h", "24h0m0s", true}, "other time": {"90s", "91s", false}, "no time": {"soon", "soon", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, diags := text(test.a).StringSemanticEquals(t.Context(), text(test.b))
			if got != test.want || diags.HasError() {
				t.Errorf("%s and %s: %v, want %v", test.a, test.b, got, test.want)
			}
		})
	}
	for d, want := range map[time.Duration]string{24 * time.Hour: "24h", 90 * time.Second: "1m30s", 10 * time.Minute: "10m", 0: "0s", time.Hour + time.Second: "1h0m1s"} {
		if got := durationOf(d).ValueString(); got != want {
			t.Errorf("%s is written %q, want %q", d, got, want)
		}
	}
}

func newSigner(t *testing.T) trust.Key {
	t.Helper()
	key, err := trust.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestJoinTokenIsOneForAnIssueAndAnotherForAnyOther(t *testing.T) {
	t.Parallel()
	key := newSigner(t)
	base := issue{"fingerprint", control.Ref{Kind: control.KindAgent, Environment: "prod", Name: "a"}, 1, time.Unix(1_800_000_000, 0)}
	token := func(key trust.Key, change func(*issue)) string {
		i := base
		change(&i)
		out, err := joinToken(key, i)
		if err != nil {
			t.Fatal(err)
		}
		return tokenText(out)
	}
	same := func(*issue) {}
	if first, again := token(key, same), token(key, same); first != again {
		t.Error("one issue has two tokens")
	}
	seen := map[string]string{token(key, same): "itself"}
	others := map[string]string{
		"another key":        token(newSigner(t), same),
		"another repository": token(key, func(i *issue) { i.fingerprint = "other" }),
		"another agent":      token(key, func(i *issue) { i.agent.Name = "b" }),
		"another generation": token(key, func(i *issue) { i.generation = 2 }),
		"another expiry":     token(key, func(i *issue) { i.expires = i.expires.Add(time.Second) }),
	}
	for name, text := range others {
		if twin, ok := seen[text]; ok {
			t.Errorf("%s has the token of %s", name, twin)
		}
		seen[text] = name
	}
	if twin := token(key, func(i *issue) { i.expires = i.expires.In(time.FixedZone("x", 3600)) }); twin != token(key, same) {
		t.Error("the time zone in which an expiry is written makes another token")
	}
}

// ecdsaSigner is a key as AWS KMS keeps it.
type ecdsaSigner struct{ *ecdsa.PrivateKey }

func (s ecdsaSigner) Public() trust.PublicKey {
	key, _ := trust.PublicKeyFrom(s.PrivateKey.Public())
	return key
}

func (s ecdsaSigner) Sign(message []byte) ([]byte, error) {
	digest := sha256.Sum256(message)
	return ecdsa.SignASN1(rand.Reader, s.PrivateKey, digest[:])
}

// TestTokensComeFromKeysThatSignTheSameTwice: a token that is derived anew must be the
// one that was handed out.
func TestTokensComeFromKeysThatSignTheSameTwice(t *testing.T) {
	t.Parallel()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(time.Now)
	s.keys = trust.Keyring{ecdsaSigner{private}}
	if _, diags := s.tokenKey(); !diags.HasError() || !strings.Contains(diags[0].Detail(), "ed25519 key is needed") {
		t.Errorf("with an ECDSA key alone: %v", diags)
	}
	ed25519 := newSigner(t)
	s.keys = append(s.keys, ed25519)
	if key, diags := s.tokenKey(); diags.HasError() || key.Public() != ed25519.Public() {
		t.Errorf("with an ed25519 key beside it: %v, %v", key, diags)
	}
}

func TestTokenFileLeavesNothingHalf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token, err := joinToken(newSigner(t), issue{})
	if err != nil {
		t.Fatal(err)
	}
	blocked := filepath.Join(dir, "blocked")
	if err := os.MkdirAll(filepath.Join(blocked, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeTokenFile(blocked, token); err == nil {
		t.Error("a folder was replaced by a token")
	}
	if err := removeTokenFile(blocked, token); err != nil {
		t.Errorf("a folder in the token's place: %v, want to be left alone", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d entries are left, %v; want the folder only", len(entries), err)
	}
}

func TestClaimedGeneration(t *testing.T) {
	t.Parallel()
	prefix := control.AgentPrefix("prod", "a") + "claim"
	for generation := range 12 {
		if key := control.ClaimKey("prod", "a", generation+1); claimedGeneration(key, prefix) != generation+1 {
			t.Errorf("%s has generation %d, want %d", key, claimedGeneration(key, prefix), generation+1)
		}
	}
	for _, key := range []string{prefix, prefix + "s/x", prefix + "-x.json"} {
		if got := claimedGeneration(key, prefix); got != 0 {
			t.Errorf("%s has generation %d, want none", key, got)
		}
	}
}

func TestFieldDiagnosticsPointAtAttributes(t *testing.T) {
	t.Parallel()
	tests := map[string]path.Path{
		"name":               path.Root("name"),
		"include[3].address": path.Root("include").AtListIndex(3).AtName("address"),
		"labels[zone-1]":     path.Root("labels").AtMapKey("zone-1"),
		"scopes[0]":          path.Root("scopes"),
		"drift.grace":        path.Root("drift").AtName("grace"),
		"":                   path.Empty(),
	}
	for field, want := range tests {
		if got := attributePath(field); !got.Equal(want) {
			t.Errorf("%q is at %s, want %s", field, got, want)
		}
	}
	diags := fieldDiagnostics(errors.Join(control.FieldError{Field: "join.expires", Message: "x"}, control.FieldError{Field: "name", Message: "must be short"}))
	if len(diags) != 1 || diags[0].Detail() != "The attribute name must be short." {
		t.Errorf("diagnostics %v, want only the one about the name", diags)
	}
}

func onS3() machine {
	return machine{
		Repository: "s3://bucket/a/b?region=eu-central-1", Environment: "prod", Agent: "agent-1",
		TrustedRoot: `{"signed": "${not.a.template} %{ if } \"quoted\""}`, DataDir: "/var/lib/towline",
	}
}

func TestAgentConfigParses(t *testing.T) {
	t.Parallel()
	m := onS3()
	m.DataDir = `/odd/${path}/with "quotes"`
	m.TokenSource.SSMParameter = "/a/b"
	m.Mirrors = []string{"gs://mirror/a", "file:///srv/${mirror}"}
	file, diags := hclparse.NewParser().ParseHCL([]byte(agentConfig(m)), "agent.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	attributes, _ := file.Body.JustAttributes()
	value, diags := attributes["data_dir"].Expr.Value(nil)
	if diags.HasErrors() || value.AsString() != m.DataDir {
		t.Errorf("data_dir comes back as %#v, %v; want %q", value, diags, m.DataDir)
	}
	mirrors, diags := attributes["mirrors"].Expr.Value(nil)
	if diags.HasErrors() || mirrors.LengthInt() != 2 || mirrors.Index(cty.NumberIntVal(1)).AsString() != m.Mirrors[1] {
		t.Errorf("mirrors come back as %#v, %v; want %q", mirrors, diags, m.Mirrors)
	}
	if !strings.Contains(agentConfig(m), `ssm_parameter = "/a/b"`) {
		t.Errorf("the configuration does not say where the token is:\n%s", agentConfig(m))
	}
}

func TestCloudInitHoldsWhatTheMachineNeeds(t *testing.T) {
	t.Parallel()
	m := onS3()
	m.Download = download{"https://downloads.example/towline?a='b'", strings.Repeat("a", 64)}
	text, err := cloudInit(m)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text, "#cloud-config\n") {
		t.Error("the first line is not what cloud-init looks for")
	}
	var got cloudConfig
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	unit, err := systemdUnit(m)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, file := range got.WriteFiles {
		files[file.Path] = file.Content
	}
	want := map[string]string{configPath: agentConfig(m), rootPath: m.TrustedRoot, unitPath: unit}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	last := got.RunCmd[len(got.RunCmd)-1]
	if !slices.Equal(last, []string{"systemctl", "enable", "--now", "towline-agent.service"}) || got.RunCmd[0][0] != "curl" {
		t.Errorf("commands %v; want the download first and the start last", got.RunCmd)
	}
}

func TestIAMPolicyAllowsExactlyTheAgentsPart(t *testing.T) {
	t.Parallel()
	m := onS3()
	m.TokenSource.SecretsManager = "towline/token"
	m.Slack = control.Slack{WebhookSSM: "slack", BotTokenSSM: "/towline/bot", AppTokenSecret: "towline/app"}
	const kmsARN = "arn:aws:kms:eu-central-1:111122223333:key/0d990263-018e-4e65-a703-eff731de951e"
	m.Recipients = []string{"age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p", "awskms:" + kmsARN}
	m.Queue = "https://sqs.eu-central-1.amazonaws.com/111122223333/towline"
	text, err := iamPolicy(m, "stable")
	if err != nil {
		t.Fatal(err)
	}
	var got policy
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	const objects = "arn:aws:s3:::bucket/a/b/"
	allowed := map[string][]string{}
	for _, statement := range got.Statement {
		for _, action := range statement.Action {
			if cmp.Equal(statement.Condition, createOnly) {
				action += " if absent"
			}
			allowed[action] = append(allowed[action], statement.Resource...)
		}
	}
	const own, lease, state, journal = objects + "environments/prod/agents/agent-1/", objects + "environments/prod/lease/", objects + "environments/prod/state/", objects + "environments/prod/journal/"
	want := map[string][]string{
		"s3:GetObject": {objects + "tuf/*", objects + "targets/environments/prod/*", objects + "targets/channels/stable/*",
			objects + "packages/*", objects + "environments/prod/agents/*", lease + "*", state + "*", journal + "*", objects + "environments/prod/keys/*", objects + "environments/prod/grants/*", objects + "environments/prod/decisions/*", objects + "environments/prod/signals/*",
			objects + "environments/prod/shards/*/state/*"},
		"s3:PutObject if absent":        {own + "*", lease + "*", state + "*", journal + "*", objects + "environments/prod/grants/*"},
		"s3:PutObject":                  {own + "heartbeat.json"},
		"s3:DeleteObject":               {state + "*", journal + "*", own + "plans/*", own + "proposals/*"},
		"s3:ListBucket":                 {"arn:aws:s3:::bucket"},
		"secretsmanager:GetSecretValue": {"arn:aws:secretsmanager:*:*:secret:towline/token-??????", "arn:aws:secretsmanager:*:*:secret:towline/app-??????"},
		"ssm:GetParameter":              {"arn:aws:ssm:*:*:parameter/slack", "arn:aws:ssm:*:*:parameter/towline/bot"},
		"sqs:ReceiveMessage":            {"arn:aws:sqs:eu-central-1:111122223333:towline"},
		"sqs:DeleteMessage":             {"arn:aws:sqs:eu-central-1:111122223333:towline"},
		"kms:GenerateDataKey":           {kmsARN},
		"kms:Decrypt":                   {kmsARN},
	}
	if diff := cmp.Diff(want, allowed); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
	m.Shard = "db"
	sharded, err := iamPolicy(m, "stable")
	for _, want := range []string{"environments/prod/shards/db/lease/*", "environments/prod/shards/db/state/*", "environments/prod/shards/db/journal/*", "environments/prod/state/*"} {
		if err != nil || !strings.Contains(sharded, objects+want) {
			t.Errorf("an agent of a shard may not use %s: %v", want, err)
		}
	}
	if strings.Contains(sharded, "environments/prod/lease/") {
		t.Error("an agent of a shard may use the lease of another")
	}
	for region, want := range map[string]string{"cn-north-1": "arn:aws-cn:s3", "us-gov-west-1": "arn:aws-us-gov:s3"} {
		m.Repository = "s3://bucket?region=" + region
		if text, err := iamPolicy(m, "stable"); err != nil || !strings.Contains(text, want) {
			t.Errorf("region %s: %v, want %s", region, err, want)
		}
	}
	m.Repository = "file:///store"
	if text, err := iamPolicy(m, "stable"); err != nil || text != "" {
		t.Errorf("a folder has the policy %q, %v", text, err)
	}
}
