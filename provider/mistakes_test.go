package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
)

// TestMistakesAreExplained checks what a user reads before anything is applied.
func TestMistakesAreExplained(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	scope := func(from, to string) string { return strings.Replace(scopeConfig, from, to, 1) }
	agent := func(extra string) string { return strings.Replace(agentConfig, "scopes ", extra+"\n  scopes ", 1) }
	policy := func(approvals int, approver, duration string) string {
		return fmt.Sprintf("resource \"towline_break_glass_policy\" \"p\" {\n repository = \"URL\"\n environment = \"prod\"\n name = \"p\"\n scopes = [\"all\"]\n approvals = %d\n approvers = [%q]\n max_duration = %q\n}\n", approvals, approver, duration)
	}
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti ana"
	rego := func(module, more string) string {
		return fmt.Sprintf("resource \"towline_policy\" \"p\" {\n repository = \"URL\"\n environment = \"prod\"\n name = \"p\"\n modules = { \"a.rego\" = %q }\n %s\n}\n", module, more)
	}
	tests := map[string]struct{ config, want string }{
		"rego that does not parse":   {rego("package main\ndeny[msg] {", ""), "a.rego, line 2"},
		"rego that asks the network": {rego("package main\nimport rego.v1\ndeny contains x if x := http.send({}).body", ""), "http.send"},
		"policy's window":            {rego("package main", "warn_until = \"soon\""), "must be a time such as"},
		"url of a store in memory":   {strings.Replace(repositoryConfig, "URL", "mem://x", 1), "must be s3://BUCKET/PREFIX, gs://BUCKET/PREFIX"},
		"url with two slashes":       {strings.Replace(repositoryConfig, "URL", "file://x/y", 1), "must name an absolute path with three slashes"},
		"url with credentials":       {strings.Replace(repositoryConfig, "URL", "s3://me:secret@bucket/x", 1), "must not hold credentials"},
		"environment's name":         {strings.Replace(repositoryConfig, "prod =", "Prod =", 1), "must have only lower-case letters, digits and dashes"},
		"expiry too short":           {strings.Replace(repositoryConfig, "url ", "expiry = { publishing = \"5s\" }\n url ", 1), "must be whole seconds, at least a minute"},
		"name":                       {scope(`"all"`+"\n", `"all-"`+"\n"), "must not begin or end with a dash"},
		"include of nothing":         {scope(`[{ address = "**" }]`, `[]`), "must contain at least 1 elements"},
		"include without condition":  {scope(`[{ address = "**" }]`, `[{}]`), "must have an address, a type, a module or a provider"},
		"drift mode":                 {scope("include", "drift = { mode = \"ignore\" }\n include"), "value must be one of"},
		"grace that is no time":      {scope("include", "drift = { mode = \"enforce\", grace = \"soon\" }\n include"), `Write numbers with units, such as "30s", "5m" or "1h30m"`},
		"grace of the past":          {scope("include", "drift = { mode = \"enforce\", grace = \"-5m\" }\n include"), "must be between 0s and a year"},
		"ignored attribute":          {scope("include", "ignore_attributes = [\"labels\"]\n include"), "must have the form ADDRESS.attribute or TYPE.attribute"},
		"provider":                   {scope(`address = "**"`, `provider = "aws"`), "must be the source of a provider"},
		"module":                     {scope(`address = "**"`, `module = "network"`), "must be the path of a module"},
		"path of an attribute":       {scope(`address = "**"`, `type = "x", attributes = [".size"]`), "must be the path of an attribute"},
		"window":                     {scope("include", "windows = [{ from = \"25:00\", until = \"04:00\" }]\n include"), "must be a time such as 22:30"},
		"window without time":        {scope("include", "windows = [{ from = \"04:00\", until = \"04:00\" }]\n include"), "must have an end that differs from its beginning"},
		"oscillation":                {scope("include", "drift = { mode = \"enforce\", oscillation = { times = 3, within = \"1h\", resumed = \"now\" } }\n include"), "must be a time such as 2026-01-02T15:04:05Z"},
		"rule without a mode":        {scope("include", "drift = { mode = \"enforce\", rules = [{ attributes = [\"size\"], mode = \"observe\" }] }\n include"), "must have the form ADDRESS.attribute"},
		"inventory":                  {scope("include", "inventories = [{ data = \"all\", list = \"objects\" }]\n include"), "must be the address of a data source"},
		"inventory without a list":   {scope("include", "inventories = [{ data = \"data.x.y\" }]\n include"), "must name the attribute that lists the objects"},
		"approvals of nobody":        {scope("include", "approval = { approvers = [\""+key+"\"], approvals = 2 }\n include"), "must not be more than there are approvers"},
		"action":                     {scope("include", "actions = [\"destroy\"]\n include"), "value must be one of"},
		"poll interval":              {agent(`poll_interval = "10ms"`), "must be between 1s and a year"},
		"two webhooks":               {agent(`slack = { webhook_env = "A", webhook_file = "/b" }`), "must have exactly one of webhook_env"},
		"no webhook and no channel":  {agent(`slack = {}`), "must have exactly one of webhook_env, webhook_file, webhook_ssm_parameter and webhook_secret, or a channel"},
		"token without a channel":    {agent(`slack = { webhook_env = "A", bot_token_env = "B" }`), "must have a channel where it has tokens"},
		"channel without a token":    {agent(`slack = { channel = "#a", bot_token_env = "B" }`), "must have exactly one of app_token_env, app_token_file, app_token_ssm_parameter and app_token_secret, because it has a channel"},
		"user of Slack by name":      {scope("include", `approval = { approvers = ["`+key+`"], slack_users = { "@ana" = "`+key+`" } }`+"\n include"), "must be named by the ID of a Slack user, such as U012AB3CD"},
		"user who is no approver":    {scope("include", `approval = { approvers = ["`+key+`"], slack_users = { U012AB3CD = "ana" } }`+"\n include"), "must be one of the approvers"},
		"two token sources":          {agent(`join_token_source = { env = "A", file = "/b" }`), "Invalid Attribute Combination"},
		"mirror that is no store":    {agent(`mirrors = ["https://example.com/x"]`), "must be s3://BUCKET/PREFIX, gs://BUCKET/PREFIX"},
		"recipient that is none":     {agent(`recipients = ["somebody"]`), "must be age1"},
		"private key as recipient":   {agent(`recipients = ["AGE-SECRET-KEY-1QQ"]`), "must be age1"},
		"alias as recipient":         {agent(`recipients = ["awskms:///alias/x"]`), "must be an ARN"},
		"signals of nobody":          {agent(`signals = {}`), "Invalid Attribute Combination"},
		"key that may ring":          {agent(`signals = { keys = ["me"] }`), "must be a public key such as"},
		"queue over http":            {agent(`signals = { queue = "http://sqs.eu-central-1.amazonaws.com/1/q" }`), "must be an https URL"},
		"queue that is none":         {agent(`signals = { queue = "https://example.com" }`), "must be the URL of an SQS queue, such as"},
		"relative data folder":       {agent(`data_dir = "data"`), "must be an absolute path"},
		"download over http":         {agent(`download = { url = "http://x/y", sha256 = "aa" }`), "must be an https URL"},
		"digest of a download":       {agent(`download = { url = "https://x/y", sha256 = "aa" }`), "must be a SHA-256 of 64 lower-case hex digits"},
		"label":                      {agent(`labels = { Zone = "a" }`), "must have only lower-case letters"},
		"approvals nobody can give":  {policy(2, key, "1h"), "must not be more than there are approvers"},
		"approver":                   {policy(1, "somebody", "1h"), "must be a public key such as"},
		"policy's user by name":      {strings.Replace(policy(1, key, "1h"), "max_duration", "slack_users = { \"@ana\" = \""+key+"\" }\n max_duration", 1), "must be named by the ID of a Slack user, such as U012AB3CD"},
		"policy's user is nobody":    {strings.Replace(policy(1, key, "1h"), "max_duration", "slack_users = { U012AB3CD = \"ana\" }\n max_duration", 1), "must be one of the approvers"},
		"policy for a year":          {policy(1, key, "8760h"), "must be between 1m and 31 days"},
		"data source's root":         {strings.Replace(strings.Replace(agentDataConfig, "towline_repository.main.trusted_root", `"{}"`, 1), "  depends_on   = [towline_agent.one]\n", "", 1), "Repository does not exist"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := test.config
			if !strings.Contains(config, `"towline_repository" "main"`) {
				config = strings.ReplaceAll(config, "towline_repository.main.url", `"URL"`)
			}
			config = strings.ReplaceAll(config, "towline_scope.all.name", `"all"`)
			own := *b
			own.t = t
			own.apply(resource.TestStep{Config: own.with(config), PlanOnly: true, ExpectError: words(test.want)})
		})
	}
}

func TestWritingNeedsAKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	junk := filepath.Join(b.dir, "junk.pem")
	if err := os.WriteFile(junk, []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	provider := func(arguments string) string {
		return strings.Replace(b.with(repositoryConfig), fmt.Sprintf("signing_key_file = %q", b.keyFile()), arguments, 1)
	}
	keys := "root = { keys = [\"" + b.key.Public().String() + "\"] }\n"
	all := strings.NewReplacer("prod = {}", "prod = { keys = [\""+b.key.Public().String()+"\"] }", "stable = {}", "stable = { keys = [\""+b.key.Public().String()+"\"] }", "  url ", keys+"  url ")
	tests := map[string]struct{ config, want string }{
		"none":    {all.Replace(provider("")), "Signing key is missing"},
		"twice":   {provider(fmt.Sprintf("signing_key = \"x\"\nsigning_key_file = %q", b.keyFile())), "Signing key is given twice"},
		"no file": {provider(`signing_key_file = "absent.pem"`), "Signing key is not usable"},
		"no key":  {provider(fmt.Sprintf("signing_key_file = %q", junk)), "holds no PKCS8 private key"},
		"no PEM":  {provider(`signing_key = "c2VjcmV0"`), "must be private keys in PEM"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := *b
			own.t = t
			own.apply(resource.TestStep{Config: test.config, ExpectError: words(test.want)})
		})
	}
}

func TestFingerprintOfTheProviderIsChecked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	config := b.with(repositoryConfig, scopeConfig)
	strict := strings.Replace(config, "signing_key_file", fmt.Sprintf("fingerprint = %q\n  signing_key_file", strings.Repeat("0", 64)), 1)
	b.apply(resource.TestStep{Config: config}, refusal(strict, "Repository is not the expected one"), resource.TestStep{Config: config, PlanOnly: true})
}

func TestImportIdentifiersAreExplained(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	step := func(addr, id, want string) resource.TestStep {
		return resource.TestStep{ResourceName: addr, ImportState: true, ImportStateId: id, ExpectError: words(want)}
	}
	b.apply(
		resource.TestStep{Config: b.with(repositoryConfig, scopeConfig)},
		step(scopeAddr, "prod/all", "is not of the form URL#ENVIRONMENT/NAME"),
		step(scopeAddr, b.url+"#prod/absent", "Cannot import non-existent remote object"),
		step(scopeAddr, b.url+"#absent/all", "Cannot import non-existent remote object"),
		step(repositoryAddr, "bucket", "must be s3://BUCKET/PREFIX"),
		step(repositoryAddr, "file://"+b.dir+"/absent", "Cannot import non-existent remote object"),
	)
}
